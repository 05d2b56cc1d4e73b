//! What the ring's thread reports to the stream's ledger: receipts and what is given back, records that did not kill a daemon,
//! and whether trainers wait for other daemons.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forebay_proto::v1::ReturnedRange;
use forebay_ring::Claim;

use crate::blamed::BlamedLeases;
use crate::outcomes::{DeliveryOutcome, OutcomeSender};

/// The way to the ledger.
#[derive(Clone, Debug)]
pub(crate) struct LedgerReports {
    /// Receipts, for the ledger.
    pub outcomes: OutcomeSender,
    /// Records that may have killed a daemon, until they are in a finished batch.
    pub blamed: Arc<BlamedLeases>,
    /// Set while trainers wait for what other daemons have of an epoch.
    pub waiting: Arc<AtomicBool>,
}

impl LedgerReports {
    /// Tells the ledger one thing.
    pub(super) fn tell(&self, outcome: DeliveryOutcome) {
        // The ledger's task outlives this thread, unless the daemon ends at once.
        self.outcomes.send(outcome).ok();
    }

    /// Gives these ranges back, if there are any.
    pub(super) fn give_back(&self, ranges: Vec<ReturnedRange>) {
        if !ranges.is_empty() {
            self.tell(DeliveryOutcome::Returned(ranges));
        }
    }

    /// A batch with these claims is finished: its records have killed no daemon.
    pub(super) fn finished(&self, claims: &[Claim]) {
        let items = self.blamed.finished(claims);
        if !items.is_empty() {
            self.tell(DeliveryOutcome::receipts(items));
        }
    }

    /// Whether trainers wait for what other daemons have of an epoch.
    pub(super) fn set_waiting(&self, waiting: bool) {
        self.waiting.store(waiting, Ordering::Relaxed);
    }
}
