//! What the markers of made and of altered pictures say.

use super::*;
use crate::sample::{JpegForm, photograph_rgb};

/// None of a form that libjpeg does not write.
fn head(form: JpegForm) -> Option<JpegHead> {
    let pixels: Vec<u8> = photograph_rgb(1, 40, 24).into_iter().cycle().take(40 * 24 * form.channels()).collect();
    form.encode(&pixels, 40, 24).map(|bytes| JpegHead::read(&bytes).unwrap())
}

#[test]
fn colours_and_sampling_are_those_that_the_encoder_was_asked_for() {
    use JpegColors::{Cmyk, Gray, Rgb, YCbCr, Ycck};
    for colors in [Gray, YCbCr, Rgb, Cmyk, Ycck] {
        for (sampling, name) in [
            ([1, 1], Some(Sampling::S444)),
            ([2, 1], Some(Sampling::S422)),
            ([2, 2], Some(Sampling::S420)),
            ([1, 2], Some(Sampling::S440)),
            ([4, 1], Some(Sampling::S411)),
            ([4, 2], None),
            ([3, 1], None),
        ] {
            let Some(head) = head(JpegForm { colors, sampling, ..JpegForm::default() }) else { continue };
            let expected = match colors {
                Gray => Some(Sampling::Gray),
                YCbCr => name,
                _ => None,
            };
            assert_eq!((head.colors, head.sampling), (Some(colors), expected), "{colors:?}, {sampling:?}");
            assert!(head.baseline());
        }
    }
    assert!(!head(JpegForm { progressive: true, ..JpegForm::default() }).unwrap().baseline());
}

/// Wherever our decoder takes a picture, it sees the same as the one who looks at all of them.
#[test]
fn both_readers_of_markers_see_the_same_colours() {
    let jfif = JpegForm::default().encode(&photograph_rgb(1, 40, 24), 40, 24).unwrap();
    let rgb = JpegForm { colors: JpegColors::Rgb, sampling: [1, 1], ..JpegForm::default() };
    let adobe = rgb.encode(&photograph_rgb(1, 40, 24), 40, 24).unwrap();
    let start = |bytes: &[u8], code: u8| bytes.windows(2).position(|pair| pair == [0xFF, code]);
    let segment = |bytes: &[u8], code: u8| {
        let at = start(bytes, code).unwrap();
        at..at + 2 + usize::from(bytes[at + 3])
    };
    let (app0, app14) = (segment(&jfif, 0xE0), segment(&adobe, 0xEE));
    let both = [&jfif[..app0.end], &adobe[app14.clone()], &jfif[app0.end..]].concat();
    let neither = [&jfif[..app0.start], &jfif[app0.end..]].concat();
    let numbered = [&adobe[..app14.start], &adobe[app14.end..]].concat();
    let names = [
        (jfif, JpegColors::YCbCr),
        (both, JpegColors::YCbCr),
        (neither, JpegColors::YCbCr),
        (adobe, JpegColors::Rgb),
        (numbered, JpegColors::Rgb),
    ];
    for (number, (bytes, colors)) in names.into_iter().enumerate() {
        let head = JpegHead::read(&bytes).unwrap();
        assert_eq!(head.colors, Some(colors), "{number}");
        assert_eq!(forebay_jpeg::Header::read(&bytes).ok().map(|header| header.sampling), head.sampling, "{number}");
    }
}

/// A picture of 40 x 24 pixels in 4:4:4, and where the data of its scan begins.
fn scanned(restart_rows: u32, progressive: bool) -> (Vec<u8>, usize) {
    let form = JpegForm { sampling: [1, 1], restart_rows, progressive, ..JpegForm::default() };
    let bytes = form.encode(&photograph_rgb(1, 40, 24), 40, 24).unwrap();
    let scan = bytes.windows(2).position(|pair| pair == [0xFF, 0xDA]).unwrap();
    let data = scan + 2 + usize::from(u16::from_be_bytes([bytes[scan + 2], bytes[scan + 3]]));
    (bytes, data)
}

/// What is said of a picture with these bytes before its end marker, or in the midst of its data.
fn with(restart_rows: u32, is_end: bool, more: &[u8]) -> Result<(), Fault> {
    let (mut bytes, data) = scanned(restart_rows, false);
    let at = if is_end { bytes.len() - 2 } else { data + (bytes.len() - data) / 2 };
    // Not between a FF and its 0.
    let at = if bytes[at - 1] == 0xFF { at + 1 } else { at };
    bytes.splice(at..at, more.iter().copied());
    JpegHead::read(&bytes).map(drop)
}

