//! Which instructions of the processor are used; chosen once, at run time.

/// A set of instructions that the kernels and the entropy decoder are compiled for. All give the same samples.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Path {
    /// What every processor of the architecture has.
    Portable,
    /// x86-64 with AVX2, BMI1, BMI2, LZCNT and POPCNT (Intel Haswell, AMD Zen, and later).
    Avx2,
}

impl Path {
    /// The fastest path of this processor.
    pub fn detect() -> Self {
        Self::available().last().unwrap_or(Self::Portable)
    }

    /// Every path that this processor can take, the slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        [Self::Portable, Self::Avx2].into_iter().filter(|path| path.is_available())
    }

    /// Whether this processor has the instructions.
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                std::arch::is_x86_feature_detected!("avx2")
                    && std::arch::is_x86_feature_detected!("bmi1")
                    && std::arch::is_x86_feature_detected!("bmi2")
                    && std::arch::is_x86_feature_detected!("lzcnt")
                    && std::arch::is_x86_feature_detected!("popcnt")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 => false,
        }
    }
}
