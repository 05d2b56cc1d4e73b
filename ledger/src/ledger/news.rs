//! What a ledger tells all workers that have it open: how far its epochs are, who has the last positions of one, whether
//! others wait for them, and whether the run has failed (semantics rules 34, 35 and 41).

use forebay_proto::v1::{LastHolder, LedgerNews};

use super::Ledger;

/// Holders that are named. There may be many more, and each change is told to every worker.
const NAMED: usize = 8;

impl Ledger {
    /// The news of this moment.
    pub(crate) fn news(&mut self) -> LedgerNews {
        let progress = self.progress();
        let epoch = progress.floor;
        // First those that have had them for longest.
        let named = if progress.drained > epoch { NAMED } else { 0 };
        let holders = self.index.holders_of(epoch).take(named).map(|name| LastHolder {
            worker: name.to_string(),
            process: self.workers.get(&**name).and_then(|worker| worker.process.clone()),
        });
        // Also while something of it can be leased again: that is for those who wait.
        let is_recalled = self.index.is_one_waiting();
        LedgerNews {
            progress: Some(progress),
            holders: holders.collect(),
            recalled: if is_recalled { epoch + 1 } else { 0 },
            failure: Some(self.failure.clone()),
            tails: self.epoch_of_tails().map_or(0, |epoch| epoch + 1),
        }
    }
}
