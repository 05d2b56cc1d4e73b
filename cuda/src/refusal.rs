//! Why a lane leaves a picture to the next one.

use forebay_pixels::CpuOnly;

/// Why a lane does not decode a picture, which the next lane then gets. Another lane may still find it good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refusal {
    /// It is no JPEG.
    NotJpeg,
    /// Its markers do not read, or nvJPEG finds it bad.
    Damaged,
    /// Progressive, arithmetic, lossless, or with more than 8 bits, and the lane does not take that.
    Kind,
    /// Neither gray nor luminance with two colour differences.
    Colours,
    /// Planes of other sizes than the lane knows.
    Sampling,
    /// More bytes than the lane's surfaces, or its room for results, have.
    TooLarge,
    /// Transforms that the kernel does not carry out, or whose result is beyond the limits.
    Transforms,
    /// A Gaussian blur with a large kernel or radius.
    LargeBlur,
    /// A rectangle of noise.
    Noise,
    /// `AugMix`.
    AugMix,
    /// More pixels or bytes than any picture may have.
    Limits,
    /// It is to be decoded at a part of its size.
    Scaled,
    /// What is decoded is kept for other epochs, whole.
    Kept,
    /// Several views are made of it, and it is decoded once for all of them.
    Views,
    /// Other pictures are laid beside it.
    Mosaic,
    /// A function in Python works on it in the host.
    Python,
    /// Its pixels have other channels than red, green and blue.
    Mode,
    /// nvJPEG says that it does not take it.
    NotSupported,
    /// nvJPEG got no memory for it.
    Memory,
    /// nvJPEG failed on it.
    Failed,
    /// nvJPEG reported success, and wrote no pixels.
    NotWritten,
}

impl Refusal {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::NotJpeg,
        Self::Damaged,
        Self::Kind,
        Self::Colours,
        Self::Sampling,
        Self::TooLarge,
        Self::Transforms,
        Self::LargeBlur,
        Self::Noise,
        Self::AugMix,
        Self::Limits,
        Self::Scaled,
        Self::Kept,
        Self::Views,
        Self::Mosaic,
        Self::Python,
        Self::Mode,
        Self::NotSupported,
        Self::Memory,
        Self::Failed,
        Self::NotWritten,
    ];

    /// In words, for status and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotJpeg => "no JPEG",
            Self::Damaged => "damaged",
            Self::Kind => "kind of JPEG",
            Self::Colours => "colours",
            Self::Sampling => "sampling",
            Self::TooLarge => "too large for the lane's memory",
            Self::Transforms => "transforms",
            Self::LargeBlur => "a large blur",
            Self::Noise => "erased with noise",
            Self::AugMix => "AugMix",
            Self::Limits => "beyond the limits",
            Self::Scaled => "decoded at a fraction of its size",
            Self::Kept => "kept decoded by a cache",
            Self::Views => "several views",
            Self::Mosaic => "a mosaic",
            Self::Python => "a function in Python",
            Self::Mode => "a mode other than RGB",
            Self::NotSupported => "not supported by nvJPEG",
            Self::Memory => "no memory for nvJPEG",
            Self::Failed => "nvJPEG failed",
            Self::NotWritten => "passed over by nvJPEG",
        }
    }
}

impl From<CpuOnly> for Refusal {
    fn from(why: CpuOnly) -> Self {
        match why {
            CpuOnly::Transforms => Self::Transforms,
            CpuOnly::LargeBlur => Self::LargeBlur,
            CpuOnly::Noise => Self::Noise,
            CpuOnly::AugMix => Self::AugMix,
        }
    }
}
