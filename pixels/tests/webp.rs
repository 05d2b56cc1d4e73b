//! WebP through recipes: a crop has the bytes of the whole picture, what is transparent shows the background, EXIF turns the picture,
//! and an animation shows its first canvas. The files are those of `webp/tests/pictures`, which Pillow has written.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::path::Path;

use forebay_pixels::{
    Background, CpuDecoder, DecodedBy, Draw, Fault, Form, Format, Further, FurtherKind, Limits, Mode, Output, Recipe,
    probe,
};
use proptest::prelude::*;
use serde_json::{Value, from_value, json};

const DRAW: Draw = Draw { seed: 3, epoch: 0, record: 5 };

fn read(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../webp/tests/pictures");
    std::fs::read(folder.join(name).with_extension("webp")).unwrap()
}

fn made(list: Value, bytes: &[u8]) -> Vec<u8> {
    let recipe = Recipe::new(from_value(list).unwrap(), Output::default()).unwrap();
    let mut out = vec![0; recipe.place_len()];
    let decoded = CpuDecoder::new().decode(bytes, &recipe, DRAW, &Limits::default(), &mut out).unwrap();
    assert_eq!((decoded.format, decoded.by), (Format::WebP, Some(DecodedBy::Libwebp)));
    out
}

fn over(bytes: &[u8], background: Background) -> Vec<u8> {
    let form = Form { background, ..Form::default() };
    CpuDecoder::new().upright(bytes, form, &Limits::default()).unwrap().0.pixels().to_vec()
}

/// The file with EXIF of this orientation behind its picture.
fn turned(bytes: &[u8], orientation: u8, alpha: u8) -> Vec<u8> {
    let probed = probe(bytes).unwrap();
    let side = |side: u32| (side - 1).to_le_bytes()[..3].to_vec();
    let chunk = |name: &[u8; 4], data: &[u8]| {
        [name, &u32::try_from(data.len()).unwrap().to_le_bytes()[..], data, &vec![0; data.len() % 2]].concat()
    };
    let exif = [73, 73, 42, 0, 8, 0, 0, 0, 1, 0, 18, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0];
    let head = [vec![8 | alpha, 0, 0, 0], side(probed.width), side(probed.height)].concat();
    // A file with alpha has a header of its own.
    let picture = if alpha == 0 { &bytes[12..] } else { &bytes[30..] };
    let body = [b"WEBP", &chunk(b"VP8X", &head)[..], picture, &chunk(b"EXIF", &exif)].concat();
    chunk(b"RIFF", &body)
}

#[test]
fn what_is_transparent_shows_the_background_and_nothing_else_does() {
    for name in ["lossy-alpha-150x101", "lossless-alpha-150x101"] {
        let bytes = read(name);
        let [black, white] = [[0; 3], [255; 3]].map(|colour| over(&bytes, Background::Colour(colour)));
        let lighter = black.iter().zip(&white).filter(|(black, white)| white > black).count();
        assert!(lighter > black.len() / 20, "{name}: {lighter} of {}", black.len());
        assert!(black.iter().zip(&white).all(|(black, white)| white >= black));
    }
    let bytes = read("lossy-150x101");
    assert_eq!(over(&bytes, Background::default()), over(&bytes, Background::Colour([255; 3])));
}

#[test]
fn an_animation_shows_its_first_canvas_and_the_others_are_counted() {
    let (opaque, clear) = (read("animated"), read("animated-alpha"));
    for (bytes, outside) in [(&opaque, [0; 3]), (&clear, [9, 8, 7])] {
        let pixels = over(bytes, Background::Colour([9, 8, 7]));
        let at = |column: usize, row: usize| <[u8; 3]>::try_from(&pixels[(row * 40 + column) * 3..][..3]).unwrap();
        assert_eq!(pixels.len(), 40 * 30 * 3);
        assert_eq!((at(0, 0), at(39, 29), at(5, 4)), (outside, outside, outside), "the frame begins at 6, 4");
        assert_ne!(at(6, 4), outside);
        let further = Further::of(bytes, Mode::Rgb, &Limits::default());
        assert_eq!(further[0], Further { kind: FurtherKind::Frames, count: 1 });
        assert_eq!(further.len() == 2, *bytes == clear, "the other one has alpha");
        let crop = made(json!([{ "crop": { "top": 3, "left": 5, "height": 9, "width": 11 } }]), bytes);
        if outside == [0; 3] {
            let rows = (3..12).flat_map(|row| pixels[(row * 40 + 5) * 3..][..33].to_vec());
            assert!(crop.into_iter().eq(rows), "a crop of an animation is one of its canvas");
        }
    }
}

#[test]
fn a_file_whose_last_chunk_is_cut_is_truncated_whatever_is_asked_of_it() {
    let bytes = turned(&read("lossy-19x17"), 1, 0);
    let recipe = Recipe::evaluation(8).unwrap();
    for end in [bytes.len() - 1, bytes.len() - 20, 40] {
        let mut out = vec![0; recipe.place_len()];
        let fault = CpuDecoder::new().decode(&bytes[..end], &recipe, DRAW, &Limits::default(), &mut out).unwrap_err();
        assert_eq!((fault, probe(&bytes[..end]).unwrap_err()), (Fault::Truncated, Fault::Truncated));
    }
}

#[test]
fn a_picture_above_the_limits_is_refused_before_it_takes_memory() {
    let limits = Limits { pixels: 19 * 17 - 1, ..Limits::default() };
    let fault = CpuDecoder::new().whole(&read("lossless-19x17"), &limits).map(|_| ()).unwrap_err();
    assert_eq!(fault, Fault::TooLarge { pixels: 19 * 17, limit: 19 * 17 - 1 });
    // A lossless header alone that claims the largest size: 16,384 pixels a side.
    let claim = [b"VP8L", &6_u32.to_le_bytes()[..], &[0x2f, 0xff, 0xff, 0xff, 0x0f, 0]].concat();
    let file = [b"RIFF", &u32::try_from(claim.len() + 4).unwrap().to_le_bytes()[..], b"WEBP", &claim].concat();
    let fault = CpuDecoder::new().whole(&file, &Limits::default()).map(|_| ()).unwrap_err();
    assert!(matches!(fault, Fault::TooLarge { .. }), "{fault}");
}

proptest! {
    #[test]
    fn rule_30_a_crop_has_the_bytes_of_the_whole_in_every_orientation(
        name in prop::sample::select(vec!["lossy-150x101", "filtered-150x101", "lossless-150x101", "lossy-alpha-150x101"]),
        orientation in 1..=8_u8, left in 0..90_u32, top in 0..90_u32, width in 1..=11_u32, height in 1..=11_u32,
    ) {
        let alpha = if name.contains("alpha") { 0x10 } else { 0 };
        let bytes = turned(&read(name), orientation, alpha);
        let probed = probe(&bytes).unwrap();
        let crop = json!([{ "crop": { "top": top, "left": left, "height": height, "width": width } }]);
        let whole = over(&bytes, Background::default());
        prop_assert_eq!((probed.width, probed.height), if orientation < 5 { (150, 101) } else { (101, 150) });
        let at = |row: u32| ((top + row) * probed.width + left) as usize * 3;
        let rows: Vec<u8> = (0..height).flat_map(|row| whole[at(row)..][..width as usize * 3].to_vec()).collect();
        prop_assert_eq!(made(crop, &bytes), rows);
    }
}
