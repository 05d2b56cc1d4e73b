//! Pictures that are decoded with their seek points have the same pixels as without.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::sample::{JpegForm, photograph_rgb};
use forebay_pixels::{CpuDecoder, Decoded, DecodedBy, Draw, Fault, Input, JpegChoice, Limits, Recipe, SeekPoints};

/// Decodes epochs of a picture with what was kept of it and without, and compares. Gives the decoder that did it, and what is
/// kept in the end.
fn epochs(file: &[u8], recipe: &Recipe, choice: JpegChoice) -> (Option<DecodedBy>, Vec<u8>) {
    let (mut decoder, mut points, mut kept) = (CpuDecoder::with_jpeg(choice), SeekPoints::default(), Vec::new());
    let (mut with, mut without) = (vec![1; recipe.place_len()], vec![2; recipe.place_len()]);
    let mut by = None;
    for epoch in 0..20 {
        let (draw, limits) = (Draw { seed: 3, epoch, record: 5 }, Limits::default());
        points.load(&kept);
        let decoded = decoder.decode_seeking((file, &mut points), recipe, draw, &limits, &mut with);
        if let Some(block) = points.changed() {
            kept = block.to_vec();
        }
        assert_eq!(decoded, decoder.decode(file, recipe, draw, &limits, &mut without));
        assert!(decoded.is_err() || with == without, "epoch {epoch}");
        by = decoded.ok().and_then(|decoded| decoded.by);
    }
    (by, kept)
}

fn file(form: JpegForm) -> Vec<u8> {
    form.encode(&photograph_rgb(1, 400, 300), 400, 300).unwrap()
}

#[test]
fn rule_8_crops_have_the_same_pixels_with_seek_points_in_every_epoch() {
    let training = Recipe::training(64).unwrap();
    let scaled = training.clone().with_input(Input { reducing_gap: Some(1.0), ..Input::default() }).unwrap();
    for recipe in [training, scaled, Recipe::evaluation(64).unwrap()] {
        for restart_rows in [0, 2] {
            let file = file(JpegForm { restart_rows, ..JpegForm::default() });
            let (by, kept) = epochs(&file, &recipe, JpegChoice::default());
            assert_eq!(by, Some(DecodedBy::ForebayJpeg));
            assert!(!kept.is_empty() && kept.len() < file.len() / 90, "{} of {}", kept.len(), file.len());
        }
    }
}

#[test]
fn progressive_pictures_and_other_decoders_leave_the_points_alone() {
    let recipe = Recipe::training(64).unwrap();
    let progressive = file(JpegForm { progressive: true, ..JpegForm::default() });
    assert_eq!(epochs(&progressive, &recipe, JpegChoice::default()), (Some(DecodedBy::ForebayJpeg), Vec::new()));
    let baseline = file(JpegForm::default());
    assert_eq!(epochs(&baseline, &recipe, JpegChoice::LIBJPEG_TURBO), (Some(DecodedBy::LibjpegTurbo), Vec::new()));
}

#[test]
fn rule_29_a_damaged_picture_ends_as_it_does_without_points() {
    let recipe = Recipe::training(64).unwrap();
    let whole = file(JpegForm::default());
    let (_, points) = epochs(&whole, &recipe, JpegChoice::default());
    // A marker that no scan has. The file still has its end, so that only a decoder finds it.
    let mut damaged = whole.clone();
    let at = whole.len() * 3 / 4;
    damaged[at..at + 2].copy_from_slice(&[0xFF, 0x01]);
    let (mut decoder, mut seek, limits) = (CpuDecoder::new(), SeekPoints::default(), Limits::default());
    let (mut with, mut without) = (vec![1; recipe.place_len()], vec![2; recipe.place_len()]);
    let mut by_others = 0;
    for epoch in 0..20 {
        let draw = Draw { seed: 3, epoch, record: 5 };
        // Those of the whole file, as if it had been damaged after an epoch.
        seek.load(&points);
        let decoded = decoder.decode_seeking((&damaged, &mut seek), &recipe, draw, &limits, &mut with);
        assert_eq!(decoded, decoder.decode(&damaged, &recipe, draw, &limits, &mut without), "epoch {epoch}");
        assert!(decoded.is_err() || with == without, "epoch {epoch}");
        assert_ne!(decoded, Err(Fault::Truncated));
        by_others += usize::from(!matches!(decoded, Ok(Decoded { by: Some(DecodedBy::ForebayJpeg), .. })));
    }
    assert!((1..20).contains(&by_others), "{by_others} crops need what is damaged");
    epochs(&damaged, &recipe, JpegChoice::default());
}
