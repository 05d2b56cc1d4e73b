//! What a picture may cost: memory that is known from its header, and limits that are looked at before any work.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::io::Cursor;
use std::time::Duration;

use forebay_pixels::sample::{JpegColors, JpegForm, photograph_rgb};
use forebay_pixels::{
    CenterCrop, CpuDecoder, Draw, Fault, Form, Interpolation, LONGEST_SIDE, Limits, Output, Recipe, Resize, Size,
    Transform, probe,
};
use image::{DynamicImage, ImageFormat, RgbImage};

const WIDTH: u32 = 67;
const HEIGHT: u32 = 45;

fn jpeg(form: JpegForm) -> Vec<u8> {
    let pixels = photograph_rgb(1, WIDTH, HEIGHT).into_iter().cycle();
    let pixels: Vec<u8> = pixels.take((WIDTH * HEIGHT) as usize * form.channels()).collect();
    form.encode(&pixels, WIDTH, HEIGHT).unwrap()
}

fn png(image: &RgbImage) -> Vec<u8> {
    stored(image, ImageFormat::Png)
}

fn stored(image: &RgbImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// A JPEG that is to be seen turned by a quarter.
fn turned(jpeg: &[u8]) -> Vec<u8> {
    let exif = b"\xFF\xE1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    [&jpeg[..2], exif, &jpeg[2..]].concat()
}

#[test]
fn rule_31_what_decoding_takes_is_known_from_the_header() {
    let pixels = u64::from(WIDTH * HEIGHT);
    let in_units = u64::from(WIDTH.next_multiple_of(32) * HEIGHT.next_multiple_of(32));
    let takes = |bytes: &[u8]| probe(bytes).unwrap().decode_bytes();
    let baseline = jpeg(JpegForm::default());
    assert_eq!(takes(&baseline), pixels * 3);
    assert_eq!(takes(&turned(&baseline)), pixels * 6, "beside the turned one");
    let progressive = jpeg(JpegForm { progressive: true, ..JpegForm::default() });
    // Three components of 64 coefficients of 2 bytes, and a mask of 8, for each block.
    let coefficients = in_units / 64 * 3 * 136;
    assert_eq!(takes(&progressive), pixels * 3 + coefficients, "its coefficients");
    let cmyk = jpeg(JpegForm { colors: JpegColors::Cmyk, ..JpegForm::default() });
    assert_eq!(takes(&cmyk), pixels * 7, "as stored");
    assert_eq!(takes(&png(&RgbImage::new(WIDTH, HEIGHT))), pixels * 6, "as stored");
    let mut deep = Cursor::new(Vec::new());
    DynamicImage::new_rgba16(WIDTH, HEIGHT).write_to(&mut deep, ImageFormat::Png).unwrap();
    assert_eq!(takes(deep.get_ref()), pixels * 11, "four channels of 16 bits");
    let tiff = stored(&RgbImage::new(WIDTH, HEIGHT), ImageFormat::Tiff);
    assert_eq!(takes(&tiff), pixels * 9, "as stored, twice");

    // A sequential picture whose first scan has one of its three components.
    let mut several = baseline;
    let scan = several.windows(2).position(|pair| pair == [0xFF, 0xDA]).unwrap();
    several.splice(scan + 2..scan + 11, [0, 6, 1]);
    let probed = probe(&several).unwrap();
    assert!(probed.several_scans);
    assert_eq!(probed.decode_bytes(), pixels * 3 + coefficients);
}

#[test]
fn a_line_that_would_grow_beyond_the_limit_is_refused_before_its_pixels_are_looked_for() {
    // A billion rows, of which the nearest filter adds one step each.
    let line = png(&RgbImage::new(1, 65_000));
    let resize = Resize { size: Size::One(16_000), interpolation: Interpolation::Nearest };
    let crop = Transform::CenterCrop(CenterCrop { size: Size::One(16) });
    let recipe = Recipe::new(vec![Transform::Resize(resize), crop], Output::default()).unwrap();
    let mut place = vec![0; recipe.place_len()];
    let mut decoder = CpuDecoder::new();
    let draw = Draw { seed: 0, epoch: 0, record: 0 };
    let refused = Fault::TooLarge { pixels: 16_000 * 16_000 * 65_000, limit: 178_956_970 };
    let outcome = decoder.decode(&line, &recipe, draw, &Limits::default(), &mut place);
    assert_eq!(outcome, Err(refused.clone()));
    let (kept, _) = decoder.upright(&line, Form::default(), &Limits::default()).unwrap();
    assert_eq!(decoder.transform(&kept, &recipe, draw, &Limits::default(), &mut place), Err(refused));
}

#[test]
fn rule_31_a_picture_with_a_side_that_is_too_long_is_refused_by_name() {
    let mut decoder = CpuDecoder::new();
    let (limits, draw) = (Limits::default(), Draw { seed: 0, epoch: 0, record: 0 });
    let recipe = Recipe::evaluation(8).unwrap();
    let mut place = vec![0; recipe.place_len()];
    let mut decode = |bytes: &[u8]| decoder.decode(bytes, &recipe, draw, &limits, &mut place).map(drop);
    for (width, height) in [(LONGEST_SIDE + 1, 1), (1, LONGEST_SIDE + 1)] {
        let refused = decode(&png(&RgbImage::new(width, height))).unwrap_err();
        assert_eq!(refused, Fault::TooLong { side: LONGEST_SIDE + 1 });
        assert!(refused.to_string().contains("131073") && refused.to_string().contains("131072"), "{refused}");
    }
    assert_eq!(decode(&png(&RgbImage::new(LONGEST_SIDE, 1))), Ok(()));
}

#[test]
fn the_time_limit_holds_for_pictures_that_are_kept_decoded_too() {
    let mut decoder = CpuDecoder::new();
    let (limits, draw) = (Limits::default(), Draw { seed: 0, epoch: 0, record: 0 });
    let (kept, _) = decoder.upright(&png(&RgbImage::new(40, 30)), Form::default(), &limits).unwrap();
    let recipe = Recipe::evaluation(8).unwrap();
    let mut place = vec![0; recipe.place_len()];
    let none = Limits { time: Some(Duration::ZERO), ..limits };
    let refused = decoder.transform(&kept, &recipe, draw, &none, &mut place);
    assert_eq!(refused, Err(Fault::TooSlow { limit: Duration::ZERO }));
}
