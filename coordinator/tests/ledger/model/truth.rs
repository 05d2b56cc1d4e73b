//! What must be true of a ledger, as sets.

use std::collections::{BTreeMap, BTreeSet};

use forebay_coordinator::suite::{Invariant, LedgerObserver, Place};
use forebay_proto::v1::Lease;

use super::{Before, EPOCHS};
use crate::scene::Scene;

/// See the module.
#[derive(Clone, Default)]
pub(super) struct Truth {
    /// What is accounted for, and what live leases have.
    pub(super) observer: LedgerObserver,
    /// What filled no batch, and nobody has.
    pub(super) tails: BTreeSet<Place>,
    /// Leases that stand in published batches.
    pub(super) settled: BTreeSet<u64>,
    /// Leases of whole batches of tails.
    pub(super) whole: BTreeSet<u64>,
    /// Up to where each epoch was leased.
    issued: BTreeMap<u64, u64>,
}

impl Truth {
    /// The first epoch that is not complete.
    pub(super) fn floor(&self, scene: &Scene) -> u64 {
        self.observer.floor(EPOCHS, |epoch| scene.plan.epoch_len(epoch))
    }

    /// Whether a worker's lease has all of this.
    pub(super) fn owns(&self, who: usize, lease: &Lease, start: u64, end: u64) -> bool {
        let mut positions = lease.start + start..lease.start + end;
        positions.all(|position| self.observer.held().get(&(lease.epoch, position)) == Some(&(lease.id, who)))
    }

    pub(super) fn is_done(&self, place: &Place) -> bool {
        self.observer.done().contains(place)
    }

    /// A worker has nothing any more.
    pub(super) fn lose(&mut self, who: usize) {
        self.observer.keep(|_, _, owner| owner != who);
    }

    /// A worker was granted a lease: of positions that were leased before, or that are next in the order.
    pub(super) fn granted(&mut self, who: usize, lease: &Lease) {
        self.observer.granted(who, lease).unwrap();
        let issued = self.issued.entry(lease.epoch).or_default();
        let what = || format!("{lease:?} was granted when epoch {} was leased up to {issued}", lease.epoch);
        Invariant::Order.check(lease.start <= *issued, what).unwrap();
        *issued = lease.end.max(*issued);
    }

    /// How many positions were leased, and are not accounted for.
    pub(super) fn open(&self) -> u64 {
        self.issued.values().sum::<u64>() - self.observer.done().len() as u64
    }

    /// The ledger is where a state was taken, and nothing is out.
    pub(super) fn restore(&mut self, before: Before) {
        let mut observer = std::mem::take(&mut self.observer);
        observer.restored(before.done);
        *self = Self { observer, issued: before.issued, ..Self::default() };
    }
}
