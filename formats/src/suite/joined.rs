//! A fixture of two sources that are one dataset.

use std::path::PathBuf;

use forebay_sources::{Options, ReadErrorKind};

use super::Fixture;
use crate::Opened;
use crate::several::Several;

/// Two fixtures, the records of one behind those of the other.
pub(super) struct Joined {
    first: Box<dyn Fixture>,
    second: Box<dyn Fixture>,
}

impl Joined {
    pub(super) fn boxed(first: Box<dyn Fixture>, second: Box<dyn Fixture>) -> Box<dyn Fixture> {
        Box::new(Self { first, second })
    }

    /// The fixture of a record, and the record's number in it.
    fn part(&self, record: u64) -> (&dyn Fixture, u64) {
        let first = self.first.contents().len() as u64;
        if record < first { (&*self.first, record) } else { (&*self.second, record - first) }
    }
}

impl Fixture for Joined {
    fn files(&self) -> (PathBuf, String) {
        unreachable!("its sources have a folder each, and no fixture puts both into a store")
    }

    fn open(&self, options: &Options) -> Opened {
        let parts = vec![self.first.open(options)?, self.second.open(options)?];
        Ok(Box::new(Several::new(&["first".into(), "second".into()], parts, true)?))
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        [self.first.contents(), self.second.contents()].concat()
    }

    fn spoil(&self, record: u64) -> ReadErrorKind {
        let (part, own) = self.part(record);
        part.spoil(own)
    }

    fn grow(&self, record: u64) {
        let (part, own) = self.part(record);
        part.grow(own);
    }

    fn touch(&self, record: u64) {
        let (part, own) = self.part(record);
        part.touch(own);
    }

    fn mend(&self) {
        self.first.mend();
        self.second.mend();
    }
}
