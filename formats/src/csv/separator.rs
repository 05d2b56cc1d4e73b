//! What separates the cells of a table: the user's choice, or what the first line shows.

use std::io::{self, Cursor, Read};

use forebay_sources::{Options, SourceError};

use crate::option_key::OptionKey;

pub(super) const SEPARATOR: OptionKey = OptionKey {
    name: "separator",
    help: "what is between cells: \"comma\", \"semicolon\" or \"tab\". Without it, the first line decides",
};

/// Bytes of the first line that are looked at.
const MOST: usize = 64 << 10;

/// The user's choice.
///
/// # Errors
/// It is no such word.
pub(super) fn given(options: &Options) -> Result<Option<u8>, SourceError> {
    let words = [("", None), ("comma", Some(b',')), ("semicolon", Some(b';')), ("tab", Some(b'\t'))];
    options.own.choice(SEPARATOR.name, &words)
}

/// What the first line shows, and the whole file again: a line without a comma, outside of quotes, has tabs, or else semicolons.
///
/// # Errors
/// The file cannot be read.
pub(super) fn found(mut file: Box<dyn Read>) -> io::Result<(Box<dyn Read>, u8)> {
    let mut head = Vec::new();
    while head.len() < MOST && first_line(&head).is_none() {
        if (&mut file).take(4096).read_to_end(&mut head)? == 0 {
            break;
        }
    }
    let line = first_line(&head).unwrap_or(&head);
    let mut is_quoted = false;
    let plain = line.iter().filter(|byte| {
        is_quoted ^= **byte == b'"';
        !is_quoted
    });
    let plain: Vec<u8> = plain.copied().collect();
    let has = |byte: &u8| plain.contains(byte);
    let separator = if has(&b',') { b',' } else { [b'\t', b';'].into_iter().find(has).unwrap_or(b',') };
    Ok((Box::new(Cursor::new(head).chain(file)), separator))
}

/// The bytes before the first end of a line that is not at the beginning.
fn first_line(head: &[u8]) -> Option<&[u8]> {
    let start = head.iter().position(|byte| !matches!(byte, b'\n' | b'\r'))?;
    let end = head[start..].iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
    Some(&head[start..start + end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_shows_what_separates_cells_and_nothing_of_the_file_is_lost() {
        let long = "x".repeat(70_000);
        for (text, expected) in [
            ("path,label\na;b,c", b','),
            ("path;label\na,b;c", b';'),
            ("\r\npath\tlabel;x\n", b'\t'),
            ("\"a,b\";c\n", b';'),
            ("a.jpg", b','),
            ("", b','),
            (&long, b','),
        ] {
            let (mut file, separator) = found(Box::new(Cursor::new(text.to_owned().into_bytes()))).unwrap();
            let mut read = String::new();
            file.read_to_string(&mut read).unwrap();
            assert!(read == text && separator == expected, "{} bytes", text.len());
        }
    }
}
