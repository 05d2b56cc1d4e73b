//! What is refused, each reason with a header that has it; and headers that end anywhere.
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

use super::crafted::{Crafted, S420};
use super::*;
use crate::{Decoder, Region, Scale};

fn good() -> Crafted {
    Crafted::new(33, 17, &S420)
}

fn fault(bytes: &[u8]) -> Fault {
    Header::read(bytes).expect_err("the header is not to be taken")
}

#[test]
fn a_good_header_tells_what_the_picture_is() {
    let bytes = good().after(0xDD, &[0, 5]).after(0xFE, b"a comment").bytes();
    let header = Header::read(&bytes).unwrap();
    assert_eq!((header.width, header.height, header.sampling), (33, 17, Sampling::S420));
    assert_eq!((header.restart_interval, header.data_start), (5, bytes.len()));
    for (factors, sampling) in [
        (&[0x11][..], Sampling::Gray),
        (&[0x42], Sampling::Gray),
        (&[0x11, 0x11, 0x11], Sampling::S444),
        (&[0x21, 0x11, 0x11], Sampling::S422),
        (&[0x12, 0x11, 0x11], Sampling::S440),
        (&[0x41, 0x11, 0x11], Sampling::S411),
    ] {
        assert_eq!(Header::read(&Crafted::new(1, 1, factors).bytes()).unwrap().sampling, sampling);
    }
}

#[test]
fn fill_bytes_before_a_marker_are_passed_over() {
    let mut bytes = good().bytes();
    bytes.splice(2..2, [0xFF; 9]);
    Header::read(&bytes).unwrap();
}

#[test]
fn each_kind_that_is_left_to_others_has_its_reason() {
    use Unsupported as U;
    let cases = [
        (good().renamed(0xC0, 0xC5), U::Hierarchical),
        (good().renamed(0xC0, 0xC3), U::Lossless),
        (good().renamed(0xC0, 0xF7), U::Lossless),
        (good().renamed(0xC0, 0xC9), U::Arithmetic),
        (good().after(0xCC, &[0, 0]), U::Arithmetic),
        (good().with(0xC0, |frame| frame[0] = 12), U::Precision),
        (Crafted::new(8, 8, &[0x11; 2]), U::Components),
        (Crafted::new(8, 8, &[0x11; 4]), U::Components),
        (Crafted::new(8, 8, &[0x21, 0x21, 0x11]), U::Sampling),
        (Crafted::new(8, 8, &[0x11, 0x22, 0x22]), U::Sampling),
        (good().with(0xDA, |scan| *scan = vec![1, 1, 0, 0, 63, 0]), U::SeveralScans),
        (good().after(0xEE, b"Adobe\0\x64\0\0\0\0\0"), U::Rgb),
        (good().with(0xC0, |frame| (frame[6], frame[9], frame[12]) = (b'R', b'G', b'B')), U::Rgb),
        (Crafted::new(8, 0, &S420), U::NoHeight),
        (good().without(0xC4), U::NoTables),
        (good().with(0xDA, |scan| scan[2] = 0x10), U::NoTables),
        (good().with(0xDA, |scan| scan[2] = 0x04), U::NoTables),
    ];
    for (crafted, reason) in cases {
        let bytes = crafted.bytes();
        assert_eq!(fault(&bytes), Fault::Unsupported(reason), "{bytes:02X?}");
    }
}

#[test]
fn colours_are_told_by_jfif_then_by_adobe_then_by_names() {
    let rgb = |crafted: Crafted| crafted.with(0xC0, |f| (f[6], f[9], f[12]) = (b'R', b'G', b'B'));
    let scan = |crafted: Crafted| crafted.with(0xDA, |s| (s[1], s[3], s[5]) = (b'R', b'G', b'B'));
    let named = || scan(rgb(good()));
    let jfif = b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0";
    assert_eq!(fault(&named().bytes()), Unsupported::Rgb.into());
    Header::read(&named().after(0xEE, b"Adobe\0\x64\0\0\0\0\x01").bytes()).unwrap();
    Header::read(&named().after(0xE0, jfif).bytes()).unwrap();
    Header::read(&good().after(0xEE, b"Adobe\0\x64\0\0\0\0\0").after(0xE0, jfif).bytes()).unwrap();
}

