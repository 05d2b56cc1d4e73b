//! By what a changed file is known.

use std::time::SystemTime;

/// The size and time by which a changed file is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub len: u64,
    pub modified: Option<SystemTime>,
}

impl Stamp {
    pub(crate) fn of(metadata: &std::fs::Metadata) -> Self {
        Self { len: metadata.len(), modified: metadata.modified().ok() }
    }
}
