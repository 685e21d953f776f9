//! The parts of an X.509 certificate that its issuer's signature covers and that TLS needs: enough to judge certificates of
//! version 1, which webpki does not read, and to call a peer by its name.
//!
//! A reader of hostile bytes: it never panics, copies nothing, and accepts only what DER allows.

/// A certificate, cut into its parts. Only syntax was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Certificate<'a> {
    /// 1, 2 or 3. Version 1 has no extensions.
    pub version: u8,
    /// What is signed.
    pub signed: &'a [u8],
    /// By which algorithm (the contents of the AlgorithmIdentifier).
    pub algorithm: &'a [u8],
    /// The signature.
    pub signature: &'a [u8],
    /// Who signed (the contents of the Name).
    pub issuer: &'a [u8],
    /// Whose certificate it is (the contents of the Name).
    pub subject: &'a [u8],
    /// First second at which it is valid, since 1970.
    pub not_before: u64,
    /// Last second at which it is valid, since 1970.
    pub not_after: u64,
    /// The whole SubjectPublicKeyInfo.
    pub key_info: &'a [u8],
    /// The key's algorithm (the contents of the AlgorithmIdentifier).
    pub key_algorithm: &'a [u8],
    /// The key.
    pub key: &'a [u8],
}

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OID: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const EXPLICIT_0: u8 = 0xa0;
/// id-at-commonName, 2.5.4.3.
const COMMON_NAME: [u8; 3] = [0x55, 4, 3];

