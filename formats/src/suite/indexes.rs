//! The fixture for indexes: another fixture's dataset, opened from an index that is made each time.

use std::path::PathBuf;

use forebay_sources::{IndexChoice, Options, ReadErrorKind};
use tempfile::TempDir;

use super::Fixture;
use crate::make_index;

/// A dataset with an index elsewhere.
pub(super) struct Indexes {
    of: Box<dyn Fixture>,
    dir: TempDir,
}

impl Indexes {
    /// Nothing if the dataset's format has no index.
    pub(super) fn of(of: Box<dyn Fixture>) -> Option<Self> {
        let indexes = Self { of, dir: tempfile::tempdir().unwrap() };
        let (name, options) = indexes.of.dataset(&Options::default());
        match make_index(&name, &options, Some(&indexes.dir.path().join("x.arrow")), false) {
            Ok(report) => {
                assert!(report.is_new && report.records == indexes.contents().len() as u64);
                Some(indexes)
            }
            Err(error) => {
                assert!(error.to_string().contains("cannot have an index"), "{error}");
                None
            }
        }
    }

    /// The dataset without an index.
    pub(super) fn scanned(&self) -> &dyn Fixture {
        &*self.of
    }
}

impl Fixture for Indexes {
    fn files(&self) -> (PathBuf, String) {
        self.of.files()
    }

    fn dataset(&self, options: &Options) -> (String, Options) {
        let (name, options) = self.of.dataset(options);
        let file = self.dir.path().join("x.arrow");
        make_index(&name, &options, Some(&file), true).unwrap();
        (name, Options { index: IndexChoice::File(file), ..options })
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        self.of.contents()
    }

    fn spoil(&self, record: u64) -> ReadErrorKind {
        self.of.spoil(record)
    }

    fn grow(&self, record: u64) {
        self.of.grow(record);
    }

    fn touch(&self, record: u64) {
        self.of.touch(record);
    }

    fn mend(&self) {
        self.of.mend();
    }
}
