//! What must be true of a ledger, as sets.

use std::collections::{BTreeMap, BTreeSet};

use super::EPOCHS;
use crate::scene::Scene;

/// See the module.
#[derive(Clone, Default)]
pub(super) struct Truth {
    /// Accounted for.
    pub(super) done: BTreeSet<(u64, u64)>,
    /// Positions that a live lease has: lease id and worker.
    pub(super) owner: BTreeMap<(u64, u64), (u64, usize)>,
    /// What filled no batch, and nobody has.
    pub(super) tails: BTreeSet<(u64, u64)>,
    /// Leases that stand in published batches.
    pub(super) settled: BTreeSet<u64>,
    /// Leases of whole batches of tails.
    pub(super) whole: BTreeSet<u64>,
}

impl Truth {
    /// The first epoch that is not complete.
    pub(super) fn floor(&self, scene: &Scene) -> u64 {
        (0..EPOCHS)
            .find(|&epoch| self.done.range((epoch, 0)..(epoch + 1, 0)).count() as u64 != scene.plan.epoch_len(epoch))
            .unwrap_or(EPOCHS)
    }
}
