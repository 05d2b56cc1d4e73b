//! What random transforms draw: as torchvision draws, by its published rules. Numbers are compared with their distribution by
//! Kolmogorov and Smirnov, over 10,000 draws of fixed seeds; choices by chi-square.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

#[path = "shared/chi_square.rs"]
mod chi_square;

use std::collections::BTreeMap;

use chi_square::assert_as_often;
use forebay_pixels::{
    Draw, Dtype, Erase, Filling, Layout, Limits, Match, OneOrTwo, Operation, Origin, Output, PillowBlur, Plan, Recipe,
    Step, Transform, TransformList,
};
use serde_json::{Value, from_value, json};

const DRAWS: u32 = 10_000;

fn recipe(list: Value, output: Output) -> Recipe {
    let list: Vec<Transform> = from_value(list).unwrap();
    Recipe::new(list, output).unwrap()
}

/// The operations of each of 10,000 pictures of 200 x 100.
fn drawn(transform: &Value) -> Vec<Vec<Operation>> {
    let recipe = recipe(json!([{ "center_crop": { "size": [100, 200] } }, transform]), Output::default());
    let operations = |record| {
        let steps = recipe.plan(200, 100, Draw { seed: 11, epoch: 2, record: u64::from(record) }).steps;
        let operations = steps.iter().map(|step| match step {
            Step::Operate(operation) => *operation,
            other => unreachable!("{other:?} changes no values"),
        });
        operations.collect()
    };
    (0..DRAWS).map(operations).collect()
}

/// That numbers have the distribution function `share`. By chance, one of a hundred true ones is refused.
fn follows(mut numbers: Vec<f64>, share: impl Fn(f64) -> f64) {
    numbers.sort_by(f64::total_cmp);
    let count = f64::from(u32::try_from(numbers.len()).unwrap());
    assert!(count > 1000.0, "there are numbers enough");
    let apart = (0..).zip(&numbers).map(|(rank, number)| {
        let (below, expected) = (f64::from(rank) / count, share(*number));
        (expected - below).abs().max((expected - below - 1.0 / count).abs())
    });
    let farthest = apart.fold(0.0, f64::max);
    assert!(farthest < 1.63 / count.sqrt(), "{farthest} over {count} numbers");
}

fn evenly(numbers: Vec<f64>, low: f64, high: f64) {
    follows(numbers, |number| ((number - low) / (high - low)).clamp(0.0, 1.0));
}

/// That each of so many names was drawn about as often as the others.
fn as_often<'n>(names: impl Iterator<Item = &'n str>, kinds: usize) {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_insert(0_u32) += 1;
    }
    assert_eq!(counts.len(), kinds, "{counts:?}");
    let expected = f64::from(counts.values().sum::<u32>()) / f64::from(u32::try_from(kinds).unwrap());
    let counts: Vec<_> = counts.into_values().map(|count| (count, expected)).collect();
    assert_as_often(&counts, "each kind");
}

#[test]
fn rule_08_a_jitter_draws_evenly() {
    let jitter = json!({ "color_jitter": { "brightness": 0.4, "hue": [-0.1, 0.3] } });
    let (mut factors, mut turns) = (Vec::new(), Vec::new());
    for operation in drawn(&jitter).into_iter().flatten() {
        match operation {
            Operation::Brightness(it) => factors.push(it.brightness_factor),
            Operation::Hue(it) => turns.push(it.hue_factor),
            other => unreachable!("{other:?} was not asked for"),
        }
    }
    evenly(factors, 0.6, 1.4);
    evenly(turns, -0.1, 0.3);
}

