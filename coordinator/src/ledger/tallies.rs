//! What became of an epoch's records, as counts and sums (semantics rule 24), and the list of quarantined ones.

use forebay_proto::{
    RecordSum,
    v1::{AckItem, Cause, EpochTally, QuarantinedRecord, Repeats, Tally, ack_item::Kind},
};

use super::Ledger;

/// The quarantine lists at most so many records; the count and the sums go on.
pub(super) const QUARANTINE_LIST: usize = 100_000;
/// Longest file name and reason in the list, in bytes.
const TEXT_LEN: usize = 1024;

/// One epoch's sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tallies {
    pub(super) delivered: RecordSum,
    pub(super) dropped: RecordSum,
    pub(super) quarantined: RecordSum,
    pub(super) abandoned: RecordSum,
    /// Positions that may have been seen twice.
    pub(super) repeats: Repeats,
}

impl Tallies {
    pub(super) fn message(&self, epoch: u64) -> EpochTally {
        EpochTally {
            epoch,
            delivered: Some(tally(self.delivered)),
            dropped: Some(tally(self.dropped)),
            quarantined: Some(tally(self.quarantined)),
            abandoned: Some(tally(self.abandoned)),
            regranted: 0,
            repeats: Some(self.repeats),
        }
    }

    /// Counts a receipt of records.
    pub(super) fn add(&mut self, item: &AckItem) {
        let sum = RecordSum::from_halves(item.count, item.sum_high, item.sum_low);
        if item.kind() == Kind::Dropped {
            self.dropped += sum;
        } else {
            self.delivered += sum;
        }
    }

    pub(super) fn from_message(message: &EpochTally) -> Self {
        let sum = |tally: Option<Tally>| {
            let Tally { count, sum_high, sum_low } = tally.unwrap_or_default();
            RecordSum::from_halves(count, sum_high, sum_low)
        };
        let mut repeats = message.repeats.unwrap_or_default();
        repeats.add(Cause::DaemonDied, message.regranted);
        Self {
            delivered: sum(message.delivered),
            dropped: sum(message.dropped),
            quarantined: sum(message.quarantined),
            abandoned: sum(message.abandoned),
            repeats,
        }
    }
}

impl Ledger {
    /// Counts a record as quarantined and lists it.
    pub(super) fn put_in_quarantine(&mut self, epoch: u64, record: u64, file: &str, reason: &str) {
        self.tally(epoch).quarantined += RecordSum::from_iter([record]);
        self.quarantined = self.quarantined.saturating_add(1);
        self.touch();
        if self.quarantine.len() < QUARANTINE_LIST {
            let entry = QuarantinedRecord { record, file: cut(file), reason: cut(reason), epoch };
            self.quarantine.insert((epoch, record), entry);
            self.dirty.quarantine.insert((epoch, record));
        }
    }
}

fn tally(sum: RecordSum) -> Tally {
    let (sum_high, sum_low) = sum.halves();
    Tally { count: sum.count, sum_high, sum_low }
}

fn cut(text: &str) -> String {
    text.char_indices().take_while(|(start, c)| start + c.len_utf8() <= TEXT_LEN).map(|(_, c)| c).collect()
}
