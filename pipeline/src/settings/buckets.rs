//! The buckets of a stream: which sizes its pictures have, and how many of a size are in a step (semantics rules 62 and 64).

use forebay_plan::{Bucket, BucketRule, Leftovers, NoStepPlaces, StepPlaces};

/// The buckets of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct BucketSettings {
    /// Which there are, and which of them a picture gets.
    pub rule: BucketRule,
    /// Which share of a picture may be cut off. A picture of which more would be cut off has no bucket.
    pub max_crop: f64,
    /// The rule for people.
    pub name: String,
    /// How many pictures a step has.
    pub steps: StepPlaces,
    /// What becomes of pictures that fill no step.
    pub leftovers: Leftovers,
    /// How many steps of one bucket follow each other, at least 1.
    pub accumulate: u32,
}

impl BucketSettings {
    /// Places of the largest step that any of these buckets has.
    ///
    /// # Errors
    /// A bucket has no steps.
    pub fn most_places(rule: &BucketRule, steps: &StepPlaces) -> Result<u64, NoStepPlaces> {
        // Without a list of buckets, all steps have as many pictures.
        let any = [Bucket { height: 1, width: 1 }];
        let buckets = rule.all().filter(|buckets| !buckets.is_empty()).unwrap_or(&any);
        buckets.iter().try_fold(0, |most, bucket| Ok(steps.places(*bucket)?.max(most)))
    }
}
