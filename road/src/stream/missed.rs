//! What groups of trainers have missed because the daemon ended or its leases did (semantics rule 44).

use std::sync::Arc;
use std::time::Duration;

use forebay_ring::Membership;

use crate::consumers::Note;
use crate::settings::Mode;
use crate::stream::{HandIns, Stream};

/// How long after the start of a stream its trainers may hand in what they have had.
const HANDING_IN: Duration = Duration::from_secs(2);

impl Stream {
    /// Asks the ledger what the named groups that are here have missed, and has their trainers told. It waits until they have had
    /// time to hand in. Call it when a trainer comes, and after leases have ended.
    pub(super) fn tell_of_missed(&self) {
        if self.settings.delivery.mode != Mode::Each {
            return;
        }
        let (standing, attendance) = (Arc::downgrade(&self.standing), Arc::clone(&self.attendance));
        let (outbox, left) = (self.ring.outbox().clone(), HANDING_IN.saturating_sub(self.opened.elapsed()));
        tokio::spawn(async move {
            tokio::time::sleep(left).await;
            let (Some(standing), groups) = (standing.upgrade(), attendance.groups()) else { return };
            if groups.is_empty() {
                return;
            }
            match standing.missed(groups).await {
                Ok(missed) => missed.into_iter().for_each(|missed| outbox.post(Note::Missed(missed))),
                // The stream ends, and the next one asks again.
                Err(error) => tracing::debug!(%error, "the ledger was not asked what groups have missed"),
            }
        });
    }

    /// What a trainer without a named group is told that was here before the daemon was started again: nobody knows what it has
    /// missed.
    pub(super) fn may_have_missed(&self, membership: &Membership, hand_ins: &HandIns) -> Option<String> {
        let is_each = self.settings.delivery.mode == Mode::Each;
        (is_each && membership.group.is_none() && !hand_ins.are_of_a_newcomer()).then(|| {
            "the daemon was restarted. Batches that other groups had already consumed are not delivered again, so this \
             trainer's group may miss some batches of this epoch. Name a group to be told which"
                .to_owned()
        })
    }
}
