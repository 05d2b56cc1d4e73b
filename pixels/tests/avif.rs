//! AVIF: parts, turns, alpha and gray through a decoder, what is counted beside the pixels, and a verdict on whatever bytes. The tests of
//! `forebay-avif` compare its pixels with libavif's; its files are read here too.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::path::Path;
use std::time::Duration;

use forebay_pixels::{
    Background, CpuDecoder, DecodedBy, Draw, Fault, Form, Format, Further, FurtherKind, Limits, Mode, Output, Recipe,
    SeenSize, probe,
};
use proptest::prelude::*;
use serde_json::{from_value, json};

const DRAW: Draw = Draw { seed: 3, epoch: 0, record: 0 };

fn avif(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../avif/tests/pictures");
    std::fs::read(folder.join(name).with_extension("avif")).unwrap()
}

fn pixels(bytes: &[u8], form: Form) -> ((u32, u32), Vec<u8>) {
    let (picture, _) = CpuDecoder::new().upright(bytes, form, &Limits::default()).unwrap();
    ((picture.width, picture.height), picture.pixels().to_vec())
}

#[test]
fn rule_30_a_crop_has_the_bytes_of_the_whole_picture() {
    for name in ["420-full-150x101", "422-limited-150x101", "444-full-150x101", "gray-full-150x101"] {
        let bytes = avif(name);
        let ((width, _), whole) = pixels(&bytes, Form::default());
        for (left, top, wide, high) in [(0, 0, 7_u32, 9), (31, 17, 64, 40), (143, 92, 7, 9), (0, 100, 150, 1)] {
            let list = json!([{ "crop": { "left": left, "top": top, "width": wide, "height": high } }]);
            let recipe = Recipe::new(from_value(list).unwrap(), Output::default()).unwrap();
            let mut place = vec![0; recipe.place_len()];
            let decoded = CpuDecoder::new().decode(&bytes, &recipe, DRAW, &Limits::default(), &mut place).unwrap();
            assert_eq!((decoded.format, decoded.by), (Format::Avif, Some(DecodedBy::Dav1d)));
            let row = |row: u32| &whole[(((top + row) * width + left) * 3) as usize..][..wide as usize * 3];
            let expected: Vec<u8> = (0..high).flat_map(row).copied().collect();
            assert!(place == expected, "{name}: {left} {top}");
        }
    }
}

#[test]
fn the_container_turns_the_picture_unless_the_settings_say_otherwise() {
    let ((width, height), stored) = pixels(&avif("orientation-1-12x7"), Form::default());
    for orientation in 1..=8_u8 {
        let bytes = avif(&format!("orientation-{orientation}-12x7"));
        let as_stored = Form { adjust_orientation: false, ..Form::default() };
        assert_eq!(pixels(&bytes, as_stored), ((width, height), stored.clone()));
        let (seen, turned) = pixels(&bytes, Form::default());
        assert_eq!(seen, if orientation < 5 { (width, height) } else { (height, width) });
        let probed = probe(&bytes).unwrap();
        assert_eq!((probed.orientation as u8, (probed.width, probed.height)), (orientation, seen));
        let size = SeenSize::of_file(&bytes).unwrap();
        assert_eq!((size.width, size.height), seen);
        for (row, column) in (0..seen.1).flat_map(|row| (0..seen.0).map(move |column| (row, column))) {
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
                pixels[((row * width + column) * 3) as usize..][..3].to_vec()
            };
            assert_eq!(at(&turned, row, column, seen.0), at(&stored, from_row, from_column, width), "{orientation}");
        }
    }
}

