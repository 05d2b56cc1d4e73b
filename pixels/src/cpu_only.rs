//! Why a picture is the CPU's: what was drawn for it has no form for a GPU.

/// What the CPU alone does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuOnly {
    /// The steps of its transforms are more than two sums and operations behind them, their result is cut into patches, or it
    /// is beyond the limits.
    Transforms,
    /// A Gaussian blur with a kernel above 31, or Pillow's with a radius above 64.
    LargeBlur,
    /// A rectangle of noise.
    Noise,
    /// `AugMix`.
    AugMix,
}
