//! The corpus of texts, shared by the tests that read it.

/// Each text with its canonical text, which follows `=>` if it is another.
pub fn corpus(file: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(" => ").unwrap_or((line, line)))
}
