//! A dataset of which only some records can be read: those that were read before.

use std::collections::BTreeMap;

use forebay_columns::Table;
use forebay_sources::{Grains, Locator, MaskColumn, Member, ReadError, Selection, Sizes, Source};

use crate::verify::read;

#[derive(Debug)]
pub(super) struct ReadBefore {
    source: Box<dyn Source>,
    /// The bytes of each, or why it cannot be read.
    records: BTreeMap<u64, Result<Vec<u8>, String>>,
}

impl ReadBefore {
    /// Reads these records.
    pub(super) fn new(source: Box<dyn Source>, turns: &[(u64, u16)]) -> Self {
        let mut records = BTreeMap::new();
        for (record, _) in turns.iter().filter(|(record, _)| *record < source.len()) {
            let mut bytes = Vec::new();
            let done = read(source.as_ref(), *record, &mut bytes);
            records.insert(*record, done.map(|()| bytes).map_err(|error| error.to_string()));
        }
        Self { source, records }
    }
}

impl Source for ReadBefore {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn classes(&self) -> &[String] {
        self.source.classes()
    }

    fn label(&self, record: u64) -> i64 {
        self.source.label(record)
    }

    fn locator(&self, record: u64) -> Locator {
        self.source.locator(record)
    }

    fn size(&self, record: u64) -> u64 {
        self.source.size(record)
    }

    fn read(&self, record: u64, _room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        buf.clear();
        match self.records.get(&record) {
            Some(Ok(bytes)) => buf.extend_from_slice(bytes),
            Some(Err(why)) => return Err(ReadError::damaged(self.locator(record), why.clone())),
            None => return Err(ReadError::damaged(self.locator(record), "it was not asked for")),
        }
        Ok(())
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.source.fingerprint()
    }

    fn targets(&self) -> &Table {
        self.source.targets()
    }

    fn masks(&self) -> &[MaskColumn] {
        self.source.masks()
    }

    fn grains(&self) -> Grains<'_> {
        self.source.grains()
    }

    // Which records are selected, and of which source they are, decides in which bucket a batch shows a record.
    fn selection(&self) -> Option<&Selection> {
        self.source.selection()
    }

    fn members(&self) -> &[Member] {
        self.source.members()
    }

    fn sizes(&self) -> Sizes {
        self.source.sizes()
    }

    fn shard_name(&self, record: u64) -> &str {
        self.source.shard_name(record)
    }
}