/// Headers that no standard has, each with what is told of it.
fn irregular() -> Vec<(Vec<u8>, &'static str)> {
    let with = |marker, change: fn(&mut Vec<u8>)| good().with(marker, change).bytes();
    let spliced = |new: &[u8]| [&[0xFF, 0xD8], new, &good().bytes()[2..]].concat();
    let mut many = vec![0; 17];
    (many[14], many[15], many[16]) = (3, 255, 255);
    many.extend([0; 513]);
    vec![
        (b"\x89PNG".to_vec(), "it does not begin with SOI"),
        (vec![], "it does not begin with SOI"),
        (spliced(&[0xFF, 0xD8]), "the header has a marker without a segment"),
        (spliced(&[0xFF, 0xD9]), "the header has a marker without a segment"),
        (spliced(&[0xFF, 0x01]), "the header has a marker without a segment"),
        (spliced(&[0xFF, 0xFE, 0, 1]), "a segment is shorter than its length"),
        (spliced(&[0]), "there are bytes between two segments"),
        (spliced(&[0xFF, 0]), "there are bytes between two segments"),
        (good().after(0xDD, &[1]).bytes(), "a DRI of another length than 4"),
        (good().after(0xF0, &[]).bytes(), "the header has an unknown marker"),
        (with(0xDB, |dqt| dqt[0] = 4), "a fifth DQT table"),
        (with(0xDB, |dqt| dqt.truncate(64)), "a DQT that is too short"),
        (with(0xDB, |dqt| dqt[0] = 0x10), "a DQT that is too short"),
        (with(0xC4, |dht| dht.truncate(16)), "a DHT that is too short"),
        (with(0xC4, |dht| dht.truncate(17)), "a DHT that is too short"),
        (with(0xC4, |dht| dht[0] = 0x20), "a DHT of an unknown class"),
        (with(0xC4, |dht| dht[0] = 0x14), "a fifth DHT table"),
        (good().after(0xC4, &[&[0, 3], &[0; 18][..]].concat()).bytes(), "a Huffman code with too many codes"),
        (good().after(0xC4, &[&[0, 2], &[0; 17][..]].concat()).bytes(), "a Huffman code with a code of ones alone"),
        (good().after(0xC4, &many).bytes(), "a Huffman code with over 256 symbols"),
        (with(0xC4, |dht| dht[17] = 16), "a DC code with a symbol above 15"),
        (
            {
                let frame = good().0[1].1.clone();
                good().after(0xC1, &frame).bytes()
            },
            "a second frame header",
        ),
        (with(0xC0, |frame| frame.truncate(5)), "a frame header that is too short"),
        (with(0xC0, |frame| frame.push(0)), "a frame header of another length than its components take"),
        (Crafted::new(0, 8, &S420).bytes(), "a picture without width"),
        (with(0xC0, |frame| frame[7] = 0x52), "sampling factors other than 1 to 4"),
        (with(0xC0, |frame| frame[10] = 0x01), "sampling factors other than 1 to 4"),
        (with(0xC0, |frame| frame[11] = 1), "a component without its quantisation table"),
        (with(0xC0, |frame| frame[11] = 9), "a component without its quantisation table"),
        (good().without(0xC0).bytes(), "a scan before the frame header"),
        (with(0xDA, Vec::clear), "an empty scan header"),
        (with(0xDA, |scan| scan.push(0)), "a scan header of another length than its components take"),
        (with(0xDA, |scan| scan[0] = 4), "a scan header of another length than its components take"),
        (with(0xDA, |scan| scan[8] = 62), "a sequential scan of a part of the spectrum"),
        (with(0xDA, |scan| scan.swap(1, 3)), "a scan with its components in another order than the frame's"),
    ]
}

#[test]
fn what_is_irregular_in_a_header_is_told() {
    for (bytes, reason) in irregular() {
        assert_eq!(fault(&bytes), Fault::Irregular(reason), "{bytes:02X?}");
    }
}

#[test]
fn every_reason_that_a_header_can_give_has_its_case_above() {
    let cases = irregular();
    for source in [include_str!("../header.rs"), include_str!("../huffman.rs")] {
        for reason in source.split("Irregular(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(cases.iter().any(|&(_, told)| told == reason), "no header is told to have {reason:?}");
        }
    }
}

#[test]
fn a_header_that_ends_anywhere_is_truncated() {
    let bytes = good().after(0xDD, &[0, 5]).after(0xFE, b"a comment").bytes();
    for end in 2..bytes.len() {
        assert_eq!(fault(&bytes[..end]), Fault::Truncated, "{end} bytes of {}", bytes.len());
    }
    assert!(Header::read(&bytes).is_ok());
}

#[test]
fn a_scan_that_ends_anywhere_gives_no_picture() {
    // Every block of the crafted header is two bits, 0 and 0: a flat picture. Six blocks of six MCUs are nine bytes.
    let mut bytes = good().bytes();
    let start = bytes.len();
    bytes.extend([0; 9]);
    let decode = |bytes: &[u8]| {
        let header = Header::read(bytes)?;
        let mut rgb = vec![0; 33 * 17 * 3];
        Decoder::default().begin(&header, bytes, Scale::Full, Region::whole(33, 17)).read(&mut rgb)?;
        Ok::<_, Fault>(rgb)
    };
    assert_eq!(decode(&bytes), Ok(vec![128; 33 * 17 * 3]));
    for end in 0..bytes.len() {
        let expected = if end < 2 { Fault::Irregular("it does not begin with SOI") } else { Fault::Truncated };
        assert_eq!(decode(&bytes[..end]), Err(expected), "{end} bytes, {start} of the header");
    }
}
