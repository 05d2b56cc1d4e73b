//! What the command line says of buckets and steps.

use forebay_plan::{Bucket, BucketRule, KohyaBuckets, Leftovers};

use crate::failure::Failure;

/// Which buckets there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct BucketChoice<'a> {
    pub rule: &'a str,
    pub resolution: u32,
    /// The shortest and the longest.
    pub sides: (u32, u32),
    pub step: Option<u32>,
    pub no_upscale: bool,
}

/// How many pictures a step has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BatchChoice {
    pub pictures: u64,
    /// If they are given, they decide.
    pub pixels: Option<u64>,
    pub divisor: u64,
}

impl BucketChoice<'_> {
    /// # Errors
    /// The rule has no known name, and is no list of sizes.
    pub(super) fn rule(&self) -> Result<BucketRule, Failure> {
        match self.rule {
            "kohya" => {
                let pixels = u64::from(self.resolution) * u64::from(self.resolution);
                let (min, max) = self.sides;
                let kohya = KohyaBuckets::new(pixels, min, max, self.step.unwrap_or(64), self.no_upscale);
                Ok(BucketRule::Kohya(kohya))
            }
            "diffusers" => Ok(BucketRule::diffusers(self.resolution, self.step.unwrap_or(16))),
            list => {
                let buckets = list.split(',').map(|text| text.trim().parse::<Bucket>());
                let buckets = buckets.collect::<Result<Vec<_>, _>>().map_err(|error| {
                    Failure::Usage(format!("--buckets is neither kohya nor diffusers nor a list of sizes: {error}"))
                })?;
                Ok(BucketRule::List(buckets))
            }
        }
    }
}

impl BatchChoice {
    /// Places of a step of this bucket.
    ///
    /// # Errors
    /// They are no multiple of the divisor, or the bucket has more pixels than a step.
    pub(super) fn places(&self, bucket: Bucket) -> Result<u64, Failure> {
        let Self { pictures, pixels, divisor } = *self;
        let Some(pixels) = pixels else {
            return if pictures.is_multiple_of(divisor) {
                Ok(pictures)
            } else {
                Err(Failure::Usage(format!("--batch-size is {pictures}, which is no multiple of --divisor {divisor}.")))
            };
        };
        match pixels / bucket.pixels() / divisor * divisor {
            0 => Err(Failure::Failed(format!(
                "A step of {pixels} pixels has no room for {divisor} pictures of {bucket}. Give at least --pixels {}.",
                bucket.pixels().saturating_mul(divisor)
            ))),
            places => Ok(places),
        }
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

/// Reads `--leftovers`.
pub(super) fn leftovers(word: &str) -> Result<Leftovers, String> {
    match word {
        "neighbour" => Ok(Leftovers::Neighbour),
        "repeat" => Ok(Leftovers::Repeat),
        "drop" => Ok(Leftovers::Drop),
        _ => Err("give neighbour, repeat or drop".to_owned()),
    }
}
