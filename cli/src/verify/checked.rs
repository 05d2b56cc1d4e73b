//! What is kept of a record once it was read and decoded: facts, and never its bytes or pixels.

use std::fmt;

use forebay_pixels::{Fault, Further, LONGEST_SIDE, MaskFault};
use forebay_sources::{ReadError, ReadErrorKind, Retry};

use super::kind::PictureKind;

/// The first half of a blake3 hash of a record's bytes.
pub(super) type Digest = [u8; 16];

/// A record that was checked.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Checked {
    pub record: u64,
    /// Its bytes, unless they could not be read.
    pub content: Option<CheckedContent>,
    pub outcome: Result<GoodPicture, Trouble>,
}

/// The bytes of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CheckedContent {
    pub len: u64,
    pub digest: Digest,
    /// The name has the extension of another format.
    pub misnamed: bool,
}

/// A picture that was decoded.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GoodPicture {
    pub kind: PictureKind,
    /// As seen, after the orientation.
    pub width: u32,
    pub height: u32,
    /// EXIF says that it is turned or mirrored.
    pub turned: bool,
    /// What the file has that is left out.
    pub further: Vec<Further>,
}

/// Why a record gave no pixels.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Trouble {
    /// It cannot be read.
    Read(Box<ReadError>),
    /// It cannot be decoded.
    Decode(Box<Fault>),
    /// One of its masks cannot be decoded, or does not fit its picture.
    Mask {
        /// The column of the masks.
        column: Box<str>,
        /// What is wrong with it.
        fault: Box<MaskFault>,
    },
    /// The decoder has a bug that the record shows.
    Panic(Box<str>),
}

impl Trouble {
    /// Whether the storage or the system is at fault, so that nothing is known about the record.
    pub(super) fn is_outage(&self) -> bool {
        matches!(self, Self::Read(error) if error.retry() == Retry::Later)
    }

    /// The reason without what only this record has: records with equal groups have the same trouble.
    pub(super) fn group(&self) -> String {
        match self {
            Self::Read(error) => match error.kind {
                ReadErrorKind::TooLarge { limit, .. } => format!("the file has more than {limit} bytes"),
                ReadErrorKind::Larger { .. } => "the file has grown while it was read".to_owned(),
                kind => kind.to_string(),
            },
            Self::Decode(fault) => match &**fault {
                Fault::TooLarge { limit, .. } => format!("The picture has more than {limit} pixels."),
                Fault::TooMuchMemory { limit, .. } => {
                    format!("The picture needs more than {limit} bytes to decode it.")
                }
                Fault::TooLong { .. } => format!("The picture has a side of more than {LONGEST_SIDE} pixels."),
                Fault::TooManyBytes { limit, .. } => format!("The file has more than {limit} bytes."),
                fault => fault.to_string(),
            },
            Self::Mask { column, fault } => match &**fault {
                MaskFault::Size { .. } => format!("The mask \"{column}\" is not as large as its picture."),
                MaskFault::TooLarge { limit, .. } => format!("The mask \"{column}\" has more than {limit} pixels."),
                _ => self.to_string(),
            },
            Self::Panic(_) => "The decoder failed on it.".to_owned(),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::Decode(fault) => fault.fmt(f),
            Self::Mask { column, fault } => write!(f, "The mask \"{column}\" cannot be used: {fault}."),
            Self::Panic(panic) => write!(f, "The decoder failed on it: {panic}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use forebay_sources::Locator;

    use super::*;

    #[test]
    fn records_that_differ_by_numbers_only_are_in_one_group() {
        let large = |pixels| Trouble::Decode(Box::new(Fault::TooLarge { pixels, limit: 100 }));
        assert_eq!(large(101).group(), large(2000).group());
        assert_ne!(large(101).to_string(), large(2000).to_string());
        let read = |kind| Trouble::Read(Box::new(ReadError::new(kind, Locator::file("a"))));
        let bytes = |size| read(ReadErrorKind::TooLarge { size, limit: 10 });
        assert_eq!(bytes(11).group(), bytes(12).group());
        assert!(read(ReadErrorKind::Storage).is_outage() && !bytes(11).is_outage() && !large(101).is_outage());
    }
}
