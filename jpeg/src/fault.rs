//! Why a picture was not decoded.

use thiserror::Error;

/// What is wrong with a picture, or with us.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Fault {
    /// It may be a good picture, of a kind that this decoder does not take.
    #[error("this decoder does not take {0}")]
    Unsupported(Unsupported),
    /// Something in it is not as ITU T.81 has it. More forgiving decoders may go on.
    #[error("the JPEG data is irregular: {0}")]
    Irregular(&'static str),
    /// It ends too early.
    #[error("the JPEG data ends too early")]
    Truncated,
    /// Nothing may be wrong: the seek points are not this file's, or led to what is irregular. They are gone, and the decode
    /// has to begin again.
    #[error("the seek points did not fit the JPEG data")]
    Misled,
}

/// Kinds of JPEG that are left to other decoders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// SOF5, SOF6.
    #[error("hierarchical JPEG")]
    Hierarchical,
    /// A progressive picture whose scans leave some bits of its coefficients open. Other decoders smooth what these would
    /// have said.
    #[error("progressive JPEG whose last scans are missing")]
    OpenScans,
    /// SOF3, SOF7, SOF11, SOF15, SOF55.
    #[error("lossless JPEG")]
    Lossless,
    /// SOF9 and above.
    #[error("arithmetic coding")]
    Arithmetic,
    /// More or fewer than 8 bits per sample.
    #[error("JPEG of other than 8 bits per sample")]
    Precision,
    /// Two components, or more than three.
    #[error("JPEG of other than 1 or 3 components")]
    Components,
    /// Sampling factors other than 4:4:4, 4:2:2, 4:2:0, 4:4:0, 4:1:1.
    #[error("these sampling factors")]
    Sampling,
    /// The components come in scans of their own.
    #[error("JPEG in several scans")]
    SeveralScans,
    /// Three components that are not `YCbCr`.
    #[error("JPEG coded as RGB")]
    Rgb,
    /// The height comes after the first scan (DNL).
    #[error("JPEG without a height in its header")]
    NoHeight,
    /// A table that the scan needs is not there; some decoders would assume one.
    #[error("JPEG without tables of its own")]
    NoTables,
}

impl From<Unsupported> for Fault {
    fn from(unsupported: Unsupported) -> Self {
        Self::Unsupported(unsupported)
    }
}
