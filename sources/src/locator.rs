//! Where a record is: its file or object, and the part of it.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use forebay_printable::printable;

/// Where a record is read from. Its printed form is enough for a person to find the record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Locator {
    /// What holds the record.
    pub container: Container,
    /// Which part of it the record is.
    pub part: Part,
}

/// What holds a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Container {
    /// A file on this machine.
    File(PathBuf),
    /// An object of a store.
    Object {
        /// Its key, with the store's scheme and bucket: `s3://bucket/train/0.tar`.
        url: String,
        /// The version that the index pinned, or its `ETag`; none where the store has neither.
        version: Option<String>,
    },
}

/// Which part of its container a record is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of it.
    Whole,
    /// A range of its bytes.
    Bytes {
        /// The first one, counted from 0.
        offset: u64,
        /// How many.
        length: u64,
    },
    /// What begins at this byte, where its length is not known.
    At(u64),
    /// A member of an archive, by its name in the archive.
    Member(OsString),
    /// A row of a table, counted from 0.
    Row(u64),
    /// One of the records of a chunk.
    InChunk {
        /// Where the chunk begins.
        offset: u64,
        /// The record's number in the chunk, counted from 0.
        number: u64,
    },
    /// What a reader knows by the name of a shard and a number in it. A single shard may have no name. It is in a box
    /// because of its size.
    Numbered(Box<(String, u64)>),
}

impl Locator {
    /// A file that is one record.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { container: Container::File(path.into()), part: Part::Whole }
    }

    /// The name by which a person finds the record, as raw bytes. For a file that is one record, it is the path.
    ///
    /// Control characters in it are kept. [`Display`](fmt::Display) gives the form that may be shown.
    pub fn name(&self) -> OsString {
        let mut name = match &self.container {
            Container::File(path) => path.clone().into_os_string(),
            Container::Object { url, version: None } => url.into(),
            Container::Object { url, version: Some(version) } => format!("{url} (version {version})").into(),
        };
        match &self.part {
            Part::Whole => {}
            Part::Bytes { offset, length } => name.push(format!(", {length} bytes from byte {offset}")),
            Part::At(offset) => name.push(format!(", byte {offset}")),
            Part::Member(member) => {
                name.push(", member ");
                name.push(member);
            }
            Part::Row(row) => name.push(format!(", row {row}")),
            Part::InChunk { offset, number } => name.push(format!(", record {number} of the chunk at byte {offset}")),
            Part::Numbered(numbered) => {
                name.push(format!(", record {}", numbered.1));
                if !numbered.0.is_empty() {
                    name.push(format!(" of \"{}\"", numbered.0));
                }
            }
        }
        name
    }
}

/// The form for people: control characters are escaped.
impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        printable(&self.name()).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn rule_52_a_person_finds_the_record_by_what_a_locator_prints() {
        let file = || Container::File("/data/a.bin".into());
        let object = |version: Option<&str>| Container::Object {
            url: "s3://bucket/a.tar".into(),
            version: version.map(str::to_owned),
        };
        for (container, part, words) in [
            (file(), Part::Whole, "/data/a.bin"),
            (file(), Part::Bytes { offset: 4096, length: 17 }, "/data/a.bin, 17 bytes from byte 4096"),
            (file(), Part::At(4096), "/data/a.bin, byte 4096"),
            (file(), Part::Row(3), "/data/a.bin, row 3"),
            (file(), Part::InChunk { offset: 40, number: 2 }, "/data/a.bin, record 2 of the chunk at byte 40"),
            (file(), Part::Numbered(Box::new(("a".into(), 3))), "/data/a.bin, record 3 of \"a\""),
            (file(), Part::Numbered(Box::new((String::new(), 3))), "/data/a.bin, record 3"),
            (object(None), Part::Member("x/1.jpg".into()), "s3://bucket/a.tar, member x/1.jpg"),
            (object(Some("7f")), Part::Whole, "s3://bucket/a.tar (version 7f)"),
        ] {
            assert_eq!(Locator { container, part }.to_string(), words);
        }
    }

    #[test]
    fn a_file_s_name_is_its_path_byte_for_byte_and_what_is_shown_commands_no_terminal() {
        let path = OsStr::from_bytes(b"/data/\xff\x1b[2J.jpg");
        let locator = Locator::file(path);
        assert_eq!(locator.name(), path);
        assert_eq!(locator.to_string(), r"/data/\xff\u{1b}[2J.jpg");
    }
}
