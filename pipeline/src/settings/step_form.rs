//! What the pictures of a step have in common, where that differs from step to step, or that they have nothing in common (semantics
//! rules 62 and 63).

use forebay_columns::{BUCKETED, PATCHED, RAGGED};

use super::{BucketSettings, PatchSettings};

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub enum StepForm {
    /// Their size.
    Buckets(BucketSettings),
    /// Most of their patches.
    Patches(PatchSettings),
    /// Nothing: each picture has a size of its own.
    Ragged {
        /// Places of a step on all ranks together.
        places: u32,
    },
}

impl StepForm {
    /// The key of the settings.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Buckets(_) | Self::Ragged { .. } => "buckets",
            Self::Patches(_) => "patches",
        }
    }

    /// The columns that batches have of it.
    pub const fn columns(&self) -> &'static [&'static str] {
        match self {
            Self::Buckets(_) => &BUCKETED,
            Self::Patches(_) => &PATCHED,
            Self::Ragged { .. } => &RAGGED,
        }
    }

    /// What the room of a step is counted in.
    pub const fn unit(&self) -> &'static str {
        match self {
            Self::Buckets(_) => "places",
            Self::Ragged { .. } => "pictures",
            Self::Patches(_) => "patches",
        }
    }

    /// The buckets, if it is these.
    pub const fn buckets(&self) -> Option<&BucketSettings> {
        match self {
            Self::Buckets(buckets) => Some(buckets),
            Self::Patches(_) | Self::Ragged { .. } => None,
        }
    }

    /// Whether each picture has a size of its own.
    pub const fn is_ragged(&self) -> bool {
        matches!(self, Self::Ragged { .. })
    }
}
