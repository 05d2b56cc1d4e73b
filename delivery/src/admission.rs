//! How trainers are let in: the ledger hears of one, and of what it had of an earlier daemon, before the trainer hears of the
//! stream.

use forebay_ledger_client::CallError;
use forebay_proto::v1::{AckRequest, GroupKey};
use forebay_ring::{ConsumerId, Membership, text_code};

use crate::consumers::ResumedBatch;
use crate::ledger_client::LedgerClient;
use crate::presence::Presence;
use crate::resumed_claims::{self, ResumedClaims};

/// A trainer that asks to attach.
#[derive(Debug)]
pub struct AttachRequest {
    /// Its number, which it keeps over the deaths of its daemons.
    pub number: u64,
    /// The version of the protocol that it and this daemon speak.
    pub protocol: u32,
    /// Offers that it asks for; 0 for those of the stream.
    pub credits: u32,
    /// The group that it joins.
    pub membership: Membership,
    /// What it consumed and holds from an earlier incarnation of the daemon.
    pub resumed_claims: ResumedClaims,
}

/// What a trainer is told for its program where the ledger refuses.
pub fn ledger_code(error: &CallError) -> u32 {
    match error {
        // A name is free after a while.
        CallError::Unavailable(_) | CallError::NameTaken(_) => text_code::BUSY,
        // No time changes it: a new run, or the old dataset or settings, do.
        CallError::SpecMismatch(_) => text_code::SETTINGS,
        _ => text_code::OTHER,
    }
}

/// Tells the ledger of a trainer, before the trainer is told of the stream. Gives what the trainer holds of an earlier
/// incarnation.
pub(crate) async fn welcome(
    ledger: &LedgerClient,
    presence: &Presence,
    (id, number): (ConsumerId, u64),
    resumed_claims: &ResumedClaims,
    group: Option<&GroupKey>,
) -> Result<Vec<ResumedBatch>, CallError> {
    if let Some(group) = group.filter(|group| !group.name.is_empty()) {
        let began = AckRequest { began: vec![group.name.clone()], ..AckRequest::default() };
        ledger.ack(began).await?;
    }
    let adopted = resumed_claims.tell(ledger, group).await?;
    if let Err(error) = presence.enter(ledger, id, number).await {
        resumed_claims::give_back(adopted, ledger);
        return Err(error);
    }
    ledger.permit().give();
    Ok(adopted)
}
