//! The latest updates of the ledgers that workers follow.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use forebay_ledger::Ledgers;
use forebay_proto::v1::LedgerUpdate;
use parking_lot::Mutex;
use tokio::sync::watch;

/// The followers of each ledger of a coordinator, with its latest update.
#[derive(Clone, Debug, Default)]
pub struct UpdateChannels(Arc<Mutex<Followed>>);

#[derive(Debug, Default)]
struct Followed {
    by_ledger: BTreeMap<String, watch::Sender<LedgerUpdate>>,
    /// Names of ledgers that workers began to follow since the last update. Such a ledger need not exist.
    begun: BTreeSet<String>,
    /// Changes when workers that wait for tasks should ask again.
    stirs: watch::Sender<u64>,
    /// No worker is told anything any more.
    has_ended: bool,
}

impl UpdateChannels {
    /// The latest update of a ledger, and those that come.
    pub(crate) fn follow(&self, ledger: &str) -> watch::Receiver<LedgerUpdate> {
        let Followed { by_ledger, begun, has_ended, .. } = &mut *self.0.lock();
        if *has_ended {
            return watch::Sender::default().subscribe();
        }
        begun.insert(ledger.to_owned());
        by_ledger.entry(ledger.to_owned()).or_default().subscribe()
    }

    /// Tells followers the durable state of the ledgers that were touched. Ledgers without followers, or that are gone, are
    /// forgotten.
    pub fn tell(&self, ledgers: &mut Ledgers) {
        let mut followed = self.0.lock();
        if ledgers.take_stirred() {
            followed.stirs.send_modify(|stirs| *stirs += 1);
        }
        let mut changed = ledgers.take_touched();
        changed.append(&mut followed.begun);
        for name in changed {
            let Entry::Occupied(updates) = followed.by_ledger.entry(name) else { continue };
            match ledgers.latest_update(updates.key()).filter(|_| updates.get().receiver_count() > 0) {
                Some(now) => {
                    updates.get().send_if_modified(|known| {
                        let is_new = *known != now;
                        *known = now;
                        is_new
                    });
                }
                None => drop(updates.remove()),
            }
        }
    }

    /// The updates end for all who follow them. They may follow again.
    pub fn clear(&self) {
        self.0.lock().by_ledger.clear();
    }

    /// Changes whenever workers that wait for tasks should ask again.
    pub(crate) fn stirs(&self) -> watch::Receiver<u64> {
        self.0.lock().stirs.subscribe()
    }

    /// Ends the updates for all workers.
    pub fn end(&self) {
        *self.0.lock() = Followed { has_ended: true, ..Followed::default() };
    }
}
