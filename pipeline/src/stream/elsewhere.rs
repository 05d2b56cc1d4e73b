//! What others do to the run of a stream. Trainers of other nodes move it to another state, a bad record of theirs fails
//! it, and they end the failure (semantics rules 38 and 41). Another rank of a run ends the epoch (rule 40).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forebay_proto::v1::RunFailure;

use crate::stream::Stream;
use crate::stream::restart::{self, Ended};

/// Whether the trainers here were told that the run has failed, and the stream has not restarted since.
#[derive(Debug, Default)]
pub(super) struct ToldOfFailure(AtomicBool);

impl ToldOfFailure {
    /// Notes that the stream restarts. Returns whether trainers had been told.
    pub(super) fn begins_again(&self) -> bool {
        self.0.swap(false, Ordering::SeqCst)
    }

    /// Notes that trainers are told, or that they were told and the stream did not restart after all.
    pub(super) fn tell(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Watches the run until the stream is gone. Others may change it. Its ledger may fail it: only the ledger knows how many records
/// were bad before the daemon was started again, also those of a shard.
pub(super) fn watch(stream: &Arc<Stream>) {
    let updates = stream.delivery.ledger().updates();
    let (mut failure, mut progress) = (updates.failure(), updates.progress());
    let stream = Arc::downgrade(stream);
    tokio::spawn(async move {
        loop {
            // The stream has the other ends of the channels, and they close with it.
            let changed = tokio::select! {
                changed = failure.changed() => changed,
                changed = progress.changed() => changed,
            };
            let Some(stream) = stream.upgrade().filter(|_| changed.is_ok()) else { return };
            if restart::is_behind(&stream) {
                catch_up(&stream).await;
            }
            let (_, RunFailure { why, .. }) = failure.borrow_and_update().clone();
            hear_of_failure(&stream, why).await;
        }
    });
}

/// Continues the stream where a trainer of another node, or another rank, has moved the run. If another call already
/// does so, this waits until it is done.
pub(super) async fn catch_up(stream: &Stream) {
    let Some(stopped) = stream.pipeline.stop_if(|| restart::is_behind(stream)).await else { return };
    tracing::info!(stream = %stream.identity, "another trainer has taken the run to another place: the stream goes on there");
    if let Err(error) = restart::restart_stopped(stream, stopped, async || Ok(Ended::Some)).await {
        tracing::error!(stream = %stream.identity, %error, "the stream cannot go on where the run is");
    }
}

/// Reacts to a failure of the run. If there is no reason, the run continues.
async fn hear_of_failure(stream: &Stream, why: String) {
    if !why.is_empty() {
        stream.told_of_failure.tell();
        stream.delivery.run_failed(why);
    } else if stream.told_of_failure.begins_again() {
        tracing::info!(stream = %stream.identity, "a trainer of another node has ended the run's failure");
        if let Err(error) = restart::restart(stream, async || Ok(Ended::Some)).await {
            tracing::error!(stream = %stream.identity, %error, "the stream cannot go on after the run's failure");
        }
    }
}
