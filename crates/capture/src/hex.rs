//! Bytes in hexadecimal, as people and programs write them: with or without spaces, `0x`, offsets and an ASCII column.

/// A line that is no hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HexError {
    /// Something else stands there.
    #[error("column {column}: expected bytes in hexadecimal, found {found:?}")]
    NotHex {
        /// From 1.
        column: usize,
        /// What stands there.
        found: String,
    },
    /// A dump's offset does not follow the line before.
    #[error("expected offset {expected:#06x}, found {found:#06x}: lines of the dump are missing")]
    WrongOffset {
        /// What would follow.
        expected: usize,
        /// What stands there.
        found: usize,
    },
}

/// Bytes, and the line in which they begin.
pub type Bytes = (u64, Result<Vec<u8>, HexError>);

/// Collects the lines of dumps.
#[derive(Debug, Default)]
pub struct HexLines {
    /// What the dump has so far, and its first line.
    dump: Option<(u64, Vec<u8>)>,
}

impl HexLines {
    /// Takes a line; returns the bytes of the dump before it, and its own if it is none of a dump.
    pub fn push(&mut self, number: u64, line: &str) -> [Option<Bytes>; 2] {
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            return [self.finish(), None];
        }
        let column = line.len() - line.trim_start().len();
        let Some((offset, rest, marked)) = offset(text) else {
            return [self.finish(), Some((number, parse(text, column)))];
        };
        let collected = self.dump.as_ref().map(|(_, bytes)| bytes.len());
        match (offset, collected) {
            (0, _) => {
                let before = self.finish();
                self.dump = Some((number, Vec::new()));
                [before, self.add(number, line, rest, marked)]
            }
            (offset, Some(collected)) if offset == collected => [self.add(number, line, rest, marked), None],
            (found, _) if marked => {
                let expected = collected.unwrap_or(0);
                self.dump = None;
                [Some((number, Err(HexError::WrongOffset { expected, found }))), None]
            }
            _ => [self.finish(), Some((number, parse(text, column)))],
        }
    }

    /// The bytes of a dump that no line follows.
    pub fn finish(&mut self) -> Option<Bytes> {
        self.dump.take().map(|(line, bytes)| (line, Ok(bytes)))
    }

    /// A line of the dump, behind its offset; a mistake ends the dump.
    fn add(&mut self, number: u64, line: &str, rest: &str, marked: bool) -> Option<Bytes> {
        let digits = without_ascii(rest, marked);
        match parse(digits, digits.as_ptr() as usize - line.as_ptr() as usize) {
            Ok(more) => {
                self.dump.as_mut()?.1.extend(more);
                None
            }
            Err(error) => {
                self.dump = None;
                Some((number, Err(error)))
            }
        }
    }
}

/// A dump's offset, what follows it, and whether a colon marks it.
fn offset(text: &str) -> Option<(usize, &str, bool)> {
    let (word, rest) = text.split_once([' ', '\t'])?;
    let (digits, marked) = word.strip_suffix(':').map_or((word, false), |digits| (digits, true));
    let hexadecimal = digits.len() >= 3 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let offset = usize::from_str_radix(digits, 16).ok().filter(|_| hexadecimal)?;
    Some((offset, rest.trim_start(), marked))
}

/// What stands before the ASCII column: behind a bar, or a wide space (with xxd's colon: two spaces).
fn without_ascii(text: &str, marked: bool) -> &str {
    let text = text.split('|').next().unwrap_or(text);
    let gap = if marked { "  " } else { "   " };
    text.split(gap).next().unwrap_or(text).trim()
}

/// The bytes in `text`, which begins at that column of its line (from 0).
fn parse(text: &str, column: usize) -> Result<Vec<u8>, HexError> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let separator = |c: char| c.is_whitespace() || matches!(c, ':' | ',' | '-' | ';');
    for word in text.split(separator).filter(|word| !word.is_empty()) {
        let digits = word.strip_prefix("0x").or(word.strip_prefix("0X")).unwrap_or(word).as_bytes();
        let pairs = digits.chunks_exact(2);
        let whole = !digits.is_empty() && pairs.remainder().is_empty();
        let decoded = pairs.map_while(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?));
        let before = bytes.len();
        bytes.extend(decoded);
        if !whole || bytes.len() - before != digits.len() / 2 {
            let column = column + (word.as_ptr() as usize - text.as_ptr() as usize) + 1;
            let found = word.chars().take(40).collect();
            return Err(HexError::NotHex { column, found });
        }
    }
    Ok(bytes)
}

fn digit(c: u8) -> Option<u8> {
    (c as char).to_digit(16).map(|d| d as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ECHO: [u8; 8] = [4, 2, 0, 8, 0, 0, 0, 1];

    fn read(text: &str) -> Vec<Bytes> {
        let mut lines = HexLines::default();
        let mut found: Vec<Bytes> =
            (1..).zip(text.lines()).flat_map(|(n, line)| lines.push(n, line)).flatten().collect();
        found.extend(lines.finish());
        found
    }

    #[test]
    fn bytes_may_be_written_in_many_ways() {
        for line in [
            "0402000800000001",
            "04 02 00 08 00 00 00 01",
            "0x04 0x02 0x00 0x08 0x00 0x00 0x00 0x01",
            "0x0402000800000001",
            "04:02:00:08:00:00:00:01",
            "  0402 0008 0000 0001  ",
            "04,02,00,08,00,00,00,01",
        ] {
            assert_eq!(read(line), [(1, Ok(ECHO.to_vec()))], "{line}");
        }
    }

    #[test]
    fn dumps_go_on_over_lines() {
        let long: Vec<u8> = (0..20).collect();
        let hexdump = "00000000  00 01 02 03 04 05 06 07  08 09 0a 0b 0c 0d 0e 0f  |.......... .....|\n\
                       00000010  10 11 12 13                                       |....|\n00000014\n";
        let xxd = "00000000: 0001 0203 0405 0607 0809 0a0b 0c0d 0e0f  ................\n\
                   00000010: 1011 1213                                ab..\n";
        let tshark = "0000  00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f   ................\n\
                      0010  10 11 12 13                                       ab..\n";
        let ovs = "00000000  00 01 02 03 04 05 06 07-08 09 0a 0b 0c 0d 0e 0f |................|\n\
                   00000010  10 11 12 13            -                        |....            |\n";
        for text in [xxd, tshark, ovs] {
            assert_eq!(read(text), [(1, Ok(long.clone()))], "{text}");
        }
        assert_eq!(read(hexdump)[0], (1, Ok(long.clone())));
        let two = [tshark, tshark].concat();
        assert_eq!(read(&two), [(1, Ok(long.clone())), (3, Ok(long))]);
    }

    #[test]
    fn mistakes_are_named_and_the_rest_goes_on() {
        let found = read("04 02 zz\n# a comment\n\n0402000800000001\n040\nhello there\n");
        let wrong = |column, found: &str| Err(HexError::NotHex { column, found: found.into() });
        assert_eq!(
            found,
            [(1, wrong(7, "zz")), (4, Ok(ECHO.to_vec())), (5, wrong(1, "040")), (6, wrong(1, "hello"))]
        );
        let missing = read("0000: 0402 0008\n0010: 0000 0001\n");
        assert_eq!(missing, [(2, Err(HexError::WrongOffset { expected: 4, found: 16 }))]);
    }
}
