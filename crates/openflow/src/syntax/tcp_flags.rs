//! TCP flags: `+syn-ack` for set and unset ones, `syn|ack` for exactly these, or numbers.

use flowgauge_packet::Field;

use super::SyntaxError;
use super::scan::Span;

/// The flags' names, that of bit 0 first.
const NAMES: [&str; 9] = ["fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr", "ns"];
const NAMED: u128 = (1 << NAMES.len()) - 1;

/// Value and mask of flags written as names; `None` if the text is not of that form, but perhaps a number.
pub fn parse(text: Span<'_>) -> Option<Result<(u128, u128), SyntaxError>> {
    let first = text.text.chars().next()?;
    let error = || text.expected("TCP flags such as +syn-ack or syn|ack");
    if first == '+' || first == '-' {
        return Some(signed(text.text).ok_or_else(error));
    }
    if !first.is_ascii_alphabetic() {
        return None;
    }
    let value = text.text.split('|').try_fold(0, |bits, name| Some(bits | bit(name)?));
    Some(value.map(|value| (value, Field::TcpFlags.full_mask())).ok_or_else(error))
}

fn signed(mut text: &str) -> Option<(u128, u128)> {
    let (mut value, mut mask) = (0, 0);
    while let Some(rest) = text.strip_prefix(['+', '-']) {
        let end = rest.find(['+', '-']).unwrap_or(rest.len());
        let flag = bit(&rest[..end])?;
        if mask & flag != 0 {
            return None;
        }
        mask |= flag;
        value |= if text.starts_with('+') { flag } else { 0 };
        text = &rest[end..];
    }
    text.is_empty().then_some((value, mask))
}

fn bit(name: &str) -> Option<u128> {
    NAMES.iter().position(|n| *n == name).map(|at| 1 << at)
}

/// As ovs-ofctl prints them; `None` where only a number will do.
pub fn print(value: u128, mask: u128) -> Option<String> {
    let all = Field::TcpFlags.full_mask();
    let names = NAMES.iter().enumerate();
    if mask == all && value != 0 && value & !NAMED == 0 {
        let set: Vec<&str> = names.filter(|(at, _)| value >> at & 1 == 1).map(|(_, name)| *name).collect();
        return Some(set.join("|"));
    }
    let named = mask != all && mask & !NAMED == 0 && value & !mask == 0;
    let sign = |at: usize| if value >> at & 1 == 1 { '+' } else { '-' };
    named.then(|| {
        names.filter(|(at, _)| mask >> at & 1 == 1).map(|(at, name)| format!("{}{name}", sign(at))).collect()
    })
}
