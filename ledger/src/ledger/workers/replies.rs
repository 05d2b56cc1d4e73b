//! The stored replies of a worker, so that each command is applied once (semantics rule 18).

use std::collections::BTreeMap;

use forebay_proto::v1::StoredReply;

use crate::error::LedgerError;

/// How many sequence numbers back a command may come.
const WINDOW: u64 = 16;

/// The replies by sequence, each with the number of its command: those of the last `WINDOW` numbers. A number in the window
/// without a reply was never applied, so that commands that overtake each other on the way are all applied, once.
#[derive(Clone, Debug, Default)]
pub(in crate::ledger) struct Replies(BTreeMap<u64, (u32, Vec<u8>)>);

impl Replies {
    pub(super) fn of(stored: Vec<StoredReply>) -> Self {
        Self(stored.into_iter().map(|stored| (stored.sequence, (stored.command, stored.reply))).collect())
    }

    pub(super) fn stored(&self) -> Vec<StoredReply> {
        let stored = |(&sequence, (command, reply)): (&u64, &(u32, Vec<u8>))| StoredReply {
            sequence,
            command: *command,
            reply: reply.clone(),
        };
        self.0.iter().map(stored).collect()
    }

    /// The reply that a repetition gets; `None` for a command that was not applied yet.
    pub(in crate::ledger) fn find(&self, sequence: u64, command: u32) -> Result<Option<&[u8]>, LedgerError> {
        match self.0.get(&sequence) {
            Some((stored, reply)) if *stored == command => Ok(Some(reply)),
            Some(_) => Err(LedgerError::Invalid(format!(
                "Sequence number {sequence} was used for another command; each command needs a number of its own."
            ))),
            None if sequence == 0 => Err(LedgerError::Invalid("Sequence numbers start at 1.".to_owned())),
            None => match self.0.last_key_value() {
                Some((last, _)) if sequence.saturating_add(WINDOW) <= *last => {
                    Err(LedgerError::SequenceTooOld(format!(
                        "Sequence number {sequence} is too old: the worker is at {last}, and replies are kept for \
                         the last {WINDOW}. A command must be repeated before {WINDOW} others are sent."
                    )))
                }
                _ => Ok(None),
            },
        }
    }

    pub(in crate::ledger) fn keep(&mut self, sequence: u64, command: u32, reply: Vec<u8>) {
        self.0.insert(sequence, (command, reply));
        let last = self.0.last_key_value().map_or(0, |(last, _)| *last);
        self.0.retain(|kept, _| kept.saturating_add(WINDOW) > last);
    }
}
