//! A batch that a trainer brings from an earlier incarnation, and its claims, as far as the daemon answers for them.

use forebay_proto::v1::Verdict;
use forebay_ring::{BatchId, Claim};

/// A batch of an earlier incarnation in a trainer's hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResumedBatch {
    /// The trainer's own number of it.
    pub(crate) hold: u64,
    /// Its number in the earlier incarnation, and its epoch.
    pub(crate) batch: BatchId,
    /// In the order of the sums that the trainer will send.
    pub(crate) claims: Vec<HeldClaim>,
}

/// The claim, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeldClaim {
    /// The daemon has its lease: a receipt ends it, or it goes back.
    Leased(Claim),
    /// Another group's trainer holds it, or some group has consumed it. The ledger only hears of it if this trainer's group has
    /// consumed it too (semantics rule 44).
    Shared(Claim),
    /// Another worker got it.
    Lost,
}

impl HeldClaim {
    /// The claim of a trainer that still holds it, after the ledger's verdict. In `split`, the trainer is in no group.
    pub(crate) fn reclaimed(claim: Claim, verdict: Verdict, is_of_group: bool) -> Self {
        match verdict {
            Verdict::Accepted => Self::Leased(claim),
            // Another group may hold it or have consumed it.
            Verdict::Lost | Verdict::Invalid | Verdict::Unspecified if is_of_group => Self::Shared(claim),
            Verdict::Lost | Verdict::Invalid | Verdict::Unspecified => Self::Lost,
        }
    }

    /// The claim, if the daemon has its lease.
    pub(super) fn leased(self) -> Option<Claim> {
        match self {
            Self::Leased(claim) => Some(claim),
            Self::Shared(_) | Self::Lost => None,
        }
    }

    /// The claim, if it counts only for this trainer's group.
    pub(super) fn shared(self) -> Option<Claim> {
        match self {
            Self::Shared(claim) => Some(claim),
            Self::Leased(_) | Self::Lost => None,
        }
    }

    /// Places of the batch that it is for.
    pub(super) fn places(self) -> u64 {
        match self {
            Self::Leased(claim) | Self::Shared(claim) => claim.places(),
            Self::Lost => 0,
        }
    }
}
