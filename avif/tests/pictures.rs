//! Files of every kind: what is made of them is what libavif makes of them without libyuv, whole and in every part, and damage gives a
//! verdict. `pictures/make.py` writes them, and `pictures/reference.c` prints the table below.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::fs;
use std::path::Path;

use forebay_avif::{AvifFault, Head, Part};
use proptest::prelude::*;

/// Name, size, whether there is alpha, and the CRC-32 of the bytes that libavif 1.0.4 with dav1d makes of it.
const PICTURES: [(&str, (u32, u32), bool, u32); 48] = [
    ("420-10-bits-31x23", (31, 23), false, 0x670f_74c9),
    ("420-12-bits-31x23", (31, 23), false, 0x6527_60e7),
    ("420-full-150x101", (150, 101), false, 0x7b74_bc7e),
    ("420-full-19x17", (19, 17), false, 0xf08c_1ac4),
    ("420-limited-150x101", (150, 101), false, 0xbbd2_7f6b),
    ("420-limited-19x17", (19, 17), false, 0xaf6c_2f58),
    ("422-10-bits-31x23", (31, 23), false, 0x5b11_7d42),
    ("422-12-bits-31x23", (31, 23), false, 0xe94c_6558),
    ("422-full-150x101", (150, 101), false, 0x9edc_8c3f),
    ("422-full-19x17", (19, 17), false, 0xafc3_641a),
    ("422-limited-150x101", (150, 101), false, 0xef38_8b33),
    ("422-limited-19x17", (19, 17), false, 0x482b_0e67),
    ("444-10-bits-31x23", (31, 23), false, 0x7513_691b),
    ("444-12-bits-31x23", (31, 23), false, 0x74e7_64ae),
    ("444-full-150x101", (150, 101), false, 0x480c_2b7a),
    ("444-full-19x17", (19, 17), false, 0xfda1_b682),
    ("444-limited-150x101", (150, 101), false, 0x4a15_943c),
    ("444-limited-19x17", (19, 17), false, 0x0377_65be),
    ("alpha-10-bits-22x20", (22, 20), true, 0xc925_df81),
    ("alpha-420-22x20", (22, 20), true, 0x6786_fbb4),
    ("alpha-444-22x20", (22, 20), true, 0xa5fb_14e2),
    ("alpha-gray-22x20", (22, 20), true, 0xcafe_652a),
    ("gray-10-bits-31x23", (31, 23), false, 0xbd53_6df2),
    ("gray-full-150x101", (150, 101), false, 0xc827_041d),
    ("gray-full-19x17", (19, 17), false, 0x3538_9a7b),
    ("gray-limited-150x101", (150, 101), false, 0x9f0e_bbf2),
    ("gray-limited-19x17", (19, 17), false, 0x43ce_d87f),
    ("matrix-0-19x17", (19, 17), false, 0x10b5_8c96),
    ("matrix-1-19x17", (19, 17), false, 0x2c03_f447),
    ("matrix-12-19x17", (19, 17), false, 0x2c03_f447),
    ("matrix-4-19x17", (19, 17), false, 0x6f3f_b7bb),
    ("matrix-7-19x17", (19, 17), false, 0xf303_ce3e),
    ("matrix-8-19x17", (19, 17), false, 0xe4e7_2dac),
    ("matrix-9-19x17", (19, 17), false, 0xdad0_f3c1),
    ("multiplied-420-22x20", (22, 20), true, 0x8b92_7c14),
    ("multiplied-444-22x20", (22, 20), true, 0xc2d6_eead),
    ("multiplied-gray-22x20", (22, 20), true, 0xfa58_7bc1),
    ("no-colours-19x17", (19, 17), false, 0xaf6c_2f58),
    ("orientation-1-12x7", (12, 7), false, 0x54d6_f80e),
    ("orientation-2-12x7", (12, 7), false, 0x54d6_f80e),
    ("orientation-3-12x7", (12, 7), false, 0x54d6_f80e),
    ("orientation-4-12x7", (12, 7), false, 0x54d6_f80e),
    ("orientation-5-12x7", (12, 7), false, 0x54d6_f80e),
    ("orientation-6-12x7", (12, 7), false, 0x54d6_f80e),
    ("orientation-7-12x7", (12, 7), false, 0x54d6_f80e),
    ("orientation-8-12x7", (12, 7), false, 0x54d6_f80e),
    ("primaries-9-19x17", (19, 17), false, 0x4b58_23a3),
    ("sequence-24x16", (24, 16), false, 0x9664_965f),
];

