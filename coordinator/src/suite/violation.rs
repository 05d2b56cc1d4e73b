//! The invariants of every run, and how a checker reports a violation.

/// An invariant of every run, even if processes die, connections break or messages come late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// I1: each record of a complete epoch was delivered, or is listed as bad.
    NothingLost,
    /// I2: the ledger accepts each position of an epoch once.
    AcceptedOnce,
    /// I3: a record is delivered again only where its first delivery was not acknowledged, and the audit names that.
    RepeatsExplained,
    /// I4: no position is in two leases, or in a lease and returned, and the id of a lease is never used twice.
    Exclusive,
    /// I5: what was answered is in the store.
    Durable,
    /// I6: positions are leased in the order of the plan.
    Order,
    /// I7: the size of what is stored depends only on what is out.
    Size,
    /// I8: every epoch ends when all faults are over, and every lease belongs to a worker.
    Ends,
}

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{invariant:?} does not hold: {what}")]
pub struct Violation {
    /// Which one.
    pub invariant: Invariant,
    /// What was seen.
    pub what: String,
}

impl Invariant {
    /// An error with the words of `what` unless `holds`.
    pub fn check(self, holds: bool, what: impl FnOnce() -> String) -> Result<(), Violation> {
        if holds { Ok(()) } else { Err(Violation { invariant: self, what: what() }) }
    }
}
