//! What became of the records of one source of a dataset in an epoch.

use std::fmt;

use forebay_printable::printable;
use forebay_proto::v1::{SourceShare, SourceTally};

/// One source's account of an epoch, by positions. Its `Display` is the line that users read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceAudit {
    /// Its path or URL, as the daemon that made the ledger knew it.
    pub name: String,
    /// The records that it has.
    pub records: u64,
    /// The positions of the epoch that have its records.
    pub positions: u64,
    /// Those that repeat a record that the epoch has at another position as well.
    pub repeats: u64,
    /// Seen by a trainer.
    pub delivered: u64,
    /// Left out by the policy for the last batch.
    pub dropped: u64,
    /// Could not be read or decoded.
    pub quarantined: u64,
    /// Given up when the epoch was ended early.
    pub abandoned: u64,
    /// Possibly seen twice.
    pub possibly_repeated: u64,
}

impl SourceAudit {
    /// A source with its positions and repeats in an epoch, and what the ledger counted of it.
    pub(super) fn new(share: &SourceShare, (positions, repeats): (u64, u64), tally: SourceTally) -> Self {
        Self {
            name: share.name.clone(),
            records: share.records,
            positions,
            repeats,
            delivered: tally.delivered,
            dropped: tally.dropped,
            quarantined: tally.quarantined,
            abandoned: tally.abandoned,
            possibly_repeated: tally.repeated,
        }
    }

    /// All positions that are accounted for, however.
    pub fn accounted(&self) -> u64 {
        [self.delivered, self.dropped, self.quarantined, self.abandoned].into_iter().fold(0, u64::saturating_add)
    }
}

impl fmt::Display for SourceAudit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { records, positions, repeats, delivered, .. } = self;
        write!(
            f,
            "{}: {records} records, {} of {positions} positions accounted for (",
            printable(&self.name),
            self.accounted()
        )?;
        write!(f, "{delivered} delivered")?;
        for (count, what) in
            [(self.dropped, "dropped"), (self.quarantined, "quarantined"), (self.abandoned, "abandoned")]
        {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        write!(f, ")")?;
        if *repeats > 0 {
            write!(f, ", {repeats} positions repeat a record")?;
        }
        if self.possibly_repeated > 0 {
            write!(f, "; possibly repeated: {}", self.possibly_repeated)?;
        }
        Ok(())
    }
}
