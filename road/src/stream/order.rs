//! The order of a stream's epochs, as its ledger and its stages have to know it.

use std::sync::Arc;

use forebay_coordinator::{GRAIN_PERMUTATION, GrainTable, PERMUTATION, Plan, SpecError};
use forebay_proto::v1::{LedgerSpec, StaticShard};
use forebay_sources::{Grains, Source};

use crate::settings::{Shuffle, StreamSettings};

/// A spec, and the table of grains that it is about.
#[derive(Debug)]
pub(super) struct StreamOrder {
    pub spec: LedgerSpec,
    pub grains: Option<Arc<GrainTable>>,
}

impl StreamOrder {
    /// The order of one shard of a dataset, or of all of it.
    ///
    /// # Errors
    /// The dataset has too many grains.
    pub(super) fn new(
        source: &dyn Source,
        settings: &StreamSettings,
        shard: Option<StaticShard>,
    ) -> Result<Self, SpecError> {
        let records = source.len();
        let spec = LedgerSpec {
            fingerprint: source.fingerprint().to_vec(),
            records,
            shuffle: settings.shuffle.is_on(),
            seed: settings.seed,
            permutation: PERMUTATION,
            shard,
            grains: None,
        };
        let (starts, window) = match (settings.shuffle, source.grains()) {
            // Where each record is a grain, the permutation of records is that of grains.
            (Shuffle::Grains { window }, Grains::Starts(starts)) if (starts.len() as u64) < records => (starts, window),
            _ => return Ok(Self { spec, grains: None }),
        };
        let table = Arc::new(GrainTable::new(starts, records)?);
        let grains = Some(table.order(window.get()));
        Ok(Self { spec: LedgerSpec { permutation: GRAIN_PERMUTATION, grains, ..spec }, grains: Some(table) })
    }

    /// Which record has which position.
    ///
    /// # Errors
    /// No ledger can have the spec.
    pub(super) fn plan(&self) -> Result<Plan, SpecError> {
        Plan::with_grains(&self.spec, self.grains.clone())
    }
}
