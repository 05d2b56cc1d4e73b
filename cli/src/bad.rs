//! How `bench` and `preview` count and name pictures that could not be read or decoded.

use std::collections::BTreeMap;
use std::fmt;

use forebay_printable::printable;
use serde::Serialize;

/// Bad pictures, each once however often it was met.
#[derive(Debug, Default)]
pub(crate) struct BadPictures {
    by_record: BTreeMap<u64, BadPicture>,
}

/// One of them.
#[derive(Debug, Serialize)]
pub(crate) struct BadPicture {
    record: u64,
    file: String,
    reason: String,
}

/// How many are named.
const NAMED: usize = 5;

impl BadPictures {
    pub(crate) fn add(&mut self, record: u64, file: String, reason: String) {
        self.by_record.entry(record).or_insert(BadPicture { record, file, reason });
    }

    pub(crate) fn count(&self) -> usize {
        self.by_record.len()
    }

    /// A failure, with the bad pictures below it where there are some.
    pub(crate) fn beside(&self, failure: &dyn fmt::Display) -> String {
        if self.count() == 0 { failure.to_string() } else { format!("{failure}.\n{self}") }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &BadPicture> {
        self.by_record.values()
    }
}

/// How many there are, and the first of them, a line each.
impl fmt::Display for BadPictures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count() {
            1 => write!(f, "1 bad picture:")?,
            count => write!(f, "{count} bad pictures:")?,
        }
        for BadPicture { file, reason, .. } in self.iter().take(NAMED) {
            write!(f, "\n  {}: {}", printable(file), printable(reason))?;
        }
        match self.count().saturating_sub(NAMED) {
            0 => Ok(()),
            rest => write!(f, "\n  and {rest} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_counted_once_and_the_first_are_named() {
        let mut bad = BadPictures::default();
        for (record, file) in [(7, "b.jpg"), (3, "a\u{1b}.jpg"), (7, "b.jpg")] {
            bad.add(record, file.to_owned(), "truncated".to_owned());
        }
        assert_eq!(bad.to_string(), "2 bad pictures:\n  a\\u{1b}.jpg: truncated\n  b.jpg: truncated");
        for record in 10..20 {
            bad.add(record, String::new(), String::new());
        }
        assert!(bad.to_string().starts_with("12 bad pictures:\n") && bad.to_string().ends_with("\n  and 7 more"));
    }
}
