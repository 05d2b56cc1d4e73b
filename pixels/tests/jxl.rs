//! JPEG XL: pixels within 1 of libjxl's, every orientation, what is counted beside the pixels, and a verdict on whatever bytes. libjxl
//! has written the files of `tests/jxl` and what it makes of them, with `make.py` there.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::path::Path;
use std::time::Duration;

use forebay_pixels::{
    Background, CpuDecoder, DecodedBy, Draw, Fault, Form, Format, Further, FurtherKind, Limits, Mode, Output, Recipe,
    probe,
};
use proptest::prelude::*;
use serde_json::{from_value, json};

/// Name of a file, and by how much its values may differ from libjxl's.
const FILES: [(&str, u8); 9] = [
    ("lossy-150x101", 1),
    ("lossless-19x17", 0),
    ("alpha-41x37", 1),
    ("gray-29x33", 1),
    ("gray-alpha-22x20", 0),
    ("deep-31x23", 0),
    ("deep-gray-11x9", 0),
    ("animated-40x30", 1),
    ("exif-60x40", 1),
];

fn read(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jxl").join(name)).unwrap()
}

fn jxl(name: &str) -> Vec<u8> {
    read(&format!("{name}.jxl"))
}

fn pixels(bytes: &[u8], form: Form) -> ((u32, u32), Vec<u8>) {
    let (picture, _) = CpuDecoder::new().upright(bytes, form, &Limits::default()).unwrap();
    ((picture.width, picture.height), picture.pixels().to_vec())
}

#[test]
fn pixels_are_those_of_libjxl_within_one_and_of_lossless_files_the_same() {
    for (name, most) in FILES {
        for background in [Background::Colour([0; 3]), Background::Colour([250, 9, 80]), Background::Dropped] {
            let form = Form { background, ..Form::default() };
            let (size, ours) = pixels(&jxl(name), form);
            let (expected, theirs) = pixels(&read(&format!("{name}.png")), form);
            let greatest = ours.iter().zip(&theirs).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
            assert_eq!(size, expected, "{name}");
            assert!(greatest <= most, "{name} on {background:?}: {greatest}");
        }
    }
}

#[test]
fn a_file_says_what_it_is_and_its_recipe_runs_on_it() {
    let recipe =
        Recipe::new(from_value(json!([{ "center_crop": { "size": 8 } }])).unwrap(), Output::default()).unwrap();
    let (mut place, draw) = (vec![0; recipe.place_len()], Draw { seed: 0, epoch: 0, record: 0 });
    for (name, _) in FILES {
        let bytes = jxl(name);
        let decoded = CpuDecoder::new().decode(&bytes, &recipe, draw, &Limits::default(), &mut place).unwrap();
        assert_eq!((decoded.format, decoded.by), (Format::Jxl, Some(DecodedBy::Jxl)));
        let (probed, png) = (probe(&bytes).unwrap(), probe(&read(&format!("{name}.png"))).unwrap());
        assert_eq!((probed.width, probed.height), (png.width, png.height), "{name}");
        assert_eq!((decoded.width, decoded.height), (png.width, png.height), "{name}");
    }
}

#[test]
fn frames_alpha_and_16_bits_are_counted() {
    use FurtherKind::{Alpha, Frames, Profile, SixteenBits};
    // libjxl takes values of 16 bits for linear ones.
    for (name, expected) in [
        ("lossy-150x101", vec![]),
        ("exif-60x40", vec![]),
        ("alpha-41x37", vec![(Alpha, 1)]),
        ("gray-alpha-22x20", vec![(Alpha, 1)]),
        ("deep-31x23", vec![(SixteenBits, 1), (Profile, 1)]),
        ("deep-gray-11x9", vec![(SixteenBits, 1), (Profile, 1)]),
        ("animated-40x30", vec![(Frames, 2)]),
    ] {
        let found: Vec<_> =
            Further::of(&jxl(name), Mode::Rgb, &Limits::default()).iter().map(|f| (f.kind, f.count)).collect();
        assert_eq!(found, expected, "{name}");
    }
}

/// Bytes of these values, each in as many bits, the lowest first.
fn packed(values: &[(u32, u32)]) -> Vec<u8> {
    let bits: Vec<u32> =
        values.iter().flat_map(|(value, count)| (0..*count).map(move |bit| value >> bit & 1)).collect();
    bits.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::try_from(*bit).unwrap())).collect()
}

