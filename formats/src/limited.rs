//! The first records of a dataset, as a dataset.

#[cfg(test)]
mod tests;

use std::num::NonZeroU64;

use forebay_columns::Table;
use forebay_sources::{
    Grains, Locator, MaskColumn, Options, Oversight, PointFiles, ReadError, Reading, Request, Sizes, Source,
    SourceError,
};

use crate::option_key::OptionKey;

/// The option that all schemes have. An index is of the whole dataset, whatever its value is.
pub(super) const LIMIT: OptionKey = OptionKey { name: "limit", help: "the number of records, from the first" };

/// The first records of another source.
#[derive(Debug)]
pub(super) struct Limited {
    inner: Box<dyn Source>,
    records: u64,
    targets: Table,
    fingerprint: [u8; 32],
}

/// Takes the limit from the options.
///
/// # Errors
/// It is no number above 0.
pub(super) fn take(options: &mut Options) -> Result<Option<NonZeroU64>, SourceError> {
    let Some(value) = options.own.get(LIMIT.name) else { return Ok(None) };
    let limit = value.parse().map_err(|_| SourceError::bad_option(LIMIT.name, value, "a whole number above 0"))?;
    options.own = options.own.without(LIMIT.name);
    Ok(Some(limit))
}

impl Limited {
    /// The first `limit` records, or the source itself if it has no more.
    pub(super) fn of(inner: Box<dyn Source>, limit: Option<NonZeroU64>) -> Box<dyn Source> {
        match limit.map(NonZeroU64::get) {
            Some(records) if records < inner.len() => Box::new(Self::new(inner, records)),
            _ => inner,
        }
    }

    fn new(mut inner: Box<dyn Source>, records: u64) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("forebay limited source 1");
        hasher.update(&inner.fingerprint());
        hasher.update(&records.to_le_bytes());
        let targets = inner.take_targets().first(usize::try_from(records).unwrap_or(usize::MAX));
        Self { records, targets, fingerprint: hasher.finalize().into(), inner }
    }

    fn own(&self, record: u64) -> u64 {
        assert!(record < self.records, "record {record} of {}", self.records);
        record
    }
}

impl Source for Limited {
    fn len(&self) -> u64 {
        self.records
    }

    fn failure(&self) -> Option<String> {
        self.inner.failure()
    }

    /// All of them: a label has the same number whatever the limit is.
    fn classes(&self) -> &[String] {
        self.inner.classes()
    }

    fn label(&self, record: u64) -> i64 {
        self.inner.label(self.own(record))
    }

    fn locator(&self, record: u64) -> Locator {
        self.inner.locator(self.own(record))
    }

    fn size(&self, record: u64) -> u64 {
        self.inner.size(self.own(record))
    }

    fn read(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        self.inner.read(self.own(record), room, buf)
    }

    fn reading(&self) -> Reading {
        self.inner.reading()
    }

    fn request(&self, mut request: Request) {
        request.record = self.own(request.record);
        self.inner.request(request);
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    fn targets(&self) -> &Table {
        &self.targets
    }

    fn take_targets(&mut self) -> Table {
        std::mem::take(&mut self.targets)
    }

    fn masks(&self) -> &[MaskColumn] {
        self.inner.masks()
    }

    /// The last grain may be cut.
    fn grains(&self) -> Grains<'_> {
        match self.inner.grains() {
            Grains::Records => Grains::Records,
            Grains::Starts(starts) => Grains::Starts(&starts[..starts.partition_point(|start| *start < self.records)]),
        }
    }

    fn point_files(&self) -> PointFiles {
        self.inner.point_files().first(self.records)
    }

    fn sizes(&self) -> Sizes {
        self.inner.sizes().first(self.records)
    }

    fn oversights(&self) -> Vec<Oversight> {
        self.inner.oversights()
    }

    fn shard_name(&self, record: u64) -> &str {
        self.inner.shard_name(self.own(record))
    }
}
