//! What a worker hears from its ledger, on its way to the ring's thread.

use forebay_proto::v1::MissedBatches;
use tokio::sync::{mpsc, oneshot};

use super::Others;

/// What the ring's thread is to know of leases and batches. What was lost is always told before a deadline that was given without
/// it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LedgerWord {
    /// Leases that are complete, or somebody else's.
    Lost(Vec<u64>),
    /// `CLOCK_BOOTTIME` nanosecond until which all others are this worker's, whatever happens (semantics rule 19). Until then,
    /// batches may be handed out.
    Deadline(u64),
    /// What of an epoch's last leases other workers have, and want.
    Others(Others),
    /// The ledger has answered that a trainer that ended may have seen this batch, also if it refused that: the batch may be
    /// offered again.
    Noted(u64),
    /// What the groups have missed that the ledger was asked about.
    Missed {
        /// Their names.
        asked: Vec<String>,
        /// What others have consumed and they have not got.
        missed: Vec<MissedBatches>,
    },
}

/// What is said of a worker's leases, in order.
#[derive(Debug)]
pub(crate) struct LeaseWords(mpsc::UnboundedReceiver<Said>);

/// A word, or a question whether all words before it were taken.
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
    /// The next word, as soon as there is one; `None` when the worker is gone. Whoever asks for it has dealt with those before.
    pub(crate) async fn recv(&mut self) -> Option<LedgerWord> {
        loop {
            if let Some(word) = self.0.recv().await?.word() {
                return Some(word);
            }
        }
    }

    /// The next word, if there is one already.
    pub(crate) fn try_recv(&mut self) -> Option<LedgerWord> {
        loop {
            if let Some(word) = self.0.try_recv().ok()?.word() {
                return Some(word);
            }
        }
    }
}

impl Said {
    /// The word, or the answer to the question.
    fn word(self) -> Option<LedgerWord> {
        match self {
            Self::Word(word) => Some(word),
            Self::Heard(answer) => {
                // Whoever asked may be gone.
                let _gone = answer.send(());
                None
            }
        }
    }
}
