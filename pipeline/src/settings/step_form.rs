//! What the pictures of a step have in common, where that differs from step to step (semantics rule 62).

use forebay_columns::{BUCKETED, PATCHED};

use super::{BucketSettings, PatchSettings};

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub enum StepForm {
    /// Their size.
    Buckets(BucketSettings),
    /// Most of their patches.
    Patches(PatchSettings),
}

impl StepForm {
    /// The key of the settings.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Buckets(_) => "buckets",
            Self::Patches(_) => "patches",
        }
    }

    /// The columns that batches have of it.
    pub const fn columns(&self) -> &'static [&'static str] {
        match self {
            Self::Buckets(_) => &BUCKETED,
            Self::Patches(_) => &PATCHED,
        }
    }

    /// What the room of a step is counted in.
    pub const fn unit(&self) -> &'static str {
        match self {
            Self::Buckets(_) => "places",
            Self::Patches(_) => "patches",
        }
    }

    /// The buckets, if it is these.
    pub const fn buckets(&self) -> Option<&BucketSettings> {
        match self {
            Self::Buckets(buckets) => Some(buckets),
            Self::Patches(_) => None,
        }
    }
}
