//! Plans: sizes and offsets are torchvision's, and steps are composed where that changes nothing.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::{
    Border, CenterCrop, Draw, Interpolation, Output, Pad, Plan, RandomHorizontalFlip, RandomResizedCrop, Recipe, Rect,
    Resize, Size, Step, Transform,
};

const DRAW: Draw = Draw { seed: 1, epoch: 2, record: 3 };

fn plan(transforms: Vec<Transform>, width: u32, height: u32) -> Plan {
    Recipe::new(transforms, Output::default()).unwrap().plan(width, height, DRAW)
}

fn center_crop(height: u32, width: u32) -> Transform {
    Transform::CenterCrop(CenterCrop { size: Size::HeightWidth([height, width]) })
}

fn mirror() -> Transform {
    Transform::RandomHorizontalFlip(RandomHorizontalFlip::by_chance(1.0))
}

fn resize(size: Size) -> Transform {
    Transform::Resize(Resize { size, interpolation: Interpolation::Bilinear })
}

fn cut(left: u32, top: u32, width: u32, height: u32) -> Step {
    Step::Cut(Rect { left, top, width, height })
}

fn to(width: u32, height: u32) -> Step {
    Step::Resize { width, height, interpolation: Interpolation::Bilinear }
}

#[test]
fn the_longer_side_is_rounded_down() {
    for ((width, height), size) in [((500, 375), (341, 256)), ((375, 500), (256, 341)), ((257, 259), (256, 257))] {
        let plan = plan(Transform::evaluation(224), width, height);
        assert_eq!(plan.steps[0], to(size.0, size.1));
    }
}

#[test]
fn centre_offsets_round_halves_to_even() {
    for (size, offset) in [(224, 0), (225, 0), (226, 1), (227, 2), (228, 2), (229, 2), (231, 4)] {
        let plan = plan(vec![center_crop(224, 224)], size, 224);
        let steps = if size == 224 { vec![] } else { vec![cut(offset, 0, 224, 224)] };
        assert_eq!(plan.steps, steps, "width {size}");
    }
}

#[test]
fn a_centre_crop_pads_what_is_smaller() {
    let plan = plan(vec![center_crop(10, 10)], 7, 20);
    let canvas = Step::Canvas { width: 10, height: 10, left: 1, top: 0, border: Border::Fill([0; 3].into()) };
    assert_eq!(plan.steps, [cut(0, 5, 7, 10), canvas], "what is not shown has no room on the canvas");
}

#[test]
fn nothing_is_done_where_nothing_changes() {
    let plan = plan(vec![resize(Size::One(64)), center_crop(64, 64)], 64, 64);
    assert_eq!(plan.steps, []);
}

#[test]
fn cuts_that_follow_each_other_are_one() {
    let plan = plan(vec![center_crop(60, 80), center_crop(20, 20)], 100, 100);
    assert_eq!(plan.steps, [cut(40, 40, 20, 20)]);
}

#[test]
fn a_cut_after_a_mirror_is_mirrored_instead() {
    let plan = plan(vec![mirror(), center_crop(10, 7)], 10, 10);
    // torchvision cuts columns 2 to 9 of the mirrored picture, which are 1 to 8 of the stored one, and keeps them mirrored.
    assert_eq!((plan.steps.as_slice(), plan.mirrored), ([cut(1, 0, 7, 10)].as_slice(), true));
}

#[test]
fn a_border_after_a_mirror_is_mirrored_instead() {
    let pad = Transform::Pad(Pad::to(Size::HeightWidth([1, 10]), 9));
    let plan = plan(vec![resize(Size::HeightWidth([7, 7])), mirror(), pad], 7, 7);
    assert_eq!(
        plan.steps,
        [Step::Canvas { width: 10, height: 7, left: 2, top: 0, border: Border::Fill([9; 3].into()) }]
    );
    assert!(plan.mirrored);
}

#[test]
fn two_mirrors_are_none() {
    assert!(!plan(vec![mirror(), mirror(), center_crop(4, 4)], 4, 4).mirrored);
}

#[test]
fn a_random_part_lies_inside_has_the_asked_area_and_ratio_and_is_resized() {
    let recipe = Recipe::training(224).unwrap();
    for record in 0..2_000 {
        let plan = recipe.plan(500, 375, Draw { record, ..DRAW });
        let [Step::Cut(part), resized] = plan.steps.as_slice() else { panic!("{plan:?}") };
        assert_eq!(*resized, to(224, 224));
        assert!(part.left + part.width <= 500 && part.top + part.height <= 375);
        let area = f64::from(part.width * part.height) / (500.0 * 375.0);
        let ratio = f64::from(part.width) / f64::from(part.height);
        assert!((0.079..=1.0).contains(&area), "{area}");
        assert!((0.74..1.35).contains(&ratio), "{ratio}");
    }
}

#[test]
fn the_middle_is_taken_where_no_random_part_fits() {
    let crop = RandomResizedCrop {
        size: Size::One(8),
        scale: [1.0, 1.0],
        ratio: [0.75, 1.25],
        interpolation: Interpolation::Bilinear,
    };
    let transforms = vec![Transform::RandomResizedCrop(crop)];
    assert_eq!(plan(transforms.clone(), 1_000, 10).steps[0], cut(494, 0, 12, 10));
    assert_eq!(plan(transforms.clone(), 9, 1_000).steps[0], cut(0, 494, 9, 12));
    assert_eq!(plan(transforms, 1, 1).steps, [to(8, 8)]);
}
