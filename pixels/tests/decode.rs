//! Decoding small pictures that the tests make themselves: every format, kind of JPEG, orientation and output.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::io::Cursor;
use std::time::Duration;

use forebay_pixels::sample::{JpegColors, JpegForm, photograph_rgb};
use forebay_pixels::{
    Background, CpuDecoder, Draw, Dtype, Fault, Format, Layout, Limits, Output, Picture, Recipe, Resize, Size,
    Transform, probe, sample,
};
use image::{DynamicImage, ImageFormat, Luma, LumaA, Rgb, Rgba};

const WIDTH: u32 = 67;
const HEIGHT: u32 = 45;
const DRAW: Draw = Draw { seed: 0, epoch: 0, record: 0 };

fn whole(bytes: &[u8]) -> Result<Picture, Fault> {
    CpuDecoder::new().whole(bytes, &Limits::default())
}

fn jpeg(form: JpegForm) -> Vec<u8> {
    form.encode(&photograph_rgb(1, WIDTH, HEIGHT), WIDTH, HEIGHT).unwrap()
}

fn image_as(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn photo_image() -> image::RgbImage {
    image::RgbImage::from_raw(WIDTH, HEIGHT, photograph_rgb(1, WIDTH, HEIGHT)).unwrap()
}

fn close(ours: &[u8], expected: &[u8], allowed: u64) {
    assert_eq!(ours.len(), expected.len());
    let sum: u64 = ours.iter().zip(expected).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    assert!(sum <= allowed * ours.len() as u64, "mean difference {} / {}", sum, ours.len());
}

/// A JPEG with an EXIF segment that holds nothing but an orientation, in either byte order.
fn with_orientation(jpeg: &[u8], orientation: u8, big_endian: bool) -> Vec<u8> {
    let tiff: [u8; 26] = if big_endian {
        [77, 77, 0, 42, 0, 0, 0, 8, 0, 1, 1, 18, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
    } else {
        [73, 73, 42, 0, 8, 0, 0, 0, 1, 0, 18, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0]
    };
    let mut bytes = jpeg[..2].to_vec();
    bytes.extend([0xFF, 0xE1, 0, 34]);
    bytes.extend(b"Exif\0\0");
    bytes.extend(tiff);
    bytes.extend(&jpeg[2..]);
    bytes
}

#[test]
fn lossless_formats_come_out_as_they_went_in() {
    let photo = photo_image();
    for (format, expected) in [
        (ImageFormat::Png, Format::Png),
        (ImageFormat::Bmp, Format::Bmp),
        (ImageFormat::Tiff, Format::Tiff),
        (ImageFormat::Pnm, Format::Pnm),
        (ImageFormat::WebP, Format::WebP),
    ] {
        let bytes = image_as(&photo.clone().into(), format);
        let picture = whole(&bytes).unwrap();
        assert_eq!((picture.format, picture.width, picture.height), (expected, WIDTH, HEIGHT));
        assert_eq!(picture.rgb, photo.as_raw().as_slice(), "{format:?}");
        let probed = probe(&bytes).unwrap();
        assert_eq!((probed.format, probed.width, probed.height), (expected, WIDTH, HEIGHT));
    }
}

#[test]
fn a_gif_gives_its_first_frame() {
    let one = image::RgbaImage::from_pixel(4, 4, Rgba([255, 0, 0, 255]));
    let two = image::RgbaImage::from_pixel(4, 4, Rgba([0, 0, 255, 255]));
    let mut bytes = Vec::new();
    image::codecs::gif::GifEncoder::new(&mut bytes).encode_frames([one, two].map(image::Frame::new)).unwrap();
    assert_eq!(whole(&bytes).unwrap().rgb, [255, 0, 0].repeat(16));
}

#[test]
fn sixteen_bit_values_keep_their_upper_byte() {
    let gray = image::ImageBuffer::from_pixel(2, 2, Luma([0xABCDu16]));
    assert_eq!(whole(&image_as(&gray.into(), ImageFormat::Png)).unwrap().rgb, [0xAB; 12]);
    let rgb = image::ImageBuffer::from_pixel(2, 2, Rgb([0x1234u16, 0x5678, 0x9ABC]));
    assert_eq!(whole(&image_as(&rgb.into(), ImageFormat::Png)).unwrap().rgb, [0x12, 0x56, 0x9A].repeat(4));
}

#[test]
fn alpha_lies_over_the_background() {
    let half = image::ImageBuffer::from_pixel(2, 2, Rgba([200u8, 100, 0, 128]));
    let bytes = image_as(&half.into(), ImageFormat::Png);
    assert_eq!(whole(&bytes).unwrap().rgb, [100, 50, 0].repeat(4));
    let output = Output { background: Background::Colour([255, 255, 255]), ..Output::default() };
    let resize = Resize { size: Size::One(2), interpolation: forebay_pixels::Interpolation::Bilinear };
    let crop = Transform::CenterCrop(forebay_pixels::CenterCrop { size: Size::One(2) });
    let recipe = Recipe::new(vec![Transform::Resize(resize), crop], output).unwrap();
    let mut place = vec![0; recipe.place_len()];
    CpuDecoder::new().decode(&bytes, &recipe, DRAW, &Limits::default(), &mut place).unwrap();
    assert_eq!(place, [227, 177, 127].repeat(4));
    let gray = image::ImageBuffer::from_pixel(2, 2, LumaA([200u8, 0]));
    assert_eq!(whole(&image_as(&gray.into(), ImageFormat::Png)).unwrap().rgb, [0; 12]);
}

#[test]
fn every_kind_of_jpeg_is_close_to_what_was_encoded() {
    let photo = photograph_rgb(1, WIDTH, HEIGHT);
    let base = JpegForm { quality: 98, sampling: [1, 1], ..JpegForm::default() };
    for sampling in [[1, 1], [2, 1], [2, 2], [1, 2], [4, 1], [4, 2], [1, 4], [3, 1]] {
        for (progressive, arithmetic, restart_rows) in
            [(false, false, 0), (true, false, 0), (false, true, 0), (true, true, 1), (false, false, 1)]
        {
            let form = JpegForm { sampling, progressive, arithmetic, restart_rows, ..base };
            let bytes = jpeg(form);
            let picture = whole(&bytes).unwrap();
            close(&picture.rgb, &photo, 12);
            assert_eq!(probe(&bytes).unwrap().several_scans, progressive);
        }
    }
    close(&whole(&jpeg(JpegForm { colors: JpegColors::Rgb, ..base })).unwrap().rgb, &photo, 4);
}

#[test]
fn a_gray_jpeg_has_three_equal_channels() {
    let form = JpegForm { colors: JpegColors::Gray, ..JpegForm::default() };
    let gray: Vec<u8> = photograph_rgb(1, WIDTH, HEIGHT).chunks(3).map(|rgb| rgb[1]).collect();
    let picture = whole(&form.encode(&gray, WIDTH, HEIGHT).unwrap()).unwrap();
    assert!(picture.rgb.chunks(3).all(|rgb| rgb[0] == rgb[1] && rgb[1] == rgb[2]));
    close(&picture.rgb, &gray.iter().flat_map(|value| [*value; 3]).collect::<Vec<_>>(), 4);
}

#[test]
fn cmyk_and_ycck_are_taken_as_stored_inverted_as_pillow_does() {
    for colors in [JpegColors::Cmyk, JpegColors::Ycck] {
        let form = JpegForm { colors, quality: 100, sampling: [1, 1], ..JpegForm::default() };
        let bytes = form.encode(&[200, 100, 50, 128].repeat(64), 8, 8).unwrap();
        close(&whole(&bytes).unwrap().rgb, &[100, 50, 25].repeat(64), 1);
    }
}

#[test]
fn every_orientation_is_applied_in_both_byte_orders() {
    let upright = jpeg(JpegForm::default());
    let stored = whole(&upright).unwrap();
    let at = |x: u32, y: u32| &stored.rgb[((y * WIDTH + x) * 3) as usize..][..3];
    let (right, down) = (WIDTH - 1, HEIGHT - 1);
    // Where the result's pixel (x, y) stands in the stored picture.
    let source = |orientation: u8, x: u32, y: u32| match orientation {
        2 => (right - x, y),
        3 => (right - x, down - y),
        4 => (x, down - y),
        5 => (y, x),
        6 => (y, down - x),
        7 => (right - y, down - x),
        8 => (right - y, x),
        _ => (x, y),
    };
    for big_endian in [false, true] {
        for orientation in 0..=9 {
            let bytes = with_orientation(&upright, orientation, big_endian);
            let picture = whole(&bytes).unwrap();
            let size = if (5..=8).contains(&orientation) { (HEIGHT, WIDTH) } else { (WIDTH, HEIGHT) };
            assert_eq!((picture.width, picture.height), size);
            let probed = probe(&bytes).unwrap();
            assert_eq!((probed.width, probed.height), size);
            for y in 0..picture.height {
                for x in 0..picture.width {
                    let (stored_x, stored_y) = source(orientation, x, y);
                    let ours = &picture.rgb[((y * picture.width + x) * 3) as usize..][..3];
                    assert_eq!(ours, at(stored_x, stored_y), "orientation {orientation} at {x}, {y}");
                }
            }
        }
    }
}

#[test]
fn rule_29_a_jpeg_without_its_end_is_truncated_and_trailing_bytes_do_no_harm() {
    let good = jpeg(JpegForm::default());
    for progressive in [false, true] {
        let good = jpeg(JpegForm { progressive, ..JpegForm::default() });
        for len in [good.len() - 1, good.len() - 2, good.len() / 2, 400, 30, 3] {
            assert_eq!(whole(&good[..len]), Err(Fault::Truncated), "{len} bytes");
            assert_eq!(probe(&good[..len]), Err(Fault::Truncated), "{len} bytes");
        }
    }
    let expected = whole(&good).unwrap();
    let mut trailing = good.clone();
    trailing.extend([0; 1000]);
    assert_eq!(whole(&trailing).unwrap(), expected);
}

#[test]
fn rule_29_the_end_of_a_thumbnail_is_not_the_end_of_the_picture() {
    let good = jpeg(JpegForm::default());
    let mut bytes = with_orientation(&good, 1, true);
    let thumbnail = [0xFF, 0xED, 0, 6, 0xFF, 0xD8, 0xFF, 0xD9];
    bytes.splice(2..2, thumbnail);
    assert!(whole(&bytes).is_ok());
    assert_eq!(whole(&bytes[..bytes.len() - 2]), Err(Fault::Truncated));
}

#[test]
fn a_truncated_png_is_truncated() {
    let png = image_as(&photo_image().into(), ImageFormat::Png);
    assert_eq!(whole(&png[..png.len() / 2]), Err(Fault::Truncated));
    assert_eq!(whole(&png[..20]), Err(Fault::Truncated));
}

#[test]
fn what_is_no_picture_says_so() {
    assert_eq!(whole(&[]), Err(Fault::Empty));
    assert_eq!(probe(&[]), Err(Fault::Empty));
    assert_eq!(whole(b"label,path\n1,a.jpg\n"), Err(Fault::NotAPicture));
}

#[test]
fn a_file_that_declares_more_pixels_than_allowed_costs_nothing() {
    let mut bytes = jpeg(JpegForm::default());
    let frame = bytes.windows(2).position(|pair| pair == [0xFF, 0xC0]).unwrap();
    bytes[frame + 5..frame + 9].copy_from_slice(&[0xFF, 0xDC, 0xFF, 0xDC]);
    let pixels = 65_500 * 65_500;
    assert_eq!(whole(&bytes), Err(Fault::TooLarge { pixels, limit: 178_956_970 }));
    let limits = Limits { pixels: u64::from(WIDTH * HEIGHT) - 1, ..Limits::default() };
    let png = image_as(&photo_image().into(), ImageFormat::Png);
    let too_large = Err(Fault::TooLarge { pixels: limits.pixels + 1, limit: limits.pixels });
    assert_eq!(CpuDecoder::new().whole(&png, &limits), too_large);
}

#[test]
fn a_line_of_pixels_that_would_grow_beyond_the_limit_is_refused() {
    let line = image::RgbImage::new(1, 60_000);
    let png = image_as(&line.into(), ImageFormat::Png);
    let recipe = Recipe::evaluation(224).unwrap();
    let mut place = vec![0; recipe.place_len()];
    let outcome = CpuDecoder::new().decode(&png, &recipe, DRAW, &Limits::default(), &mut place);
    assert_eq!(outcome, Err(Fault::TooLarge { pixels: 256 * 256 * 60_000, limit: 178_956_970 }));
}

#[test]
fn limits_on_bytes_scans_and_time_hold() {
    let bytes = jpeg(JpegForm { progressive: true, ..JpegForm::default() });
    let mut decoder = CpuDecoder::new();
    let limits = Limits { bytes: 100, ..Limits::default() };
    let too_many = Fault::TooManyBytes { bytes: bytes.len() as u64, limit: 100 };
    assert_eq!(decoder.whole(&bytes, &limits), Err(too_many));
    let limits = Limits { scans: 3, ..Limits::default() };
    assert_eq!(decoder.whole(&bytes, &limits), Err(Fault::TooManyScans { limit: 3 }));
    let limit = Duration::from_nanos(1);
    let limits = Limits { time: Some(limit), ..Limits::default() };
    let photo = sample::photograph(0, 500, 375);
    assert_eq!(decoder.whole(&photo, &limits), Err(Fault::TooSlow { limit }));
    assert!(decoder.whole(&photo, &Limits::default()).is_ok(), "the decoder goes on after a fault");
}

#[test]
fn kinds_that_no_decoder_takes_are_named() {
    let good = jpeg(JpegForm::default());
    let frame = good.windows(2).position(|pair| pair == [0xFF, 0xC0]).unwrap();
    for (code, precision, words) in [
        (0xC1, 12, "12-bit JPEG"),
        (0xC3, 16, "lossless JPEG of 16 bits"),
        (0xC5, 8, "hierarchical JPEG"),
        (0xCB, 8, "lossless JPEG with arithmetic coding"),
    ] {
        let mut bytes = good.clone();
        bytes[frame + 1] = code;
        bytes[frame + 4] = precision;
        assert_eq!(whole(&bytes), Err(Fault::Unsupported { kind: words.into() }));
    }
}

#[test]
fn a_picture_without_tables_does_not_get_those_of_the_picture_before() {
    let good = jpeg(JpegForm::default());
    let bare = without_huffman_tables(&good);
    let alone = whole(&bare);
    let mut decoder = CpuDecoder::new();
    let custom = jpeg(JpegForm { progressive: true, ..JpegForm::default() });
    decoder.whole(&custom, &Limits::default()).unwrap();
    assert_eq!(decoder.whole(&bare, &Limits::default()), alone);
}

fn without_huffman_tables(jpeg: &[u8]) -> Vec<u8> {
    let mut bytes = jpeg.to_vec();
    while let Some(at) = bytes.windows(2).position(|pair| pair == [0xFF, 0xC4]) {
        let len = 2 + usize::from(u16::from_be_bytes([bytes[at + 2], bytes[at + 3]]));
        bytes.drain(at..at + len);
    }
    bytes
}

#[test]
fn resize_and_centre_crop_equal_a_resize_that_is_cut_afterwards() {
    let photo = sample::photograph(3, 311, 223);
    let mut decoder = CpuDecoder::new();
    let recipe = Recipe::evaluation(224).unwrap();
    let mut place = vec![0; recipe.place_len()];
    decoder.decode(&photo, &recipe, DRAW, &Limits::default(), &mut place).unwrap();

    let resize = Resize { size: Size::HeightWidth([256, 357]), interpolation: forebay_pixels::Interpolation::Bilinear };
    let whole = Recipe::new(vec![Transform::Resize(resize)], Output::default()).unwrap();
    let mut resized = vec![0; whole.place_len()];
    decoder.decode(&photo, &whole, DRAW, &Limits::default(), &mut resized).unwrap();
    let rows = resized.chunks(357 * 3).skip(16).take(224);
    let cut: Vec<u8> = rows.flat_map(|row| row[66 * 3..][..224 * 3].to_vec()).collect();
    assert!(place == cut);
}

#[test]
fn every_output_form_holds_the_same_values() {
    let photo = sample::photograph(5, 90, 70);
    let mut decoder = CpuDecoder::new();
    let mut decode = |transforms: Vec<Transform>, dtype, layout| {
        let recipe = Recipe::new(transforms, Output { dtype, layout, ..Output::default() }).unwrap();
        let mut place = vec![0; recipe.place_len()];
        // An address that no float has: places need no alignment.
        let draw = Draw { seed: 1, epoch: 0, record: 2 };
        decoder.decode(&photo, &recipe, draw, &Limits::default(), &mut place).unwrap();
        place
    };
    for p in [0.0, 1.0] {
        let mut geometry = Transform::training(24);
        geometry[1] = Transform::RandomHorizontalFlip(forebay_pixels::RandomHorizontalFlip::by_chance(p));
        let bytes = decode(geometry.clone(), Dtype::Uint8, Layout::Nhwc);
        let planes = decode(geometry.clone(), Dtype::Uint8, Layout::Nchw);
        let pixels = 24 * 24;
        for (at, pixel) in bytes.chunks(3).enumerate() {
            assert_eq!(pixel, [planes[at], planes[pixels + at], planes[2 * pixels + at]]);
        }
        let mean = [0.485f32, 0.456, 0.406];
        let std = [0.229f32, 0.224, 0.225];
        let normalize = Transform::Normalize(forebay_pixels::Normalize { mean: mean.into(), std: std.into() });
        let normalized: Vec<_> = geometry.iter().cloned().chain([normalize]).collect();
        let floats = decode(normalized.clone(), Dtype::Float32, Layout::Nhwc);
        let halves = decode(normalized.clone(), Dtype::Float16, Layout::Nhwc);
        let upper_halves = decode(normalized, Dtype::Bfloat16, Layout::Nhwc);
        for (at, value) in bytes.iter().enumerate() {
            let expected = (f32::from(*value) / 255.0 - mean[at % 3]) / std[at % 3];
            assert_eq!(floats[at * 4..][..4], expected.to_le_bytes());
            assert_eq!(halves[at * 2..][..2], half::f16::from_f32(expected).to_le_bytes());
            assert_eq!(upper_halves[at * 2..][..2], half::bf16::from_f32(expected).to_le_bytes());
        }
        let units = decode(geometry, Dtype::Float32, Layout::Nchw);
        for (at, value) in planes.iter().enumerate() {
            assert_eq!(units[at * 4..][..4], (f32::from(*value) / 255.0).to_le_bytes());
        }
    }
}

#[test]
fn a_mirrored_place_is_the_mirror_of_the_other() {
    let photo = sample::photograph(5, 90, 70);
    let mut decoder = CpuDecoder::new();
    let mut decode = |p| {
        let mut list = Transform::training(24);
        list[1] = Transform::RandomHorizontalFlip(forebay_pixels::RandomHorizontalFlip::by_chance(p));
        let recipe = Recipe::new(list, Output::default()).unwrap();
        let mut place = vec![0; recipe.place_len()];
        decoder.decode(&photo, &recipe, DRAW, &Limits::default(), &mut place).unwrap();
        place
    };
    let (straight, mirrored) = (decode(0.0), decode(1.0));
    for (straight, mirrored) in straight.chunks(24 * 3).zip(mirrored.chunks(24 * 3)) {
        let turned: Vec<u8> = straight.chunks(3).rev().flatten().copied().collect();
        assert_eq!(mirrored, turned);
    }
}

#[test]
fn a_decoder_gives_the_same_bytes_whatever_it_has_decoded_before() {
    let recipe = Recipe::training(64).unwrap();
    let photo = sample::photograph(4, 300, 200);
    let mut fresh = vec![0; recipe.place_len()];
    CpuDecoder::new().decode(&photo, &recipe, DRAW, &Limits::default(), &mut fresh).unwrap();
    let mut used = CpuDecoder::new();
    for index in 0..8 {
        let mut place = vec![0xA5; recipe.place_len()];
        used.whole(&sample::photograph(index, 640, 31), &Limits::default()).unwrap();
        used.decode(&photo, &recipe, DRAW, &Limits::default(), &mut place).unwrap();
        assert!(place == fresh);
    }
}
