//! What a trainer without a named group may have missed because the daemon ended (semantics rule 44).

use forebay_ring::Membership;

use crate::delivery::Delivery;
use crate::hand_in::HandIns;
use crate::settings::Mode;

impl Delivery {
    /// The notice for a trainer without a named group that reconnects after a restart. No daemon knows what such a
    /// trainer has missed.
    pub(super) fn may_have_missed(&self, membership: &Membership, hand_ins: &HandIns) -> Option<String> {
        let is_each = self.terms.settings.mode == Mode::Each;
        (is_each && membership.group.is_none() && !hand_ins.are_of_a_newcomer()).then(|| {
            "the daemon was restarted. Batches that other groups had already consumed are not delivered again, so this \
             trainer's group may miss some batches of this epoch. Name a group to be told which"
                .to_owned()
        })
    }
}
