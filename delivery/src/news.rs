//! The tasks between a stream's ledger and its ring's thread. Progress and outages are passed to the ring, and receipts
//! to the ledger.

use std::sync::Arc;
use std::time::Duration;

use forebay_ledger_client::{CallError, Outage};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::ack::{self, FateReceiver, ReceiptCounts};
use crate::consumers::{Note, Outbox};
use crate::worker::{LeaseWords, Worker};

/// Time between two heartbeats, unless leases are short (semantics rule 4).
const HEARTBEAT: Duration = Duration::from_secs(5);

/// A task that tells the ring's thread what the coordinator says.
pub(crate) fn follow(worker: &Worker, outbox: Outbox) {
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

/// Tells the ring's thread what becomes of the worker's leases, in the order in which the worker hears of it: batches of lost
/// leases are taken back before a later deadline lets trainers hand them out. The first deadline is told here, before there is
/// a batch.
pub(crate) fn tell_of_leases(mut words: LeaseWords, outbox: Outbox) {
    while let Some(word) = words.try_recv() {
        outbox.post(Note::Ledger(word));
    }
    tokio::spawn(async move {
        while let Some(word) = words.recv().await {
            outbox.post(Note::Ledger(word));
        }
    });
}

/// A task that lets the coordinator hear from the worker as long as the stream is there, with leases or without.
pub(crate) fn keep_alive(worker: &Arc<Worker>, outbox: Outbox) {
    let within = HEARTBEAT.min(worker.lease_ttl() / 6);
    let (mut progress, worker) = (worker.progress(), Arc::downgrade(worker));
    tokio::spawn(async move {
        let mut tick = interval(within.max(Duration::from_millis(1)));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _tick = tick.tick() => {}
                // The descriptors of the outbox are not kept until the next tick.
                _gone = progress.wait_for(|_| false) => return,
            }
            let Some(worker) = worker.upgrade() else { return };
            match worker.heartbeat().await {
                // An outage: it is tried again at the next tick.
                Ok(()) | Err(CallError::Unavailable(_)) => {}
                Err(error) => return outbox.post(Note::Failed(error.to_string())),
            }
        }
    });
}

/// A task that listens to the coordinator as long as the stream is there. While it cannot, heartbeats bring the same news.
pub(crate) fn listen(worker: &Arc<Worker>) {
    let (mut progress, worker) = (worker.progress(), Arc::downgrade(worker));
    tokio::spawn(async move {
        while worker.strong_count() > 0 {
            Worker::follow(&worker).await;
            // It waits for less where the stream ends meanwhile.
            let _gone = timeout(HEARTBEAT, progress.wait_for(|_| false)).await;
        }
    });
}

/// A task that hands receipts in, and tells the ring's thread what becomes of them.
pub(crate) fn hand_in(worker: Arc<Worker>, receipts: FateReceiver, counts: Arc<ReceiptCounts>, outbox: Outbox) {
    let tell = outbox.clone();
    let forward = ack::forward(worker, receipts, counts, move |word| tell.post(Note::Ledger(word)));
    tokio::spawn(async move {
        match forward.await {
            Ok(()) => {}
            // The stream ends in an outage, which is no failure of it: its trainers hand in again to the next daemon.
            Err(CallError::Unavailable(why)) => {
                tracing::warn!(
                    why,
                    "the stream ends without the ledger: what it was not told comes back when the leases expire"
                );
            }
            Err(error) => outbox.post(Note::Failed(error.to_string())),
        }
    });
}

/// A task that tells trainers why they wait while the ledger cannot be written.
pub(crate) fn tell_of_outages(worker: &Worker, outbox: Outbox) {
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
