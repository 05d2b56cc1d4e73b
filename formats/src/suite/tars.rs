//! The fixture for tars: one tar for each record, so that each can be changed alone.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use forebay_sources::ReadErrorKind;
use tempfile::TempDir;

use super::Fixture;
use crate::tar::writer::TarWriter;

const CONTENTS: [&str; 4] = ["one", "second", "3", "the fourth"];

/// A folder with four tars.
pub(super) struct Tars {
    dir: TempDir,
    /// The records are samples, and not files in class folders.
    is_samples: bool,
}

impl Tars {
    /// Samples with labels.
    pub(super) fn samples() -> Box<dyn Fixture> {
        Self::boxed(true)
    }

    /// Pictures in class folders.
    pub(super) fn files() -> Box<dyn Fixture> {
        Self::boxed(false)
    }

    fn boxed(is_samples: bool) -> Box<dyn Fixture> {
        let tars = Self { dir: tempfile::tempdir().unwrap(), is_samples };
        tars.mend();
        Box::new(tars)
    }

    fn file(&self, record: u64) -> PathBuf {
        self.dir.path().join(format!("{record}.tar"))
    }

    fn write(&self, record: u64, content: &str) {
        let label = (record % 2).to_string();
        let tar = if self.is_samples {
            TarWriter::of(&[("x.cls", label.as_bytes()), ("x.jpg", content.as_bytes())])
        } else {
            let name = format!("class {label}/{record}.jpg");
            TarWriter::of(&[("readme.txt", b"text"), (&name, content.as_bytes())])
        };
        fs::write(self.file(record), tar).unwrap();
        self.date(record, 1);
    }

    /// Sets the tar's time.
    fn date(&self, record: u64, seconds: u64) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        fs::File::options().append(true).open(self.file(record)).unwrap().set_modified(time).unwrap();
    }
}

impl Fixture for Tars {
    fn files(&self) -> (PathBuf, String) {
        (self.dir.path().to_owned(), String::new())
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        CONTENTS.map(|content| content.as_bytes().to_vec()).to_vec()
    }

    fn spoil(&self, record: u64) -> ReadErrorKind {
        self.date(record, 2);
        ReadErrorKind::Changed
    }

    fn grow(&self, record: u64) {
        self.write(record, "content with more bytes");
    }

    fn touch(&self, record: u64) {
        self.date(record, 3);
    }

    fn mend(&self) {
        for (record, content) in (0..).zip(CONTENTS) {
            self.write(record, content);
        }
    }
}
