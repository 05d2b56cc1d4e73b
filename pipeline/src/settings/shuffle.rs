//! The order of a stream's epochs.

use std::num::NonZero;

/// How epochs are shuffled (semantics rules 3 and 56).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shuffle {
    /// Every epoch has the dataset's order.
    #[default]
    Off,
    /// Each epoch has a permutation of all records.
    Records,
    /// Each epoch has a permutation of grains, and of the records of each `window` of them.
    Grains {
        /// Grains whose records are permuted together.
        window: NonZero<u32>,
    },
}

impl Shuffle {
    /// Grains of a window, if the user gave no number.
    pub const WINDOW: NonZero<u32> = NonZero::new(16).expect("it is 16");

    /// Whether epochs have orders of their own.
    pub const fn is_on(self) -> bool {
        !matches!(self, Self::Off)
    }
}
