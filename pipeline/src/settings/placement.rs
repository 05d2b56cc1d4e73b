//! Where the pixels of a stream's batches should be.

use std::fmt;

/// Where pixels should be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// In the ring's own slots, in memory of the host.
    #[default]
    Host,
    /// In memory of the GPU with this number.
    Gpu(i32),
    /// In memory of a GPU that the first trainer sees, or otherwise on the host.
    Auto,
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("host"),
            Self::Gpu(number) => write!(f, "gpu:{number}"),
            Self::Auto => f.write_str("auto"),
        }
    }
}
