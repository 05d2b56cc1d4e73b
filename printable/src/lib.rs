//! Text from outside, such as file names, reasons and errors of the system, as it may be shown to a person.
#![forbid(unsafe_code)]

mod system_error;

use std::ffi::OsStr;
use std::fmt::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;

pub use system_error::system_error;

/// Shows text with every character escaped that a terminal would obey or hide. See [`printable`].
#[derive(Clone, Copy, Debug)]
pub struct Printable<'a> {
    text: &'a OsStr,
    lines: bool,
}

/// Text as it may be written to a terminal, a log or an error: control characters, line ends, characters that change the
/// direction of what follows, and bytes that are no UTF-8 are escaped. All else is as it was.
///
/// ```
/// # use forebay_printable::printable;
/// assert_eq!(printable("cat\u{1b}[2J.jpg").to_string(), r"cat\u{1b}[2J.jpg");
/// assert_eq!(printable("日本 \"é\".jpg").to_string(), "日本 \"é\".jpg");
/// ```
pub fn printable<T: AsRef<OsStr> + ?Sized>(text: &T) -> Printable<'_> {
    Printable { text: text.as_ref(), lines: false }
}

impl Printable<'_> {
    /// Keeps line ends: for a message of several lines, whose names are escaped already.
    #[must_use]
    pub const fn lines(self) -> Self {
        Self { lines: true, ..self }
    }
}

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.text.as_bytes().utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '\n' if self.lines => f.write_char(c)?,
                    c if is_obeyed(c) => write!(f, "{}", c.escape_default())?,
                    c => f.write_char(c)?,
                }
            }
            chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
        }
        Ok(())
    }
}

/// Control characters; ends of lines and paragraphs; marks, embeddings, overrides and isolates of direction.
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        let shown = |text: &str| printable(text).to_string();
        assert_eq!(shown("a\u{1b}]0;title\u{7}.jpg"), r"a\u{1b}]0;title\u{7}.jpg");
        assert_eq!(shown("a\nfake line\r\t\u{9b}2J\u{7f}"), r"a\nfake line\r\t\u{9b}2J\u{7f}");
        assert_eq!(shown("gpj.\u{202e}exe\u{2066}"), r"gpj.\u{202e}exe\u{2066}");
        assert_eq!(printable(OsStr::from_bytes(b"a\xff\xc3.jpg")).to_string(), r"a\xff\xc3.jpg");
    }

    #[test]
    fn other_text_is_as_it_was_and_escaping_twice_changes_nothing() {
        let text = "Grüße \\ 'und' \"e\u{301}\" 日本 👩‍🔬.jpg";
        assert_eq!(printable(text).to_string(), text);
        let once = printable("a\u{1b}[0m").to_string();
        assert_eq!(printable(&once).to_string(), once);
    }

    #[test]
    fn a_message_keeps_its_lines() {
        assert_eq!(printable("one\n  two\u{1b}").lines().to_string(), "one\n  two\\u{1b}");
    }
}
