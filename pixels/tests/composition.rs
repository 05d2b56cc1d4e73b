//! What a composition takes and what it leaves to the CPU. That its sums give the CPU's pixels is tested where they are computed:
//! in forebay-cuda.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::{
    CenterCrop, Composition, Draw, Grayscale, Input, Interpolation, Limits, Orientation, Output, Pad,
    RandomHorizontalFlip, Recipe, Resize, Size, Transform, fixed,
};

fn resize(height: u32, width: u32) -> Transform {
    let size = Size::HeightWidth([height, width]);
    Transform::Resize(Resize { size, interpolation: Interpolation::Bicubic })
}

fn center(side: u32) -> Transform {
    Transform::CenterCrop(CenterCrop { size: Size::One(side) })
}

fn pad(side: u32, fill: u8) -> Transform {
    Transform::Pad(Pad::to(Size::One(side), fill))
}

fn recipe(transforms: Vec<Transform>) -> Recipe {
    Recipe::new(transforms, Output::default()).unwrap()
}

/// What is made of a picture of 50 x 40.
fn made(recipe: &Recipe, limits: &Limits) -> Option<Composition> {
    Composition::of((50, 40), Orientation::AsStored, recipe, Draw { seed: 0, epoch: 0, record: 0 }, limits)
}

#[test]
fn one_resize_with_cuts_and_borders_of_one_colour_around_it_composes_and_more_is_the_cpus() {
    let limits = Limits::default();
    let takes = |transforms: Vec<Transform>| made(&recipe(transforms), &limits).is_some();
    assert!(takes(vec![center(30)]));
    assert!(takes(vec![center(30), resize(20, 20), pad(25, 9), center(22)]));
    assert!(takes(vec![resize(20, 20), pad(25, 0), center(30)]));
    assert!(takes(vec![resize(40, 50), resize(20, 20)]), "a resize to the same size is none");
    assert!(!takes(vec![resize(60, 50), resize(20, 20)]), "two resizes");
    assert!(!takes(vec![pad(60, 0), resize(20, 20)]), "a border before a resize");
    assert!(!takes(vec![resize(20, 20), pad(25, 9), center(30)]), "borders of two colours");
    let gray = Transform::Grayscale(Grayscale { num_output_channels: 3 });
    assert!(!takes(vec![resize(20, 20), gray]), "operations on values");
}

#[test]
fn what_goes_beyond_the_limits_and_what_is_decoded_smaller_is_the_cpus() {
    let evaluation = || recipe(vec![resize(30, 30)]);
    assert!(made(&evaluation(), &Limits { pixels: 2000, ..Limits::default() }).is_some());
    assert!(made(&evaluation(), &Limits { pixels: 1999, ..Limits::default() }).is_none(), "the picture");
    assert!(made(&recipe(vec![resize(99, 99)]), &Limits { pixels: 2000, ..Limits::default() }).is_none(), "the result");
    let input = Input { reducing_gap: Some(2.0), ..Input::default() };
    assert!(made(&evaluation().with_input(input).unwrap(), &Limits::default()).is_none());
}

/// A picture of 50 x 40, cut to its middle, mirrored, on a larger canvas.
#[test]
fn a_pass_says_where_its_part_stands_and_which_pixels_it_is_made_of() {
    let flip = Transform::RandomHorizontalFlip(RandomHorizontalFlip { p: 1.0 });
    let made = made(&recipe(vec![center(20), flip, pad(23, 7)]), &Limits::default()).unwrap();
    assert_eq!((made.result, made.fill, made.result_len()), ((23, 23), 7, 23 * 23 * 3));
    assert_eq!((made.columns.begin, made.columns.len(), made.columns.longest()), (1, 20, 1));
    let mut columns = Vec::new();
    made.columns.each(|first, weights| {
        assert_eq!(weights, [1.0]);
        columns.push(first);
    });
    assert_eq!(columns, (15..35).rev().collect::<Vec<_>>());
}

#[test]
fn whole_numbers_of_weights_add_up_to_one_within_their_rounding() {
    let made = made(&recipe(vec![resize(11, 90)]), &Limits::default()).unwrap();
    for pass in [&made.columns, &made.rows] {
        let mut count = 0;
        pass.each(|_, weights| {
            let sum: i32 = weights.iter().map(|weight| fixed(*weight)).sum();
            assert!(
                (sum - (1 << 22)).abs() <= i32::try_from(weights.len()).unwrap() && weights.len() <= pass.longest()
            );
            count += 1;
        });
        assert_eq!(count, pass.len());
    }
}
