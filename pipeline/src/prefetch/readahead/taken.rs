//! What a thread takes of the records that were read ahead.

use forebay_proto::Turn;

use crate::record::Position;

/// What was read, and the bytes of the budget that are given back with [`release`](super::ReadAhead::release).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LoadedRead<B> {
    /// The bytes.
    pub bytes: B,
    /// Bytes of the budget.
    pub reserved: u64,
}

/// What [`take`](super::ReadAhead::take) gives.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TakenRead<R> {
    /// The next position of the order.
    Record(Position, R),
    /// The next position of the order, which has no record.
    Bare(Position),
    /// What [`fetch`](super::ReadAhead::fetch) asked for.
    Fetched {
        /// As given with the request.
        tag: (u64, u32),
        /// What was read.
        turn: Turn,
        /// What came of it.
        read: R,
    },
    /// Every position of this epoch was taken, and none is left to lease at this moment. Told in the order of the
    /// epochs; once, and again after each lease that came later.
    Drained(u64),
    /// The next position was read, or has no record, but there is no room for it.
    NoRoom(Position),
    /// Nothing now.
    Wait,
}

impl<R> TakenRead<R> {
    /// The same with another form of what was read.
    pub(crate) fn map<S>(self, form: impl FnOnce(R) -> S) -> TakenRead<S> {
        match self {
            Self::Record(position, read) => TakenRead::Record(position, form(read)),
            Self::Bare(position) => TakenRead::Bare(position),
            Self::Fetched { tag, turn, read } => TakenRead::Fetched { tag, turn, read: form(read) },
            Self::Drained(epoch) => TakenRead::Drained(epoch),
            Self::NoRoom(position) => TakenRead::NoRoom(position),
            Self::Wait => TakenRead::Wait,
        }
    }
}
