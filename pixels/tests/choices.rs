//! Every choice of JPEG decoder passes the same suite: kinds, colours, limits, verdicts.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::time::Duration;

use forebay_pixels::sample::{JpegColors, JpegForm, photograph, photograph_rgb};
use forebay_pixels::{CpuDecoder, Decoded, DecodedBy, Fault, Form, JpegChoice, KeptPicture, Limits};

fn choices() -> [JpegChoice; 2] {
    [JpegChoice::default(), JpegChoice::LIBJPEG_TURBO]
}

fn whole(decoder: &mut CpuDecoder, bytes: &[u8], limits: &Limits) -> Result<(KeptPicture, Decoded), Fault> {
    decoder.upright(bytes, Form::default(), limits)
}

fn jpeg(form: JpegForm, width: u32, height: u32) -> Option<Vec<u8>> {
    let pixels = photograph_rgb(1, width, height).into_iter().cycle();
    let pixels: Vec<u8> = pixels.take((width * height) as usize * form.channels()).collect();
    form.encode(&pixels, width, height)
}

#[test]
fn every_choice_gives_the_pixels_of_libjpeg_turbo_of_every_kind_of_jpeg() {
    use JpegColors::{Cmyk, Gray, Rgb, YCbCr, Ycck};
    let ([mut own, mut turbo], limits) = (choices().map(CpuDecoder::with_jpeg), Limits::default());
    for sampling in [[1, 1], [2, 1], [2, 2], [1, 2], [4, 1], [1, 4], [4, 2], [2, 4], [3, 1], [1, 3]] {
        let colors = [Gray, YCbCr, Rgb, Cmyk, Ycck].into_iter();
        let kinds = colors.flat_map(|colors| [(0, 0), (1, 0), (0, 1)].map(|coding| (colors, coding)));
        for ((colors, (progressive, arithmetic)), restart_rows) in kinds.flat_map(|kind| [(kind, 0), (kind, 1)]) {
            let (progressive, arithmetic) = (progressive > 0, arithmetic > 0);
            let form = JpegForm { colors, sampling, progressive, arithmetic, restart_rows, ..JpegForm::default() };
            for (width, height) in [(203, 149), (64, 64), (7, 5), (33, 1), (1, 33), (17, 16)] {
                let Some(bytes) = jpeg(form, width, height) else { continue };
                let (expected, by) = whole(&mut turbo, &bytes, &limits).unwrap();
                assert_eq!((expected.width, expected.height), (width, height));
                assert_eq!(by.by, Some(DecodedBy::LibjpegTurbo), "{form:?}");
                assert_eq!(whole(&mut own, &bytes, &limits).unwrap().0, expected, "{form:?}");
            }
        }
    }
}

#[test]
fn a_picture_that_is_cut_off_is_a_fault_and_with_an_end_it_has_the_rows_before() {
    let (photo, limits) = (photograph(2, 300, 200), Limits::default());
    let cut = &photo[..photo.len() / 2];
    let ended = [cut, &[0xFF, 0xD9]].concat();
    for mut decoder in choices().map(CpuDecoder::with_jpeg) {
        assert_eq!(whole(&mut decoder, cut, &limits).map(drop), Err(Fault::Truncated));
        let (good, _) = whole(&mut decoder, &photo, &limits).unwrap();
        let (begun, _) = whole(&mut decoder, &ended, &limits).unwrap();
        assert_eq!((begun.width, begun.height), (300, 200));
        let row = 300 * 3;
        assert!(begun.pixels()[..row * 50] == good.pixels()[..row * 50], "the rows before the end are there");
        assert!(begun.pixels()[row * 190..] != good.pixels()[row * 190..], "the others are lost");
    }
}

#[test]
fn limits_hold_for_every_choice() {
    let photo = photograph(2, 300, 200);
    let scans = jpeg(JpegForm { progressive: true, ..JpegForm::default() }, 67, 45).unwrap();
    let cut = &photo[..photo.len() / 2];
    let none = Limits::default();
    for mut decoder in choices().map(CpuDecoder::with_jpeg) {
        let mut fault = |bytes, limits| whole(&mut decoder, bytes, &limits).map(drop).unwrap_err();
        let pixels = Limits { pixels: 1000, ..none };
        assert_eq!(fault(&photo, pixels), Fault::TooLarge { pixels: 60_000, limit: 1000 });
        assert_eq!(fault(&scans, Limits { scans: 2, ..none }), Fault::TooManyScans { limit: 2 });
        let limit = Duration::ZERO;
        assert_eq!(fault(&photo, Limits { time: Some(limit), ..none }), Fault::TooSlow { limit });
        assert_eq!(fault(cut, none), Fault::Truncated);
    }
}

/// Where a decoder ends early without an error, nothing of the picture before may be seen.
#[test]
fn a_damaged_picture_gives_the_same_bytes_whatever_was_decoded_before() {
    let photo = photograph(2, 300, 200);
    let scan = photo.windows(2).position(|pair| pair == [0xFF, 0xDA]).unwrap();
    let header = &photo[scan..scan + 2 + usize::from(photo[scan + 3])];
    for end in [&[0xFF, 0xD9][..], &[header, &[0xFF, 0xD9]].concat(), &[0xFF, 0xD0, 0xFF, 0xD9], &[0xFF, 0xDC, 0, 2]] {
        let half = photo.len() / 2 - usize::from(photo[photo.len() / 2 - 1] == 0xFF);
        let damaged = [&photo[..half], end, &[0xFF, 0xD9]].concat();
        for choice in choices() {
            let fresh = whole(&mut CpuDecoder::with_jpeg(choice), &damaged, &Limits::default());
            let mut used = CpuDecoder::with_jpeg(choice);
            for other in 0..2 {
                whole(&mut used, &photograph(other, 310, 200), &Limits::default()).unwrap();
                assert_eq!(whole(&mut used, &damaged, &Limits::default()), fresh, "{choice:?}");
            }
        }
    }
}
