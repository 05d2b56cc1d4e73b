//! TIFFs of palette colours, made byte by byte: nothing here writes them.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::{CpuDecoder, Limits, probe};

/// A TIFF of 3 x 2 pixels whose values are indices into a palette: colour i is (i, 2 i, 255 - i).
fn palette_tiff(big_endian: bool, indices: [u8; 6]) -> Vec<u8> {
    let short = |value: u16| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let long = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let (pixels, map) = (8, 14);
    let directory = map + 3 * 256 * 2;
    let mut bytes = if big_endian { b"MM".to_vec() } else { b"II".to_vec() };
    bytes.extend(short(42));
    bytes.extend(long(directory));
    bytes.extend(indices);
    for channel in [|i: u16| i, |i: u16| 2 * i % 256, |i: u16| 255 - i] {
        bytes.extend((0..256).flat_map(|i| short(channel(i) << 8 | 7)));
    }
    let fields: [(u16, u16, u32, u32); 10] = [
        (256, 3, 1, 3),
        (257, 3, 1, 2),
        (258, 3, 1, 8),
        (259, 3, 1, 1),
        (262, 3, 1, 3),
        (273, 4, 1, pixels),
        (277, 3, 1, 1),
        (278, 3, 1, 2),
        (279, 4, 1, 6),
        (320, 3, 768, map),
    ];
    bytes.extend(short(10));
    for (tag, kind, count, value) in fields {
        bytes.extend(short(tag));
        bytes.extend(short(kind));
        bytes.extend(long(count));
        if kind == 3 && count == 1 {
            bytes.extend(short(u16::try_from(value).unwrap()));
            bytes.extend([0; 2]);
        } else {
            bytes.extend(long(value));
        }
    }
    bytes.extend(long(0));
    bytes
}

#[test]
fn a_tiff_of_palette_colours_shows_the_colours() {
    for big_endian in [false, true] {
        let indices = [0, 1, 99, 127, 200, 255];
        let picture = CpuDecoder::new().whole(&palette_tiff(big_endian, indices), &Limits::default()).unwrap();
        let expected: Vec<u8> = indices.iter().flat_map(|&i| [i, i.wrapping_mul(2), 255 - i]).collect();
        assert_eq!((picture.width, picture.height, picture.rgb), (3, 2, expected));
        assert!(probe(&palette_tiff(big_endian, indices)).is_ok_and(|probe| (probe.width, probe.height) == (3, 2)));
    }
}
