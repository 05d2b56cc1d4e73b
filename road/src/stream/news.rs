//! The tasks between a stream's ledger and its ring's thread. Progress and outages are passed to the ring, and receipts
//! to the ledger.

use std::sync::Arc;

use forebay_coordinator::Outage;
use tokio::sync::watch;

use crate::ack::{self, FateReceiver, ReceiptCounts};
use crate::consumers::{Note, Outbox};
use crate::worker::Worker;

/// A task that tells the ring's thread what the coordinator says.
pub(super) fn follow(worker: &Worker, outbox: Outbox) {
    let mut progress = worker.progress();
    tokio::spawn(async move {
        loop {
            let now = *progress.borrow_and_update();
            outbox.post(Note::Progress(now));
            if progress.changed().await.is_err() {
                return;
            }
        }
    });
}

/// A task that hands receipts in, and tells the ring's thread what becomes of them.
pub(super) fn hand_in(worker: Arc<Worker>, receipts: FateReceiver, counts: Arc<ReceiptCounts>, outbox: Outbox) {
    let (tell, note) = (outbox.clone(), outbox.clone());
    let lost = move |leases| tell.post(Note::Lost(leases));
    let forward = ack::forward(worker, receipts, counts, lost, move |batch| note.post(Note::Noted(batch)));
    tokio::spawn(async move {
        if let Err(error) = forward.await {
            outbox.post(Note::Failed(error.to_string()));
        }
    });
}

/// A task that tells trainers why they wait while the ledger cannot be written.
pub(super) fn tell_of_outages(worker: &Worker, outbox: Outbox) {
    let (outage, mut progress) = (worker.outage(), worker.progress());
    tokio::spawn(async move {
        tokio::select! {
            () = tell_of_each(outage, outbox) => {}
            // The ledgers go on, the stream does not.
            _gone = progress.wait_for(|_| false) => {}
        }
    });
}

async fn tell_of_each(mut outage: watch::Receiver<Option<Outage>>, outbox: Outbox) {
    while let Ok(Some(begun)) = outage.wait_for(Option::is_some).await.map(|begun| begun.clone()) {
        let words = format!(
            "the daemon cannot write its ledger, so it sends no more batches: {}; nothing is lost, and it continues when \
             the cause is gone",
            begun.cause
        );
        outbox.post(Note::Tell { words, lasting: true });
        if outage.wait_for(Option::is_none).await.is_err() {
            return;
        }
        let words = format!("the daemon writes its ledger again, after {} s", begun.lasts().as_secs());
        outbox.post(Note::Tell { words, lasting: false });
    }
}
