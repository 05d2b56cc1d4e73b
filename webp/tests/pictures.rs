//! Pictures that Pillow has written: what is made of them is what Pillow makes of them, whole and in every part, and damage gives a
//! verdict. `pictures/make.py` writes them, and prints the table below.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::fs;
use std::path::Path;

use forebay_webp::{Head, Part, WebpFault};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Rgb,
    Rgba,
}

/// Name, size and mode, and the CRC-32 of the bytes that Pillow 13.0 with libwebp 1.6.0 makes of it.
const PICTURES: [(&str, (u32, u32), Mode, u32); 12] = [
    ("lossy-19x17", (19, 17), Mode::Rgb, 0x71a8_b05b),
    ("filtered-19x17", (19, 17), Mode::Rgb, 0x0f1f_9311),
    ("lossy-alpha-19x17", (19, 17), Mode::Rgba, 0x36a3_6783),
    ("lossless-19x17", (19, 17), Mode::Rgb, 0xbf1c_970e),
    ("lossless-alpha-19x17", (19, 17), Mode::Rgba, 0xf7ed_aa50),
    ("lossy-150x101", (150, 101), Mode::Rgb, 0xf01c_8d7d),
    ("filtered-150x101", (150, 101), Mode::Rgb, 0x144c_ce11),
    ("lossy-alpha-150x101", (150, 101), Mode::Rgba, 0x7826_9e89),
    ("lossless-150x101", (150, 101), Mode::Rgb, 0xc6c9_952c),
    ("lossless-alpha-150x101", (150, 101), Mode::Rgba, 0x9dea_4de3),
    ("animated", (40, 30), Mode::Rgb, 0x141e_387b),
    ("animated-alpha", (40, 30), Mode::Rgba, 0x9650_e06a),
];

fn read(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures");
    fs::read(folder.join(name).with_extension("webp")).unwrap()
}

fn decode(head: &Head, bytes: &[u8], part: Part) -> Result<Vec<u8>, WebpFault> {
    let mut out = vec![0xAA; part.width as usize * part.height as usize * usize::from(head.channels())];
    head.decode(bytes, part, &mut out).map(|()| out)
}

/// A part of a buffer that holds another part.
fn cut(held: Part, pixels: &[u8], part: Part, channels: usize) -> Vec<u8> {
    let row = |row: u32| {
        let at = (part.top + row - held.top) as usize * held.width as usize + (part.left - held.left) as usize;
        &pixels[at * channels..][..part.width as usize * channels]
    };
    (0..part.height).flat_map(row).copied().collect()
}

/// The whole picture, and this part of it decoded by itself.
fn both(head: &Head, bytes: &[u8], whole: &[u8], part: Part) -> (Vec<u8>, Vec<u8>) {
    let channels = usize::from(head.channels());
    let held = head.part_for(part);
    let alone = decode(head, bytes, held).unwrap();
    (cut(held, &alone, part, channels), cut(head.whole(), whole, part, channels))
}

#[test]
fn every_kind_of_webp_has_the_bytes_of_pillow() {
    for (name, size, mode, sum) in PICTURES {
        let bytes = read(name);
        let head = Head::read(&bytes).unwrap();
        assert_eq!((head.size, head.has_alpha), (size, mode == Mode::Rgba), "{name}");
        assert_eq!(head.is_lossless, name.starts_with("lossless"), "{name}");
        let animated = name.starts_with("animated");
        assert_eq!((head.frames, head.is_still()), if animated { (2, false) } else { (1, true) }, "{name}");
        assert_eq!(crc32fast::hash(&decode(&head, &bytes, head.whole()).unwrap()), sum, "{name}");
    }
}

#[test]
fn every_region_of_a_small_picture_has_the_bytes_of_the_whole() {
    for (name, (width, height), ..) in PICTURES.into_iter().filter(|(name, ..)| name.ends_with("19x17")) {
        let bytes = read(name);
        let head = Head::read(&bytes).unwrap();
        let whole = decode(&head, &bytes, head.whole()).unwrap();
        for (top, bottom) in (0..height).flat_map(|top| (top + 1..=height).map(move |bottom| (top, bottom))) {
            for (left, right) in (0..width).flat_map(|left| (left + 1..=width).map(move |right| (left, right))) {
                let part = Part { left, top, width: right - left, height: bottom - top };
                let (alone, of_whole) = both(&head, &bytes, &whole, part);
                assert!(alone == of_whole, "{name}: {part:?}");
            }
        }
    }
}

#[test]
fn rows_below_a_region_are_not_decoded() {
    let mut bytes = read("lossy-150x101");
    let head = Head::read(&bytes).unwrap();
    let above = head.part_for(Part { left: 0, top: 0, width: 150, height: 20 });
    let good = decode(&head, &bytes, above).unwrap();
    // Damage in the last rows does not reach the first ones.
    let len = bytes.len();
    bytes[len - 200..].fill(0x55);
    assert_eq!(decode(&head, &bytes, above).unwrap(), good);
    assert_ne!(decode(&head, &bytes, head.whole()), decode(&head, &read("lossy-150x101"), head.whole()));
}

#[test]
fn a_file_that_is_cut_anywhere_is_no_picture() {
    for (name, ..) in PICTURES.into_iter().filter(|(name, ..)| !name.ends_with("150x101")) {
        let bytes = read(name);
        for end in 0..bytes.len() {
            assert!(Head::read(&bytes[..end]).is_err(), "{name} of {end} bytes");
        }
        assert_eq!(Head::read(&bytes[..bytes.len() / 2]), Err(WebpFault::Truncated), "{name}");
    }
    assert_eq!(Head::read(b"RIFF\0\0\0\0WEBPnothing that is known"), Err(WebpFault::Corrupt));
}

#[test]
fn memory_that_is_counted_before_is_all_that_libwebp_may_take() {
    // Alpha needs a plane, and lossless data need colours of four bytes and tables.
    for (name, own_form, has_tables) in
        [("lossy-19x17", 0, false), ("lossy-alpha-19x17", 5, true), ("lossless-19x17", 4, true)]
    {
        let head = Head::read(&read(name)).unwrap();
        assert_eq!((head.own_form(), head.tables() > 0), (own_form, has_tables), "{name}");
        assert!(head.tables() <= Head::TABLES);
    }
}

proptest! {
    #[test]
    fn a_region_of_a_larger_picture_has_the_bytes_of_the_whole(
        which in any::<prop::sample::Index>(), columns in (0..150_u32, 1..=150_u32), rows in (0..101_u32, 1..=101_u32),
    ) {
        let large: Vec<_> = PICTURES.into_iter().filter(|(name, ..)| name.ends_with("150x101")).collect();
        let (name, (wide, high), ..) = large[which.index(large.len())];
        let bytes = read(name);
        let head = Head::read(&bytes).unwrap();
        let whole = decode(&head, &bytes, head.whole()).unwrap();
        let part = Part {
            left: columns.0, top: rows.0, width: columns.1.min(wide - columns.0), height: rows.1.min(high - rows.0),
        };
        let (alone, of_whole) = both(&head, &bytes, &whole, part);
        prop_assert!(alone == of_whole, "{}: {:?}", name, part);
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
            prop_assert_eq!(decode(&head, &bytes, head.whole()), decode(&head, &bytes, head.whole()));
        }
    }
}
