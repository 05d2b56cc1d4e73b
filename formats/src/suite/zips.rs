//! The fixture for zips: one zip with stored and deflated members.

use std::fs;
use std::path::PathBuf;

use forebay_sources::ReadErrorKind;
use tempfile::TempDir;

use super::Fixture;
use crate::scene::date;
use crate::zip::tests::writer::ZipWriter;

const CONTENTS: [&str; 4] = ["one", "second second second second second", "3", "the fourth"];

/// A zip with four members.
pub(super) struct Zips {
    dir: TempDir,
}

impl Zips {
    pub(super) fn boxed() -> Box<dyn Fixture> {
        let zips = Self { dir: tempfile::tempdir().unwrap() };
        zips.mend();
        Box::new(zips)
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("x.zip")
    }

    fn write(&self, contents: [&str; 4]) {
        let mut zip = ZipWriter::default();
        for (number, content) in contents.iter().enumerate() {
            let name = format!("class {}/{number}.jpg", number % 2);
            if number % 2 == 0 {
                zip.stored(&name, content.as_bytes())
            } else {
                zip.deflated(&name, content.as_bytes())
            };
        }
        fs::write(self.file(), zip.end()).unwrap();
        date(&self.file(), 1);
    }
}

impl Fixture for Zips {
    fn files(&self) -> (PathBuf, String) {
        (self.dir.path().to_owned(), "x.zip".into())
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        CONTENTS.map(|content| content.as_bytes().to_vec()).to_vec()
    }

    fn spoil(&self, record: u64) -> ReadErrorKind {
        let mut bytes = fs::read(self.file()).unwrap();
        let name = format!("/{record}.jpg");
        let place = bytes.windows(name.len()).position(|window| window == name.as_bytes()).unwrap();
        // Behind the name and the extra part of the member's own header.
        bytes[place + name.len() + 5] ^= 1;
        fs::write(self.file(), bytes).unwrap();
        date(&self.file(), 1);
        ReadErrorKind::Damaged
    }

    fn grow(&self, record: u64) {
        let mut contents = CONTENTS;
        contents[usize::try_from(record).unwrap()] = "content with more bytes";
        self.write(contents);
    }

    fn touch(&self, _record: u64) {
        date(&self.file(), 3);
    }

    fn mend(&self) {
        self.write(CONTENTS);
    }
}
