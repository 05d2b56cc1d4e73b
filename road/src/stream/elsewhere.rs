//! What daemons on other nodes do to the run of a stream: a bad record of theirs fails it, and a trainer of theirs takes it
//! out of the failure (semantics rule 41).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forebay_proto::v1::RunFailure;

use crate::consumers::Note;
use crate::stream::Stream;

/// Whether the trainers here were told that the run has failed, and the stream has not begun anew since.
#[derive(Debug, Default)]
pub(super) struct ToldOfFailure(AtomicBool);

impl ToldOfFailure {
    /// The stream begins anew, for a reason of its own. Answers whether trainers had been told.
    pub(super) fn begins_anew(&self) -> bool {
        self.0.swap(false, Ordering::SeqCst)
    }

    /// Trainers are told, or were and the stream has not begun anew after all.
    pub(super) fn tell(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Watches the run until the stream is gone, if other daemons may have it open. A shard belongs to one daemon.
pub(super) fn watch(stream: &Arc<Stream>) {
    let worker = stream.standing.worker();
    if !worker.has_others() || stream.identity.part.is_some() {
        return;
    }
    let (mut failure, stream) = (worker.failure(), Arc::downgrade(stream));
    tokio::spawn(async move {
        // The other end is the worker's, which goes with the stream.
        while failure.changed().await.is_ok() {
            let (_, RunFailure { why, .. }) = failure.borrow_and_update().clone();
            let Some(stream) = stream.upgrade() else { return };
            stream.hear_of_failure(why).await;
        }
    });
}

impl Stream {
    /// The run has failed, or goes on if there is no reason.
    async fn hear_of_failure(&self, why: String) {
        if !why.is_empty() {
            self.told_of_failure.tell();
            self.ring.post(Note::RunFailed(why));
        } else if self.told_of_failure.begins_anew() {
            tracing::info!(stream = %self.identity, "a trainer of another node has ended the run's failure");
            if let Err(error) = self.anew(false, async || Ok(())).await {
                tracing::error!(stream = %self.identity, %error, "the stream cannot go on after the run's failure");
            }
        }
    }
}
