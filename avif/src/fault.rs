//! Why a file gave no picture.

use thiserror::Error;

/// Why a file gave no picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AvifFault {
    /// The file is no valid AVIF.
    #[error("{0}")]
    Corrupt(&'static str),
    /// The bytes end too early.
    #[error("its data end before the picture does")]
    Truncated,
    /// AVIF of a kind that is not decoded.
    #[error("AVIF {0}")]
    Unsupported(&'static str),
    /// The system has no memory.
    #[error("there was not enough memory to decode it")]
    NoMemory,
    /// dav1d wants more memory than it may take.
    #[error("AVIF that needs more memory than a picture of its size should")]
    TooMuchMemory,
}
