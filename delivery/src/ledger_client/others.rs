//! What a worker knows of the other workers of its ledger: who has the last leases of an epoch, and who waits for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forebay_proto::v1::LedgerUpdate;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::ledger_event::Others;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct OtherWorkers {
    known: Mutex<Others>,
    /// Trainers of this worker wait for what others have.
    waiting: Arc<AtomicBool>,
    /// The coordinator was told so last.
    said: AtomicBool,
    /// Epochs below this one are others'.
    recalled: watch::Sender<u64>,
    /// Tails of epochs below this one can be leased.
    tails: watch::Sender<u64>,
}

impl OtherWorkers {
    /// Hears an update, as the worker of this name. Gives what it tells of the others if that has changed.
    pub(super) fn hear(&self, update: LedgerUpdate, name: &str) -> Option<Others> {
        self.tails.send_if_modified(|known| std::mem::replace(known, update.tails) != update.tails);
        let mut holders = update.holders;
        holders.retain(|holder| holder.worker != name);
        // Who waits as well keeps what it has: that is on its way to its own trainers. What was recalled for them is theirs too.
        let waits = self.waiting.load(Ordering::Relaxed) || self.said.load(Ordering::Relaxed);
        let recalled = if waits { 0 } else { update.recalled };
        self.recalled.send_if_modified(|known| std::mem::replace(known, recalled) != recalled);
        let epoch = update.progress.unwrap_or_default().floor;
        let now = Others { epoch, holders, want: recalled > epoch };
        let mut known = self.known.lock();
        let is_new = *known != now;
        known.clone_from(&now);
        is_new.then_some(now)
    }

    /// Whether trainers of this worker wait for others, as the coordinator is told now.
    pub(super) fn say(&self) -> bool {
        let waits = self.waiting.load(Ordering::Relaxed);
        self.said.store(waits, Ordering::Relaxed);
        waits
    }

    pub(super) fn waiting(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.waiting)
    }

    pub(super) fn recalled(&self) -> watch::Receiver<u64> {
        self.recalled.subscribe()
    }

    pub(super) fn tails(&self) -> watch::Receiver<u64> {
        self.tails.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::{LastHolder, Progress};

    use super::*;

    fn update(holders: &[&str], recalled: u64) -> LedgerUpdate {
        let holders = holders.iter().map(|name| LastHolder { worker: (*name).into(), process: None }).collect();
        LedgerUpdate {
            progress: Some(Progress { floor: 3, drained: 4, generation: 1, failed: false }),
            holders,
            recalled,
            ..LedgerUpdate::default()
        }
    }

    #[test]
    fn rule_35_a_worker_is_told_of_others_and_only_of_what_has_changed() {
        let others = OtherWorkers::default();
        let told = others.hear(update(&["me", "slow"], 0), "me").unwrap();
        assert_eq!((told.epoch, told.holders[0].worker.as_str(), told.holders.len(), told.want), (3, "slow", 1, false));
        assert_eq!(others.hear(update(&["me", "slow"], 0), "me"), None);
        assert!(others.hear(update(&["me", "slow"], 4), "me").unwrap().want);
        assert_eq!(*others.recalled().borrow(), 4);
    }

    #[test]
    fn rule_35_a_worker_whose_own_trainers_wait_gives_nothing_back() {
        let others = OtherWorkers::default();
        others.hear(update(&["me"], 4), "me");
        others.waiting().store(true, Ordering::Relaxed);
        assert!(!others.hear(update(&["me"], 4), "me").unwrap().want);
        assert_eq!(*others.recalled().borrow(), 0);
    }

    #[test]
    fn rule_35_what_came_back_for_a_worker_s_own_trainers_is_not_left_to_others() {
        let others = OtherWorkers::default();
        others.waiting().store(true, Ordering::Relaxed);
        assert!(others.say());
        // There is something to lease now, and the coordinator does not know yet that they wait no more.
        others.waiting().store(false, Ordering::Relaxed);
        others.hear(update(&[], 4), "me");
        assert_eq!(*others.recalled().borrow(), 0);
        assert!(!others.say());
        others.hear(update(&["slow"], 4), "me");
        assert_eq!(*others.recalled().borrow(), 4, "somebody else waits");
    }
}