#[test]
fn rule_08_erasing_draws_an_area_and_a_ratio_that_fit_and_a_place_for_them() {
    let erased = drawn(
        &json!({ "random_erasing": { "scale": [0.05, 0.2], "ratio": [0.5, 2.0], "p": 1.0, "value": [1, 2, 3] } }),
    );
    let erased = erased.iter().map(|operations| match operations[..] {
        [Operation::Erase(Erase { i, j, h, w, v: Filling::Rgb([1, 2, 3]) })] => [i, j, h, w].map(f64::from),
        _ => unreachable!("{operations:?}"),
    });
    let erased: Vec<_> = erased.collect();
    assert!(erased.iter().all(|[i, j, h, w]| i + h <= 100.0 && j + w <= 200.0), "inside of the picture");
    // Sides are whole numbers, which blurs area and ratio by a little.
    let smoothed = |low: f64, high: f64, numbers: Vec<f64>| {
        let middle = numbers.iter().filter(|number| **number < f64::midpoint(low, high)).count();
        assert!(middle.abs_diff(numbers.len() / 2) < 150, "{middle} of {}", numbers.len());
        assert!(numbers.iter().all(|number| (low * 0.9..high * 1.1).contains(number)));
    };
    smoothed(1000.0, 4000.0, erased.iter().map(|[_, _, h, w]| h * w).collect());
    let logs: Vec<_> = erased.iter().map(|[_, _, h, w]| (h / w).ln()).collect();
    evenly(logs.iter().map(|log| log + 0.0).collect(), -2.0_f64.ln() - 0.01, 2.0_f64.ln() + 0.01);
    evenly(erased.iter().map(|[i, _, h, _]| (i + 0.5) / (100.0 - h + 1.0)).collect(), 0.0, 1.0);
    let all = drawn(&json!({ "random_erasing": {} })).iter().filter(|operations| !operations.is_empty()).count();
    assert!((4800..5200).contains(&all), "{all} of 10,000 with p = 0.5");
}

#[test]
fn rule_08_blurs_and_moves_draw_evenly() {
    let mut sigmas = Vec::new();
    for operations in drawn(&json!({ "gaussian_blur": { "kernel_size": 9 } })) {
        let [Operation::Blur(blur)] = operations[..] else { unreachable!("{operations:?}") };
        let OneOrTwo::One(sigma) = blur.sigma.unwrap() else { unreachable!("{blur:?}") };
        sigmas.push(sigma);
    }
    evenly(sigmas, 0.1, 2.0);
    let rotations = drawn(&json!({ "random_rotation": { "degrees": [-10, 40] } }));
    let angles = rotations.iter().map(|operations| match operations[..] {
        [Operation::Rotate(it)] => it.angle,
        _ => unreachable!("{operations:?}"),
    });
    evenly(angles.collect(), -10.0, 40.0);
    let affine = json!({ "random_affine": {
        "degrees": 20, "translate": [0.25, 0], "scale": [0.5, 2], "shear": [-5, 5, 10, 30] } });
    let moves: Vec<_> = drawn(&affine)
        .iter()
        .flatten()
        .map(|operation| match operation {
            Operation::Affine(it) => *it,
            other => unreachable!("{other:?}"),
        })
        .collect();
    evenly(moves.iter().map(|it| it.angle).collect(), -20.0, 20.0);
    evenly(moves.iter().map(|it| it.scale).collect(), 0.5, 2.0);
    evenly(moves.iter().map(|it| it.shear[0]).collect(), -5.0, 5.0);
    evenly(moves.iter().map(|it| it.shear[1]).collect(), 10.0, 30.0);
    assert!(
        moves
            .iter()
            .all(|it| it.translate[0].abs() <= 50.0 && it.translate[0].fract() == 0.0 && it.translate[1] == 0.0)
    );
    assert!(moves.iter().any(|it| it.translate[0] < -45.0) && moves.iter().any(|it| it.translate[0] > 45.0));
}

/// The operation, with which of the two affine directions it moves or shears.
fn kind(operation: Operation) -> &'static str {
    match operation {
        Operation::Affine(it) => match (it.center, it.shear, it.translate) {
            (Some(_), [_, 0.0], _) => "shear x",
            (Some(_), _, _) => "shear y",
            (None, _, [_, 0.0]) => "translate x",
            (None, ..) => "translate y",
        },
        other => other.name(),
    }
}

