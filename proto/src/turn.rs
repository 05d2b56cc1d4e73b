//! A turn: one of the times that an epoch delivers a record.

use std::fmt;

/// A record, and how often the epoch has delivered it before by its plan. Sums and random choices tell the turns of a
/// record apart.
///
/// The first turn of a record has the record's number as its key. So an epoch that has each record once has the sums and
/// random choices of an epoch without repeats.
///
/// ```
/// use forebay_proto::Turn;
/// let third = Turn::new(7, 2);
/// assert_eq!((third.record(), third.repeat()), (7, 2));
/// assert_eq!((Turn::first(7).key(), third.key()), (7, 7 + (2 << 48)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Turn {
    record: u64,
    repeat: u16,
}

impl Turn {
    /// Records of a dataset that is repeated have numbers below this one.
    pub const RECORDS: u64 = 1 << 48;

    /// The turn of a record that the epoch has delivered `repeat` times before.
    pub const fn new(record: u64, repeat: u16) -> Self {
        Self { record, repeat }
    }

    /// A record's first turn.
    pub const fn first(record: u64) -> Self {
        Self::new(record, 0)
    }

    /// The record's number in the dataset.
    pub const fn record(self) -> u64 {
        self.record
    }

    /// How many turns of the record come before it.
    pub const fn repeat(self) -> u16 {
        self.repeat
    }

    /// One number for both, unique among records below [`RECORDS`](Self::RECORDS). Pinned: ledgers hold sums of its hash,
    /// and random choices are made from it.
    pub const fn key(self) -> u64 {
        self.record ^ ((self.repeat as u64) << 48)
    }
}

/// A turn that is the record's only one is shown as the record.
impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.repeat {
            0 => write!(f, "{}", self.record),
            repeat => write!(f, "{}+{repeat}", self.record),
        }
    }
}
