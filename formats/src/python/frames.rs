//! What the frames of a reader's answers are.

use forebay_children::{FrameHead, Silence};

/// Most bytes of a frame that is not a record: an error's text, a label.
pub(super) const SHORT: u64 = 64 << 10;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// JSON with the shards, the classes and the version.
    Shards,
    /// The labels of all records.
    Integers,
    /// JSON with the number, the name and the type of a further column.
    Type,
    /// Values of a further column.
    Values,
    /// A task was read for its labels.
    Progress,
    /// JSON with the label of the record that follows.
    Label,
    /// JSON with the names of what else the record that follows has.
    Others,
    /// A record.
    Record,
    /// A record that is in the child's memory. The frame says how many bytes it has, and none follow.
    Stored,
    /// The size of a record that is too large.
    Big,
    /// All is said.
    Done,
    /// The last line of an exception.
    Error,
    /// The same, of an exception that is the fault of what our own reader reads from.
    Outage,
}

const KINDS: [(u8, FrameKind); 13] = [
    (b'S', FrameKind::Shards),
    (b'I', FrameKind::Integers),
    (b'T', FrameKind::Type),
    (b'V', FrameKind::Values),
    (b'P', FrameKind::Progress),
    (b'L', FrameKind::Label),
    (b'O', FrameKind::Others),
    (b'R', FrameKind::Record),
    (b'M', FrameKind::Stored),
    (b'B', FrameKind::Big),
    (b'D', FrameKind::Done),
    (b'E', FrameKind::Error),
    (b'U', FrameKind::Outage),
];

impl FrameKind {
    /// The kind of a frame that begins so.
    ///
    /// # Errors
    /// A reader's answer has no such frame.
    pub(super) fn of(head: FrameHead) -> Result<Self, Silence> {
        KINDS.iter().find(|(letter, _)| *letter == head.letter).map(|(_, kind)| *kind).ok_or(Silence::Garbage)
    }
}
