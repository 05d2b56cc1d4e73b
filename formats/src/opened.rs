//! A dataset that a format has opened, before anybody else sees it: an index is made of what is in it.

use forebay_sources::{Oversight, PointFiles, Source, SourceError};

use crate::listing::Listing;
use crate::packed::Packed;

/// An open dataset.
#[derive(Debug)]
pub(crate) enum OpenDataset {
    /// Its records are files.
    Files(Listing),
    /// Its records are ranges of files.
    Ranges(Packed),
    Other(Box<dyn Source>),
}

/// An open dataset, or why it cannot be opened.
pub(crate) type DatasetResult = Result<OpenDataset, SourceError>;

impl OpenDataset {
    /// How many records it has.
    pub(crate) fn records(&self) -> u64 {
        match self {
            Self::Files(listing) => listing.len(),
            Self::Ranges(packed) => packed.len(),
            Self::Other(source) => source.len(),
        }
    }

    /// What lies beside its records and is not used, whether or not the user has accepted it.
    pub(crate) fn oversights(&self) -> &[Oversight] {
        match self {
            Self::Files(listing) => listing.provenance.oversights.found(),
            Self::Ranges(packed) => packed.provenance.oversights.found(),
            Self::Other(_) => &[],
        }
    }

    /// Gives a dataset of an index the seek points that `find` has for it.
    pub(crate) fn with_points(mut self, find: impl FnOnce(&dyn Source) -> PointFiles) -> Self {
        match &mut self {
            Self::Files(listing) => listing.provenance.points = find(&*listing),
            Self::Ranges(packed) => packed.provenance.points = find(&*packed),
            Self::Other(_) => {}
        }
        self
    }

    /// The dataset, to be read.
    pub(crate) fn as_source(&self) -> &dyn Source {
        match self {
            Self::Files(listing) => listing,
            Self::Ranges(packed) => packed,
            Self::Other(source) => source.as_ref(),
        }
    }

    /// The dataset as a source. What only an index needs is forgotten.
    pub(crate) fn into_source(self) -> Box<dyn Source> {
        match self {
            Self::Files(listing) => Box::new(listing.without_times()),
            other => other.into_pinned_source(),
        }
    }

    /// The dataset as a source that compares what it reads with what was found when it was scanned.
    pub(crate) fn into_pinned_source(self) -> Box<dyn Source> {
        match self {
            Self::Files(listing) => Box::new(listing),
            Self::Ranges(packed) => Box::new(packed),
            Self::Other(source) => source,
        }
    }
}

impl From<Listing> for OpenDataset {
    fn from(listing: Listing) -> Self {
        Self::Files(listing)
    }
}

impl From<Packed> for OpenDataset {
    fn from(packed: Packed) -> Self {
        Self::Ranges(packed)
    }
}

impl<T: Source + 'static> From<Box<T>> for OpenDataset {
    fn from(source: Box<T>) -> Self {
        Self::Other(source)
    }
}