/// As numbers of EXIF.
const ORIENTATIONS: std::ops::RangeInclusive<u8> = 1..=8;

fn read(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures");
    fs::read(folder.join(name).with_extension("avif")).unwrap()
}

/// Colours of a part, with alpha if there is some.
fn decode(bytes: &[u8], part: Option<Part>) -> Result<Vec<u8>, AvifFault> {
    let head = Head::read(bytes)?;
    let decoded = head.decode(bytes)?;
    let part = part.unwrap_or_else(|| Part::whole(head.size));
    let pixels = part.width as usize * part.height as usize;
    let mut out = vec![0xAA; pixels * if head.has_alpha { 4 } else { 3 }];
    if head.has_alpha {
        decoded.to_rgba(part, &mut out);
    } else {
        decoded.to_rgb(part, &mut out);
    }
    Ok(out)
}

/// A part of a whole picture.
fn cut(pixels: &[u8], (width, height): (u32, u32), part: Part) -> Vec<u8> {
    let channels = pixels.len() / (width * height) as usize;
    let row = |row: u32| {
        let at = (part.top + row) as usize * width as usize + part.left as usize;
        &pixels[at * channels..][..part.width as usize * channels]
    };
    (0..part.height).flat_map(row).copied().collect()
}

#[test]
fn every_kind_of_avif_has_the_bytes_of_libavif_without_libyuv() {
    let mut wrong = Vec::new();
    for (name, size, has_alpha, sum) in PICTURES {
        let bytes = read(name);
        let head = Head::read(&bytes).unwrap();
        assert_eq!((head.size, head.has_alpha), (size, has_alpha), "{name}");
        if crc32fast::hash(&decode(&bytes, None).unwrap()) != sum {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_container_says_depth_turns_pictures_and_colours() {
    let head = |name: &str| Head::read(&read(name)).unwrap();
    for (name, depth) in [("420-10-bits-31x23", 10), ("444-12-bits-31x23", 12), ("422-full-19x17", 8)] {
        assert_eq!(head(name).depth, depth, "{name}");
    }
    for number in ORIENTATIONS {
        assert_eq!(head(&format!("orientation-{number}-12x7")).orientation, number);
    }
    assert_eq!((head("sequence-24x16").pictures, head("420-full-19x17").pictures), (3, 1));
    assert_eq!(head("primaries-9-19x17").named_colours, Some((9, 16)));
    assert_eq!(head("no-colours-19x17").named_colours, None);
    assert!(head("420-full-19x17").profile(&read("420-full-19x17")).is_empty());
}

#[test]
fn every_region_of_a_small_picture_has_the_bytes_of_the_whole() {
    for name in ["420-limited-19x17", "422-full-19x17", "444-full-19x17", "gray-full-19x17"] {
        let bytes = read(name);
        let head = Head::read(&bytes).unwrap();
        let decoded = head.decode(&bytes).unwrap();
        let whole = decode(&bytes, None).unwrap();
        let (width, height) = head.size;
        for (top, bottom) in (0..height).flat_map(|top| (top + 1..=height).map(move |bottom| (top, bottom))) {
            for (left, right) in (0..width).flat_map(|left| (left + 1..=width).map(move |right| (left, right))) {
                let part = Part { left, top, width: right - left, height: bottom - top };
                let mut alone = vec![0xAA; part.width as usize * part.height as usize * 3];
                decoded.to_rgb(part, &mut alone);
                assert!(alone == cut(&whole, head.size, part), "{name}: {part:?}");
            }
        }
    }
}

#[test]
fn a_file_that_is_cut_anywhere_is_no_picture() {
    for (name, ..) in PICTURES.into_iter().filter(|(name, ..)| !name.ends_with("150x101")) {
        let bytes = read(name);
        // The sequence's own data are behind its still picture.
        let end = if name.starts_with("sequence") { bytes.len() / 4 } else { bytes.len() };
        for end in 0..end {
            assert!(decode(&bytes[..end], None).is_err(), "{name} of {end} bytes");
        }
        let later = bytes.len() * if name.starts_with("sequence") { 1 } else { 8 } / 9;
        for end in bytes.len() / 10..later {
            assert_eq!(decode(&bytes[..end], None), Err(AvifFault::Truncated), "{name} of {end} bytes");
        }
    }
}

/// A file with other four letters in the place of some, all of them if there are several.
fn renamed(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let places: Vec<_> = (0..bytes.len() - from.len()).filter(|at| bytes[*at..].starts_with(from)).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

#[test]
fn what_is_not_decoded_is_refused_by_name() {
    let bytes = read("420-full-19x17");
    let says = |bytes: &[u8], word: &str| match decode(bytes, None) {
        Err(fault @ AvifFault::Unsupported(_)) => assert!(fault.to_string().contains(word), "{fault}"),
        other => panic!("{word}: {other:?}"),
    };
    says(&renamed(&bytes, b"av01", b"grid"), "grid");
    says(&renamed(&bytes, b"av01", b"hvc1"), "another format");
    says(&renamed(&read("sequence-24x16"), b"meta", b"free"), "sequence");
    // The property of the configuration must be understood.
    says(&renamed(&bytes, b"av1C", b"xv1C"), "must be");
    for matrix in [3, 10, 11, 13, 14, 16] {
        let at = bytes.windows(8).position(|part| part == b"colrnclx").unwrap();
        let mut other = bytes.clone();
        other[at + 13] = matrix;
        says(&other, "matrix");
    }
}

#[test]
fn a_picture_has_the_size_that_the_file_says_and_no_frame_is_larger() {
    let bytes = read("444-full-19x17");
    let at = bytes.windows(4).position(|part| part == b"ispe").unwrap();
    for (side, value) in [(11, 18), (11, 20), (15, 16), (15, 200)] {
        let mut other = bytes.clone();
        other[at + side] = value;
        assert!(matches!(decode(&other, None), Err(AvifFault::Unsupported(_))), "{side}: {value}");
    }
}

#[test]
fn memory_that_is_counted_before_is_all_that_dav1d_may_take() {
    for (name, ..) in PICTURES {
        let bytes = read(name);
        let head = Head::read(&bytes).unwrap();
        let taken = head.decode(&bytes).unwrap().memory() as u64;
        let counted = u64::from(head.size.0 * head.size.1) * u64::from(head.own_form()) + head.beside();
        assert!(taken > 0 && taken <= counted, "{name}: {taken} of {counted}");
    }
}

proptest! {
    #[test]
    fn a_region_of_a_larger_picture_has_the_bytes_of_the_whole(
        which in any::<prop::sample::Index>(), columns in (0..150_u32, 1..=150_u32), rows in (0..101_u32, 1..=101_u32),
    ) {
        let (name, (wide, high), ..) = PICTURES[which.index(PICTURES.len())];
        let bytes = read(name);
        let whole = decode(&bytes, None).unwrap();
        let (left, top) = (columns.0 % wide, rows.0 % high);
        let part = Part { left, top, width: columns.1.min(wide - left), height: rows.1.min(high - top) };
        prop_assert!(decode(&bytes, Some(part)).unwrap() == cut(&whole, (wide, high), part), "{}: {:?}", name, part);
    }

    #[test]
    fn damage_gives_a_verdict_and_the_same_one_again(
        which in any::<prop::sample::Index>(),
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = read(PICTURES[which.index(PICTURES.len())].0);
        for (at, value) in hits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(head) = Head::read(&bytes) && u64::from(head.size.0) * u64::from(head.size.1) < 1 << 20 {
            prop_assert_eq!(decode(&bytes, None), decode(&bytes, None));
        }
    }
}
