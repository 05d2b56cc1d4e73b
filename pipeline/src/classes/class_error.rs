//! Why a stream cannot have steps of classes.

use forebay_pixels::RecipeError;
use forebay_plan::{NoStepPlaces, SelectionProblem, TooManyRecords};
use thiserror::Error;

use crate::size_check::WrongSizes;

/// See the module.
#[derive(Debug, Error)]
pub enum ClassError {
    /// The sizes of the pictures are not known.
    #[error(
        "buckets: the sizes of the pictures are not known, without which they have no buckets. Run \"forebay index SOURCE --sizes\", or \
         name the columns that have them: source_options = {{ sizes = \"height,width\" }}"
    )]
    NoSizes,
    /// They are known wrongly.
    #[error(transparent)]
    Wrong(#[from] WrongSizes),
    /// Records that are in no bucket, in a stream that fails at the first bad record.
    #[error(
        "buckets: {records} records have no bucket, the first of them {first}: their sizes are not known, the rule has none for them, or \
         max_crop is exceeded. Set on_error = \"skip\" to leave them out"
    )]
    Without {
        /// How many.
        records: u64,
        /// Where the first one is.
        first: String,
    },
    /// More than a plan has.
    #[error("buckets: {buckets} buckets are more than the {} that a stream may have", u16::MAX)]
    Many {
        /// How many the pictures have.
        buckets: usize,
    },
    /// More than a plan has.
    #[error(transparent)]
    Records(#[from] TooManyRecords),
    /// Nothing of a source is selected.
    #[error(transparent)]
    Selection(#[from] SelectionProblem),
    /// A step has no room.
    #[error("buckets: {0}")]
    Steps(#[from] NoStepPlaces),
    /// A transform does not suit a bucket, or patches.
    #[error("transform: {0}")]
    Recipe(#[from] RecipeError),
    /// Masks are as large as the pictures.
    #[error(
        "{form}: column \"{column}\" has masks, which have one size in all batches. Leave the column out of `columns`, or leave out \
         `{form}`"
    )]
    Masks {
        /// "buckets" or "patches".
        form: &'static str,
        /// The column.
        column: String,
    },
}
