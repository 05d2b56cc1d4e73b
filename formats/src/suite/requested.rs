//! A fixture whose records are read by requests. So the suite checks that requests and reads give the same.

use std::mem;
use std::path::PathBuf;
use std::sync::mpsc;

use forebay_columns::Table;
use forebay_sources::{Grains, Locator, Options, ReadError, ReadErrorKind, Reading, Request, Source};

use super::Fixture;
use crate::Opened;

/// The same dataset, of which each read is a request that is waited for.
pub(super) struct Requested<'a>(pub &'a dyn Fixture);

#[derive(Debug)]
struct RequestedSource(Box<dyn Source>);

impl Fixture for Requested<'_> {
    fn files(&self) -> (PathBuf, String) {
        self.0.files()
    }

    fn dataset(&self, options: &Options) -> (String, Options) {
        self.0.dataset(options)
    }

    fn open(&self, options: &Options) -> Opened {
        Ok(Box::new(RequestedSource(self.0.open(options)?)))
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        self.0.contents()
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

impl Source for RequestedSource {
    fn read(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        let (sender, answers) = mpsc::channel();
        let done = move |buf, read| sender.send((buf, read)).unwrap();
        self.0.request(Request::new(record, room, mem::take(buf), self.locator(record), done));
        let (answered, read) = answers.recv().unwrap();
        *buf = answered;
        read
    }

    fn reading(&self) -> Reading {
        self.0.reading()
    }

    fn len(&self) -> u64 {
        self.0.len()
    }

    fn classes(&self) -> &[String] {
        self.0.classes()
    }

    fn label(&self, record: u64) -> i64 {
        self.0.label(record)
    }

    fn locator(&self, record: u64) -> Locator {
        self.0.locator(record)
    }

    fn size(&self, record: u64) -> u64 {
        self.0.size(record)
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.0.fingerprint()
    }

    fn targets(&self) -> &Table {
        self.0.targets()
    }

    fn grains(&self) -> Grains<'_> {
        self.0.grains()
    }

    fn shard_name(&self, record: u64) -> &str {
        self.0.shard_name(record)
    }
}
