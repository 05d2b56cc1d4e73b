//! The fixture for tables: a folder of files, each with one record. So one of them can change without the others.

use std::path::{Path, PathBuf};

use forebay_sources::ReadErrorKind;
use tempfile::TempDir;

use super::Fixture;
use crate::scene::date;

const CONTENTS: [&[u8]; 4] = [b"one", b"the second", b"3", b"number four"];

/// Writes a file with these pictures.
type Write = fn(&Path, &[&[u8]]);

/// A folder with a table for each record.
pub(super) struct Tables {
    dir: TempDir,
    extension: &'static str,
    write: Write,
}

impl Tables {
    pub(super) fn of(extension: &'static str, write: Write) -> Box<dyn Fixture> {
        let tables = Self { dir: tempfile::tempdir().unwrap(), extension, write };
        tables.mend();
        Box::new(tables)
    }

    fn file(&self, record: u64) -> PathBuf {
        self.dir.path().join(format!("{record}.{}", self.extension))
    }

    fn write(&self, record: u64, content: &[u8]) {
        (self.write)(&self.file(record), &[content]);
        date(&self.file(record), 1_000_000);
    }
}

impl Fixture for Tables {
    fn files(&self) -> (PathBuf, String) {
        (self.dir.path().to_owned(), String::new())
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        CONTENTS.iter().map(|content| content.to_vec()).collect()
    }

    fn spoil(&self, record: u64) -> ReadErrorKind {
        self.grow(record);
        ReadErrorKind::Changed
    }

    fn grow(&self, record: u64) {
        let index = usize::try_from(record).unwrap();
        self.write(record, &[CONTENTS[index], &[b'x'; 99]].concat());
    }

    fn touch(&self, record: u64) {
        date(&self.file(record), 2_000_000);
    }

    fn mend(&self) {
        (0..).zip(CONTENTS).for_each(|(record, content)| self.write(record, content));
    }
}
