//! How a ledger came to be where it is: the states that trainers have loaded, and the recoveries from a lost store. Its
//! generation rises with each of them, so that no worker takes an old update for a new one.

use forebay_plan::MAX_EPOCH;
use forebay_proto::v1::{Recovery, StoredHead};

use super::documents::Revision;
use super::loads::Loads;

/// Recoveries that are remembered.
const REMEMBERED: usize = 16;
/// By how much a recovery raises the generation. Restores may have raised it since the snapshot, each by one, and a daemon that
/// has heard of them takes no update of an older generation.
const STRIDE: u64 = 1 << 16;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Lineage {
    generation: u64,
    /// In lockstep: the generation of its segment; 0 for the first one.
    segment: u64,
    loads: Loads,
    /// The last times that the ledger was lost and recovered from a snapshot of its store.
    recoveries: Vec<Recovery>,
    pub(super) revision: Revision,
}

impl Lineage {
    /// That of a fresh ledger.
    pub(super) fn new() -> Self {
        Self {
            generation: 1,
            segment: 0,
            loads: Loads::default(),
            recoveries: Vec::new(),
            revision: Revision::default(),
        }
    }

    /// From the head of a stored ledger.
    pub(super) fn load(head: &StoredHead) -> Self {
        Self {
            generation: head.generation,
            segment: head.segment,
            loads: Loads::of(head.loads.clone(), head.loaded.clone()),
            recoveries: head.recoveries.clone(),
            revision: Revision::default(),
        }
    }

    pub(super) fn fill_head(&self, head: &mut StoredHead) {
        (head.generation, head.segment) = (self.generation, self.segment);
        head.recoveries.clone_from(&self.recoveries);
        (head.loads, head.loaded) = self.loads.stored();
    }

    /// Rises with every restore and recovery.
    pub(super) const fn generation(&self) -> u64 {
        self.generation
    }

    /// The generation of its segment.
    pub(super) fn segment(&self) -> u64 {
        self.segment.max(1)
    }

    pub(super) fn recoveries(&self) -> &[Recovery] {
        &self.recoveries
    }

    pub(super) const fn loads(&self) -> &Loads {
        &self.loads
    }

    /// The loads, to be changed.
    pub(super) const fn loads_mut(&mut self) -> &mut Loads {
        self.revision.rise();
        &mut self.loads
    }

    /// The ledger continues at another place of the run. Its generation rises above its own and above this one.
    pub(super) fn advance_behind(&mut self, generation: u64) {
        self.generation = self.generation.max(generation) + 1;
        self.revision.rise();
    }

    /// The ledger becomes one of a segment.
    pub(super) const fn begin_segment(&mut self, segment: u64) {
        self.segment = segment;
        self.revision.rise();
    }

    /// The ledger continues from a snapshot of the store that was taken at this second since 1970.
    pub(super) fn recover(&mut self, taken: u64) {
        self.generation = (self.generation / STRIDE + 1).saturating_mul(STRIDE).min(MAX_EPOCH);
        self.recoveries.push(Recovery { generation: self.generation, taken });
        let forgotten = self.recoveries.len().saturating_sub(REMEMBERED);
        self.recoveries.drain(..forgotten);
        self.revision.rise();
    }
}