#[test]
fn rule_68_what_is_transparent_is_laid_on_the_background_or_dropped() {
    const MOST: u8 = 2;
    for name in ["alpha-420-22x20", "alpha-444-22x20", "multiplied-420-22x20", "alpha-10-bits-22x20"] {
        let bytes = avif(name);
        let on = |background| pixels(&bytes, Form { background, ..Form::default() }).1;
        let (black, colour) = (on(Background::Colour([0; 3])), on(Background::Colour([250, 9, 80])));
        let dropped = on(Background::Dropped);
        if !name.contains("10-bits") {
            // The first six rows are opaque, and the next six have nothing, but for what compression has made of alpha.
            let near = |a: &[u8], b: &[u8]| a.iter().zip(b).all(|(a, b)| a.abs_diff(*b) <= MOST);
            let (opaque, clear) = (0..22 * 4 * 3, 22 * 8 * 3..22 * 11 * 3);
            assert!(near(&black[opaque.clone()], &colour[opaque.clone()]), "{name}");
            assert!(near(&black[opaque.clone()], &dropped[opaque]), "{name}");
            assert!(near(&black[clear.clone()], &[0; 22 * 3 * 3]), "{name}");
            assert!(near(&colour[clear], &[250, 9, 80].repeat(22 * 3)), "{name}");
        }
        assert!(black != colour && black != dropped, "{name}");
        let kept = pixels(&bytes, Form { mode: Mode::Rgba, ..Form::default() }).1;
        let colours: Vec<u8> = kept.as_chunks::<4>().0.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]).collect();
        assert!(colours == dropped, "{name}");
        let alpha = |at: fn(&[u8; 4]) -> u8| kept.as_chunks().0.iter().map(at);
        assert!(alpha(|pixel| pixel[3]).max() > alpha(|pixel| pixel[3]).min().map(|least| least + 99), "{name}");
    }
    let opaque = pixels(&avif("420-full-19x17"), Form { mode: Mode::Rgba, ..Form::default() }).1;
    assert!(opaque.len() == 19 * 17 * 4 && opaque.as_chunks::<4>().0.iter().all(|pixel| pixel[3] == 255));
}

#[test]
fn a_gray_picture_is_the_same_in_the_mode_l() {
    let bytes = avif("gray-full-19x17");
    let rgb = pixels(&bytes, Form::default()).1;
    assert!(rgb.as_chunks::<3>().0.iter().all(|[red, green, blue]| red == green && red == blue));
    assert_eq!(pixels(&bytes, Form { mode: Mode::L, ..Form::default() }).1, rgb);
}

#[test]
fn pictures_of_a_sequence_alpha_16_bits_and_colours_are_counted() {
    use FurtherKind::{Alpha, Pictures, Profile, SixteenBits};
    for (name, expected) in [
        ("420-full-19x17", vec![]),
        ("alpha-444-22x20", vec![(Alpha, 1)]),
        ("444-12-bits-31x23", vec![(SixteenBits, 1)]),
        ("sequence-24x16", vec![(Pictures, 2)]),
        ("primaries-9-19x17", vec![(Profile, 1)]),
    ] {
        let found: Vec<_> =
            Further::of(&avif(name), Mode::Rgb, &Limits::default()).iter().map(|f| (f.kind, f.count)).collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_cut_file_is_truncated_and_one_above_the_limits_is_refused() {
    let bytes = avif("420-full-19x17");
    let refused = |bytes: &[u8], limits: &Limits| CpuDecoder::new().whole(bytes, limits).map(|_| ()).unwrap_err();
    for end in (40..bytes.len()).step_by(7) {
        assert_eq!(refused(&bytes[..end], &Limits::default()), Fault::Truncated, "at {end}");
    }
    let few = Limits { pixels: 19 * 17 - 1, ..Limits::default() };
    assert_eq!(refused(&bytes, &few), Fault::TooLarge { pixels: 19 * 17, limit: 19 * 17 - 1 });
    let short = Limits { time: Some(Duration::ZERO), ..Limits::default() };
    assert_eq!(refused(&bytes, &short), Fault::TooSlow { limit: Duration::ZERO });
    // A container that claims 40,000 pixels a side.
    let at = bytes.windows(4).position(|part| part == b"ispe").unwrap();
    let mut claim = bytes.clone();
    claim[at + 8..at + 16].copy_from_slice(&[40_000_u32.to_be_bytes(), 40_000_u32.to_be_bytes()].concat());
    assert!(matches!(refused(&claim, &Limits::default()), Fault::TooLarge { .. }));
    assert_eq!(refused(&avif("420-full-19x17")[..40], &Limits::default()), Fault::Truncated);
}

#[test]
fn what_is_not_decoded_is_named_as_avif() {
    let mut bytes = avif("420-full-19x17");
    let at = bytes.windows(4).position(|part| part == b"infe").unwrap();
    let kind = bytes[at..].windows(4).position(|part| part == b"av01").unwrap();
    bytes[at + kind..][..4].copy_from_slice(b"grid");
    let fault = CpuDecoder::new().whole(&bytes, &Limits::default()).map(|_| ()).unwrap_err();
    assert_eq!(fault, Fault::Unsupported { kind: "AVIF of a grid of pictures".into() });
    assert_eq!(probe(&bytes).unwrap_err(), fault);
    assert_eq!(Format::of(&bytes), Ok(Format::Avif));
}

proptest! {
    #[test]
    fn damaged_bytes_give_a_verdict_that_is_the_same_each_time(
        name in prop::sample::select(vec!["420-full-19x17", "alpha-420-22x20", "sequence-24x16", "422-10-bits-31x23"]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = avif(name);
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
