//! What the command line says of buckets and steps.

use forebay_plan::{Bucket, NoStepPlaces, StepPlaces};

use crate::failure::Failure;

/// How many pictures a step has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BatchChoice {
    pub pictures: u64,
    /// If they are given, they decide.
    pub pixels: Option<u64>,
    pub divisor: u64,
    /// How many steps of one bucket follow each other.
    pub accumulate: u64,
}

impl BatchChoice {
    /// Places of a step of this bucket.
    ///
    /// # Errors
    /// They are no multiple of the divisor, or the bucket has more pixels than a step.
    pub(super) fn places(&self, bucket: Bucket) -> Result<u64, Failure> {
        let Self { pictures, pixels, divisor, .. } = *self;
        StepPlaces { pictures, pixels, divisor }.places(bucket).map_err(|problem| match problem {
            NoStepPlaces::NoMultiple { pictures, divisor } => {
                Failure::Usage(format!("--batch-size is {pictures}, which is no multiple of --divisor {divisor}."))
            }
            NoStepPlaces::NoRoom { needed, .. } => {
                Failure::Failed(format!("{problem} Give at least --pixels {needed}."))
            }
        })
    }

    /// The same for steps with half as many pictures, as far as the divisor allows.
    pub(super) fn halved(&self) -> Option<Self> {
        let smaller = match self.pixels {
            Some(pixels) => Self { pixels: Some(pixels / 2).filter(|pixels| *pixels > 0), ..*self },
            None => Self { pictures: self.pictures / 2, ..*self },
        };
        let is_possible = match self.pixels {
            Some(_) => smaller.pixels.is_some(),
            None => smaller.pictures > 0 && smaller.pictures.is_multiple_of(self.divisor),
        };
        is_possible.then_some(smaller)
    }

    /// As the command line has it.
    pub(super) fn flag(&self) -> String {
        self.pixels.map_or_else(|| format!("--batch-size {}", self.pictures), |pixels| format!("--pixels {pixels}"))
    }
}
