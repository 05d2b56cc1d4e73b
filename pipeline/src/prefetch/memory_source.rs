//! A source in memory, for tests. Each record is its own number as one byte. Its column `tally` has that byte up to three
//! times.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel as channel;
use forebay_columns::{Column, ColumnType, Field, Schema, Table};
use forebay_sources::{Locator, ReadError, ReadErrorKind, Source};
use parking_lot::Mutex;

use super::loaded::Loaded;
use super::{Buffer, Prefetch, ReadAheadSettings};

#[derive(Debug)]
pub(crate) struct MemorySource {
    len: u64,
    missing: Vec<u64>,
    /// Records that the storage does not give.
    failing: Vec<u64>,
    /// The record whose label cannot be read from the dataset's index, and whether that was found.
    unlabelled: (Option<u64>, AtomicBool),
    targets: Table,
    /// Reads of these records wait until the other end is dropped.
    shut: Mutex<HashMap<u64, channel::Receiver<()>>>,
    /// Records whose read has begun.
    begun: (channel::Sender<u64>, channel::Receiver<u64>),
}

impl MemorySource {
    pub(crate) fn new(len: u64) -> Self {
        let mut tally = Column::new(ColumnType::text());
        (0..len).for_each(|record| tally.push(&Self::tally(record)));
        let schema = Schema::try_new(vec![Field::new("tally", ColumnType::text())]).unwrap();
        let targets = Table::try_new(schema, vec![tally], usize::try_from(len).unwrap()).unwrap();
        Self {
            len,
            missing: Vec::new(),
            failing: Vec::new(),
            unlabelled: (None, AtomicBool::new(false)),
            targets,
            shut: Mutex::default(),
            begun: channel::unbounded(),
        }
    }

    pub(crate) fn without(mut self, missing: &[u64]) -> Self {
        self.missing = missing.to_vec();
        self
    }

    /// With these columns, in place of `tally`.
    pub(crate) fn with_targets(self, targets: Table) -> Self {
        Self { targets, ..self }
    }

    pub(crate) fn failing(mut self, failing: &[u64]) -> Self {
        self.failing = failing.to_vec();
        self
    }

    /// The dataset fails when the label of this record is looked up.
    pub(crate) fn failing_at_label(mut self, record: u64) -> Self {
        self.unlabelled.0 = Some(record);
        self
    }

    /// Reads of this record wait until the answer is dropped.
    pub(crate) fn shut(&self, record: u64) -> channel::Sender<()> {
        let (opener, shut) = channel::bounded(0);
        self.shut.lock().insert(record, shut);
        opener
    }

    /// What a record has in its column.
    pub(crate) fn tally(record: u64) -> Vec<u8> {
        let byte = record.to_le_bytes()[0];
        vec![byte; usize::from(byte % 4)]
    }

    /// Reads that have begun, unless the test has waited for some.
    pub(crate) fn reads(&self) -> usize {
        self.begun.1.len()
    }

    /// Waits until a read of this record has begun.
    pub(crate) fn begun(&self, record: u64) {
        while self.begun.1.recv().unwrap() != record {}
    }
}

/// A record's content, of these bytes, as the prefetch gives it.
pub(crate) fn read(bytes: Vec<u8>) -> Buffer {
    let settings = ReadAheadSettings { threads: 1, requests: 1, budget: 1, read_timeout: Duration::from_secs(60) };
    let prefetch = Prefetch::start(Arc::new(MemorySource::new(0)), None, None, None, settings, 0).unwrap();
    Buffer::new(Loaded::Read(bytes), 0, Arc::clone(&prefetch.shared))
}

impl Source for MemorySource {
    fn len(&self) -> u64 {
        self.len
    }

    fn classes(&self) -> &[String] {
        &[]
    }

    fn failure(&self) -> Option<String> {
        self.unlabelled.1.load(Ordering::Relaxed).then(|| "The index is cut.".to_owned())
    }

    fn label(&self, record: u64) -> i64 {
        if self.unlabelled.0 == Some(record) {
            self.unlabelled.1.store(true, Ordering::Relaxed);
            return 0;
        }
        i64::try_from(record).unwrap() * 10
    }

    fn locator(&self, record: u64) -> Locator {
        Locator::file(format!("{record}.jpg"))
    }

    fn size(&self, _record: u64) -> u64 {
        1
    }

    fn read(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        buf.clear();
        self.begun.0.send(record).unwrap();
        let shut = self.shut.lock().get(&record).cloned();
        if let Some(shut) = shut {
            // The other end is never written to: this returns when it is dropped.
            shut.recv().unwrap_err();
        }
        let wrong = match room {
            _ if self.missing.contains(&record) => Some(ReadErrorKind::Missing),
            _ if self.failing.contains(&record) => Some(ReadErrorKind::Storage),
            _ => ReadErrorKind::of_size(1, 1, room),
        };
        if let Some(kind) = wrong {
            return Err(ReadError::new(kind, self.locator(record)));
        }
        buf.push(u8::try_from(record).unwrap());
        Ok(())
    }

    fn fingerprint(&self) -> [u8; 32] {
        [0; 32]
    }

    fn targets(&self) -> &Table {
        &self.targets
    }

    fn shard_name(&self, _record: u64) -> &'static str {
        "shelf"
    }
}
