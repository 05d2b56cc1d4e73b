//! What a worker hears from its ledger, on its way to the ring's thread.

use forebay_proto::v1::MissedBatches;
use tokio::sync::{mpsc, oneshot};

use super::Others;

/// A message about leases and batches for the ring's thread. Lost leases are always reported before a deadline that does
/// not cover them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LedgerWord {
    /// Leases that are complete, or that another worker has.
    Lost(Vec<u64>),
    /// `CLOCK_BOOTTIME` nanosecond until which all others are this worker's, whatever happens (semantics rule 19). Until then,
    /// batches may be handed out.
    Deadline(u64),
    /// Which of an epoch's last leases other workers have, and which they want.
    Others(Others),
    /// The ledger has answered the report that a trainer that ended may have seen this batch. Even if it refused the
    /// report, the batch may be offered again.
    Noted(u64),
    /// Which batches the groups have missed that the ledger was asked about.
    Missed {
        /// Their names.
        asked: Vec<String>,
        /// Batches that other groups have consumed, and that these groups have not got.
        missed: Vec<MissedBatches>,
    },
}

/// The messages about a worker's leases, in order.
#[derive(Debug)]
pub(crate) struct LeaseWords(mpsc::UnboundedReceiver<Said>);

/// A message, or a question whether all messages before it were taken.
#[derive(Debug)]
pub(super) enum Said {
    Word(LedgerWord),
    Heard(oneshot::Sender<()>),
}

pub(super) fn channel() -> (mpsc::UnboundedSender<Said>, LeaseWords) {
    let (words, said) = mpsc::unbounded_channel();
    (words, LeaseWords(said))
}

impl LeaseWords {
    /// Waits for the next message. `None` if the worker is gone. A caller that asks for it has handled all messages
    /// before it.
    pub(crate) async fn recv(&mut self) -> Option<LedgerWord> {
        loop {
            if let Some(word) = self.0.recv().await?.word() {
                return Some(word);
            }
        }
    }

    /// The next message, if there is one already.
    pub(crate) fn try_recv(&mut self) -> Option<LedgerWord> {
        loop {
            if let Some(word) = self.0.try_recv().ok()?.word() {
                return Some(word);
            }
        }
    }
}

impl Said {
    /// The message. A question is answered, and gives none.
    fn word(self) -> Option<LedgerWord> {
        match self {
            Self::Word(word) => Some(word),
            Self::Heard(answer) => {
                // The caller may be gone.
                let _gone = answer.send(());
                None
            }
        }
    }
}
