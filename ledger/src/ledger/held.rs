//! Leases as tasks: whose they are, whether one would be granted now, and whether they end where grains end.

use std::ops::Range;

use forebay_proto::v1::{self, Cause, Lease};

use super::Ledger;

/// Positions that were leased and are not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeldPositions {
    /// Who has them, or had them last.
    pub(crate) worker: String,
    pub(crate) epoch: u64,
    pub(crate) positions: Range<u64>,
    /// The same, counted from where the lease began.
    pub(crate) range: v1::Range,
    /// A worker has them. Otherwise they were returned, and nobody else has got them since.
    pub(crate) is_out: bool,
}

impl Ledger {
    /// From now on, each fresh lease is a whole grain.
    pub(crate) const fn lease_whole_grains(&mut self) {
        self.whole_grains = true;
    }

    /// Where the fresh lease at the cursor ends.
    pub(super) fn fresh_end(&self) -> u64 {
        let (epoch, cursor) = (self.cursor_epoch, self.cursor);
        if self.whole_grains
            && let Some((places, _)) = self.plan.grain_at(epoch, cursor)
        {
            return places.end;
        }
        (cursor / self.shard_size + 1).saturating_mul(self.shard_size).min(self.leasable(epoch))
    }

    /// All leases that are out, with their workers.
    pub(crate) fn leases(&self) -> impl Iterator<Item = (&str, &Lease)> {
        self.workers.iter().flat_map(|(name, worker)| worker.leases.values().map(|held| (&**name, &held.lease)))
    }

    /// The leases of a worker.
    pub(crate) fn leases_of(&self, worker: &str) -> impl Iterator<Item = &Lease> {
        self.workers.get(worker).into_iter().flat_map(|known| known.leases.values().map(|held| &held.lease))
    }

    /// What is open of a lease is given to a second reader as well, so its records may be repeated.
    pub(crate) fn may_repeat(&mut self, worker: &str, lease: &Lease, cause: Cause) {
        self.count_repeats(lease.epoch, &(lease.start..lease.end), cause);
        self.note_leases_of(worker);
    }

    /// Whether a worker has a lease.
    pub(crate) fn has_leases(&self, worker: &str) -> bool {
        self.workers.get(worker).is_some_and(|known| !known.leases.is_empty())
    }

    /// The incarnation of a worker; 0 for one that is not known.
    pub(crate) fn incarnation(&self, worker: &str) -> u64 {
        self.workers.get(worker).map_or(0, |known| known.incarnation)
    }

    /// What a lease has, if it is out, or what it had and nobody else has got since.
    pub(crate) fn held(&self, lease: u64) -> Option<HeldPositions> {
        let holder = self.index.holder(lease);
        let out = holder.and_then(|name| Some((name, self.workers.get(&**name)?.leases.get(&lease)?.lease)));
        let out = out.map(|(worker, out)| HeldPositions {
            worker: worker.to_string(),
            epoch: out.epoch,
            positions: out.start..out.end,
            range: v1::Range { start: 0, end: out.end - out.start },
            is_out: true,
        });
        let back = || self.returned.iter().find(|back| back.lease == lease && lease != 0);
        out.or_else(|| {
            back().map(|back| HeldPositions {
                worker: back.worker.clone(),
                epoch: back.epoch,
                positions: back.start..back.end,
                range: v1::Range {
                    start: back.start.saturating_sub(back.lease_start),
                    end: back.end.saturating_sub(back.lease_start),
                },
                is_out: false,
            })
        })
    }

    /// Notes that the leases of a worker have changed by a command that is none of its own.
    pub(crate) fn note_leases_of(&mut self, worker: &str) {
        self.dirty.workers.insert(worker.to_owned());
    }

    /// Whether a worker that asks now gets a lease, or hears that there will be none.
    pub(crate) fn has_answer(&mut self) -> bool {
        self.settle();
        self.fresh() || !self.returned.is_empty() || (self.exhausted() && self.first_open().is_none())
    }

    /// Epochs of which a position was leased.
    pub(crate) const fn begun(&self) -> u64 {
        self.cursor_epoch + (self.cursor > 0) as u64
    }

    /// Total number of epochs; 0 is without end.
    pub(crate) const fn epochs(&self) -> u64 {
        self.epochs
    }

    /// Changes the total number of epochs, which is no part of the spec.
    pub(crate) fn set_epochs(&mut self, epochs: u64) {
        if self.epochs != epochs {
            self.epochs = epochs;
            self.touch();
            self.settle();
        }
    }

    /// Id of the next lease.
    pub(crate) const fn next_lease(&self) -> u64 {
        self.next_lease
    }
}
