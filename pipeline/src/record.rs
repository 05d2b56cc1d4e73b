//! The basic types of a record: where it is in the epoch's order, and what is known of it on its way to a batch.

use std::fmt;
use std::sync::Arc;

use forebay_delivery::EpochPosition;
use forebay_pixels::KeptPicture;
use forebay_printable::printable;
use forebay_proto::{Turn, v1};
use forebay_sources::{Locator, ReadError};

use crate::reason::Reason;

/// A record's place in a lease, and so in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Epoch of the lease.
    pub epoch: u64,
    /// Lease id.
    pub lease: u64,
    /// Counted from the lease's start.
    pub offset: u64,
    /// Offset behind the lease's last position that has a record.
    pub lease_end: u64,
    /// Place in the epoch's order.
    pub index: u64,
    /// Number of the record, 0..N in dataset order. It has no meaning at a position without a record.
    pub record: u64,
    /// How often the epoch has the record at other positions that count before this one.
    pub repeat: u16,
    /// Daemons died with it, and its picture is made in a child process (semantics rule 9).
    pub suspect: bool,
}

/// A part of a lease: its id, the first offset, and the end.
pub(crate) type LeasePart = (u64, u64, u64);

impl Position {
    /// The record, with its repeat.
    pub fn turn(&self) -> Turn {
        Turn::new(self.record, self.repeat)
    }

    /// The part of its lease that it is.
    pub(crate) fn part(&self) -> LeasePart {
        (self.lease, self.offset, self.offset + 1)
    }

    /// Where it is in its epoch's order.
    pub(crate) fn in_epoch(&self) -> EpochPosition {
        EpochPosition { epoch: self.epoch, index: self.index }
    }

    /// The record in its epoch, with its repeat.
    pub fn of_epoch(&self) -> EpochTurn {
        EpochTurn { epoch: self.epoch, turn: self.turn() }
    }
}

/// A turn in an epoch: what the random choices of a picture follow, and what is read with it for a mosaic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochTurn {
    /// The epoch.
    pub epoch: u64,
    /// The record, with its repeat.
    pub turn: Turn,
}

/// A read that failed, and the record at which it did. For a mosaic, that may be a partner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailedRead {
    /// The record's number.
    pub record: u64,
    /// What happened.
    pub error: Box<ReadError>,
}

impl FailedRead {
    /// A read that failed at this record.
    pub(crate) fn at(record: u64, error: ReadError) -> Self {
        Self { record, error: Box::new(error) }
    }
}

/// Why a record cannot be part of a batch. A fault is an outcome of its record, not an error of the stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRecord {
    /// Its position.
    pub position: Position,
    /// Where it is read from.
    pub locator: Locator,
    /// What is wrong with it.
    pub(crate) reason: Reason,
}

/// A record's content, which several threads share without a copy.
#[derive(Clone, Debug)]
pub enum Content {
    /// The file's bytes.
    File(Arc<[u8]>),
    /// The decoded picture.
    Picture(Arc<KeptRecord>),
}

/// A record whose picture is kept decoded. Its masks are small, and stay encoded.
#[derive(Debug)]
pub struct KeptRecord {
    /// The picture.
    pub picture: KeptPicture,
    /// What was read behind the picture. Nothing if the dataset has no masks.
    pub masks: Box<[u8]>,
}

/// A record's content in the form for a decoder.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// The file's bytes.
    File(&'a [u8]),
    /// The decoded picture. Only the recipe still has to be applied.
    Picture(&'a KeptRecord),
}

impl Content {
    /// Bytes of it.
    pub fn len(&self) -> usize {
        match self {
            Self::File(bytes) => bytes.len(),
            Self::Picture(kept) => kept.picture.bytes() + kept.masks.len(),
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The content in the form for a decoder.
    pub fn input(&self) -> Input<'_> {
        match self {
            Self::File(bytes) => Input::File(bytes),
            Self::Picture(kept) => Input::Picture(kept),
        }
    }
}

impl BadRecord {
    /// Where it is read from, for people.
    fn file(&self) -> String {
        self.locator.name().to_string_lossy().into_owned()
    }

    /// Whether a function of the user left it out: `max_failures` does not count it.
    pub(crate) fn is_skipped(&self) -> bool {
        matches!(self.reason, Reason::Skipped { .. })
    }
}

impl From<BadRecord> for v1::BadRecord {
    fn from(bad: BadRecord) -> Self {
        let Position { lease, offset, record, .. } = bad.position;
        let poison = matches!(bad.reason, Reason::Poison { .. });
        let (file, reason, skipped) = (bad.file(), bad.reason.to_string(), bad.is_skipped());
        Self { lease, position: offset, record, file, reason, poison, skipped }
    }
}

/// Without a full stop, because the caller continues the sentence.
impl fmt::Display for BadRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, reason) = (self.file(), self.reason.to_string());
        let reason = reason.trim_end_matches('.');
        write!(f, "record {} ({}): ", self.position.record, printable(&file))?;
        match self.reason {
            // A traceback has lines, which are as they may be shown.
            Reason::Step { .. } | Reason::Skipped { .. } => write!(f, "{}", printable(reason).lines()),
            _ => write!(f, "{}", printable(reason)),
        }
    }
}
