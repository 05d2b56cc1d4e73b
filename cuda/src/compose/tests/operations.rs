//! Operations in rounds: every kind of them beside the CPU lane, and how many launches they take.

use std::collections::BTreeSet;

use forebay_pixels::{
    Change, ColorJitter, ErasingValue, Interpolation, Jitter, Match, MovedBy, RandAugment, RandomAdjustSharpness,
    RandomErasing, Round, RoundSource, TrivialAugmentWide,
};
use proptest::prelude::*;

use super::*;

/// A kind of round or change, with whose arithmetic.
fn kinds(made: &Composition) -> impl Iterator<Item = String> {
    let name = |debug: String| debug.split([' ', '(', '{']).next().unwrap().to_owned();
    let of_round = move |round: &Round| {
        let source = match &round.source {
            RoundSource::Moved(moved) if moved.by == MovedBy::Places => format!("Places by {:?}", moved.filter),
            RoundSource::Moved(moved) => format!("{:?}", moved.by),
            source => name(format!("{source:?}")),
        };
        let mirrored = round.mirrored.then(|| "mirrored".to_owned());
        let changes = round.changes.iter().map(move |change: &Change| name(format!("{change:?}")));
        changes.chain([source]).chain(mirrored).collect::<Vec<_>>()
    };
    let names: Vec<_> = made.rounds.iter().flat_map(of_round).collect();
    let matched = made.matched;
    names.into_iter().map(move |name| format!("{matched:?}: {name}"))
}

#[test]
fn every_kind_of_round_and_change_in_either_arithmetic_is_among_the_random_cases() {
    let mut bench = Bench::new();
    let mut seen = BTreeSet::new();
    let mut most = 0;
    bench.against_the_cpu(4, 2500, (60, 50), |made| {
        seen.extend(kinds(made));
        most = most.max(made.rounds.len());
    });
    let both = ["Table", "Saturation", "Gray", "Hue", "Gains", "Erase", "Contrast", "Autocontrast", "Equalize"];
    let sources = ["Sums", "Own", "Smoothed", "Blurred", "Boxed", "mirrored"];
    let pillow = ["WholeSteps", "Steps", "Places by Nearest", "Places by Bilinear", "Places by Bicubic"];
    // Steps are those of a picture that is mirrored top to bottom.
    let torch = ["TorchPlaces", "TorchNearest", "TorchNearestProjected", "Steps"];
    let of = |matched: &str, names: &[&str]| -> BTreeSet<_> {
        both.iter().chain(&sources).chain(names).map(|name| format!("{matched}: {name}")).collect()
    };
    assert_eq!(seen, &of("Pillow", &pillow) | &of("Torch", &torch));
    assert!(most >= 5, "pictures with {most} rounds at most");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_recipe_on_pictures_of_any_size_gives_the_cpu_lanes_bytes(seed in any::<u64>(), longest in 1..300_u32, to in 1..200_u32) {
        Bench::new().against_the_cpu(seed, 20, (longest, to), |_| {});
    }
}

/// The recipe of torchvision's reference.
fn trivial(matched: Match) -> Recipe {
    let augment = TrivialAugmentWide { num_magnitude_bins: 31, interpolation: Interpolation::Bilinear, fill: None };
    let erasing = RandomErasing::new(0.5, [0.02, 0.33], [0.3, 3.3], ErasingValue::One(100.0));
    let more = vec![Transform::TrivialAugmentWide(augment), Transform::RandomErasing(erasing)];
    let recipe = Recipe::new([Transform::training(56), more].concat(), Output::default()).unwrap();
    recipe.with_match(matched).unwrap()
}

#[test]
fn trivial_augment_and_erasing_take_at_most_two_launches_whatever_is_drawn() {
    let file = forebay_pixels::sample::photograph(3, 300, 200);
    for matched in [Match::Pillow, Match::Torch] {
        let recipe = trivial(matched);
        let mut rounds = [0; 4];
        for record in 0..2000 {
            let draw = Draw { seed: 3, epoch: 1, record };
            let made = composition(&file, &recipe, draw).expect("the kernel takes all that it draws");
            rounds[made.rounds.len()] += 1;
        }
        assert_eq!((rounds[0], rounds[3]), (0, 0), "{rounds:?}");
        assert!(
            rounds[1] > 500 && rounds[2] > 1000,
            "tables and colours take one, moves and statistics two: {rounds:?}"
        );
    }
}

/// A picture of one colour has no contrast, and equalizing a small one changes nothing.
#[test]
fn statistics_of_one_colour_of_one_pixel_and_of_large_pictures_are_the_cpu_lanes() {
    let mut bench = Bench::new();
    let augment = |magnitude| {
        Transform::RandAugment(RandAugment {
            num_ops: 3,
            magnitude,
            num_magnitude_bins: 31,
            interpolation: Interpolation::Nearest,
            fill: None,
        })
    };
    for (side, gray, records) in [(1, 0, 60), (2, 255, 60), (16, 77, 60), (600, 200, 8)] {
        let bytes = JpegForm { colors: JpegColors::Gray, ..JpegForm::default() };
        let bytes = bytes.encode(&vec![gray; (side * side) as usize], side, side).unwrap();
        for record in 0..records {
            let recipe =
                Recipe::new([Transform::training(side), vec![augment(30)]].concat(), Output::default()).unwrap();
            let draw = Draw { seed: 6, epoch: 0, record };
            let made = composition(&bytes, &recipe, draw).unwrap();
            let planes = bench.decode(&[&bytes])[0];
            let mut expected = vec![0; recipe.place_len()];
            CpuDecoder::new().decode(&bytes, &recipe, draw, &Limits::default(), &mut expected).unwrap();
            assert!(bench.compose(&[(planes, &made)])[0] == expected, "{side} {record}: {:?}", made.rounds);
        }
    }
}

/// To black, to white, and so far that every value is one or the other.
#[test]
fn factors_up_to_their_edges_give_the_cpu_lanes_values() {
    let mut bench = Bench::new();
    let (bytes, ..) = small(Interpolation::Bilinear, Dtype::Uint8);
    let planes = bench.decode(&[&bytes])[0];
    let none = || ColorJitter { brightness: None, contrast: None, saturation: None, hue: None };
    for matched in [Match::Pillow, Match::Torch] {
        for factor in [0.0, 1e-7, 0.5, 1.001, 2.0, 300.0, 1e6] {
            let only = Some(Jitter::Between([factor; 2]));
            let hue = Some(Jitter::Between([factor.min(0.5) - 0.25; 2]));
            let transforms = [
                Transform::ColorJitter(ColorJitter { brightness: only, ..none() }),
                Transform::ColorJitter(ColorJitter { contrast: only, ..none() }),
                Transform::ColorJitter(ColorJitter { saturation: only, ..none() }),
                Transform::ColorJitter(ColorJitter { hue, ..none() }),
                Transform::RandomAdjustSharpness(RandomAdjustSharpness { sharpness_factor: -factor, p: 1.0 }),
            ];
            for transform in transforms {
                let recipe = [Transform::training(40), vec![transform]].concat();
                let recipe = Recipe::new(recipe, Output::default()).unwrap().with_match(matched).unwrap();
                let draw = Draw { seed: 0, epoch: 0, record: 0 };
                let made = composition(&bytes, &recipe, draw).unwrap();
                let mut expected = vec![0; recipe.place_len()];
                CpuDecoder::new().decode(&bytes, &recipe, draw, &Limits::default(), &mut expected).unwrap();
                assert!(bench.compose(&[(planes, &made)])[0] == expected, "{matched:?}: {:?}", recipe.transforms());
            }
        }
    }
}
