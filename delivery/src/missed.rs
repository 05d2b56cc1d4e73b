//! What a trainer without a named group may have missed because the daemon ended (semantics rule 44).

use forebay_ring::Membership;

use crate::resumed_claims::ResumedClaims;
use crate::settings::GroupPolicy;

/// The notice for a trainer without a named group that reconnects after a restart. No daemon knows what such a trainer has
/// missed.
pub(crate) fn notice(groups: GroupPolicy, membership: &Membership, resumed_claims: &ResumedClaims) -> Option<String> {
    let is_each = groups == GroupPolicy::Each;
    (is_each && membership.group.is_none() && !resumed_claims.are_of_a_newcomer()).then(|| {
        "the daemon was restarted. Batches that other groups had already consumed are not delivered again, so this \
         trainer's group may miss some batches of this epoch. Name a group to be told which"
            .to_owned()
    })
}
