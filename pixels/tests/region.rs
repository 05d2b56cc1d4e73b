//! Rule 30: where only a part of a JPEG is decoded, the place holds what a whole decode would have given.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop at what should not be, and print what they found"
)]

#[path = "shared/data.rs"]
mod data;

use std::io::Cursor;

use forebay_pixels::sample::{JpegColors, JpegForm, photograph_rgb};
use forebay_pixels::{CpuDecoder, Draw, JpegChoice, Limits, Recipe};

fn decoders() -> [CpuDecoder; 2] {
    [JpegChoice::default(), JpegChoice::LIBJPEG_TURBO].map(CpuDecoder::with_jpeg)
}

/// Decodes `bytes` by a training recipe, once from the JPEG and once from its whole decode in a format without parts.
fn compare(decoder: &mut CpuDecoder, bytes: &[u8], records: std::ops::Range<u64>, name: &str) {
    let limits = Limits::default();
    let whole = decoder.whole(bytes, &limits).unwrap();
    let whole = image::RgbImage::from_raw(whole.width, whole.height, whole.rgb).unwrap();
    let mut bitmap = Cursor::new(Vec::new());
    whole.write_to(&mut bitmap, image::ImageFormat::Bmp).unwrap();
    let recipe = Recipe::training(61).unwrap();
    let mut part = vec![0; recipe.place_len()];
    let mut cut = vec![0; recipe.place_len()];
    for record in records {
        let draw = Draw { seed: 3, epoch: 0, record };
        decoder.decode(bytes, &recipe, draw, &limits, &mut part).unwrap();
        decoder.decode(bitmap.get_ref(), &recipe, draw, &limits, &mut cut).unwrap();
        assert!(part == cut, "{name}, record {record}");
    }
}

#[test]
fn rule_30_parts_of_every_kind_of_jpeg_equal_cuts_of_the_whole() {
    let mut decoders = decoders();
    let (width, height) = (203, 149);
    let photo = photograph_rgb(1, width, height);
    for colors in [JpegColors::YCbCr, JpegColors::Rgb, JpegColors::Gray, JpegColors::Cmyk, JpegColors::Ycck] {
        for (progressive, arithmetic) in [(false, false), (true, false), (false, true)] {
            let form = JpegForm { colors, progressive, arithmetic, ..JpegForm::default() };
            let pixels: Vec<u8> =
                photo.iter().cycle().take((width * height) as usize * form.channels()).copied().collect();
            let bytes = form.encode(&pixels, width, height).unwrap();
            for decoder in &mut decoders {
                compare(decoder, &bytes, 0..10, &format!("{form:?}"));
            }
        }
    }
}

#[test]
fn rule_30_parts_of_turned_pictures_equal_cuts_of_the_whole() {
    let mut decoders = decoders();
    let upright = JpegForm::default().encode(&photograph_rgb(1, 203, 149), 203, 149).unwrap();
    for orientation in 1..=8 {
        let mut exif = b"\xFF\xE1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0".to_vec();
        exif[29] = orientation;
        let turned = [&upright[..2], &exif, &upright[2..]].concat();
        for decoder in &mut decoders {
            compare(decoder, &turned, 0..20, &format!("orientation {orientation}"));
        }
    }
}

#[test]
fn rule_30_parts_of_photographs_and_odd_files_equal_cuts_of_the_whole() {
    let mut decoder = CpuDecoder::new();
    if let Some(folder) = data::folder("imagenet") {
        for (path, record) in data::files(&folder).iter().step_by(5).zip((0..).step_by(3)) {
            compare(&mut decoder, &std::fs::read(path).unwrap(), record..record + 3, &path.display().to_string());
        }
    }
    let Some(folder) = data::folder("conformance") else { return };
    for data::Verdict { name, .. } in data::verdicts(&folder).into_iter().filter(|verdict| verdict.verdict == "ok") {
        let bytes = std::fs::read(folder.parent().unwrap().join(&name)).unwrap();
        compare(&mut decoder, &bytes, 0..3, &name);
    }
}
