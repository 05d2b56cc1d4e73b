//! The tasks of a client beside its stream: they keep it alive at the coordinator, listen for updates, hand receipts in,
//! and tell trainers of outages.

mod forward;

use std::sync::Arc;
use std::time::Duration;

use forebay_ledger_client::{CallError, Outage};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::consumers::{InboxMessage, Outbox};
use crate::ledger_client::LedgerClient;
use crate::outcomes::OutcomeReceiver;

/// Time between two heartbeats, unless leases are short (semantics rule 4).
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Starts them all. What became of records comes out of `outcomes`.
pub(crate) fn start(client: &Arc<LedgerClient>, outcomes: OutcomeReceiver) {
    keep_alive(client);
    if client.opened().is_changed_by_others {
        listen(client);
    }
    tell_of_outages(client);
    resumed(Arc::clone(client), outcomes);
}

/// A task that lets the coordinator hear from the worker as long as the stream is there, with leases or without.
fn keep_alive(client: &Arc<LedgerClient>) {
    let within = HEARTBEAT.min(client.lease_ttl() / 6);
    let (mut progress, client) = (client.updates().progress(), Arc::downgrade(client));
    tokio::spawn(async move {
        let mut tick = interval(within.max(Duration::from_millis(1)));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _tick = tick.tick() => {}
                // The task does not stay until the next tick.
                _gone = progress.wait_for(|_| false) => return,
            }
            let Some(client) = client.upgrade() else { return };
            match client.heartbeat().await {
                // An outage: it is tried again at the next tick.
                Ok(()) | Err(CallError::Unavailable(_)) => {}
                Err(refusal) => return client.updates().ring().post(InboxMessage::Failed(refusal.to_string())),
            }
        }
    });
}

/// A task that listens to the coordinator as long as the stream is there. While it cannot, heartbeats bring the same updates.
fn listen(client: &Arc<LedgerClient>) {
    let (mut progress, client) = (client.updates().progress(), Arc::downgrade(client));
    tokio::spawn(async move {
        while client.strong_count() > 0 {
            LedgerClient::follow(&client).await;
            // It waits for less where the stream ends meanwhile.
            let _gone = timeout(HEARTBEAT, progress.wait_for(|_| false)).await;
        }
    });
}

/// A task that hands in what became of records. It ends when the stream has no more to report.
pub(crate) fn resumed(client: Arc<LedgerClient>, outcomes: OutcomeReceiver) {
    tokio::spawn(async move {
        match forward::forward(&client, outcomes).await {
            Ok(()) => {}
            // The stream ends in an outage, which is no failure of it: its trainers hand in again to the next daemon.
            Err(CallError::Unavailable(why)) => {
                tracing::warn!(
                    why,
                    "the stream ends without the ledger: what it was not told comes back when the leases expire"
                );
            }
            Err(refusal) => client.updates().ring().post(InboxMessage::Failed(refusal.to_string())),
        }
    });
}

/// A task that tells trainers why they wait while the ledger cannot be written.
fn tell_of_outages(client: &LedgerClient) {
    let (outage, mut progress) = (client.outage(), client.updates().progress());
    let ring = client.updates().ring().clone();
    tokio::spawn(async move {
        tokio::select! {
            () = tell_of_each(outage, ring) => {}
            // The ledgers continue, the stream does not.
            _gone = progress.wait_for(|_| false) => {}
        }
    });
}

async fn tell_of_each(mut outage: watch::Receiver<Option<Outage>>, ring: Outbox) {
    while let Ok(Some(begun)) = outage.wait_for(Option::is_some).await.map(|begun| begun.clone()) {
        let words = format!(
            "the daemon cannot write its ledger, so it sends no more batches: {}; nothing is lost, and it continues when \
             the cause is gone",
            begun.cause
        );
        ring.post(InboxMessage::Tell { words, lasting: true });
        if outage.wait_for(Option::is_none).await.is_err() {
            return;
        }
        let words = format!("the daemon writes its ledger again, after {} s", begun.lasts().as_secs());
        ring.post(InboxMessage::Tell { words, lasting: false });
    }
}