/// The file, whose header is the shortest that there is, with a header that names an orientation and other primaries.
fn with_header(bytes: &[u8], orientation: u8, is_srgb: bool) -> Vec<u8> {
    let mut values: Vec<_> = bytes[..5].iter().map(|byte| (u32::from(*byte), 8)).collect();
    values.push((u32::from(bytes[5]), 2));
    // Not all defaults, with an orientation; no further sizes, preview or animation; integers of 8 bits; buffers of 16 bits; no
    // further channels; XYB.
    values.extend([(0, 1), (1, 1), (u32::from(orientation - 1), 3), (0, 6), (1, 1), (0, 2), (1, 1)]);
    if is_srgb {
        values.push((1, 1));
    } else {
        // No profile, RGB, D65, the primaries of BT.2100, the transfer function of sRGB, relative intent.
        values.extend([(0, 1), (0, 1), (0, 2), (1, 2), (2, 2), (7, 4), (0, 1), (2, 2), (11, 4), (1, 2)]);
    }
    // The defaults of tone mapping, no extensions, the defaults of the transform.
    values.extend([(1, 1), (0, 2), (1, 1)]);
    [packed(&values), bytes[6..].to_vec()].concat()
}

#[test]
fn the_header_turns_the_picture_unless_the_settings_say_otherwise() {
    let plain = jxl("lossy-150x101");
    let ((width, height), stored) = pixels(&plain, Form::default());
    for orientation in 1..=8_u8 {
        let bytes = with_header(&plain, orientation, true);
        assert_eq!(
            pixels(&bytes, Form { adjust_orientation: false, ..Form::default() }),
            ((width, height), stored.clone())
        );
        let (seen, turned) = pixels(&bytes, Form::default());
        assert_eq!(seen, if orientation < 5 { (width, height) } else { (height, width) });
        let probed = probe(&bytes).unwrap();
        assert_eq!((probed.orientation as u8, (probed.width, probed.height)), (orientation, seen));
        for (row, column) in [(0, 0), (3, 17), (70, 20), (seen.1 - 1, seen.0 - 1)] {
            let (right, below) = (width - 1, height - 1);
            let (from_row, from_column) = match orientation {
                1 => (row, column),
                2 => (row, right - column),
                3 => (below - row, right - column),
                4 => (below - row, column),
                5 => (column, row),
                6 => (below - column, row),
                7 => (below - column, right - row),
                _ => (column, right - row),
            };
            let at = |pixels: &[u8], row: u32, column: u32, width: u32| {
                pixels[(row * width + column) as usize * 3..][..3].to_vec()
            };
            assert_eq!(at(&turned, row, column, seen.0), at(&stored, from_row, from_column, width), "{orientation}");
        }
    }
}

#[test]
fn colours_that_are_not_srgb_are_counted_as_a_profile_is() {
    let bytes = with_header(&jxl("lossy-150x101"), 1, false);
    let kinds: Vec<_> = Further::of(&bytes, Mode::Rgb, &Limits::default()).iter().map(|found| found.kind).collect();
    assert_eq!(kinds, [FurtherKind::Profile]);
    assert_eq!(pixels(&bytes, Form::default()).0, (150, 101));
}

#[test]
fn a_cut_file_is_truncated_wherever_it_is_cut() {
    for name in ["lossy-150x101", "lossless-19x17", "deep-31x23"] {
        let bytes = jxl(name);
        for end in (12..bytes.len()).step_by(7) {
            let fault = CpuDecoder::new().whole(&bytes[..end], &Limits::default()).map(|_| ()).unwrap_err();
            assert_eq!(fault, Fault::Truncated, "{name} at {end}");
        }
    }
}

#[test]
fn a_picture_above_the_limits_is_refused() {
    let bytes = jxl("lossless-19x17");
    let refused = |limits: &Limits| CpuDecoder::new().whole(&bytes, limits).map(|_| ()).unwrap_err();
    let few = Limits { pixels: 19 * 17 - 1, ..Limits::default() };
    assert_eq!(refused(&few), Fault::TooLarge { pixels: 19 * 17, limit: 19 * 17 - 1 });
    let short = Limits { time: Some(Duration::ZERO), ..Limits::default() };
    assert_eq!(refused(&short), Fault::TooSlow { limit: Duration::ZERO });
    // A header alone that claims 40,000 pixels a side.
    let claim = packed(&[(0x0aff, 16), (0, 1), (2, 2), (39_999, 18), (1, 3), (1, 1), (1, 1)]);
    let fault = CpuDecoder::new().whole(&claim, &Limits::default()).map(|_| ()).unwrap_err();
    assert!(matches!(fault, Fault::TooLarge { .. }), "{fault}");
}

proptest! {
    #[test]
    fn damaged_bytes_give_a_verdict_that_is_the_same_each_time(
        name in prop::sample::select(FILES.map(|(name, _)| name).to_vec()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = jxl(name);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let limits = Limits { pixels: 1 << 20, ..Limits::default() };
        let whole = || CpuDecoder::new().whole(&bytes, &limits).map(|picture| picture.rgb);
        prop_assert_eq!(whole(), whole());
        Further::of(&bytes, Mode::Rgb, &limits);
    }
}
