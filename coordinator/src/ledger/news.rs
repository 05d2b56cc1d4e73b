//! What a ledger tells all workers that have it open: how far its epochs are, who has the last positions of one, whether
//! others wait for them, and whether the run has failed (semantics rules 34, 35 and 41).

use forebay_proto::v1::{LastHolder, LedgerNews};

use super::{Ledger, Worker};

/// Holders that are named. There may be many more, and each change is told to every worker.
const NAMED: usize = 8;

impl Ledger {
    /// The news of this moment.
    pub(crate) fn news(&mut self) -> LedgerNews {
        let progress = self.progress();
        let epoch = progress.floor;
        let mut holders: Vec<(u64, &String, &Worker)> = Vec::new();
        if progress.drained > epoch {
            let has = |(name, worker)| Some((Worker::first_lease(worker, epoch)?, name, worker));
            holders.extend(self.workers.iter().filter_map(has));
        }
        // First those that have had them for longest.
        holders.sort_unstable_by_key(|(lease, ..)| *lease);
        // Also while something of it can be leased again: that is for those who wait.
        let is_recalled = self.workers.values().any(|worker| worker.waits);
        let told = |(_, name, worker): &(u64, &String, &Worker)| LastHolder {
            worker: (*name).clone(),
            process: worker.process.clone(),
        };
        LedgerNews {
            progress: Some(progress),
            holders: holders.iter().take(NAMED).map(told).collect(),
            recalled: if is_recalled { epoch + 1 } else { 0 },
            failure: Some(self.failure.clone()),
            tails: self.epoch_of_tails().map_or(0, |epoch| epoch + 1),
        }
    }
}

impl Worker {
    /// The first of its leases that is of this epoch.
    pub(super) fn first_lease(&self, epoch: u64) -> Option<u64> {
        self.leases.values().find(|held| held.lease.epoch == epoch).map(|held| held.lease.id)
    }
}
