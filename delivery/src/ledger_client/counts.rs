//! What a ledger has counted of a run, added up over the pages of its audit.

use forebay_proto::v1::AuditReply;

/// What the ledger has counted of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct LedgerCounts {
    /// Records that were delivered.
    pub delivered: u64,
    /// Bad records.
    pub bad: u64,
    /// Positions of the epoch in question that are complete.
    pub done: u64,
    /// How many epochs there are; 0 is without end.
    pub epochs: u64,
}

impl LedgerCounts {
    /// Adds a page of the audit. `epoch` is the one in question.
    pub(super) fn add(&mut self, page: &AuditReply, epoch: u64) {
        for tally in &page.epochs {
            let [delivered, bad, dropped, abandoned] =
                [&tally.delivered, &tally.quarantined, &tally.dropped, &tally.abandoned]
                    .map(|part| part.unwrap_or_default().count);
            let by_state = tally.by_state.unwrap_or_default().count;
            self.delivered += delivered;
            self.bad += bad;
            if tally.epoch == epoch {
                self.done = delivered + bad + dropped + abandoned + by_state;
            }
        }
        self.epochs = page.total_epochs;
    }
}
