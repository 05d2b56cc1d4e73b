//! A random part of a picture: its area, its ratio and where it is.

use crate::draw::Draws;
use crate::number::range_problem;
use crate::plan::Rect;

/// Tries before no random part is found, as in torchvision and timm.
const TRIES: u64 = 10;

/// A random part that is cut out before the resize to patches. As in timm's `RandomResizedCropToSequence`, its ratio is near that of the
/// picture. If ten tries find none that fits, it is the whole picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomPart {
    /// Smallest and largest part of the picture's area.
    pub scale: [f64; 2],
    /// Smallest and largest width / height of the part, relative to that of the picture.
    pub ratio: [f64; 2],
}

impl Default for RandomPart {
    /// From 8 % of the area, and from 3/4 to 4/3 of the ratio.
    fn default() -> Self {
        Self { scale: [0.08, 1.0], ratio: [3.0 / 4.0, 4.0 / 3.0] }
    }
}

impl RandomPart {
    /// What is wrong with it: the setting, and the rest of a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let more = (self.scale[1] > 1.0).then(|| format!("scale is up to {}, but must be at most 1", self.scale[1]));
        let scale = range_problem("scale", self.scale).or(more).map(|problem| ("scale", problem));
        scale.or_else(|| range_problem("ratio", self.ratio).map(|problem| ("ratio", problem)))
    }

    /// The part of a picture of this width and height.
    pub(crate) fn of(&self, (width, height): (u32, u32), draws: Draws) -> Rect {
        let own = f64::from(width) / f64::from(height);
        tried((width, height), self.scale, (own, self.ratio), draws).unwrap_or_else(|| Rect::whole(width, height))
    }
}

/// A random part of a picture of this width and height, with a part of its area and a ratio, which is `own` by a factor. Nothing if ten tries
/// find none that fits.
#[expect(clippy::cast_precision_loss, reason = "areas below 2^53 fit a double")]
pub(crate) fn tried(
    (width, height): (u32, u32),
    scale: [f64; 2],
    (own, factors): (f64, [f64; 2]),
    draws: Draws,
) -> Option<Rect> {
    let area = (u64::from(width) * u64::from(height)) as f64;
    let log_factors = factors.map(libm::log);
    for number in (0..TRIES * 4).step_by(4) {
        let part_area = area * draws.between(number, scale[0], scale[1]);
        let ratio = own * libm::exp(draws.between(number + 1, log_factors[0], log_factors[1]));
        let part_width = whole(libm::sqrt(part_area * ratio));
        let part_height = whole(libm::sqrt(part_area / ratio));
        if (1..=width).contains(&part_width) && (1..=height).contains(&part_height) {
            return Some(Rect {
                left: draws.below(number + 3, width - part_width + 1),
                top: draws.below(number + 2, height - part_height + 1),
                width: part_width,
                height: part_height,
            });
        }
    }
    None
}

/// Rounded to the nearest whole number, halves to even; out of range numbers give the range's ends.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
pub(crate) fn whole(value: f64) -> u32 {
    libm::rint(value) as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::draw::Draw;

    proptest! {
        #[test]
        fn rule_65_a_part_is_in_the_picture_with_an_area_and_a_ratio_of_the_ranges(
            (width, height) in (1..5_000_u32, 1..5_000_u32),
            (low, more) in (0.01..0.9, 0.0..0.1),
            (narrow, wide) in (0.5..1.0, 1.0..2.0),
            record in any::<u64>(),
        ) {
            let part = RandomPart { scale: [low, low + more], ratio: [narrow, wide] };
            prop_assert_eq!(part.problem(), None);
            let draw = Draw { seed: 3, epoch: 1, record };
            let found = part.of((width, height), draw.fitting());
            prop_assert!(found.left + found.width <= width && found.top + found.height <= height);
            if found == Rect::whole(width, height) {
                return Ok(());
            }
            // Both sides are rounded, by half a pixel at most.
            let sides = |by: f64| (f64::from(found.width) + by, f64::from(found.height) + by);
            let area = f64::from(width) * f64::from(height);
            let ((least_wide, least_high), (most_wide, most_high)) = (sides(-0.5), sides(0.5));
            prop_assert!(most_wide * most_high >= low * area * (1.0 - 1e-9));
            prop_assert!(least_wide * least_high <= (low + more) * area * (1.0 + 1e-9));
            let own = f64::from(width) / f64::from(height);
            prop_assert!(most_wide / least_high >= own * narrow * (1.0 - 1e-9));
            prop_assert!(least_wide / most_high <= own * wide * (1.0 + 1e-9));
        }
    }

    #[test]
    fn rule_65_ranges_that_give_no_part_are_refused_by_name() {
        let named = |part: RandomPart| part.problem().map(|(name, _)| name);
        let good = RandomPart::default();
        assert_eq!(named(good), None);
        for scale in [[0.0, 1.0], [0.5, 0.4], [0.5, 1.5], [0.5, f64::NAN]] {
            assert_eq!(named(RandomPart { scale, ..good }), Some("scale"), "{scale:?}");
        }
        for ratio in [[0.0, 1.0], [2.0, 1.0], [1.0, f64::INFINITY]] {
            assert_eq!(named(RandomPart { ratio, ..good }), Some("ratio"), "{ratio:?}");
        }
    }

    #[test]
    fn rule_65_a_picture_without_room_for_a_part_stays_whole() {
        let larger = RandomPart { scale: [1.0, 1.0], ratio: [2.0, 2.0] };
        let draw = Draw { seed: 0, epoch: 0, record: 0 };
        assert_eq!(larger.of((30, 40), draw.fitting()), Rect::whole(30, 40));
    }
}
