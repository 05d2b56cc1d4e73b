//! Pictures that are decoded smaller than stored: in all orientations, from parts, and never below the gap.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::sample::{JpegForm, photograph_rgb};
use forebay_pixels::{CpuDecoder, Draw, Input, Limits, Output, Recipe, RecipeError, Resize, Size, Transform};

const SIZE: (u32, u32) = (411, 303);

fn with_orientation(jpeg: &[u8], orientation: u8) -> Vec<u8> {
    let mut exif = b"\xFF\xE1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0".to_vec();
    exif[29] = orientation;
    [&jpeg[..2], &exif, &jpeg[2..]].concat()
}

fn decoded(bytes: &[u8], recipe: &Recipe, record: u64) -> Vec<u8> {
    let mut place = vec![0; recipe.place_len()];
    let draw = Draw { seed: 5, epoch: 0, record };
    CpuDecoder::new().decode(bytes, recipe, draw, &Limits::default(), &mut place).unwrap();
    place
}

fn mean_difference(a: &[u8], b: &[u8]) -> f64 {
    let sum: u32 = a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
    f64::from(sum) / f64::from(u32::try_from(a.len()).unwrap())
}

fn gap(gap: f64) -> Input {
    Input { reducing_gap: Some(gap), ..Input::default() }
}

#[test]
fn parts_and_orientations_of_scaled_pictures_lie_where_those_of_exact_ones_lie() {
    let upright = JpegForm::default().encode(&photograph_rgb(4, SIZE.0, SIZE.1), SIZE.0, SIZE.1).unwrap();
    let exact = Recipe::training(24).unwrap();
    for orientation in 1..=8 {
        let bytes = with_orientation(&upright, orientation);
        for record in 0..12 {
            let fine = decoded(&bytes, &exact, record);
            for times in [1.0, 2.0, 4.0] {
                let recipe = exact.clone().with_input(gap(times)).unwrap();
                let difference = mean_difference(&decoded(&bytes, &recipe, record), &fine);
                // A picture that lay a pixel of its grid aside would differ by more.
                assert!(
                    difference < 6.0 / times,
                    "orientation {orientation}, record {record}, gap {times}: {difference}"
                );
            }
        }
    }
}

#[test]
fn a_gap_that_leaves_no_room_to_scale_changes_nothing() {
    let bytes = JpegForm::default().encode(&photograph_rgb(4, SIZE.0, SIZE.1), SIZE.0, SIZE.1).unwrap();
    let resize = Resize { size: Size::HeightWidth([75, 102]), interpolation: forebay_pixels::Interpolation::Bilinear };
    let exact = Recipe::new(vec![Transform::Resize(resize)], Output::default()).unwrap();
    let at_most = |times: f64| decoded(&bytes, &exact.clone().with_input(gap(times)).unwrap(), 0);
    assert!(at_most(2.0) != decoded(&bytes, &exact, 0), "twice 75 and 102 go into 303 and 411 twice");
    assert!(at_most(2.1) == decoded(&bytes, &exact, 0));
}

#[test]
fn a_picture_may_be_left_as_it_is_stored() {
    let upright = JpegForm::default().encode(&photograph_rgb(4, 90, 60), 90, 60).unwrap();
    let input = Input { adjust_orientation: false, ..Input::default() };
    let recipe = Recipe::evaluation(40).unwrap();
    let expected = decoded(&upright, &recipe, 0);
    let turned = with_orientation(&upright, 6);
    assert!(decoded(&turned, &recipe, 0) != expected);
    assert!(decoded(&turned, &recipe.with_input(input).unwrap(), 0) == expected);
}

#[test]
fn a_gap_below_one_is_refused() {
    for bad in [0.5, 0.0, -2.0, f64::NAN, f64::INFINITY] {
        let refused = Recipe::training(24).unwrap().with_input(gap(bad));
        assert!(matches!(refused, Err(RecipeError::ReducingGap { .. })), "{bad}");
    }
}

/// A lossless JPEG of red, green and blue in 8 bits, all of whose differences are 0: 128 everywhere.
fn lossless(width: u16, height: u16) -> Vec<u8> {
    let mut bytes = b"\xFF\xD8\xFF\xC3\0\x11\x08".to_vec();
    bytes.extend(height.to_be_bytes().into_iter().chain(width.to_be_bytes()));
    bytes.extend(b"\x03R\x11\0G\x11\0B\x11\0");
    // One symbol of one bit, and a scan by the first predictor.
    bytes.extend(b"\xFF\xC4\0\x14\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    bytes.extend(b"\xFF\xDA\0\x0C\x03R\0G\0B\0\x01\0\0");
    bytes.extend(vec![0; (usize::from(width) * usize::from(height) * 3).div_ceil(8)]);
    bytes.extend(b"\xFF\xD9");
    bytes
}

#[test]
fn a_lossless_jpeg_cannot_be_scaled_and_is_decoded_whole() {
    let bytes = lossless(160, 120);
    let recipe = Recipe::evaluation(24).unwrap();
    let exact = decoded(&bytes, &recipe, 0);
    assert_eq!(exact, vec![128; recipe.place_len()]);
    assert_eq!(decoded(&bytes, &recipe.with_input(gap(2.0)).unwrap(), 0), exact);
}
