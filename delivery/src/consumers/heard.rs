//! What the ring's thread does when it hears from the ledger what became of leases and batches.

use forebay_ring::MessageKind;

use super::RingThread;
use super::readers::number;
use crate::worker::LedgerWord;

impl RingThread {
    /// Takes a word of the ledger.
    pub(super) fn hear(&mut self, word: LedgerWord) {
        let Self { deliveries, readers, .. } = self;
        match word {
            LedgerWord::Lost(leases) => {
                let void = |seq| number(MessageKind::Void, seq);
                deliveries.lose(&leases).into_iter().for_each(|(id, seq)| readers.send(id, &void(seq), deliveries));
            }
            LedgerWord::Deadline(deadline) => {
                let packet = number(MessageKind::Deadline, deadline);
                deliveries.renew(deadline).into_iter().for_each(|id| readers.send(id, &packet, deliveries));
            }
            LedgerWord::Others(others) => deliveries.hear_of(others),
            LedgerWord::Missed { asked, missed } => deliveries.answered(&asked, missed),
            LedgerWord::Noted(batch) => deliveries.noted(batch),
        }
    }
}
