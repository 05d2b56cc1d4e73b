//! A picture that is resized until it covers a size, and cut to it: what a bucket gets (semantics rule 64).

use crate::draw::{Draw, Draws};
use crate::interpolation::Interpolation;
use crate::plan::{Plan, Rect};

/// Which part of the resized picture is cut out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CoverCut {
    /// The middle. Halves are rounded to the even neighbour, as torchvision's `CenterCrop` does.
    #[default]
    Center,
    /// Any part, each as likely.
    Random,
}

/// The first thing that is done to a picture: it is resized by one factor until it covers this size, and cut to it.
///
/// ```
/// use forebay_pixels::{Cover, CoverCut, Interpolation};
///
/// let cover = Cover { height: 832, width: 1216, interpolation: Interpolation::Bicubic, cut: CoverCut::Center };
/// assert_eq!(cover.resized(1000, 1500), (832, 1248));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cover {
    /// In pixels, at least 1.
    pub height: u32,
    /// In pixels, at least 1.
    pub width: u32,
    /// Filter of the resize.
    pub interpolation: Interpolation,
    /// Which part is kept.
    pub cut: CoverCut,
}

impl Cover {
    /// Height and width of a picture of this height and width, each at least 1, once it is resized. Halves are rounded up.
    pub fn resized(&self, height: u32, width: u32) -> (u32, u32) {
        let (wide, high) = (u64::from(self.width), u64::from(self.height));
        let (own_height, own_width) = (u64::from(height), u64::from(width));
        let longer = |side: u64, numerator: u64, denominator: u64, least: u32| {
            let rounded = (2 * side * numerator + denominator) / (2 * denominator);
            u32::try_from(rounded).unwrap_or(u32::MAX).max(least)
        };
        if high * own_width >= wide * own_height {
            (self.height, longer(own_width, high, own_height, self.width))
        } else {
            (longer(own_height, wide, own_width, self.height), self.width)
        }
    }

    /// The part of the resized picture that is kept, by draws 0 and 1: the first row, and the first column.
    fn kept(&self, (height, width): (u32, u32), draws: Draws) -> Rect {
        let first = |side: u32, part: u32, number| match self.cut {
            CoverCut::Center => middle(side - part),
            CoverCut::Random => draws.below(number, side - part + 1),
        };
        let (top, left) = (first(height, self.height, 0), first(width, self.width, 1));
        Rect { left, top, width: self.width, height: self.height }
    }

    /// Adds what it does to a plan that has no step yet.
    pub(crate) fn plan(&self, plan: &mut Plan, draw: Draw) {
        let (height, width) = self.resized(plan.height, plan.width);
        plan.resize(width, height, self.interpolation);
        plan.cut(self.kept((height, width), draw.fitting()));
    }

    /// The first row and column of what is kept of a picture of this width and height, in the resized picture, mirrored as it
    /// was in the end.
    pub(crate) fn corner(
        &self,
        (width, height): (u32, u32),
        draw: Draw,
        (mirrored, flipped): (bool, bool),
    ) -> (u32, u32) {
        let resized = self.resized(height, width);
        let mut kept = self.kept(resized, draw.fitting());
        if mirrored {
            kept = kept.mirrored_in(resized.1);
        }
        if flipped {
            kept = kept.flipped_in(resized.0);
        }
        (kept.top, kept.left)
    }

    pub(crate) fn has_torch(&self) -> bool {
        self.interpolation.has_torch()
    }
}

/// Half of what is cut off.
const fn middle(more: u32) -> u32 {
    let half = more / 2;
    if more % 2 == 1 && half % 2 == 1 { half + 1 } else { half }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fit::Fit;
    use crate::origin::Origin;
    use crate::output::Output;
    use crate::recipe::Recipe;
    use crate::transform::{RandomHorizontalFlip, RandomVerticalFlip, Transform};

    fn cover(height: u32, width: u32, cut: CoverCut) -> Cover {
        Cover { height, width, interpolation: Interpolation::Bilinear, cut }
    }

    #[test]
    fn rule_64_a_picture_is_resized_until_it_covers_the_bucket_and_halves_are_rounded_up() {
        let bucket = cover(832, 1216, CoverCut::Center);
        for ((height, width), resized) in [
            ((1000, 1500), (832, 1248)),
            ((1500, 1000), (1824, 1216)),
            ((832, 1216), (832, 1216)),
            ((1664, 2433), (832, 1217)),
            ((1, 1), (1216, 1216)),
            ((1, 100_000), (832, 83_200_000)),
        ] {
            assert_eq!(bucket.resized(height, width), resized, "{height} x {width}");
        }
    }

    #[test]
    fn rule_64_the_middle_is_that_of_a_centre_crop_and_the_corner_follows_the_mirror() {
        let bucket = cover(832, 1216, CoverCut::Center);
        let draw = Draw { seed: 1, epoch: 2, record: 3 };
        assert_eq!(bucket.corner((1500, 1000), draw, (false, false)), (0, 16));
        let odd = cover(10, 10, CoverCut::Center);
        assert_eq!(odd.corner((13, 10), draw, (false, false)), (0, 2), "1.5 is rounded to 2");
        assert_eq!(odd.corner((13, 10), draw, (true, false)), (0, 1), "13 - 2 - 10");
        assert_eq!(odd.corner((10, 15), draw, (false, true)), (3, 0), "15 - 2 - 10");
    }

    proptest! {
        #[test]
        fn rule_64_a_bucket_is_covered_and_the_corner_is_where_the_plan_cuts(
            (height, width) in (1..300_u32, 1..300_u32),
            (high, wide) in (1..90_u32, 1..90_u32),
            is_random in any::<bool>(),
            record in any::<u64>(),
        ) {
            let cover = cover(high, wide, if is_random { CoverCut::Random } else { CoverCut::Center });
            let flips = [
                Transform::RandomHorizontalFlip(RandomHorizontalFlip::by_chance(0.5)),
                Transform::RandomVerticalFlip(RandomVerticalFlip::by_chance(0.5)),
            ];
            let plain = Recipe::fitting(Fit::Cover(cover), Vec::new(), Output::default()).unwrap();
            let flipped = Recipe::fitting(Fit::Cover(cover), flips.to_vec(), Output::default()).unwrap();
            let (draw, origin) = (Draw { seed: 4, epoch: 5, record }, Origin::plain((width, height)));
            let resized = cover.resized(height, width);
            let factor = f64::max(f64::from(high) / f64::from(height), f64::from(wide) / f64::from(width));
            let near = |side: u32, exact: f64| (f64::from(side) - exact).abs() <= 0.5 + 1e-9;
            prop_assert!(resized.0 >= high && resized.1 >= wide);
            prop_assert!(near(resized.0, f64::from(height) * factor) && near(resized.1, f64::from(width) * factor));
            let mut plan = Plan::default();
            let corner = plain.corner(&origin, draw, &mut plan).unwrap();
            prop_assert!(corner.0 + high <= resized.0 && corner.1 + wide <= resized.1);
            prop_assert_eq!((plan.height, plan.width), (high, wide));
            let cut = plan.steps.iter().find_map(|step| match step {
                crate::plan::Step::Cut(rect) => Some((rect.top, rect.left)),
                _ => None,
            });
            prop_assert_eq!(cut.unwrap_or((0, 0)), corner);
            let turned = flipped.corner(&origin, draw, &mut plan).unwrap();
            let top = if plan.flipped { resized.0 - corner.0 - high } else { corner.0 };
            let left = if plan.mirrored { resized.1 - corner.1 - wide } else { corner.1 };
            prop_assert_eq!(turned, (top, left));
        }
    }
}
