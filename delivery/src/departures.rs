//! Tells the ledger which trainers have left, when it knows all that they had in their hands (semantics rules 15 and 38).

use std::sync::Arc;

use crate::delivery::Delivery;

impl Delivery {
    /// Watches until the delivery is gone which trainers leave.
    pub fn watch_trainers(self: &Arc<Self>) {
        let mut trainers = self.attendance.count();
        let delivery = Arc::downgrade(self);
        tokio::spawn(async move {
            while trainers.changed().await.is_ok() {
                let Some(delivery) = delivery.upgrade() else { return };
                delivery.tell_who_left().await;
            }
        });
    }

    /// Tells the ledger which trainers have left, behind all that they had in their hands.
    pub async fn tell_who_left(&self) {
        let gone = self.presence.gone(|id| self.attendance.has(id)).await;
        if gone.is_empty() {
            return;
        }
        // The ring's thread says what they had after it has seen them leave.
        self.see_who_left().await;
        self.ledger.flush().await;
        if let Err(error) = self.presence.leave(self.ledger.worker(), &gone).await {
            tracing::debug!(stream = self.terms.shown(), %error, "the ledger is not told that trainers have left");
        }
    }
}
