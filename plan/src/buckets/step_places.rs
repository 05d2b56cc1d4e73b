//! How many pictures a step of a bucket has (semantics rules 62 and 64).

use super::Bucket;

/// How many pictures the steps of all buckets have, on all ranks together.
///
/// ```
/// use forebay_plan::{Bucket, StepPlaces};
/// let steps = StepPlaces { pictures: 0, pixels: Some(1 << 22), divisor: 4 };
/// assert_eq!(steps.places(Bucket { height: 512, width: 640 }), Ok(12));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepPlaces {
    /// Of each step.
    pub pictures: u64,
    /// Pixels of a step. If they are given, they decide.
    pub pixels: Option<u64>,
    /// The number of pictures is a multiple of it; at least 1.
    pub divisor: u64,
}

/// A step that can have no such number of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoStepPlaces {
    /// The number is no multiple.
    #[error("Steps of {pictures} pictures are no multiple of {divisor}.")]
    NoMultiple {
        /// Of each step.
        pictures: u64,
        /// What it is to be a multiple of.
        divisor: u64,
    },
    /// The bucket is too large.
    #[error("A step of {pixels} pixels has no room for {divisor} pictures of {bucket}, which take {needed}.")]
    NoRoom {
        /// Of a step.
        pixels: u64,
        /// The least number of pictures.
        divisor: u64,
        /// Their size.
        bucket: Bucket,
        /// Pixels of so many pictures.
        needed: u64,
    },
}

impl StepPlaces {
    /// Places of a step of this bucket.
    ///
    /// # Errors
    /// They are no multiple of the divisor, or so many pictures of the bucket have more pixels than a step.
    pub fn places(&self, bucket: Bucket) -> Result<u64, NoStepPlaces> {
        let Self { pictures, pixels, divisor } = *self;
        let Some(pixels) = pixels else {
            let is_multiple = pictures.is_multiple_of(divisor);
            return if is_multiple { Ok(pictures) } else { Err(NoStepPlaces::NoMultiple { pictures, divisor }) };
        };
        match pixels / bucket.pixels().max(1) / divisor * divisor {
            0 => {
                let needed = bucket.pixels().saturating_mul(divisor);
                Err(NoStepPlaces::NoRoom { pixels, divisor, bucket, needed })
            }
            places => Ok(places),
        }
    }
}
