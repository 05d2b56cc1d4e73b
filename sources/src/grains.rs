//! Which records of a dataset are read at once.

/// The grains of a dataset: the spans of records that are read at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grains<'a> {
    /// Each record is read by itself.
    Records,
    /// The first record of each grain, rising from 0. A grain ends where the next one begins.
    Starts(&'a [u64]),
}

impl Grains<'_> {
    /// How many grains a dataset of this many records has.
    ///
    /// ```
    /// use forebay_sources::Grains;
    ///
    /// assert_eq!((Grains::Starts(&[0, 3, 7]).count(9), Grains::Records.count(9)), (3, 9));
    /// ```
    pub const fn count(&self, records: u64) -> u64 {
        match self {
            Self::Records => records,
            Self::Starts(starts) => starts.len() as u64,
        }
    }

    /// The grain of a record.
    ///
    /// ```
    /// use forebay_sources::Grains;
    ///
    /// assert_eq!(Grains::Starts(&[0, 3, 7]).of(5), 1);
    /// assert_eq!(Grains::Records.of(5), 5);
    /// ```
    pub fn of(&self, record: u64) -> u64 {
        match self {
            Self::Records => record,
            Self::Starts(starts) => (starts.partition_point(|&start| start <= record) as u64).saturating_sub(1),
        }
    }
}
