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