#[test]
fn rule_08_rand_augment_draws_each_operation_as_often_with_its_magnitude() {
    let pictures = drawn(&json!({ "rand_augment": { "num_ops": 1 } }));
    as_often(pictures.iter().map(|operations| operations.first().map_or("identity", |it| kind(*it))), 14);
    let near = |number: f64, expected: f64| (number.abs() - expected).abs() < 1e-6;
    for operation in pictures.into_iter().flatten() {
        let good = match operation {
            // 9 of 30 steps.
            Operation::Affine(it) if it.center.is_some() => {
                near(it.shear[0].to_radians().tan() + it.shear[1].to_radians().tan(), 0.09)
            }
            Operation::Affine(it) => near(it.translate[0], 27.0) || near(it.translate[1], 13.0),
            Operation::Rotate(it) => near(it.angle, 9.0),
            Operation::Brightness(it) => near(it.brightness_factor - 1.0, 0.27),
            Operation::Saturation(it) => near(it.saturation_factor - 1.0, 0.27),
            Operation::Contrast(it) => near(it.contrast_factor - 1.0, 0.27),
            Operation::Sharpness(it) => near(it.sharpness_factor - 1.0, 0.27),
            Operation::Posterize(it) => it.bits == 7,
            Operation::Solarize(it) => (it.threshold - 178.5).abs() < 1e-4,
            _ => true,
        };
        assert!(good, "{operation:?}");
    }
}

#[test]
fn rule_08_trivial_augment_draws_each_operation_and_each_magnitude_as_often() {
    let pictures = drawn(&json!({ "trivial_augment_wide": {} }));
    as_often(pictures.iter().map(|operations| operations.first().map_or("identity", |it| kind(*it))), 14);
    let bins = pictures.iter().flatten().filter_map(|operation| match operation {
        Operation::Rotate(it) => Some((it.angle / 4.5).round()),
        Operation::Contrast(it) => Some(((it.contrast_factor - 1.0) / 0.033).round()),
        _ => None,
    });
    // From -30 to 30, and 0 in either direction.
    let bins: Vec<_> = bins.collect();
    assert!(bins.iter().all(|bin| bin.abs() <= 30.0));
    let part = |low: f64, high: f64| bins.iter().filter(|bin| (low..=high).contains(&bin.abs())).count() * 31;
    for (low, high, count) in [(0.0, 0.0, 1), (1.0, 10.0, 10), (11.0, 30.0, 20)] {
        let (found, expected) = (part(low, high), bins.len() * count);
        assert!(found.abs_diff(expected) < 3 * bins.len(), "{low} to {high}: {found}, not {expected}");
    }
}

#[test]
fn rule_08_auto_augment_draws_a_pair_and_each_of_its_operations_by_its_probability() {
    // Of CIFAR-10's pairs, only one has brightness behind colour: 0.9 and 0.2, out of 25.
    let pictures = drawn(&json!({ "auto_augment": { "policy": "cifar10" } }));
    let count = |names: &[&str]| {
        pictures.iter().filter(|operations| operations.iter().map(Operation::name).eq(names.iter().copied())).count()
    };
    let found = count(&["adjust_brightness", "adjust_saturation"]);
    // 0.9 x 0.2 and 0.1 x 0.7 of a 25th: 100 of 10,000.
    assert!((60..140).contains(&found), "{found}");
    for policy in ["imagenet", "svhn"] {
        let pictures = drawn(&json!({ "auto_augment": { "policy": policy } }));
        assert!(pictures.iter().all(|operations| operations.len() <= 2) && pictures.iter().any(|it| it.len() == 2));
    }
}

