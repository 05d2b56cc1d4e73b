//! What a composition takes and what it leaves to the CPU. That its sums give the CPU's pixels is tested where they are computed:
//! in forebay-cuda.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::{
    CenterCrop, Change, Composition, Counted, CpuOnly, Draw, Dtype, GaussianBlur, Grayscale, Input, Interpolation,
    Limits, OneOrTwo, Orientation, Output, Pad, PillowGaussianBlur, RandomEqualize, RandomHorizontalFlip, RandomInvert,
    RandomPosterize, Recipe, Resize, Round, RoundSource, Size, Transform, ValueTable, fixed,
};
use serde_json::{Value, from_value, json};

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

fn read(document: Value) -> Transform {
    from_value(document).unwrap()
}

fn recipe(transforms: Vec<Transform>) -> Recipe {
    Recipe::new(transforms, Output::default()).unwrap()
}

/// What is made of a picture of 50 x 40.
fn made(recipe: &Recipe, limits: &Limits) -> Result<Composition, CpuOnly> {
    Composition::of((50, 40), Orientation::AsStored, recipe, Draw { seed: 0, epoch: 0, record: 0 }, limits)
}

#[test]
fn one_resize_with_cuts_and_borders_of_one_colour_around_it_composes_and_more_is_the_cpus() {
    let limits = Limits::default();
    let takes = |transforms: Vec<Transform>| made(&recipe(transforms), &limits).is_ok();
    assert!(takes(vec![center(30)]));
    assert!(takes(vec![center(30), resize(20, 20), pad(25, 9), center(22)]));
    assert!(takes(vec![resize(20, 20), pad(25, 0), center(30)]));
    assert!(takes(vec![resize(40, 50), resize(20, 20)]), "a resize to the same size is none");
    assert!(!takes(vec![resize(60, 50), resize(20, 20)]), "two resizes");
    assert!(!takes(vec![pad(60, 0), resize(20, 20)]), "a border before a resize");
    assert!(!takes(vec![resize(20, 20), pad(25, 9), center(30)]), "borders of two colours");
}

#[test]
fn operations_at_the_end_are_rounds_and_what_the_cpu_alone_can_do_is_left_to_it() {
    let limits = Limits::default();
    let flip = || Transform::RandomHorizontalFlip(RandomHorizontalFlip::by_chance(1.0));
    let gray = || Transform::Grayscale(Grayscale { num_output_channels: 3 });
    let invert = || Transform::RandomInvert(RandomInvert { p: 1.0 });
    let posterize = || Transform::RandomPosterize(RandomPosterize { bits: 1, p: 1.0 });
    let equalize = || Transform::RandomEqualize(RandomEqualize { p: 1.0 });
    let with = |transforms: Vec<Transform>| made(&recipe([vec![resize(20, 20)], transforms].concat()), &limits);
    let plain = with(vec![]).unwrap();
    assert_eq!(plain.rounds, [Round { source: RoundSource::Sums, changes: vec![], mirrored: false }]);

    let tables = with(vec![flip(), invert(), posterize(), gray()]).unwrap();
    let table = ValueTable::new(std::array::from_fn(|value| if value < 128 { 128 } else { 0 }));
    let changes = vec![Change::Table(table), Change::Gray];
    assert_eq!(tables.rounds, [Round { source: RoundSource::Sums, changes, mirrored: false }], "tables become one");
    let firsts = |made: &Composition| {
        let mut firsts = Vec::new();
        made.sums.columns.each(|first, _| firsts.push(first));
        firsts
    };
    assert!(firsts(&plain).is_sorted() && !firsts(&tables).is_sorted(), "the sums give their pixels mirrored");

    let spread = with(vec![invert(), equalize(), gray(), flip(), invert()]).unwrap();
    let counted: Vec<_> = spread.rounds.iter().map(|round| (round.counted(), round.mirrored)).collect();
    assert_eq!(
        counted,
        [(None, false), (Some(Counted::Values), true), (None, false)],
        "a mirrored round is the last's end"
    );

    let pillow_blur =
        |radius| Transform::PillowGaussianBlur(PillowGaussianBlur { radius: OneOrTwo::One(radius), p: 1.0 });
    let blur = |side| {
        let sigma = OneOrTwo::One(2.0);
        Transform::GaussianBlur(GaussianBlur { kernel_size: OneOrTwo::One(side), sigma })
    };
    assert!(with(vec![blur(31)]).is_ok());
    assert_eq!(with(vec![pillow_blur(64.0)]).unwrap().rounds.len(), 7, "three boxes along the rows and three down");
    assert_eq!(with(vec![pillow_blur(0.0)]).unwrap().rounds, plain.rounds);
    let normalize = read(json!({ "normalize": { "mean": [0.5, 0.5, 0.5], "std": [0.2, 0.2, 0.2] } }));
    let noise = read(json!({ "random_erasing": { "p": 1.0, "value": "random" } }));
    for (transforms, why) in [
        (vec![gray(), center(10)], CpuOnly::Transforms),
        (vec![gray(), resize(10, 10)], CpuOnly::Transforms),
        (vec![pillow_blur(64.1)], CpuOnly::LargeBlur),
        (vec![blur(33)], CpuOnly::LargeBlur),
        (vec![read(json!({ "aug_mix": {} }))], CpuOnly::AugMix),
        (vec![flip(), normalize, noise], CpuOnly::Noise),
    ] {
        let output = Output { dtype: Dtype::Float32, ..Output::default() };
        let recipe = Recipe::new([vec![resize(20, 20)], transforms].concat(), output).unwrap();
        assert_eq!(made(&recipe, &limits).unwrap_err(), why);
    }
}

#[test]
fn what_goes_beyond_the_limits_and_what_is_decoded_smaller_is_the_cpus() {
    let evaluation = || recipe(vec![resize(30, 30)]);
    assert!(made(&evaluation(), &Limits { pixels: 2000, ..Limits::default() }).is_ok());
    assert!(made(&evaluation(), &Limits { pixels: 1999, ..Limits::default() }).is_err(), "the picture");
    assert!(made(&recipe(vec![resize(99, 99)]), &Limits { pixels: 2000, ..Limits::default() }).is_err(), "the result");
    let input = Input { reducing_gap: Some(2.0), ..Input::default() };
    assert!(made(&evaluation().with_input(input).unwrap(), &Limits::default()).is_err());
}

/// A picture of 50 x 40, cut to its middle, mirrored, on a larger canvas.
#[test]
fn a_pass_says_where_its_part_stands_and_which_pixels_it_is_made_of() {
    let flip = Transform::RandomHorizontalFlip(RandomHorizontalFlip::by_chance(1.0));
    let made = made(&recipe(vec![center(20), flip, pad(23, 7)]), &Limits::default()).unwrap();
    assert_eq!((made.result, made.sums.fill, made.result_len()), ((23, 23), 7, 23 * 23 * 3));
    assert_eq!((made.sums.columns.begin, made.sums.columns.len(), made.sums.columns.longest()), (1, 20, 1));
    let mut columns = Vec::new();
    made.sums.columns.each(|first, weights| {
        assert_eq!(weights, [1.0]);
        columns.push(first);
    });
    assert_eq!(columns, (15..35).rev().collect::<Vec<_>>());
}

#[test]
fn whole_numbers_of_weights_add_up_to_one_within_their_rounding() {
    let made = made(&recipe(vec![resize(11, 90)]), &Limits::default()).unwrap();
    for pass in [&made.sums.columns, &made.sums.rows] {
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
