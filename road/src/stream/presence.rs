//! Tells the ledger which trainers of a stream have left, when it knows all that they had in their hands.

use std::sync::Arc;

use crate::stream::Stream;

/// Watches until the stream is gone which trainers leave.
pub(super) fn watch(stream: &Arc<Stream>) {
    let mut trainers = stream.attendance.count();
    let stream = Arc::downgrade(stream);
    tokio::spawn(async move {
        while trainers.changed().await.is_ok() {
            let Some(stream) = stream.upgrade() else { return };
            stream.tell_who_left().await;
        }
    });
}

impl Stream {
    /// Tells the ledger which trainers have left, behind all that they had in their hands.
    pub(super) async fn tell_who_left(&self) {
        let gone = self.presence.gone(|id| self.attendance.has(id)).await;
        if gone.is_empty() {
            return;
        }
        // The ring's thread says what they had after it has seen them leave.
        self.see_who_left().await;
        self.standing.flush().await;
        if let Err(error) = self.presence.leave(self.standing.worker(), &gone).await {
            tracing::debug!(stream = %self.identity, %error, "the ledger is not told that trainers have left");
        }
    }
}
