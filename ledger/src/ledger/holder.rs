//! The ledger of a shard or a rank belongs to the worker that opened it last, on whichever node that is (semantics rule 39).

use forebay_proto::v1::{Caller, Cause};

use super::{Ledger, ReturnedPositions, Worker, missing::seen_by};
use forebay_plan::EpochPart;

impl Ledger {
    /// The worker of another name that has the shard or rank, if the ledger is of one.
    pub(super) fn holder_beside(&self, worker: &str) -> Option<&Worker> {
        self.plan.part()?;
        self.workers.iter().find(|(name, _)| *name != worker).map(|(_, holder)| holder)
    }

    /// Takes a shard or rank from its holder, if that is another worker.
    pub(super) fn take_over(&mut self, worker: &str) {
        if self.plan.part().is_some() {
            self.forget_others(worker, Cause::DaemonDied);
        }
    }

    /// Forgets all workers but one.
    pub(super) fn forget_others(&mut self, stays: &str, cause: Cause) {
        let others: Vec<String> = self.workers.keys().filter(|name| *name != stays).cloned().collect();
        for name in others {
            self.forget(&name, cause);
        }
    }

    /// Forgets a worker that has not died. What it had may be granted at once, and none of its records is to blame.
    pub(super) fn forget(&mut self, worker: &str, cause: Cause) {
        let floor = self.progress().floor;
        let seen_until = self.seen_until(worker, floor);
        let gone = self.workers.remove(worker).unwrap_or_default();
        self.note(worker);
        for (id, held) in gone.leases {
            for (range, deaths) in held.parts() {
                self.insert_returned(ReturnedPositions {
                    deaths,
                    lease: id,
                    lease_start: held.lease.start,
                    worker: worker.to_owned(),
                    cause: seen_by(cause, held.lease.epoch, seen_until),
                    ..ReturnedPositions::unleased(held.lease.epoch, range)
                });
            }
        }
        self.dirty.workers.insert(worker.to_owned());
    }

    /// Why the ledger does not know a worker that speaks to it.
    pub(super) fn why_unknown(&self, Caller { ledger, worker, .. }: &Caller) -> String {
        let Some((part, (name, holder))) = self.plan.part().zip(self.workers.first_key_value()) else {
            return format!("Worker {worker:?} has not opened ledger {ledger:?}.");
        };
        let (what, key) = match part {
            EpochPart::Shard(shard) => (format!("Shard {} of {}", shard.shard_id, shard.num_shards), "shard_id"),
            EpochPart::Rank(rank) => (format!("Rank {} of {}", rank.rank, rank.world_size), "rank"),
        };
        format!(
            "{what} was opened later by node {name:?}, {}, which has it now. Node {worker:?} gets no more of it. If both have a \
             trainer, give each trainer a {key} of its own.",
            holder.whereabouts()
        )
    }
}
