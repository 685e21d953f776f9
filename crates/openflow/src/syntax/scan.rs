//! Splits a text into items such as `nw_dst=10.0.0.1` and `output:2`, each with its place.

use super::SyntaxError;

/// A part of the text with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<'a> {
    /// The part.
    pub text: &'a str,
    /// Byte offset in the whole text.
    pub at: usize,
    /// The whole text.
    whole: &'a str,
}

impl<'a> Span<'a> {
    /// All of `text`.
    pub fn all(text: &'a str) -> Span<'a> {
        Span { text, at: 0, whole: text }
    }

    /// An error at this place.
    pub fn expected(self, what: impl Into<String>) -> SyntaxError {
        let column = self.whole[..self.at].chars().count() + 1;
        SyntaxError { column, expected: what.into(), found: self.text.chars().take(60).collect() }
    }

    /// The part `from..to` of this one.
    fn part(self, from: usize, to: usize) -> Span<'a> {
        Span { text: &self.text[from..to], at: self.at + from, whole: self.whole }
    }

    /// Whether there is nothing.
    pub fn is_empty(self) -> bool {
        self.text.is_empty()
    }

    /// What stands behind `prefix`, if it begins with that.
    pub fn strip_prefix(self, prefix: &str) -> Option<Span<'a>> {
        self.text.starts_with(prefix).then(|| self.part(prefix.len(), self.text.len()))
    }

    /// What stands before `suffix`, if it ends with that.
    pub fn strip_suffix(self, suffix: &str) -> Option<Span<'a>> {
        self.text.strip_suffix(suffix).map(|rest| self.part(0, rest.len()))
    }

    /// What stands before byte `at` and what follows.
    pub fn split_at(self, at: usize) -> (Span<'a>, Span<'a>) {
        (self.part(0, at), self.part(at, self.text.len()))
    }

    /// Without white space and commas around it.
    pub fn trim_items(self) -> Span<'a> {
        let is_separator = |c: char| c == ',' || c.is_whitespace();
        let start = self.text.len() - self.text.trim_start_matches(is_separator).len();
        self.part(start, start + self.text.trim_matches(is_separator).len())
    }

    /// Whether the character before it is part of a word.
    pub fn follows_word(self) -> bool {
        self.whole[..self.at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
    }

    /// The place behind its end.
    pub fn end(self) -> Span<'a> {
        self.part(self.text.len(), self.text.len())
    }

    /// Without white space around it.
    pub fn trim(self) -> Span<'a> {
        let start = self.text.len() - self.text.trim_start().len();
        self.part(start, start + self.text.trim().len())
    }

    /// What stands before and behind the first `separator`, if there is one.
    pub fn split_once(self, separator: &str) -> Option<(Span<'a>, Span<'a>)> {
        let at = self.text.find(separator)?;
        Some((self.part(0, at), self.part(at + separator.len(), self.text.len())))
    }

    /// The items between commas, white space and line ends outside parentheses; empty ones are left out.
    pub fn items(self) -> Result<Vec<Span<'a>>, SyntaxError> {
        let (mut items, mut start, mut open) = (Vec::new(), 0, Vec::new());
        for (at, c) in self.text.char_indices() {
            match c {
                '(' => open.push(at),
                ')' if open.pop().is_none() => {
                    return Err(self.part(at, self.text.len()).expected("no closing parenthesis"));
                }
                ',' | ' ' | '\t' | '\n' | '\r' if open.is_empty() => {
                    items.push(self.part(start, at));
                    start = at + 1;
                }
                _ => {}
            }
        }
        if let Some(at) = open.first() {
            return Err(self.part(*at, self.text.len()).expected("a closing parenthesis"));
        }
        items.push(self.part(start, self.text.len()));
        items.retain(|i| !i.text.is_empty());
        Ok(items)
    }

    /// Name and argument of an item: `output:2`, `controller(max_len=3)`, `drop`. The argument is empty if there is none.
    pub fn name_and_argument(self) -> (Span<'a>, Span<'a>) {
        let end = self.text.find([':', '(', '=']).unwrap_or(self.text.len());
        let name = self.part(0, end);
        let rest = self.part(end, self.text.len());
        let argument = match rest.text.as_bytes() {
            [] => rest,
            [b'(', .., b')'] => rest.part(1, rest.text.len() - 1),
            _ => rest.part(1, rest.text.len()),
        };
        (name, argument)
    }
}
