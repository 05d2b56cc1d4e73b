//! Pictures of the size that a transform expects are as they would be without it; all others are refused by every way to
//! carry a recipe out.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::sample::photograph;
use forebay_pixels::{
    Composition, CpuDecoder, CpuOnly, Draw, Fault, Limits, Orientation, Output, Recipe, Transform, TransformList, View,
    ViewOrder, ViewPlaces,
};
use proptest::prelude::*;
use serde_json::{Value, from_value, json};

const LIMITS: Limits = Limits { pixels: 1 << 20, bytes: 1 << 20, scans: 20, time: None };

fn recipe(list: Value) -> Recipe {
    let list: Vec<Transform> = from_value(list).unwrap();
    Recipe::new(list, Output::default()).unwrap()
}

fn draw(record: u64) -> Draw {
    Draw { seed: 1, epoch: 2, record }
}

fn decoded(bytes: &[u8], recipe: &Recipe, record: u64) -> Result<Vec<u8>, Fault> {
    let mut out = vec![0; recipe.place_len()];
    CpuDecoder::new().decode(bytes, recipe, draw(record), &LIMITS, &mut out).map(|_| out)
}

/// The refusal of a picture of 24 x 18 where 20 x 18 are expected.
fn refusal() -> Fault {
    Fault::WrongSize { found: (24, 18), expected: (20, 18) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_picture_is_left_as_it_is_or_refused_with_both_sizes(
        (width, height) in (1..40_u32, 1..40_u32), (high, wide) in (1..40_u32, 1..40_u32), fits in any::<bool>(), record in 0..9_u64,
    ) {
        let expected = if fits { [height, width] } else { [high, wide] };
        let expects = recipe(json!([{ "expect_size": { "size": expected } }]));
        prop_assert_eq!(expects.shape(), (expected[0], expected[1], 3));
        let bytes = photograph(record, width, height);
        let found = decoded(&bytes, &expects, record);
        if expected == [height, width] {
            prop_assert_eq!(found.unwrap(), CpuDecoder::new().whole(&bytes, &LIMITS).unwrap().rgb);
        } else {
            let fault = Fault::WrongSize { found: (width, height), expected: (expected[1], expected[0]) };
            prop_assert_eq!(found.unwrap_err(), fault);
        }
    }
}

#[test]
fn the_size_is_that_at_its_place_of_the_list() {
    let bytes = photograph(1, 24, 18);
    let half = recipe(json!([{ "resize": { "size": [9, 12] } }, { "expect_size": { "size": [9, 12] } }]));
    let plain = recipe(json!([{ "resize": { "size": [9, 12] } }]));
    assert_eq!(decoded(&bytes, &half, 1), decoded(&bytes, &plain, 1));
    let before = recipe(json!([{ "expect_size": { "size": [18, 20] } }, { "resize": { "size": [9, 12] } }]));
    assert_eq!(decoded(&bytes, &before, 1), Err(refusal()));
    assert_eq!(
        refusal().to_string(),
        "The picture is 18 pixels high and 24 wide, but must be 18 high and 20 wide; resize it, or leave it out."
    );
}

#[test]
fn a_decoder_that_has_refused_a_picture_takes_the_next_one() {
    let expects = recipe(json!([{ "expect_size": { "size": [18, 24] } }]));
    let mut decoder = CpuDecoder::new();
    let mut out = vec![0; expects.place_len()];
    for (width, fits) in [(24, true), (25, false), (24, true)] {
        let found = decoder.decode(&photograph(1, width, 18), &expects, draw(1), &LIMITS, &mut out);
        assert_eq!(found.is_ok(), fits, "{width}");
    }
}

#[test]
fn pixels_in_memory_further_views_and_gpus_are_held_to_it_too() {
    let expects = json!([{ "expect_size": { "size": [18, 20] } }]);
    let list: Vec<Transform> = from_value(expects.clone()).unwrap();
    let pipeline = TransformList::new(list, Output::default()).unwrap();
    let (rgb, wrong) = (vec![7; 18 * 20 * 3], vec![7; 18 * 24 * 3]);
    let mut decoder = CpuDecoder::new();
    assert_eq!(decoder.transform_sized(&rgb, (20, 18), &pipeline, draw(0), &LIMITS).unwrap().bytes, rgb);
    assert_eq!(decoder.transform_sized(&wrong, (24, 18), &pipeline, draw(0), &LIMITS).unwrap_err(), refusal());

    let (first, second) = (recipe(json!([{ "center_crop": { "size": 8 } }])), recipe(expects));
    let views = [View { name: "whole".to_owned(), recipe: second.clone() }];
    let order = ViewOrder { recipe: &first, draw: draw(0), views: &views };
    let (mut place, mut further) = (vec![0; first.place_len()], vec![0; second.place_len()]);
    let places = ViewPlaces { first: &mut place, further: &mut [&mut further] };
    let bytes = photograph(0, 24, 18);
    assert_eq!(decoder.decode_views((&bytes, None), order, &LIMITS, places).unwrap_err(), refusal());

    let composed = |size| Composition::of(size, Orientation::AsStored, &second, draw(0), &LIMITS);
    assert!(composed((20, 18)).is_ok());
    assert_eq!(composed((24, 18)), Err(CpuOnly::Transforms), "the CPU says what is wrong");
}
