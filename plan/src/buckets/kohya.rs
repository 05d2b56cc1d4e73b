//! The buckets of sd-scripts: their sizes, and which of them a picture gets.

use super::Bucket;

/// Settings of sd-scripts' buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KohyaBuckets {
    /// Most pixels of a bucket.
    max_pixels: u64,
    /// Sides are multiples of it.
    step: u32,
    /// Whether pictures are never enlarged: then each has a bucket of about its own size.
    no_upscale: bool,
    /// By rising width, then height. A bucket comes before another one of the same aspect if it is smaller.
    buckets: Vec<Bucket>,
}

impl KohyaBuckets {
    /// Buckets of at most `max_pixels` pixels whose sides are between `min` and `max`, in multiples of `step`. With
    /// `no_upscale`, pictures are never enlarged.
    pub fn new(max_pixels: u64, min: u32, max: u32, step: u32, no_upscale: bool) -> Self {
        let step = step.max(1);
        let lowered = |side: u64| u32::try_from(side).unwrap_or(u32::MAX) / step * step;
        let square = lowered(max_pixels.isqrt());
        let mut buckets = vec![Bucket { height: square, width: square }];
        let mut width = min.max(1);
        while width <= max {
            let height = lowered(max_pixels / u64::from(width)).min(max);
            if height >= min.max(1) {
                buckets.extend([Bucket { height, width }, Bucket { height: width, width: height }]);
            }
            width = width.saturating_add(step);
            if width == u32::MAX {
                break;
            }
        }
        buckets.retain(|bucket| bucket.pixels() > 0);
        buckets.sort_unstable_by_key(|bucket| (bucket.width, bucket.height));
        buckets.dedup();
        Self { max_pixels, step, no_upscale, buckets }
    }

    /// The buckets that pictures get if they may be enlarged.
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// Whether pictures may be enlarged.
    pub(super) const fn enlarges(&self) -> bool {
        !self.no_upscale
    }

    pub(super) fn bucket(&self, height: u32, width: u32) -> Option<Bucket> {
        let own = Bucket { height, width };
        if self.no_upscale {
            return self.lowered(own);
        }
        if self.buckets.contains(&own) {
            return Some(own);
        }
        let aspect = f64::from(width) / f64::from(height);
        let error = |bucket: &Bucket| (f64::from(bucket.width) / f64::from(bucket.height) - aspect).abs();
        // The first one of equal ones.
        self.buckets.iter().min_by(|one, other| error(one).total_cmp(&error(other))).copied()
    }

    /// The largest bucket inside of a picture, which is made smaller if it has too many pixels. Nothing if a side is below a
    /// step.
    fn lowered(&self, picture: Bucket) -> Option<Bucket> {
        let shown = if picture.pixels() > self.max_pixels { self.shrunk(picture) } else { picture };
        let down = |side: u32| side - side % self.step;
        let bucket = Bucket { height: down(shown.height), width: down(shown.width) };
        (bucket.pixels() > 0).then_some(bucket)
    }

    /// The size of a picture that has too many pixels. One of its sides becomes a multiple of the step: the one that keeps the
    /// aspect better.
    fn shrunk(&self, Bucket { height, width }: Bucket) -> Bucket {
        let aspect = f64::from(width) / f64::from(height);
        let pixels = super::real(self.max_pixels);
        let exact_width = (pixels * aspect).sqrt();
        let exact_height = pixels / exact_width;
        let steps = |side: f64| {
            let side = whole(side + 0.5);
            side - side % self.step
        };
        let by_width = (steps(exact_width), steps(f64::from(steps(exact_width)) / aspect));
        let by_height = (steps(f64::from(steps(exact_height)) * aspect), steps(exact_height));
        let error = |(width, height): (u32, u32)| {
            if height == 0 { f64::INFINITY } else { (f64::from(width) / f64::from(height) - aspect).abs() }
        };
        if error(by_width) < error(by_height) {
            Bucket { height: whole(f64::from(by_width.0) / aspect + 0.5), width: by_width.0 }
        } else {
            Bucket { height: by_height.1, width: whole(f64::from(by_height.1) * aspect + 0.5) }
        }
    }
}

/// The whole part of a side.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a side is positive, and larger ones saturate"
)]
fn whole(side: f64) -> u32 {
    side as u32
}
