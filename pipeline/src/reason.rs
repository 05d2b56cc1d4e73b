//! Why a record is bad. A reason keeps its type until it reaches the ledger or a message for a person. There it becomes
//! text.

use std::time::Duration;

use forebay_pixels::{Fault, MaskFault};
use forebay_sources::{ReadError, Retry};
use thiserror::Error;

/// Why a record cannot be part of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum Reason {
    /// Its source cannot read it.
    #[error(transparent)]
    Read(Box<ReadError>),
    /// Its source has failed to read it for this long, while it reads others.
    #[error("{}: {error}. All reads of it failed for {timeout:?} (read_timeout), while other files could be read", error.locator)]
    Outlasted {
        /// What the last read failed with.
        error: Box<ReadError>,
        /// The time that a record's reads may fail alone.
        timeout: Duration,
    },
    /// Its read has not returned in time, while later ones have.
    #[error("Reading it took longer than read_timeout ({timeout:?}).")]
    Late {
        /// The time that a read may take.
        timeout: Duration,
    },
    /// Each read finds more bytes than the one before.
    #[error("The file grows while it is read, to {bytes} bytes by now.")]
    Growing {
        /// What the last one found.
        bytes: u64,
    },
    /// It cannot be decoded.
    #[error(transparent)]
    Decode(#[from] Fault),
    /// It has another size than its bucket was chosen by.
    #[error(
        "The picture is {} x {} and not {} x {} (height x width), as the index or its columns say.",
        found.0, found.1, known.0, known.1
    )]
    Size {
        /// Height and width that were known before.
        known: (u32, u32),
        /// Those of the file.
        found: (u32, u32),
    },
    /// A mask of it cannot be decoded.
    #[error("Its mask \"{column}\": {fault}.")]
    Mask {
        /// The mask's column.
        column: Box<str>,
        /// What is wrong.
        fault: Box<MaskFault>,
    },
    /// The decoder has a bug that the record shows.
    #[error("The decoder failed on it: {panic}.")]
    Panic {
        /// What the decoder said.
        panic: Box<str>,
    },
    /// Making its picture has ended two child processes.
    #[error("Making its picture ended each of two processes that did nothing else, the second one by {ending}.")]
    Poison {
        /// How the second one ended.
        ending: Box<str>,
    },
    /// A function in Python has given no picture for it.
    #[error("{words}")]
    Step {
        /// What became of the call, in lines that may be shown.
        words: Box<str>,
    },
    /// A function in Python wants it to be left out. It does not count as a failure.
    #[error("{words}")]
    Skipped {
        /// What the function said, in lines that may be shown.
        words: Box<str>,
    },
    /// Not the record is at fault, but something that no picture of the stream can be made without.
    #[error("{words}")]
    Stream {
        /// What it is, in lines that may be shown.
        words: Box<str>,
    },
    /// A child process that made its picture says so.
    #[error("{words}")]
    Told {
        /// What is wrong with it.
        words: Box<str>,
        /// Whether the record may be good if it is read again.
        may_pass: bool,
    },
}

impl Reason {
    /// Whether the record may be good if it is read again: its storage is at fault, and not its content.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Read(error) => error.retry() != Retry::Never,
            Self::Outlasted { .. } | Self::Late { .. } | Self::Growing { .. } | Self::Stream { .. } => true,
            // Time is the one limit that the same bytes may keep or not.
            Self::Decode(fault) => matches!(fault, Fault::TooSlow { .. }),
            Self::Size { .. }
            | Self::Mask { .. }
            | Self::Panic { .. }
            | Self::Poison { .. }
            | Self::Step { .. }
            | Self::Skipped { .. } => false,
            Self::Told { may_pass, .. } => *may_pass,
        }
    }
}

#[cfg(test)]
mod tests {
    use forebay_sources::{Locator, ReadErrorKind};

    use super::*;

    #[test]
    fn a_reason_says_whether_another_read_may_give_a_good_record() {
        let of = |kind| Box::new(ReadError::new(kind, Locator::file("a.jpg")));
        let timeout = Duration::from_secs(60);
        for (reason, may_pass) in [
            (Reason::Read(of(ReadErrorKind::Missing)), false),
            (Reason::Outlasted { error: of(ReadErrorKind::Storage), timeout }, true),
            (Reason::Late { timeout }, true),
            (Reason::Growing { bytes: 7 }, true),
            (Fault::Truncated.into(), false),
            (Fault::TooSlow { limit: timeout }.into(), true),
            (Reason::Size { known: (4, 6), found: (6, 4) }, false),
            (Reason::Panic { panic: "no".into() }, false),
            (Reason::Poison { ending: "SIGSEGV".into() }, false),
            (Reason::Step { words: "ValueError".into() }, false),
            (Reason::Skipped { words: "too dark".into() }, false),
            (Reason::Stream { words: "changed".into() }, true),
            (Reason::Told { words: "slow".into(), may_pass: true }, true),
            (Reason::Told { words: "cut off".into(), may_pass: false }, false),
            (Reason::Mask { column: "m".into(), fault: MaskFault::NotPng.into() }, false),
        ] {
            assert_eq!(reason.may_pass(), may_pass, "{reason}");
        }
    }

    #[test]
    fn good_pictures_carry_no_more_for_the_reasons_of_bad_ones_than_five_words() {
        assert!(size_of::<Result<(), Reason>>() <= 5 * size_of::<usize>(), "{}", size_of::<Result<(), Reason>>());
    }
}
