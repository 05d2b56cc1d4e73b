//! Where a dataset comes from: what decided which records it has, what identifies it, and what lies beside it.

use forebay_sources::{PointFiles, Sizes};

use crate::basis::Basis;
use crate::beside::Oversights;

/// What is known of a dataset as a whole, beside its records.
#[derive(Debug)]
pub(crate) struct Provenance {
    /// The files and folders that decided which records there are, beside those with the records. Without one, no index can
    /// tell whether it still fits.
    pub bases: Vec<Basis>,
    /// What lies beside the records and is not used.
    pub oversights: Oversights,
    pub fingerprint: [u8; 32],
    /// The seek points that its index has.
    pub points: PointFiles,
    /// The sizes of the pictures that its index has.
    pub sizes: Sizes,
}

impl Provenance {
    /// Of a dataset with this fingerprint, of which nothing else is known yet.
    pub(crate) fn of(fingerprint: [u8; 32]) -> Self {
        Self {
            bases: Vec::new(),
            oversights: Oversights::default(),
            fingerprint,
            points: PointFiles::default(),
            sizes: Sizes::default(),
        }
    }
}