impl<'a> Certificate<'a> {
    /// Cuts a DER certificate into its parts; `None` when it is none.
    pub fn parse(der: &'a [u8]) -> Option<Certificate<'a>> {
        let mut outside = Reader(der);
        let mut whole = Reader(outside.take(SEQUENCE)?.contents);
        let body = whole.take(SEQUENCE)?;
        let algorithm = whole.take(SEQUENCE)?.contents;
        let signature = bits(whole.take(BIT_STRING)?.contents)?;
        let mut at = Reader(body.contents);
        let version = match at.take_if(EXPLICIT_0) {
            None => 1,
            Some(explicit) => match Reader(explicit.contents).take(INTEGER)?.contents {
                [n @ 1..=2] => n + 1,
                _ => return None,
            },
        };
        at.take(INTEGER)?;
        // The algorithm stands twice; a certificate in which they differ was tampered with.
        if at.take(SEQUENCE)?.contents != algorithm || !whole.0.is_empty() || !outside.0.is_empty() {
            return None;
        }
        let issuer = at.take(SEQUENCE)?.contents;
        let mut validity = Reader(at.take(SEQUENCE)?.contents);
        let (not_before, not_after) = (validity.time()?, validity.time()?);
        let subject = at.take(SEQUENCE)?.contents;
        let key_info = at.take(SEQUENCE)?;
        let mut key = Reader(key_info.contents);
        let key_algorithm = key.take(SEQUENCE)?.contents;
        Some(Certificate {
            version,
            signed: body.whole,
            algorithm,
            signature,
            issuer,
            subject,
            not_before,
            not_after,
            key_info: key_info.whole,
            key_algorithm,
            key: bits(key.take(BIT_STRING)?.contents)?,
        })
    }

    /// The subject's common name, for people to read.
    pub fn common_name(&self) -> Option<String> {
        let mut names = Reader(self.subject);
        while let Some(set) = names.take_if(SET) {
            let mut pair = Reader(Reader(set.contents).take(SEQUENCE)?.contents);
            if pair.take(OID)?.contents == COMMON_NAME {
                let text = pair.next()?.contents;
                let shown = String::from_utf8_lossy(&text[..text.len().min(100)]);
                return Some(shown.chars().filter(|c| !c.is_control()).collect());
            }
        }
        None
    }
}

/// One DER element.
#[derive(Clone, Copy)]
struct Element<'a> {
    tag: u8,
    whole: &'a [u8],
    contents: &'a [u8],
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// The next element, which must have this tag.
    fn take(&mut self, tag: u8) -> Option<Element<'a>> {
        self.next().filter(|element| element.tag == tag)
    }

    /// The next element if it has this tag; else nothing is taken.
    fn take_if(&mut self, tag: u8) -> Option<Element<'a>> {
        if self.0.first() == Some(&tag) { self.next() } else { None }
    }

    fn next(&mut self) -> Option<Element<'a>> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        // Long tag numbers occur in no certificate; DER has no indefinite lengths, and says each in the fewest bytes.
        if tag & 0x1f == 0x1f {
            return None;
        }
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                let length = digits.iter().fold(0usize, |sum, &digit| sum << 8 | usize::from(digit));
                if digits[0] == 0 || length < 0x80 {
                    return None;
                }
                (length, rest)
            }
            _ => return None,
        };
        let (contents, after) = rest.split_at_checked(length)?;
        let whole = &self.0[..self.0.len() - after.len()];
        self.0 = after;
        Some(Element { tag, whole, contents })
    }

    /// A point in time, in seconds since 1970 (what lies before is 0).
    fn time(&mut self) -> Option<u64> {
        let element = self.next()?;
        let (b'Z', digits) = element.contents.split_last()? else { return None };
        if !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let pair = |at: usize| u64::from(digits[at] - b'0') * 10 + u64::from(digits[at + 1] - b'0');
        let (year, rest) = match (element.tag, digits.len()) {
            // RFC 5280: two digits mean 1950 to 2049.
            (UTC_TIME, 12) => (if pair(0) < 50 { 2000 + pair(0) } else { 1900 + pair(0) }, 2),
            (GENERALIZED_TIME, 14) => (pair(0) * 100 + pair(2), 4),
            _ => return None,
        };
        let [month, day, hour, minute, second] = std::array::from_fn(|i| pair(rest + 2 * i));
        let valid =
            (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 61;
        valid.then(|| days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second)
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar, 0 for earlier ones.
fn days(year: u64, month: u64, day: u64) -> u64 {
    // Years that begin in March, so that the leap day is the last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year.saturating_sub(1), month + 9) };
    let since_year_0 = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    since_year_0.saturating_sub(719_468)
}

/// The bytes of a bit string that has whole bytes.
fn bits(contents: &[u8]) -> Option<&[u8]> {
    match contents.split_first()? {
        (0, bytes) => Some(bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn element(tag: u8, contents: &[u8]) -> Vec<u8> {
        let mut bytes = vec![tag];
        match contents.len() {
            n @ 0..=0x7f => bytes.push(n as u8),
            n @ 0x80..=0xff => bytes.extend([0x81, n as u8]),
            n => bytes.extend([0x82, (n >> 8) as u8, n as u8]),
        }
        bytes.extend_from_slice(contents);
        bytes
    }

    fn made(version: Option<u8>, before: &[u8], algorithm_twice: bool) -> Vec<u8> {
        let algorithm = element(SEQUENCE, &element(OID, &[1, 2, 3]));
        let other = element(SEQUENCE, &element(OID, &[1, 2, 4]));
        let name = |text: &str| {
            let pair = [element(OID, &COMMON_NAME), element(0x0c, text.as_bytes())].concat();
            element(SEQUENCE, &element(SET, &element(SEQUENCE, &pair)))
        };
        let version = version.map_or(Vec::new(), |v| element(EXPLICIT_0, &element(INTEGER, &[v])));
        let validity = [before.to_vec(), element(GENERALIZED_TIME, b"20500101000000Z")].concat();
        let key = [algorithm.clone(), element(BIT_STRING, &[0, 9, 9])].concat();
        let body = [
            version,
            element(INTEGER, &[7]),
            algorithm.clone(),
            name("the authority"),
            element(SEQUENCE, &validity),
            name("the switch"),
            element(SEQUENCE, &key),
        ]
        .concat();
        let outer = if algorithm_twice { algorithm } else { other };
        let signature = element(BIT_STRING, &[0, 1, 2, 3]);
        element(SEQUENCE, &[element(SEQUENCE, &body), outer, signature].concat())
    }

    #[test]
    fn gives_the_parts() {
        let early = element(UTC_TIME, b"700102030405Z");
        for (version, number) in [(None, 1), (Some(1), 2), (Some(2), 3)] {
            let der = made(version, &early, true);
            let certificate = Certificate::parse(&der).unwrap();
            assert_eq!(certificate.version, number);
            assert_eq!((certificate.signature, certificate.key), (&[1, 2, 3][..], &[9, 9][..]));
            assert_eq!(certificate.common_name().as_deref(), Some("the switch"));
            assert_eq!((certificate.not_before, certificate.not_after), (97_445, 2_524_608_000));
            assert!(certificate.signed[0] == SEQUENCE && certificate.key_info[0] == SEQUENCE);
            assert!(der.windows(certificate.signed.len()).any(|part| part == certificate.signed));
        }
    }

    #[test]
    fn refuses_what_is_none() {
        let early = element(UTC_TIME, b"700102030405Z");
        assert_eq!(Certificate::parse(&made(Some(3), &early, true)), None);
        assert_eq!(Certificate::parse(&made(Some(2), &early, false)), None, "two algorithms");
        for wrong in ["7001020304Z", "700102030405+", "701302030405Z", "70010203040xZ", ""] {
            assert_eq!(Certificate::parse(&made(None, &element(UTC_TIME, wrong.as_bytes()), true)), None);
        }
        let good = made(None, &early, true);
        assert_eq!(Certificate::parse(&[&good[..], &[0]].concat()), None, "more behind it");
        for cut in 0..good.len() {
            assert_eq!(Certificate::parse(&good[..cut]), None);
        }
    }

    #[test]
    fn lengths_are_said_in_one_way() {
        for wrong in [&[0x30, 0x81, 1, 0][..], &[0x30, 0x80, 0, 0], &[0x30, 0x82, 0, 0x80], &[0x1f, 1, 1]] {
            assert!(Reader(wrong).next().is_none());
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        let known = [(1970, 1, 1, 0), (1970, 3, 1, 59), (2000, 2, 29, 11_016), (2026, 11, 21, 20_778)];
        for (year, month, day, since) in known {
            assert_eq!(days(year, month, day), since, "{year}-{month}-{day}");
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), at in 0usize..200, to: u8) {
            let _ = Certificate::parse(&bytes);
            let mut changed = made(Some(2), &element(UTC_TIME, b"700102030405Z"), true);
            let at = at % changed.len();
            changed[at] = to;
            if let Some(certificate) = Certificate::parse(&changed) {
                let _ = certificate.common_name();
            }
        }
    }
}
