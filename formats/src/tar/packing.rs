//! What is known of the records of tars beside their places: the names of their members, the holes in some, and what is wrong
//! with some.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::types::UInt64Type;
use forebay_sources::{Options, Part};

use super::sparse::SparseMap;
use crate::archived::{MEMBER, member_name};
use crate::faults::Faults;
use crate::index_columns::{BadIndex, IndexColumns, NewColumns};
use crate::packed::{LENGTH, Packing, Span};
use crate::paths::RecordPaths;

/// The members that are records.
#[derive(Debug)]
pub(super) struct TarMembers {
    pub names: RecordPaths,
    /// Of the records that are stored without their holes.
    pub sparse: SparseMaps,
    pub faults: Faults,
}

/// The records that have holes.
pub(super) type SparseMaps = BTreeMap<u64, Box<SparseMap>>;

/// The column of an index with their maps.
const SPARSE: &str = "sparse";

impl TarMembers {
    pub(super) fn from_index(columns: &IndexColumns, _options: &Options) -> Result<Arc<dyn Packing>, BadIndex> {
        let stored = columns.numbers::<UInt64Type>(LENGTH)?;
        let mut sparse = BTreeMap::new();
        for (record, text) in columns.texts(SPARSE)? {
            let len = usize::try_from(record).ok().and_then(|place| stored.get(place)).unwrap_or(0);
            let map = SparseMap::parse(&text, len);
            let map = map.ok_or_else(|| BadIndex(format!("record {record} cannot have such holes")))?;
            sparse.insert(record, Box::new(map));
        }
        Ok(Arc::new(Self { names: columns.paths(MEMBER)?, sparse, faults: columns.faults()? }))
    }
}

impl Packing for TarMembers {
    fn fault(&self, record: u64) -> Option<&str> {
        self.faults.get(record)
    }

    fn content_len(&self, record: u64, span: &Span) -> u64 {
        self.sparse.get(&record).map_or(span.len, |map| map.len())
    }

    fn unpack(&self, record: u64, _head: &[u8], stored: &mut Vec<u8>) -> Result<(), String> {
        self.sparse.get(&record).map_or(Ok(()), |map| map.expand(stored))
    }

    fn is_plain(&self) -> bool {
        self.sparse.is_empty()
    }

    fn digest(&self, part: &mut dyn FnMut(&[u8])) {
        for (record, map) in &self.sparse {
            part(b"sparse");
            part(&record.to_le_bytes());
            part(map.to_string().as_bytes());
        }
    }

    fn add_to_index(&mut self, columns: &mut NewColumns) {
        let records = self.names.len();
        columns.paths(MEMBER, self.names.memory());
        if !self.sparse.is_empty() {
            columns.texts(SPARSE, records, |record| self.sparse.get(&record).map(ToString::to_string));
        }
    }

    fn part(&self, record: u64, _span: &Span) -> Part {
        Part::Member(member_name(&self.names, record))
    }
}
