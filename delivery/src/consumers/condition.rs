//! Why a stream delivers nothing, permanently or at the moment, and what its trainers are told about that.

use forebay_ring::{MessageKind, text, text_code};

use super::skipped::Skipped;

/// What keeps a stream from delivering.
#[derive(Debug, Default)]
pub(super) struct Condition {
    /// [`text_code`] and reason: nothing more comes before a restore or a reset mends it.
    failure: Option<(u32, String)>,
    /// Why the storage gives nothing at this moment.
    storage: Option<String>,
    /// Why the ledger takes nothing at this moment.
    ledger: Option<String>,
    /// Bad records that it leaves out or replaces.
    pub(super) skipped: Skipped,
}

impl Condition {
    /// The storage gives nothing, by now for too long if `expired`. Gives the packet for all trainers, as the others do.
    pub(super) fn storage_stalls(&mut self, words: String, expired: bool) -> Vec<u8> {
        let kind = if expired { MessageKind::Stalled } else { MessageKind::Notice };
        let packet = text(kind, text_code::OTHER, &words);
        self.storage = Some(words);
        packet
    }

    /// The storage gives files again.
    pub(super) fn storage_continues(&mut self) -> Vec<u8> {
        self.storage = None;
        notice("the storage gives all files again")
    }

    /// A message of the ledger. If it is `lasting`, it holds until the next one.
    pub(super) fn ledger_says(&mut self, words: String, lasting: bool) -> Vec<u8> {
        let packet = notice(&words);
        self.ledger = lasting.then_some(words);
        packet
    }

    /// Nothing more comes. The first reason is the one that is kept.
    pub(super) fn fails(&mut self, code: u32, reason: String) -> Vec<u8> {
        let packet = text(MessageKind::Failed, code, &reason);
        self.failure.get_or_insert((code, reason));
        packet
    }

    /// The stream starts again. If the storage still gives nothing, the next batch thread reports that itself.
    pub(super) fn begins_again(&mut self) {
        self.storage = None;
        self.failure = None;
    }

    /// Whether there is an outage of the storage or the ledger. An outage has its own message.
    pub(super) fn is_outage(&self) -> bool {
        self.storage.is_some() || self.ledger.is_some()
    }

    /// Why it has failed, if it has.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_ref().map(|(_, reason)| reason.as_str())
    }

    /// The messages for a trainer that attaches now: the first bad record, why it waits, and then the
    /// failure if there is one.
    pub(super) fn packets(&self) -> Vec<Vec<u8>> {
        let skipped = self.skipped.first().map(notice);
        let waits = self.storage.iter().chain(&self.ledger).map(|words| notice(words));
        let failure = self.failure.iter().map(|(code, reason)| text(MessageKind::Failed, *code, reason));
        skipped.into_iter().chain(waits).chain(failure).collect()
    }
}

/// Words for the user of a trainer.
pub(super) fn notice(words: &str) -> Vec<u8> {
    text(MessageKind::Notice, text_code::OTHER, words)
}

/// The message for a trainer that comes when nothing is left of a run. It explains that the dataset is not the reason why
/// a loop yields nothing.
pub(super) fn finished(run: &str, epochs: u64) -> String {
    let all = if epochs == 1 { "the only epoch".to_owned() } else { format!("all {epochs} epochs") };
    let verb = if epochs == 1 { "has" } else { "have" };
    format!(
        "run \"{run}\" is complete: {all} of it {verb} been delivered, so no batch comes. To train again, begin another run: \
         another name as \"run\" if the trainer has its own daemon, or `forebay run new` for a stream of a service"
    )
}
