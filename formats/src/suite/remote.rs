//! The fixture for objects: what another fixture writes to a folder, served by a store.

use std::path::PathBuf;

use forebay_sources::{Options, ReadErrorKind};

use super::Fixture;
use crate::tests::loopback::{Changes, Loopback};

/// Another fixture's dataset, in a store.
pub(super) struct Remote {
    fixture: Box<dyn Fixture>,
    store: Loopback,
    /// Its URL, with its scheme.
    url: String,
}

impl Remote {
    /// A store whose objects have `ETag`s.
    pub(super) fn of(fixture: Box<dyn Fixture>) -> Box<dyn Fixture> {
        Self::with(fixture, Changes::Tagged)
    }

    /// A store that does not say whether an object has changed, so that damage inside one is damage.
    pub(super) fn untagged(fixture: Box<dyn Fixture>) -> Box<dyn Fixture> {
        Self::with(fixture, Changes::Untagged)
    }

    fn with(fixture: Box<dyn Fixture>, changes: Changes) -> Box<dyn Fixture> {
        let (folder, name) = fixture.files();
        let store = Loopback::of(&folder, changes);
        let url = format!("s3://data/{name}");
        Box::new(Self { fixture, store, url })
    }
}

impl Fixture for Remote {
    fn files(&self) -> (PathBuf, String) {
        self.fixture.files()
    }

    fn own(&self, options: &Options) -> Options {
        self.store.options(&self.fixture.own(options))
    }

    fn dataset(&self, options: &Options) -> (String, Options) {
        (self.url.clone(), self.own(options))
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        self.fixture.contents()
    }

    fn spoil(&self, record: u64) -> ReadErrorKind {
        self.fixture.spoil(record)
    }

    fn grow(&self, record: u64) {
        self.fixture.grow(record);
    }

    fn touch(&self, record: u64) {
        self.fixture.touch(record);
    }

    fn mend(&self) {
        self.fixture.mend();
    }
}