/// torchvision's recipes erase behind the normalisation, where 0 is the mean.
#[test]
fn erasing_behind_normalize_fills_with_normalised_values() {
    let output = Output { dtype: Dtype::Float32, layout: Layout::Nhwc, ..Output::default() };
    let (mean, std) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);
    let erased = |value: Value| {
        let list = json!([
            { "center_crop": { "size": 64 } },
            { "normalize": { "mean": mean, "std": std } },
            { "random_erasing": { "p": 1.0, "scale": [0.3, 0.5], "ratio": [1.0, 1.0], "value": value } },
        ]);
        let recipe = recipe(list, output);
        assert!(recipe.normalize().is_some());
        let draw = Draw { seed: 3, epoch: 0, record: 0 };
        let plan = recipe.plan(64, 64, draw);
        let [Step::Operate(Operation::Erase(Erase { i, j, h, w, .. }))] = plan.steps[..] else {
            unreachable!("{plan:?}")
        };
        let mut png = std::io::Cursor::new(Vec::new());
        let white = image::RgbImage::from_pixel(64, 64, image::Rgb([255; 3]));
        white.write_to(&mut png, image::ImageFormat::Png).unwrap();
        let mut place = vec![0; recipe.place_len()];
        forebay_pixels::CpuDecoder::new().decode(png.get_ref(), &recipe, draw, &Limits::default(), &mut place).unwrap();
        let values: Vec<f32> = place.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        let pixels = values.as_chunks::<3>().0;
        let rows = i as usize..(i + h) as usize;
        let inside = rows.flat_map(|row| &pixels[row * 64 + j as usize..][..w as usize]);
        inside.copied().collect::<Vec<_>>()
    };
    // Half a step of 8 bits is 0.5 / 255 / std.
    assert!(erased(json!(0)).iter().all(|rgb| rgb.iter().all(|value| value.abs() < 0.009)));
    assert!(
        erased(json!([1.0, -1.0, 0.5])).iter().all(|rgb| {
            (rgb[0] - 1.0).abs() < 0.009 && (rgb[1] + 1.0).abs() < 0.009 && (rgb[2] - 0.5).abs() < 0.009
        })
    );
    let noise = erased(json!("random"));
    let red: Vec<f64> = noise.iter().map(|rgb| f64::from(rgb[0])).collect();
    let count = f64::from(u32::try_from(red.len()).unwrap());
    let mean = red.iter().sum::<f64>() / count;
    // Values beyond black and white are cut off: 1.7 % on the left, 1.2 % on the right.
    let deviation = (red.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    assert!(mean.abs() < 0.1 && (deviation - 0.96).abs() < 0.08, "mean {mean}, deviation {deviation} of {count}");
    let uint8 = recipe(json!([{ "center_crop": { "size": 8 } }, { "random_erasing": {} }]), Output::default());
    assert_eq!(uint8.with_match(Match::Torch).unwrap().shape(), (8, 8, 3));
}

#[test]
fn rule_08_the_corners_of_a_perspective_move_inwards_evenly() {
    let drawn = drawn(&json!({ "random_perspective": { "distortion_scale": 0.8, "p": 0.5 } }));
    let moved: Vec<_> = drawn
        .iter()
        .flatten()
        .map(|operation| match operation {
            Operation::Perspective(it) => it.endpoints,
            other => unreachable!("{other:?}"),
        })
        .collect();
    assert!(moved.len().abs_diff(5000) < 250, "half of them");
    // Half of 200 x 100, times 0.8, and the corner itself.
    for (corner, [column, row]) in [[0, 0], [199, 0], [199, 99], [0, 99]].into_iter().enumerate() {
        for (side, (from, count)) in [(column, 81), (row, 41)].into_iter().enumerate() {
            let apart = moved.iter().map(|points| points[corner][side].abs_diff(from).to_string()).collect::<Vec<_>>();
            as_often(apart.iter().map(String::as_str), count);
        }
    }
}

