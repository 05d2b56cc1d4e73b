//! What must be true of a ledger, as sets.

use std::collections::BTreeSet;

use forebay_coordinator::suite::{Place, Witness};
use forebay_proto::v1::Lease;

use super::EPOCHS;
use crate::scene::Scene;

/// See the module.
#[derive(Clone, Default)]
pub(super) struct Truth {
    /// What is accounted for, and what live leases have.
    pub(super) witness: Witness,
    /// What filled no batch, and nobody has.
    pub(super) tails: BTreeSet<Place>,
    /// Leases that stand in published batches.
    pub(super) settled: BTreeSet<u64>,
    /// Leases of whole batches of tails.
    pub(super) whole: BTreeSet<u64>,
}

impl Truth {
    /// The first epoch that is not complete.
    pub(super) fn floor(&self, scene: &Scene) -> u64 {
        self.witness.floor(EPOCHS, |epoch| scene.plan.epoch_len(epoch))
    }

    /// Whether a worker's lease has all of this.
    pub(super) fn owns(&self, who: usize, lease: &Lease, start: u64, end: u64) -> bool {
        let mut positions = lease.start + start..lease.start + end;
        positions.all(|position| self.witness.held().get(&(lease.epoch, position)) == Some(&(lease.id, who)))
    }

    pub(super) fn is_done(&self, place: &Place) -> bool {
        self.witness.done().contains(place)
    }

    /// A worker has nothing any more.
    pub(super) fn lose(&mut self, who: usize) {
        self.witness.keep(|_, _, owner| owner != who);
    }

    /// The ledger is where these were accounted for, and nothing was out.
    pub(super) fn restore(&mut self, done: BTreeSet<Place>) {
        self.witness.restored(done);
        *self = Self { witness: std::mem::take(&mut self.witness), ..Self::default() };
    }
}
