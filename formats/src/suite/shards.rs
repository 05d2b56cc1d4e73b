//! The fixture for MDS: one shard for each record, so that each can be changed alone.

use std::path::PathBuf;

use forebay_sources::ReadErrorKind;
use tempfile::TempDir;

use super::Fixture;
use crate::mds::tests::writer::MdsWriter;
use crate::scene::date;

const CONTENTS: [&str; 4] = ["one", "second", "3", "the fourth"];

/// A folder with four shards.
pub(super) struct Shards {
    dir: TempDir,
}

impl Shards {
    pub(super) fn boxed() -> Box<dyn Fixture> {
        let shards = Self { dir: tempfile::tempdir().unwrap() };
        shards.mend();
        Box::new(shards)
    }

    fn write(&self, contents: [&str; 4]) {
        let mut mds = MdsWriter::new(&[("image", "jpeg", None), ("label", "int", Some(8))]);
        for (number, content) in (0_i64..).zip(contents) {
            mds.shard(&[&[content.as_bytes(), &number.to_le_bytes()]]);
        }
        mds.write(self.dir.path());
        (0..4).for_each(|record| self.date(record, 1));
    }

    /// Sets the shard's time.
    fn date(&self, record: u64, seconds: u64) {
        date(&self.dir.path().join(format!("shard.{record:05}.mds")), seconds);
    }
}

impl Fixture for Shards {
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
        let mut contents = CONTENTS;
        contents[usize::try_from(record).unwrap()] = "content with more bytes";
        self.write(contents);
    }

    fn touch(&self, record: u64) {
        self.date(record, 3);
    }

    fn mend(&self) {
        self.write(CONTENTS);
    }
}
