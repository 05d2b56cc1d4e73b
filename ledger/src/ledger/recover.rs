//! Going on from a snapshot of the store, after the store was lost. What was committed since then is not known.

use forebay_proto::v1::Recovery;

use super::{Ledger, ReturnedPositions, first_lease, worker_index::WorkerIndex};
use forebay_plan::MAX_EPOCH;

/// Recoveries that are remembered.
const REMEMBERED: usize = 16;
/// By how much the generation rises. Restores may have raised it since the snapshot, each by one, and a daemon that has heard
/// of them takes no news of an older generation.
const STRIDE: u64 = 1 << 16;

impl Ledger {
    /// Goes on from a snapshot that was taken at this second since 1970. Nobody has a lease any more, and no lease gets an id
    /// that one may have had since the snapshot: `origin` is new with each recovery.
    ///
    /// Workers stay, so a daemon that lives goes on without the leases that it had.
    pub(crate) fn recover(&mut self, taken: u64, origin: &[u8]) {
        let mut open: Vec<_> = {
            let returned = std::mem::take(&mut self.returned).into_iter().chain(std::mem::take(&mut self.tails));
            returned.map(|back| fenced(&back)).collect()
        };
        self.abandoned.0.clear();
        for (name, worker) in &mut self.workers {
            let leases = std::mem::take(&mut worker.leases);
            // Others may have come since the snapshot.
            let named = worker.trainers.take();
            if !leases.is_empty() || named.is_some() {
                self.dirty.workers.insert(name.clone());
            }
            for held in leases.into_values() {
                let position = |(span, deaths)| ReturnedPositions {
                    deaths,
                    ..ReturnedPositions::unleased(held.lease.epoch, span)
                };
                open.extend(held.parts().map(position));
            }
        }
        self.index = WorkerIndex::of(&self.workers);
        self.insert_all_returned(open);
        self.forget_shares();
        self.generation = (self.generation / STRIDE + 1).saturating_mul(STRIDE).min(MAX_EPOCH);
        self.next_lease = first_lease(origin);
        self.recoveries.push(Recovery { generation: self.generation, taken });
        let forgotten = self.recoveries.len().saturating_sub(REMEMBERED);
        self.recoveries.drain(..forgotten);
        self.touch();
        self.settle();
    }
}

/// No receipt of the lease that it was in counts any more.
fn fenced(returned: &ReturnedPositions) -> ReturnedPositions {
    let &ReturnedPositions { epoch, start, end, deaths, cause, .. } = returned;
    ReturnedPositions { deaths, cause, ..ReturnedPositions::unleased(epoch, start..end) }
}
