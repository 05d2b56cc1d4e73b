//! Why a file gave no picture.

use thiserror::Error;

/// Why a file gave no picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WebpFault {
    /// libwebp refuses the bytes.
    #[error("its data are no valid WebP")]
    Corrupt,
    /// The bytes end too early.
    #[error("its data end before the picture does")]
    Truncated,
    /// The system has no memory.
    #[error("there was not enough memory to decode it")]
    NoMemory,
    /// libwebp wants more memory than it may take.
    #[error("it needs more memory than a picture of its size should")]
    TooMuchMemory,
}
