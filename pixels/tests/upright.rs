//! Pictures that are kept decoded give what their files give, for every kind of file, recipe and orientation.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop at what should not be, and print what they found"
)]
#![allow(clippy::cast_possible_truncation, reason = "small coordinates as colours")]

#[path = "shared/data.rs"]
mod data;

use std::io::Cursor;

use forebay_pixels::sample::{self, JpegForm, photograph_rgb};
use forebay_pixels::{
    Background, CenterCrop, CpuDecoder, Draw, Dtype, Fault, Form, KeptPicture, Layout, Limits, Mode, Normalize, Output,
    Pad, PerChannel, Recipe, Size, Transform, probe,
};

fn recipes() -> Vec<Recipe> {
    let odd = [
        Transform::Pad(Pad::to(Size::One(300), 9)),
        Transform::CenterCrop(CenterCrop { size: Size::HeightWidth([70, 90]) }),
        Transform::Normalize(Normalize { mean: PerChannel::One(0.5), std: PerChannel::One(0.25) }),
    ];
    let output = Output {
        dtype: Dtype::Float32,
        layout: Layout::Nchw,
        background: Background::Colour([1, 2, 3]),
        mode: Mode::Rgb,
    };
    let odd = Recipe::new(odd.to_vec(), output).unwrap();
    vec![Recipe::training(48).unwrap(), Recipe::evaluation(48).unwrap(), odd]
}

/// What the file gives, and what its kept form gives.
fn both(bytes: &[u8], recipe: &Recipe, form: Form, record: u64) -> [Result<Vec<u8>, Fault>; 2] {
    let (limits, draw) = (Limits::default(), Draw { seed: 1, epoch: 2, record });
    let mut decoder = CpuDecoder::new();
    let form = Form { background: recipe.output().background, ..form };
    let mut out = vec![0; recipe.place_len()];
    let direct = decoder.decode(bytes, recipe, draw, &limits, &mut out).map(|_| out);
    let mut out = vec![0xFF; recipe.place_len()];
    let kept = decoder.upright(bytes, form, &limits);
    let kept = kept.and_then(|(kept, _)| decoder.transform(&kept, recipe, draw, &limits, &mut out)).map(|_| out);
    [direct, kept]
}

/// Odd files that Pillow opens, and that are small enough to be decoded a few times.
fn conformance() -> Vec<(String, Vec<u8>)> {
    let Some(folder) = data::folder("conformance") else { return Vec::new() };
    let verdicts = data::verdicts(&folder).into_iter().filter(|file| file.verdict == "ok");
    let files = verdicts.map(|file| {
        let bytes = std::fs::read(folder.with_file_name(&file.name)).unwrap();
        (file.name, bytes)
    });
    let small =
        |bytes: &[u8]| probe(bytes).is_ok_and(|probe| u64::from(probe.width) * u64::from(probe.height) < 1 << 19);
    files.filter(|(_, bytes)| small(bytes)).collect()
}

fn same(name: &str, bytes: &[u8]) {
    for (number, recipe) in recipes().iter().enumerate() {
        for record in 0..4 {
            let [direct, kept] = both(bytes, recipe, Form::default(), record);
            assert!(direct == kept, "{name}: recipe {number}, record {record}");
        }
    }
}

#[test]
fn a_kept_picture_gives_the_bytes_that_its_file_gives() {
    let rgb = photograph_rgb(3, 131, 97);
    for sampling in [[1, 1], [2, 1], [2, 2], [1, 2]] {
        for progressive in [false, true] {
            let form = JpegForm { sampling, progressive, ..JpegForm::default() };
            same("a generated JPEG", &form.encode(&rgb, 131, 97).unwrap());
        }
    }
    same("one pixel", &sample::photograph(1, 1, 1));
}

#[test]
fn every_kind_of_file_and_orientation_gives_the_same_from_its_kept_form() {
    for (name, bytes) in conformance() {
        same(&name, &bytes);
    }
}

#[test]
fn the_background_is_blended_in_when_a_picture_is_kept() {
    let mut png = Cursor::new(Vec::new());
    image::RgbaImage::from_fn(120, 90, |x, y| image::Rgba([x as u8, y as u8, 7, (x + y) as u8]))
        .write_to(&mut png, image::ImageFormat::Png)
        .unwrap();
    let png = png.into_inner();
    same("a transparent PNG", &png);
    let keep = |colour| {
        let background = Background::Colour(colour);
        CpuDecoder::new().upright(&png, Form { background, ..Form::default() }, &Limits::default()).unwrap()
    };
    assert_ne!(keep([0; 3]), keep([255; 3]));
    let form = Form { background: Background::Dropped, ..Form::default() };
    let (kept, _) = CpuDecoder::new().upright(&png, form, &Limits::default()).unwrap();
    assert_eq!(kept.pixels()[(7 * 120 + 5) * 3..][..3], [5, 7, 7], "the colour of the file, without its alpha");
}

#[test]
fn a_bound_shrinks_larger_pictures_alone_and_keeps_their_proportions() {
    let form = Form { max_side: Some(100), ..Form::default() };
    let keep = |width, height| -> KeptPicture {
        CpuDecoder::new().upright(&sample::photograph(1, width, height), form, &Limits::default()).unwrap().0
    };
    for (stored, kept) in
        [((200, 100), (100, 50)), ((99, 301), (33, 100)), ((100, 100), (100, 100)), ((900, 2), (100, 1))]
    {
        let picture = keep(stored.0, stored.1);
        assert_eq!((picture.width, picture.height), kept, "{stored:?}");
        assert_eq!(picture.pixels().len(), kept.0 as usize * kept.1 as usize * 3);
        assert_eq!(
            picture.bytes() as u64,
            KeptPicture::bytes_of(kept.0, kept.1, Mode::Rgb),
            "no more memory than it needs"
        );
    }
    let small = sample::photograph(1, 90, 80);
    let [direct, kept] = both(&small, &recipes()[0], form, 0);
    assert_eq!(direct, kept);
    let large = sample::photograph(1, 400, 300);
    let [direct, kept] = both(&large, &Recipe::evaluation(48).unwrap(), form, 0);
    let (direct, kept) = (direct.unwrap(), kept.unwrap());
    let difference: u32 = direct.iter().zip(&kept).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
    assert!(direct != kept && difference < u32::try_from(direct.len() * 6).unwrap(), "much the same picture");
}

#[test]
fn a_picture_that_cannot_be_decoded_whole_is_not_kept() {
    let photo = sample::photograph(1, 300, 200);
    let kept = CpuDecoder::new().upright(&photo[..photo.len() / 2], Form::default(), &Limits::default());
    assert_eq!(kept, Err(Fault::Truncated));
    let limits = Limits { pixels: 100, ..Limits::default() };
    assert!(matches!(CpuDecoder::new().upright(&photo, Form::default(), &limits), Err(Fault::TooLarge { .. })));
}
