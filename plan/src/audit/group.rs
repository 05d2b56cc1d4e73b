//! What a group of trainers has consumed of an epoch (semantics rule 44).

use std::fmt;

use forebay_printable::printable;
use forebay_proto::RecordSum;
use forebay_proto::v1::{GroupKey, GroupTally};

use super::sum;

/// What a group's account says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupVerdict {
    /// It has consumed all that was delivered, and saw the same records.
    Whole,
    /// It has consumed some of it: it came late, has ended, or the epoch is not over.
    Part,
    /// It saw other records of a batch than another group; or as many records as were delivered, or more, and not the same ones.
    Differs,
}

/// One group's account of an epoch. Its `Display` is the line that users read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupAudit {
    /// Its name; none for a trainer that is a group by itself.
    pub name: Option<String>,
    /// The process of a trainer that is a group by itself; else 0.
    pub pid: u32,
    /// What it has consumed.
    pub consumed: RecordSum,
    /// Numbers of the first and the last batch of it; none if several daemons have numbered the epoch's batches.
    pub batches: Option<(u64, u64)>,
    /// Numbers of the first and the last batch that it has missed, and their records, if its daemon ended before it had them.
    pub missed: Option<(u64, u64, u64)>,
    /// What that says.
    pub verdict: GroupVerdict,
    /// Records that the epoch has delivered.
    delivered: u64,
}

impl GroupAudit {
    /// A group, in an epoch with these delivered records.
    pub(super) fn new(tally: &GroupTally, delivered: RecordSum, complete: bool, renumbered: bool) -> Self {
        let GroupKey { name, pid, .. } = tally.group.clone().unwrap_or_default();
        let consumed = sum(tally.consumed);
        let verdict = match () {
            () if tally.differs_from(delivered) => GroupVerdict::Differs,
            () if consumed == delivered && complete => GroupVerdict::Whole,
            () => GroupVerdict::Part,
        };
        let batches = (!renumbered).then_some((tally.first_batch, tally.last_batch));
        let missed = tally.missed.as_ref().map(|missed| (missed.from, missed.to, missed.records));
        let name = Some(name).filter(|name| !name.is_empty());
        Self { name, pid, consumed, batches, missed, verdict, delivered: delivered.count }
    }
}

impl fmt::Display for GroupAudit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { consumed, delivered, .. } = self;
        match &self.name {
            Some(name) => write!(f, "group \"{}\": ", printable(name))?,
            None => write!(f, "trainer of process {}: ", self.pid)?,
        }
        match self.verdict {
            GroupVerdict::Whole => write!(f, "whole, {} records, checksum equal", consumed.count),
            GroupVerdict::Part if consumed.count == 0 => write!(f, "0 of {delivered} delivered records"),
            GroupVerdict::Part | GroupVerdict::Differs => {
                match self.batches {
                    Some((first, last)) => write!(f, "batches {first} to {last}, "),
                    None => f.write_str("batches of several daemons, "),
                }?;
                write!(f, "{} of {delivered} delivered records", consumed.count)
            }
        }?;
        if self.verdict == GroupVerdict::Differs {
            write!(f, ", DOES NOT ADD UP: checksum {:032x}", consumed.sum)?;
        }
        match self.missed {
            Some((from, to, records)) => write!(f, "; missed {records} records of batches {from} to {to}"),
            None => Ok(()),
        }
    }
}
