//! Buckets: the sizes in which a batch of pictures may be, and which of them a picture gets (semantics rule 64). Everything is
//! a function of sizes, so that all nodes agree.

mod choice;
mod kohya;
mod step_places;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;

pub use self::choice::{BucketChoice, NoBucketRule};
pub use self::kohya::KohyaBuckets;
pub use self::step_places::{NoStepPlaces, StepPlaces};

/// A size that pictures are resized and cut to.
///
/// ```
/// use forebay_plan::Bucket;
/// let wide = Bucket { height: 832, width: 1216 };
/// assert_eq!("832x1216".parse(), Ok(wide));
/// // A picture of 1000 x 1500 is resized to 832 x 1248, of which 32 columns are cut off.
/// assert!((wide.cut_off(1000, 1500) - 32.0 / 1248.0).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bucket {
    /// In pixels.
    pub height: u32,
    /// In pixels.
    pub width: u32,
}

/// Which buckets there are, and which of them a picture gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BucketRule {
    /// The bucket of this list whose aspect is the nearest, as a quotient. Of equally near ones, the first.
    List(Vec<Bucket>),
    /// As sd-scripts.
    Kohya(KohyaBuckets),
    /// As diffusers, which gives each picture the last bucket with the least `|h W - w H|`.
    Diffusers(Vec<Bucket>),
}

/// Width by height of the buckets of diffusers.
const DIFFUSERS: [(u32, u32); 11] =
    [(1, 1), (4, 5), (5, 4), (2, 3), (3, 2), (3, 4), (4, 3), (9, 16), (16, 9), (1, 2), (2, 1)];

impl Bucket {
    /// Height times width.
    pub fn pixels(self) -> u64 {
        u64::from(self.height) * u64::from(self.width)
    }

    /// By aspect (width by height), then by size: the order in which buckets are neighbours.
    pub fn by_aspect(&self, other: &Self) -> Ordering {
        let crossed = |one: &Self, other: &Self| u64::from(one.width) * u64::from(other.height);
        crossed(self, other).cmp(&crossed(other, self)).then(self.height.cmp(&other.height))
    }

    /// Which share of a picture of this height and width is cut off, once it is resized to cover the bucket.
    pub fn cut_off(self, height: u32, width: u32) -> f64 {
        let (near, far) = self.distance(height, width);
        if far == 0 { 0.0 } else { 1.0 - real(near) / real(far) }
    }

    /// The quotient of the two aspects, the smaller one first. It is at most 1.
    fn distance(self, height: u32, width: u32) -> (u64, u64) {
        let (one, other) = (u64::from(width) * u64::from(self.height), u64::from(height) * u64::from(self.width));
        (one.min(other), one.max(other))
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.height, self.width)
    }
}

/// A text that is no bucket.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no size of a bucket. Write height and width, as in 832x1216.")]
pub struct NoBucket(String);

impl std::str::FromStr for Bucket {
    type Err = NoBucket;

    fn from_str(text: &str) -> Result<Self, NoBucket> {
        let side = |side: &str| side.parse().ok().filter(|side| (1..=1 << 16).contains(side));
        let sides = text.split_once('x').and_then(|(height, width)| Some((side(height)?, side(width)?)));
        let (height, width) = sides.ok_or_else(|| NoBucket(text.to_owned()))?;
        Ok(Self { height, width })
    }
}

impl BucketRule {
    /// The bucket of a picture of this height and width as seen, if at most this share of it is cut off there.
    ///
    /// ```
    /// use forebay_plan::{Bucket, BucketRule};
    /// let square = Bucket { height: 512, width: 512 };
    /// let rule = BucketRule::List(vec![square]);
    /// // Of a picture of 3 to 4, a quarter is cut off.
    /// assert_eq!(rule.bucket_within(600, 800, 0.25), Some(square));
    /// assert_eq!(rule.bucket_within(600, 800, 0.2), None);
    /// ```
    pub fn bucket_within(&self, height: u32, width: u32, max_crop: f64) -> Option<Bucket> {
        self.bucket(height, width).filter(|bucket| bucket.cut_off(height, width) <= max_crop)
    }

    /// The buckets of diffusers: eleven aspects with about `resolution` squared pixels, and sides that are multiples of
    /// `divisor`.
    pub fn diffusers(resolution: u32, divisor: u32) -> Self {
        let (pixels, divisor) = (f64::from(resolution) * f64::from(resolution), divisor.max(1));
        let rounded = |side: f64| {
            // Halves go to the even number.
            let steps = (side / f64::from(divisor)).round_ties_even();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most twice a resolution")]
            let steps = steps as u32;
            steps.max(1).saturating_mul(divisor)
        };
        let mut buckets: Vec<Bucket> = Vec::with_capacity(DIFFUSERS.len());
        for (wide, high) in DIFFUSERS {
            let aspect = f64::from(wide) / f64::from(high);
            let height = (pixels / aspect).sqrt();
            let bucket = Bucket { height: rounded(height), width: rounded(height * aspect) };
            if !buckets.contains(&bucket) {
                buckets.push(bucket);
            }
        }
        Self::Diffusers(buckets)
    }

    /// The bucket of a picture of this height and width as seen. Nothing if the rule has none for it.
    pub fn bucket(&self, height: u32, width: u32) -> Option<Bucket> {
        if height == 0 || width == 0 {
            return None;
        }
        match self {
            Self::List(buckets) => nearest(buckets, height, width),
            Self::Kohya(kohya) => kohya.bucket(height, width),
            Self::Diffusers(buckets) => {
                let metric = |bucket: &Bucket| {
                    let (one, other) =
                        (u64::from(height) * u64::from(bucket.width), u64::from(width) * u64::from(bucket.height));
                    one.abs_diff(other)
                };
                // The last one of equal ones.
                buckets.iter().rev().min_by_key(|bucket| metric(bucket)).copied()
            }
        }
    }
}

/// The first bucket with the nearest aspect.
fn nearest(buckets: &[Bucket], height: u32, width: u32) -> Option<Bucket> {
    let distance = |bucket: &Bucket| bucket.distance(height, width);
    let nearer = |one: &(u64, u64), other: &(u64, u64)| {
        let crossed = |one: &(u64, u64), other: &(u64, u64)| u128::from(one.0) * u128::from(other.1);
        // A quotient that is nearer to 1 is larger.
        crossed(other, one).cmp(&crossed(one, other))
    };
    buckets.iter().min_by(|one, other| nearer(&distance(one), &distance(other))).copied()
}

/// As a number of double precision: products of two sides lose nothing that decides a share.
#[expect(clippy::cast_precision_loss, reason = "shares are for people")]
fn real(number: u64) -> f64 {
    number as f64
}
