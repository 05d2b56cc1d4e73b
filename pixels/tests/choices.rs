//! Every choice of JPEG decoder passes the same suite: kinds, colours, limits, verdicts; and how far pixels differ is printed.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop at what should not be, and print what they found"
)]

#[path = "shared/data.rs"]
mod data;

use std::time::Duration;

use forebay_pixels::sample::{JpegColors, JpegForm, photograph, photograph_rgb};
use forebay_pixels::{
    CpuDecoder, Decoded, DecodedBy, Draw, Fault, Form, Input, JpegChoice, JpegHead, KeptPicture, Limits, Output,
    Recipe, Transform,
};

/// How far pixels are from libjpeg-turbo's.
#[derive(Debug, Default)]
struct Distance {
    pictures: u64,
    largest: u8,
    sum: u64,
    values: u64,
}

impl Distance {
    fn add(&mut self, ours: &[u8], theirs: &[u8]) {
        assert_eq!(ours.len(), theirs.len());
        self.pictures += 1;
        self.values += ours.len() as u64;
        for (ours, theirs) in ours.iter().zip(theirs) {
            self.sum += u64::from(ours.abs_diff(*theirs));
            self.largest = self.largest.max(ours.abs_diff(*theirs));
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "a figure to look at")]
    fn mean(&self) -> f64 {
        self.sum as f64 / self.values.max(1) as f64
    }
}

fn choices() -> [JpegChoice; 3] {
    [JpegChoice::default(), JpegChoice::IMAGE, JpegChoice::LIBJPEG_TURBO]
}

fn decoders() -> [CpuDecoder; 3] {
    choices().map(CpuDecoder::with_jpeg)
}

fn whole(decoder: &mut CpuDecoder, bytes: &[u8], limits: &Limits) -> Result<(KeptPicture, Decoded), Fault> {
    decoder.upright(bytes, Form::default(), limits)
}

fn jpeg(form: JpegForm, width: u32, height: u32) -> Option<Vec<u8>> {
    let pixels = photograph_rgb(1, width, height).into_iter().cycle();
    let pixels: Vec<u8> = pixels.take((width * height) as usize * form.channels()).collect();
    form.encode(&pixels, width, height)
}

/// Whether zune-jpeg is to decode such a form: [`JpegChoice::IMAGE`] says which.
fn is_for_image(form: JpegForm) -> bool {
    let named = matches!(form.sampling, [1 | 2 | 4, 1] | [1 | 2, 2]);
    matches!(form.colors, JpegColors::Gray | JpegColors::YCbCr) && named && !form.progressive && !form.arithmetic
}

#[test]
fn every_choice_decodes_every_kind_of_jpeg_and_none_but_image_differs_from_libjpeg_turbo() {
    use JpegColors::{Cmyk, Gray, Rgb, YCbCr, Ycck};
    let ([mut own, mut image, mut turbo], limits) = (decoders(), Limits::default());
    let mut distance = Distance::default();
    for sampling in [[1, 1], [2, 1], [2, 2], [1, 2], [4, 1], [1, 4], [4, 2], [2, 4], [3, 1], [1, 3]] {
        let colors = [Gray, YCbCr, Rgb, Cmyk, Ycck].into_iter();
        let kinds = colors.flat_map(|colors| [(0, 0), (1, 0), (0, 1)].map(|coding| (colors, coding)));
        for ((colors, (progressive, arithmetic)), restart_rows) in kinds.flat_map(|kind| [(kind, 0), (kind, 1)]) {
            let (progressive, arithmetic) = (progressive > 0, arithmetic > 0);
            let form = JpegForm { colors, sampling, progressive, arithmetic, restart_rows, ..JpegForm::default() };
            for (width, height) in [(203, 149), (64, 64), (7, 5), (33, 1), (1, 33), (17, 16)] {
                let Some(bytes) = jpeg(form, width, height) else { continue };
                let (expected, _) = whole(&mut turbo, &bytes, &limits).unwrap();
                assert_eq!((expected.width, expected.height), (width, height));
                assert_eq!(whole(&mut own, &bytes, &limits).unwrap().0, expected, "{form:?}");
                let (picture, Decoded { by, .. }) = whole(&mut image, &bytes, &limits).unwrap();
                if by == Some(DecodedBy::Image) {
                    distance.add(picture.rgb(), expected.rgb());
                } else {
                    assert!(!is_for_image(form), "{form:?}");
                    assert_eq!((picture, by), (expected, Some(DecodedBy::LibjpegTurbo)), "{form:?}");
                }
            }
        }
    }
    println!("image beside libjpeg-turbo: {distance:?}, mean {:.3}", distance.mean());
    assert!(distance.largest <= 4 && distance.mean() < 0.1, "{distance:?}");
}

#[test]
fn image_gives_libjpeg_turbos_verdicts_on_real_and_odd_files_and_nearly_its_pixels() {
    let ([_, mut image, mut turbo], limits) = (decoders(), Limits::default());
    for (set, step) in [("imagenet", 10), ("conformance", 1), ("hostile", 1)] {
        let Some(folder) = data::folder(set) else { continue };
        let listed = || data::verdicts(&folder).into_iter().map(|verdict| folder.parent().unwrap().join(verdict.name));
        let files = if set == "imagenet" { data::files(&folder) } else { listed().collect() };
        let mut distance = Distance::default();
        for path in files.into_iter().step_by(step) {
            let bytes = std::fs::read(&path).unwrap();
            let expected = whole(&mut turbo, &bytes, &limits).map(|(picture, _)| picture);
            let name = path.display();
            match (whole(&mut image, &bytes, &limits), expected) {
                (Ok((picture, Decoded { by: Some(DecodedBy::Image), .. })), Ok(expected)) if is_jpeg(&bytes) => {
                    assert_eq!((picture.width, picture.height), (expected.width, expected.height), "{name}");
                    distance.add(picture.rgb(), expected.rgb());
                }
                (picture, expected) => assert_eq!(picture.map(|(picture, _)| picture), expected, "{name}"),
            }
        }
        println!("{set}, image beside libjpeg-turbo: {distance:?}, mean {:.3}", distance.mean());
        assert!(distance.mean() < 0.25, "{distance:?}");
    }
}

fn is_jpeg(bytes: &[u8]) -> bool {
    JpegHead::read(bytes).is_ok()
}

#[test]
fn limits_hold_for_every_choice() {
    let photo = photograph(2, 300, 200);
    let scans = jpeg(JpegForm { progressive: true, ..JpegForm::default() }, 67, 45).unwrap();
    let cut = &photo[..photo.len() / 2];
    let none = Limits::default();
    for mut decoder in decoders() {
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

#[test]
fn what_is_decoded_at_a_part_of_its_size_goes_past_image() {
    let input = Input { reducing_gap: Some(2.0), ..Input::default() };
    let recipe = Recipe::new(Transform::evaluation(32), Output::default()).unwrap().with_input(input).unwrap();
    let mut place = vec![0; recipe.place_len()];
    let draw = Draw { seed: 0, epoch: 0, record: 0 };
    let large = photograph(2, 900, 700);
    let mut decoder = CpuDecoder::with_jpeg(JpegChoice::IMAGE);
    let decoded = decoder.decode(&large, &recipe, draw, &Limits::default(), &mut place).unwrap();
    assert_eq!(decoded.by, Some(DecodedBy::LibjpegTurbo));
}
