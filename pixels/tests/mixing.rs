//! Mixing: what is drawn has the Beta distribution, and what is carried out is `MixUp` and `CutMix` of torchvision.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::{Draw, Dtype, Layout, Mixing, Mixture, Output, PlaceForm, Rect};
use serde_json::{Value, from_value, json};

const DRAWS: u32 = 10_000;

fn mixing(settings: Value) -> Mixing {
    from_value(settings).unwrap()
}

fn mixtures(mixing: &Mixing, height: u32, width: u32) -> Vec<Mixture> {
    let draw = |record| mixing.draw(Draw { seed: 5, epoch: 1, record }.mixing(), height, width);
    (0..DRAWS).map(|record| draw(record.into())).collect()
}

/// The distribution function of Beta(alpha, alpha): the series of the incomplete function, which is symmetric.
fn beta(alpha: f64, x: f64) -> f64 {
    if x > 0.5 {
        return 1.0 - beta(alpha, 1.0 - x);
    }
    let part = |x: f64| {
        let (mut term, mut sum) = (1.0, 0.0);
        for n in (0..4000).map(f64::from) {
            sum += term / (alpha + n);
            term *= x * (n + 1.0 - alpha) / (n + 1.0);
        }
        libm::pow(x, alpha) * sum
    };
    0.5 * part(x) / part(0.5)
}

/// How far the numbers are from the distribution function at most, after Kolmogorov and Smirnov. With a small alpha, many are so
/// near to 1 that they are 1 in single precision, where every distribution function is 1.
fn distance(mut numbers: Vec<f64>, share: impl Fn(f64) -> f64) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let count = f64::from(u32::try_from(numbers.len()).unwrap());
    let apart = (0..).zip(&numbers).filter(|(_, number)| **number < 1.0).map(|(rank, number)| {
        let (below, expected) = (f64::from(rank) / count, share(*number));
        (expected - below).abs().max((expected - below - 1.0 / count).abs())
    });
    apart.fold(0.0, f64::max)
}

#[test]
fn rule_50_weights_have_the_beta_distribution_for_every_alpha() {
    for alpha in [0.2, 0.5, 1.0, 1.5, 3.0, 8.0] {
        let weights = mixtures(&mixing(json!({ "mix_up": { "alpha": alpha } })), 224, 224);
        let weights: Vec<f64> = weights.iter().map(|mixture| mixture.weight().into()).collect();
        let (drawn, other) =
            (distance(weights.clone(), |x| beta(alpha, x)), distance(weights, |x| beta(alpha * 1.2, x)));
        // What one in a hundred true samples exceeds.
        assert!(drawn < 0.0163, "{drawn} for {alpha}");
        assert!(other > drawn, "the test tells one alpha from another: {other} for {alpha}");
    }
    let extreme = [0.001, 1000.0].map(|alpha| mixtures(&mixing(json!({ "cut_mix": { "alpha": alpha } })), 8, 8));
    assert!(extreme.iter().flatten().all(|mixture| (0.0..=1.0).contains(&mixture.weight())));
}

#[test]
fn rule_50_draws_of_mixing_are_pinned() {
    let weights = [("mix_up", 0.2), ("mix_up", 1.0), ("mix_up", 2.0), ("cut_mix", 1.0)].map(|(name, alpha)| {
        let mixing = mixing(json!({ name: { "alpha": alpha } }));
        mixing.draw(Draw { seed: 42, epoch: 3, record: 7 }.mixing(), 32, 48).weight().to_bits()
    });
    assert_eq!(weights, [0x3f2b_f7e5, 0x3f09_2691, 0x3ed2_7624, 0x3f3a_0000]);
}

#[test]
fn rule_50_a_cut_is_where_it_can_be_and_the_weight_is_the_area_that_is_left() {
    let mut corners = [0; 2];
    for mixture in mixtures(&mixing(json!({ "cut_mix": {} })), 30, 50) {
        let Mixture::Part { part: Rect { left, top, width, height }, weight } = mixture else { panic!("{mixture:?}") };
        assert!(left + width <= 50 && top + height <= 30 && width <= 50 && height <= 30);
        let area = f64::from(width * height) / 1500.0;
        assert!((f64::from(weight) - (1.0 - area)).abs() < 1e-6);
        corners[0] += usize::from(left == 0);
        corners[1] += usize::from(left + width == 50);
    }
    // As in torchvision, there is one more pixel to the left of the middle's border than to its right.
    assert!(corners[0].abs_diff(corners[1]) < 600, "about as often clipped at the left as at the right: {corners:?}");
}

