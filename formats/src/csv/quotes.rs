//! Follows the quotes of a CSV while it is read. The parser takes a field that no quote closes as if it ended with the file.

use std::io::{self, Read};

const MARK: &[u8] = b"\xef\xbb\xbf";

/// Passes bytes on, and knows whether the last of them is inside a quoted field.
#[derive(Debug)]
pub(super) struct Quotes<R> {
    inner: R,
    separator: u8,
    place: QuotePlace,
    /// Bytes of a mark at the file's beginning that were seen, or nothing once other bytes came.
    mark: Option<usize>,
    /// Bytes since the last row's end, and how many a row may have.
    since: u64,
    most: u64,
}

/// What the parser takes the next byte for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuotePlace {
    Start,
    Plain,
    Quoted,
    /// A quote inside a quoted field: the field's end, or half of a doubled one.
    Quote,
}

impl<R: Read> Quotes<R> {
    pub(super) fn new(inner: R, separator: u8, most: u64) -> Self {
        Self { inner, separator, place: QuotePlace::Start, mark: Some(0), since: 0, most }
    }

    /// Whether a quoted field was begun and not ended.
    pub(super) fn is_open(&self) -> bool {
        self.place == QuotePlace::Quoted
    }

    fn follow(&mut self, byte: u8) {
        if let Some(seen) = self.mark {
            self.mark = (MARK.get(seen) == Some(&byte)).then_some(seen + 1);
            if self.mark.is_some() {
                return;
            }
        }
        self.place = match (self.place, byte) {
            (QuotePlace::Quoted, b'"') => QuotePlace::Quote,
            (QuotePlace::Start | QuotePlace::Quote, b'"') | (QuotePlace::Quoted, _) => QuotePlace::Quoted,
            (_, b'\n' | b'\r') => QuotePlace::Start,
            (_, byte) if byte == self.separator => QuotePlace::Start,
            _ => QuotePlace::Plain,
        };
        let is_end = self.place == QuotePlace::Start && byte != self.separator;
        self.since = if is_end { 0 } else { self.since + 1 };
    }
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buf)?;
        for &byte in buf.iter().take(read) {
            self.follow(byte);
            // The parser would keep all of the row.
            if self.since > self.most {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_open_from_its_first_quote_to_one_that_is_not_doubled() {
        for (text, open) in [
            ("", false),
            ("\"", true),
            ("a,\"b", true),
            ("a,\"b\"\"", true),
            ("a,\"b\"\n", false),
            ("a\n\"b\"\"\",c\"\n", false),
            ("5\" wide\n", false),
            ("\"a\"b\"\n", false),
            ("\u{feff}\"a\n", true),
            ("\r\n\"a", true),
        ] {
            let mut quotes = Quotes::new(text.as_bytes(), b',', u64::MAX);
            io::copy(&mut quotes, &mut io::sink()).unwrap();
            assert_eq!(quotes.is_open(), open, "{text}");
        }
    }

    #[test]
    fn a_row_that_does_not_end_is_not_read_for_ever() {
        let kind = |text: &str| {
            let read = io::copy(&mut Quotes::new(text.as_bytes(), b',', 4), &mut io::sink());
            read.map_err(|error| error.kind())
        };
        assert_eq!(kind("a,b\nabcd\r\nefgh"), Ok(14));
        for long in ["a,b\nabcde", "\"a\nb\n\"", "a,b,c"] {
            assert_eq!(kind(long), Err(io::ErrorKind::FileTooLarge), "{long}");
        }
    }
}
