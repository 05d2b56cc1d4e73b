//! What the ring's thread does when it hears from the ledger what became of leases and batches.

use forebay_ring::MessageKind;

use super::deliveries::Deliveries;
use super::readers::{Readers, number};
use crate::ledger_event::LedgerEvent;

/// Takes a word of the ledger, and tells the trainers that it concerns.
pub(super) fn hear(word: LedgerEvent, readers: &mut Readers, deliveries: &mut Deliveries) {
    match word {
        LedgerEvent::Lost(leases) => {
            let void = |seq| number(MessageKind::Void, seq);
            deliveries.lose(&leases).into_iter().for_each(|(id, seq)| readers.send(id, &void(seq), deliveries));
        }
        LedgerEvent::Deadline(deadline) => {
            let packet = number(MessageKind::Deadline, deadline);
            deliveries.deadline.renew(deadline).into_iter().for_each(|id| readers.send(id, &packet, deliveries));
        }
        LedgerEvent::Others(others) => deliveries.waits.hear_of(others),
        LedgerEvent::Missed { asked, missed } => deliveries.groups.answered(&asked, missed),
        LedgerEvent::Noted(batch) => deliveries.noted(batch),
    }
}
