//! The tasks between a stream's ledger and its ring's thread. Progress and outages are passed to the ring, and receipts
//! to the ledger.

use std::sync::Arc;
use std::time::Duration;

use forebay_coordinator::{CallError, Outage};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::ack::{self, FateReceiver, ReceiptCounts};
use crate::consumers::{Note, Outbox};
use crate::worker::Worker;

/// Time between two heartbeats, unless leases are short (semantics rule 4).
const HEARTBEAT: Duration = Duration::from_secs(5);

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

/// A task that tells the ring's thread until when batches may be handed out. Here it is told first, before there is one.
pub(super) fn tell_the_deadline(worker: &Worker, outbox: Outbox) {
    let mut deadline = worker.deadline();
    outbox.post(Note::Deadline(*deadline.borrow_and_update()));
    tokio::spawn(async move {
        while deadline.changed().await.is_ok() {
            outbox.post(Note::Deadline(*deadline.borrow_and_update()));
        }
    });
}

/// A task that lets the coordinator hear from the worker as long as the stream is there, with leases or without. Leases that
/// have ended, or went to others, are told to the ring's thread.
pub(super) fn keep_alive(worker: &Arc<Worker>, outbox: Outbox) {
    let (within, worker) = (HEARTBEAT.min(worker.lease_ttl() / 6), Arc::downgrade(worker));
    tokio::spawn(async move {
        let mut tick = interval(within.max(Duration::from_millis(1)));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            let Some(worker) = worker.upgrade() else { return };
            match worker.heartbeat().await {
                Ok(ended) if ended.is_empty() => {}
                Ok(ended) => outbox.post(Note::Lost(ended)),
                // It is tried again at the next tick.
                Err(CallError::Unavailable(_)) => {}
                Err(error) => return outbox.post(Note::Failed(error.to_string())),
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