#[test]
fn rule_50_a_choice_is_made_for_each_picture_by_its_weights() {
    let choice = json!({ "random_choice": { "transforms": [{ "mix_up": {} }, { "cut_mix": {} }], "p": [1, 3] } });
    let cuts = mixtures(&mixing(choice), 32, 32);
    let cuts = cuts.iter().filter(|mixture| matches!(mixture, Mixture::Part { .. })).count();
    assert!((7300..7700).contains(&cuts), "{cuts} of 10,000");
}

#[test]
fn rule_50_means_of_bytes_are_rounded_and_floats_are_of_single_precision() {
    let (height, width) = (2, 2);
    let own: Vec<u8> = (0..12).map(|value| value * 21).collect();
    let other: Vec<u8> = own.iter().rev().copied().collect();
    let form = |dtype| PlaceForm { output: Output { dtype, ..Output::default() }, height, width };
    for weight in [0.0, 0.25, 0.5, 0.7, 1.0] {
        let mean = Mixture::Mean { weight };
        let mut mixed = own.clone();
        mean.carry_out(form(Dtype::Uint8), &mut mixed, &other);
        let exact = |(own, other): (&u8, &u8)| {
            f64::from(*own) * f64::from(weight) + f64::from(*other) * f64::from(1.0 - weight)
        };
        let exact: Vec<f64> = own.iter().zip(&other).map(exact).collect();
        let far = mixed.iter().zip(&exact).map(|(mixed, exact)| (f64::from(*mixed) - exact).abs()).fold(0.0, f64::max);
        assert!(far < 0.51, "{far} at {weight}");

        let floats = |bytes: &[u8]| bytes.iter().flat_map(|value| f32::from(*value).to_le_bytes()).collect::<Vec<u8>>();
        let mut mixed = floats(&own);
        mean.carry_out(form(Dtype::Float32), &mut mixed, &floats(&other));
        for (bytes, exact) in mixed.as_chunks::<4>().0.iter().zip(&exact) {
            assert!((f64::from(f32::from_le_bytes(*bytes)) - exact).abs() < 1e-4);
        }
        let halves =
            |bytes: &[u8]| bytes.iter().flat_map(|value| half::f16::from(*value).to_le_bytes()).collect::<Vec<u8>>();
        let mut mixed = halves(&own);
        mean.carry_out(form(Dtype::Float16), &mut mixed, &halves(&other));
        for (bytes, exact) in mixed.as_chunks::<2>().0.iter().zip(&exact) {
            assert!((half::f16::from_le_bytes(*bytes).to_f64() - exact).abs() <= 0.0626);
        }
    }
    let mut same = own.clone();
    Mixture::Mean { weight: 0.3 }.carry_out(form(Dtype::Uint8), &mut same, &own);
    assert_eq!(same, own, "a picture and itself are the picture");
}

#[test]
fn rule_50_a_part_of_the_other_picture_is_where_it_was_in_either_layout() {
    let part = Rect { left: 1, top: 0, width: 2, height: 2 };
    let is_inside = |row: usize, column: usize| row < 2 && (1..3).contains(&column);
    for layout in [Layout::Nhwc, Layout::Nchw] {
        for dtype in [Dtype::Uint8, Dtype::Bfloat16, Dtype::Float32] {
            let form = PlaceForm { output: Output { dtype, layout, ..Output::default() }, height: 3, width: 4 };
            let (mut own, other) = (vec![1; 36 * dtype.len()], vec![2; 36 * dtype.len()]);
            Mixture::Part { part, weight: 0.5 }.carry_out(form, &mut own, &other);
            for (number, bytes) in own.chunks(dtype.len()).enumerate() {
                let (row, column) = match layout {
                    Layout::Nhwc => (number / 12, number / 3 % 4),
                    Layout::Nchw => (number / 4 % 3, number % 4),
                };
                let expected = if is_inside(row, column) { 2 } else { 1 };
                assert!(bytes.iter().all(|byte| *byte == expected), "{layout:?} {dtype:?} {row} {column}");
            }
        }
    }
}

#[test]
fn rule_50_settings_that_mix_nothing_are_refused_in_words() {
    let problem = |settings| mixing(settings).problem().unwrap();
    assert_eq!(problem(json!({ "mix_up": { "alpha": 0 } })), "alpha is 0, but must be from 0.001 to 1000");
    assert_eq!(
        problem(json!({ "random_choice": { "transforms": [] } })),
        "transforms is an empty list; give at least one"
    );
    let weights = json!({ "random_choice": { "transforms": [{ "mix_up": {} }], "p": [1, 2] } });
    assert_eq!(problem(weights), "p is [1.0, 2.0], but must be a number from 0 up for each of 1 transforms");
    let many = vec![json!({ "mix_up": {} }); 40];
    assert!(problem(json!({ "random_choice": { "transforms": many } })).contains("at most 32"));
    let unknown = from_value::<Mixing>(json!({ "color_jitter": {} })).unwrap_err().to_string();
    assert!(unknown.contains("mix_up"), "{unknown}");
}
