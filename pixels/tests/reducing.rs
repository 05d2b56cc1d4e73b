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

/// A lossless JPEG in grey of 8 bits, whose samples grow by one from column to column. Each first one is that above it.
fn lossless_grey(width: u16, height: u16, marker: &[u8]) -> Vec<u8> {
    let mut bytes = [b"\xFF\xD8", marker, b"\xFF\xC3\0\x0B\x08"].concat();
    bytes.extend(height.to_be_bytes().into_iter().chain(width.to_be_bytes()));
    bytes.extend(b"\x01\x01\x11\0");
    // A difference of 0 is the bit 0, and one of +1 the bits 10 and 1.
    bytes.extend(b"\xFF\xC4\0\x15\0\x01\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01");
    bytes.extend(b"\xFF\xDA\0\x08\x01\x01\0\x01\0\0");
    let row = || std::iter::once("0").chain(std::iter::repeat_n("101", usize::from(width) - 1)).collect::<String>();
    let mut bits: String = (0..height).map(|_| row()).collect();
    while !bits.len().is_multiple_of(8) {
        bits.push('1');
    }
    for at in (0..bits.len()).step_by(8) {
        let byte = u8::from_str_radix(&bits[at..at + 8], 2).unwrap();
        bytes.push(byte);
        // In the data, a byte of ones is followed by a zero.
        bytes.extend((byte == 0xFF).then_some(0));
    }
    bytes.extend(b"\xFF\xD9");
    bytes
}

#[test]
fn a_lossless_jpeg_in_grey_comes_out_as_it_went_in() {
    let jfif = b"\xFF\xE0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0";
    for marker in [&b""[..], jfif] {
        let bytes = lossless_grey(60, 7, marker);
        let picture = CpuDecoder::new().whole(&bytes, &Limits::default()).unwrap();
        assert_eq!((picture.width, picture.height), (60, 7));
        let grey: Vec<u8> = (0..7).flat_map(|_| 0..60).flat_map(|column: u8| [128 + column; 3]).collect();
        assert_eq!(picture.rgb, grey);
    }
    let mut coloured = lossless(20, 20);
    coloured.splice(2..2, jfif.iter().copied());
    let fault = CpuDecoder::new().whole(&coloured, &Limits::default()).unwrap_err();
    assert!(fault.to_string().contains("lossless JPEG whose colours are transformed"), "{fault}");
}

#[test]
fn a_lossless_jpeg_cannot_be_scaled_and_is_decoded_whole() {
    let bytes = lossless(160, 120);
    let recipe = Recipe::evaluation(24).unwrap();
    let exact = decoded(&bytes, &recipe, 0);
    assert_eq!(exact, vec![128; recipe.place_len()]);
    assert_eq!(decoded(&bytes, &recipe.with_input(gap(2.0)).unwrap(), 0), exact);
}
