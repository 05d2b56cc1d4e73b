//! A fixture of the first records of another one.

use std::num::NonZeroU64;
use std::path::PathBuf;

use forebay_sources::{Options, ReadErrorKind};

use super::Fixture;
use crate::Opened;
use crate::limited::Limited;

/// All records of a fixture but the last two.
pub(super) struct Shortened(Box<dyn Fixture>);

impl Shortened {
    pub(super) fn boxed(of: Box<dyn Fixture>) -> Box<dyn Fixture> {
        Box::new(Self(of))
    }
}

impl Fixture for Shortened {
    fn files(&self) -> (PathBuf, String) {
        self.0.files()
    }

    fn open(&self, options: &Options) -> Opened {
        Ok(Limited::of(self.0.open(options)?, NonZeroU64::new(self.contents().len() as u64)))
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        let mut contents = self.0.contents();
        contents.truncate(contents.len() - 2);
        contents
    }

    fn spoil(&self, record: u64) -> ReadErrorKind {
        self.0.spoil(record)
    }

    fn grow(&self, record: u64) {
        self.0.grow(record);
    }

    fn touch(&self, record: u64) {
        self.0.touch(record);
    }

    fn mend(&self) {
        self.0.mend();
    }
}
