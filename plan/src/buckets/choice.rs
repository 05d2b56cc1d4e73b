//! Buckets as people name them.

use super::{Bucket, BucketRule, KohyaBuckets, NoBucket};

/// Which buckets there are.
///
/// ```
/// use forebay_plan::{BucketChoice, BucketRule};
/// let choice = BucketChoice { rule: "512x512, 384x640", ..BucketChoice::of("kohya") };
/// assert!(matches!(choice.rule()?, BucketRule::List(buckets) if buckets.len() == 2));
/// # Ok::<(), forebay_plan::NoBucketRule>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BucketChoice<'a> {
    /// `kohya`, `diffusers`, or sizes such as `1024x1024,832x1216`.
    pub rule: &'a str,
    /// Of the two with a name: a bucket has about this number squared in pixels.
    pub resolution: u32,
    /// Of `kohya`: the shortest side and the longest.
    pub sides: (u32, u32),
    /// Of the two with a name: sides are multiples of it. Nothing: 64 and 16.
    pub step: Option<u32>,
    /// Of `kohya`: no picture is enlarged.
    pub no_upscale: bool,
}

/// A text that names no buckets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Buckets are kohya, diffusers, or a list of sizes: {0}")]
pub struct NoBucketRule(#[from] pub NoBucket);

impl<'a> BucketChoice<'a> {
    /// This rule with the values that sd-scripts and diffusers have for SDXL.
    pub const fn of(rule: &'a str) -> Self {
        Self { rule, resolution: 1024, sides: (256, 2048), step: None, no_upscale: false }
    }

    /// # Errors
    /// The rule has no known name, and is no list of sizes.
    pub fn rule(&self) -> Result<BucketRule, NoBucketRule> {
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
                Ok(BucketRule::List(buckets.collect::<Result<Vec<_>, _>>()?))
            }
        }
    }
}

impl BucketRule {
    /// All buckets that it may give a picture. Nothing if that depends on the pictures.
    pub fn all(&self) -> Option<&[Bucket]> {
        match self {
            Self::List(buckets) | Self::Diffusers(buckets) => Some(buckets),
            Self::Kohya(kohya) if kohya.enlarges() => Some(kohya.buckets()),
            Self::Kohya(_) => None,
        }
    }
}
