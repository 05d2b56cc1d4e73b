//! Pixels that are pinned: a change of these sums is a change of what every run gives from now on, on every processor.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::sample::{JpegColors, JpegForm, photograph, photograph_rgb};
use forebay_pixels::{
    CpuDecoder, Draw, Dtype, Input, Interpolation, JpegChoice, Layout, Limits, Match, Normalize, Output, Recipe,
    Resize, Size, Transform,
};

/// Where FNV-1a begins.
const START: u64 = 0xcbf2_9ce4_8422_2325;

/// The sum of the files that are decoded.
const WRITTEN: u64 = 0x7bc3_f7ac_69ee_3038;

/// FNV-1a, by which any difference shows.
fn sum(bytes: &[u8], start: u64) -> u64 {
    bytes.iter().fold(start, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn files() -> Vec<Vec<u8>> {
    let (width, height) = (203, 149);
    let made = [
        JpegForm { sampling: [2, 2], ..JpegForm::default() },
        JpegForm { sampling: [2, 1], restart_rows: 1, ..JpegForm::default() },
        JpegForm { progressive: true, ..JpegForm::default() },
        JpegForm { colors: JpegColors::Gray, sampling: [1, 1], ..JpegForm::default() },
        JpegForm { colors: JpegColors::Ycck, ..JpegForm::default() },
    ];
    let pixels = |form: JpegForm| -> Vec<u8> {
        let all = photograph_rgb(1, width, height).into_iter().cycle();
        all.take((width * height) as usize * form.channels()).collect()
    };
    let made = made.into_iter().map(|form| form.encode(&pixels(form), width, height).unwrap());
    (0..3).map(|index| photograph(index, 500, 375)).chain(made).collect()
}

fn recipes() -> [(Recipe, u64); 7] {
    let output = |dtype, layout| Output { dtype, layout, ..Output::default() };
    let normalize = Normalize { mean: [0.485, 0.456, 0.406].into(), std: [0.229, 0.224, 0.225].into() };
    let normalized: Vec<_> = Transform::training(96).into_iter().chain([Transform::Normalize(normalize)]).collect();
    let lanczos = Resize { size: Size::HeightWidth([61, 307]), interpolation: Interpolation::Lanczos3 };
    let floats = Recipe::new(normalized.clone(), output(Dtype::Float32, Layout::Nchw)).unwrap();
    let halves = Recipe::new(normalized.clone(), output(Dtype::Float16, Layout::Nhwc)).unwrap();
    let upper_halves = Recipe::new(normalized, output(Dtype::Bfloat16, Layout::Nhwc)).unwrap();
    let stretched = Recipe::new(vec![Transform::Resize(lanczos)], Output::default()).unwrap();
    let input = Input { reducing_gap: Some(2.0), ..Input::default() };
    let reduced = Recipe::evaluation(40).unwrap().with_input(input).unwrap();
    [
        (Recipe::training(224).unwrap().with_match(Match::Torch).unwrap(), 0x04b7_8d5d_9ee8_bfc2),
        (Recipe::training(224).unwrap(), 0xbdaf_5940_bd16_440d),
        (floats, 0x4b8f_b40b_b7c8_0c9e),
        (halves, 0x031f_f1ab_7a02_3b86),
        (upper_halves, 0x80bf_cd13_979f_9e62),
        (stretched, 0x73db_0cdd_a5fc_4e57),
        (reduced, 0x513a_511e_ac67_dbb7),
    ]
}

#[test]
fn the_same_input_seed_epoch_and_record_give_these_bytes_everywhere() {
    let files = files();
    let written = files.iter().fold(START, |so_far, bytes| sum(bytes, so_far));
    assert_eq!(written, WRITTEN, "it is the encoder that has changed");
    for choice in [JpegChoice::default(), JpegChoice::LIBJPEG_TURBO] {
        let mut decoder = CpuDecoder::with_jpeg(choice);
        for (number, (recipe, expected)) in recipes().into_iter().enumerate() {
            let mut place = vec![0; recipe.place_len()];
            let found = files.iter().zip(0..).fold(START, |so_far, (bytes, record)| {
                let draw = Draw { seed: 42, epoch: 3, record };
                decoder.decode(bytes, &recipe, draw, &Limits::default(), &mut place).unwrap();
                sum(&place, so_far)
            });
            assert_eq!(found, expected, "recipe {number}, {choice:?}: {found:#018x}");
        }
    }
}