#[test]
fn rule_29_what_libjpeg_refuses_behind_the_last_row_is_refused_before_any_decoder_runs() {
    let huffman = |kind: u8, count: u8| [&[0xFF, 0xC4, 0, 20, kind, count][..], &[0; 15], &[5]].concat();
    let quantisation = |kind: u8, len: u8| [&[0xFF, 0xDB, 0, len, kind][..], &[1; 64]].concat();
    let scan = [0xFF, 0xDA, 0, 12, 3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0];
    let frame = [0xFF, 0xC0, 0, 11, 8, 0, 24, 0, 40, 1, 1, 0x11, 0];
    let (good_table, good_values) = (huffman(0x12, 1), quantisation(3, 67));
    let good: [&[u8]; 9] = [
        &[],
        b"bytes of no marker, \xFF\0, \xFF\xFF\0",
        &[0xFF, 0x01, 0xFF, 0xD3, 0xFF, 0xFF, 0xD0],
        &[0xFF, 0xDC, 0, 4, 0, 24],
        &[0xFF, 0xE5, 0, 7, 1, 2, 3, 4, 5, 0xFF, 0xFE, 0, 0],
        &[0xFF, 0xDD, 0, 4, 9, 9],
        &[0xFF, 0xCC, 0, 6, 0x01, 0x52, 0x1F, 0x09],
        &good_table,
        &good_values,
    ];
    let bad: [&[u8]; 15] = [
        &[0xFF, 0xF7],
        &[0xFF, 0x9C],
        &[0xFF, 0x02],
        &[0xFF, 0xFF, 0xFF, 0xDE],
        &[0xFF, 0xD8],
        &[0xFF, 0xC8, 0, 2],
        &frame,
        &scan,
        &[0xFF, 0xDD, 0, 5, 0, 0, 0],
        &[0xFF, 0xCC, 0, 4, 0x03, 0x25],
        &[0xFF, 0xC4, 0, 1],
        &huffman(0x05, 1),
        &huffman(0x00, 2),
        &quantisation(4, 67),
        &quantisation(1, 66),
    ];
    for is_end in [true, false] {
        for more in good {
            assert_eq!(with(0, is_end, more), Ok(()), "{more:02x?}, at the end: {is_end}");
        }
        for more in bad {
            let found = with(0, is_end, more);
            assert!(matches!(found, Err(Fault::Corrupt { .. })), "{more:02x?}, at the end: {is_end}: {found:?}");
        }
        assert_eq!(with(0, is_end, &[0xFF, 0xE2, 0xFF, 0xFF]), Err(Fault::Truncated), "a segment beyond the end");
    }
    let (progressive, data) = scanned(0, true);
    assert_eq!(JpegHead::read(&progressive).map(|head| head.progressive()), Ok(true));
    let cut = [&progressive[..data], &[0xFF, 0xF7], &progressive[data..]].concat();
    assert!(matches!(JpegHead::read(&cut), Err(Fault::Corrupt { .. })));
}

#[test]
fn rule_29_a_code_that_is_no_markers_is_forgiven_where_libjpeg_looks_for_a_restart_marker() {
    // Three rows of MCUs: two restart markers. The middle is before the last.
    assert_eq!(with(1, false, &[0xFF, 0x9C]), Ok(()));
    assert!(with(1, true, &[0xFF, 0x9C]).is_err());
    assert!(with(1, false, &[0xFF, 0xF7]).is_err(), "it stays at what may be a marker");
    let (bytes, data) = scanned(1, false);
    let restart = |number: u8| bytes[data..].windows(2).position(|pair| pair == [0xFF, 0xD0 + number]).unwrap() + data;
    let replaced = |with: [u8; 2]| [&bytes[..restart(0)], &with, &bytes[restart(0) + 2..]].concat();
    for (code, is_good) in [(0xD0, true), (0xD1, true), (0xD7, true), (0xD4, true), (0x9C, true), (0xF7, false)] {
        let read = JpegHead::read(&replaced([0xFF, code]));
        assert_eq!(read.is_ok(), is_good, "{code:#04x}: {read:?}");
    }
}

/// The look for a marker goes by chunks: no place of one is missed, and no end of the bytes is passed.
#[test]
fn a_marker_is_found_at_every_place() {
    for len in 0..200_usize {
        assert_eq!(ending::next_pair(&vec![7; len], 0), None);
        for at in 0..len {
            let mut bytes = vec![0; len];
            bytes[at] = 0xFF;
            assert_eq!(ending::next_pair(&bytes, 0), None, "a stuffed byte, or the end");
            if at + 1 < len {
                bytes[at + 1] = 0xFF;
                assert_eq!(ending::next_pair(&bytes, 0), Some(at), "{at} of {len}");
                assert_eq!(ending::next_pair(&bytes, at), Some(at));
                assert_eq!(ending::next_pair(&bytes, at + 1), None);
            }
        }
    }
}