#[test]
fn rule_08_timm_s_text_says_how_often_and_how_strong() {
    let drawn = |config: &str| drawn(&json!({ "timm_rand_augment": { "config": config } }));
    let counts = |drawn: &[Vec<Operation>]| drawn.iter().map(Vec::len).sum::<usize>();
    let usual = drawn("rand-m9-mstd0.5-inc1");
    assert!(counts(&usual).abs_diff(10_000) < 300, "two operations, each half of the time");
    assert_eq!(counts(&drawn("rand-n3-p1")), 30_000);
    as_often(
        drawn("rand-n1-p1").iter().flatten().map(|operation| match operation {
            Operation::AffineMatrix(it) if it.matrix[1] != 0.0 => "shear_x",
            Operation::AffineMatrix(it) if it.matrix[3] != 0.0 => "shear_y",
            Operation::AffineMatrix(it) if it.matrix[2] != 0.0 => "translate_x",
            other => other.name(),
        }),
        15,
    );
    // With the greatest magnitude, and without a deviation.
    for operation in drawn("rand-m10-n4-p1").iter().flatten() {
        let good = match operation {
            Operation::Posterize(it) => it.bits == 4,
            Operation::Solarize(it) => (it.threshold - 256.0).abs() < 1e-9,
            Operation::SolarizeAdd(it) => (it.add, it.threshold) == (110, 128),
            Operation::Brightness(it) => (it.brightness_factor - 1.9).abs() < 1e-9,
            Operation::Rotate(it) => (it.angle.abs() - 30.0).abs() < 1e-9,
            Operation::AffineMatrix(it) => match it.matrix {
                [_, 0.0, moved, 0.0, _, 0.0] if moved != 0.0 => (moved.abs() - 90.0).abs() < 1e-9,
                [_, 0.0, 0.0, 0.0, _, moved] if moved != 0.0 => (moved.abs() - 45.0).abs() < 1e-9,
                [_, along, 0.0, down, _, 0.0] => ((along + down).abs() - 0.3).abs() < 1e-9,
                _ => false,
            },
            _ => true,
        };
        assert!(good, "{operation:?}");
    }
    for operation in drawn("rand-m10-n4-p1-inc1").iter().flatten() {
        match operation {
            Operation::Posterize(it) => assert_eq!(it.bits, 0),
            Operation::Solarize(it) => assert!(it.threshold.abs() < 1e-9),
            Operation::Contrast(it) => assert!([0.1, 1.9].iter().any(|end| (it.contrast_factor - end).abs() < 1e-9)),
            _ => {}
        }
    }
    let factors = |config: &str| -> Vec<f64> {
        let factor = |operation: &Operation| match operation {
            Operation::Saturation(it) => Some((it.saturation_factor - 0.1) / 0.18),
            _ => None,
        };
        drawn(config).iter().flatten().filter_map(factor).collect()
    };
    evenly(factors("rand-m8-mstd101-n4-p1"), 0.0, 8.0);
    let (mean, deviation) = (5.0, 0.5);
    follows(factors("rand-m5-mstd0.5-n4-p1"), |level| {
        0.5 * (1.0 + libm::erf((level - mean) / deviation / 2.0_f64.sqrt()))
    });
    for wrong in ["", "rand-m9-x3", "original", "rand-minf", "rand-inc0", "rand-m9.5", "rand-n1e9", "augmix-m3"] {
        let read = from_value::<Transform>(json!({ "timm_rand_augment": { "config": wrong } }));
        let error = read.unwrap_err().to_string();
        assert!(error.contains("give rand, and any of m9"), "{error}");
    }
}

#[test]
fn rule_08_three_augment_does_one_of_three() {
    let drawn = drawn(&json!({ "three_augment": {} }));
    assert!(drawn.iter().all(|operations| operations.len() == 1));
    as_often(drawn.iter().flatten().map(Operation::name), 3);
    let radius = |operation: &Operation| match operation {
        Operation::PillowBlur(PillowBlur { radius: OneOrTwo::One(radius) }) => Some(*radius),
        _ => None,
    };
    evenly(drawn.iter().flatten().filter_map(radius).collect(), 0.1, 2.0);
}

#[test]
fn sizes_are_jittered_as_torchvision_does_it() {
    let sizes = |list: Value| -> Vec<(u32, u32)> {
        let list: Vec<Transform> = from_value(list).unwrap();
        let pipeline = TransformList::new(list, Output::default()).unwrap();
        let mut plan = Plan::default();
        let size = |record: u32| {
            pipeline.plan_into(
                &Origin::plain((200, 100)),
                Draw { seed: 11, epoch: 2, record: record.into() },
                &mut plan,
            );
            (plan.width, plan.height)
        };
        (0..DRAWS).map(size).collect()
    };
    // 60 / 100 is more than 40 / 200, so that the width decides: 40 pixels, times the factor.
    let jittered = sizes(json!([{ "scale_jitter": { "target_size": [40, 60], "scale_range": [10, 100] } }]));
    assert!(jittered.iter().all(|(width, height)| width / 2 == *height));
    evenly(jittered.iter().map(|(width, _)| f64::from(*width) + 0.5).collect(), 400.0, 4000.0);
    let shortest = sizes(json!([{ "random_shortest_size": { "min_size": [50, 60, 90], "max_size": 150 } }]));
    let names: Vec<String> = shortest.iter().map(|size| format!("{size:?}")).collect();
    as_often(names.iter().map(String::as_str), 3);
    let mut kinds: Vec<_> = shortest;
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds, [(100, 50), (120, 60), (150, 75)]);
}
