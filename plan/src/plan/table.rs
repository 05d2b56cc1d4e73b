//! The table that the order of some specs depends on beside the spec.

use std::sync::Arc;

use forebay_proto::v1::{ClassNumbers, GrainLengths, LedgerSpec};

use crate::classes::ClassTable;
use crate::grains::GrainTable;
use crate::spec::SpecError;

/// See the module. A spec has the digest of its table. If the spec selects records, the table is about these alone.
#[derive(Clone, Debug)]
pub enum OrderTable {
    /// Which records are read at once (semantics rule 56).
    Grains(Arc<GrainTable>),
    /// The class of each record (semantics rule 62).
    Classes(Arc<ClassTable>),
}

impl OrderTable {
    /// The table of a spec, as it is stored and sent.
    ///
    /// # Errors
    /// It is not a table of such a dataset.
    pub fn read(
        spec: &LedgerSpec,
        grains: Option<&GrainLengths>,
        classes: Option<&ClassNumbers>,
    ) -> Result<Option<Self>, SpecError> {
        if let (Some(numbers), Some(_)) = (classes, &spec.classes) {
            return Ok(Some(Self::Classes(Arc::new(ClassTable::of_spec(spec, numbers)?))));
        }
        let grains = grains.map(|lengths| GrainTable::from_lengths(lengths, spec.records)).transpose()?;
        Ok(grains.map(|table| Self::Grains(Arc::new(table))))
    }
}
