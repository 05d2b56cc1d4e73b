//! The random draws are pinned: they may not change from version to version, or resumed runs would see other pictures.

use forebay_pixels::{Draw, Origin, Recipe, Rect, Step};

const DRAW: Draw = Draw { seed: 42, epoch: 3, record: 1_234_567 };

#[test]
fn rule_08_draws_are_pinned() {
    let bits = |seed, epoch, record, place, number| Draw { seed, epoch, record }.at(place).bits(number);
    let pinned = [
        (bits(0, 0, 0, 0, 0), 0xf41f_b01b_0f6c_26ba),
        (bits(0, 0, 0, 0, 1), 0x7890_1451_5af7_b7db),
        (bits(0, 0, 0, 1, 0), 0xbab4_3eee_486f_6fe7),
        (bits(0, 0, 1, 0, 0), 0xcb82_b32d_f67d_d334),
        (bits(0, 1, 0, 0, 0), 0x224b_4610_018a_5bb3),
        (bits(1, 0, 0, 0, 0), 0x3ba7_98f9_c603_2894),
        (bits(u64::MAX, u64::MAX, u64::MAX, 31, u64::MAX), 0xc7da_cfa5_22bb_fedc),
        (DRAW.at(2).bits(5), 0x4713_0ae9_b3c2_1bd2),
    ];
    for (number, (drawn, expected)) in pinned.into_iter().enumerate() {
        assert_eq!(drawn, expected, "vector {number} is {drawn:#018x}");
    }
}

#[test]
fn rule_08_training_plans_are_pinned() {
    let recipe = Recipe::training(224).unwrap();
    let plans = [0, 1, 2, 3].map(|record| {
        let plan = recipe.plan(500, 375, Draw { seed: 42, epoch: 0, record });
        let Some(Step::Cut(Rect { left, top, width, height })) = plan.steps.first().copied() else {
            panic!("these draws cut a part: {plan:?}");
        };
        (left, top, width, height, plan.mirrored)
    });
    assert_eq!(
        plans,
        [(170, 31, 224, 268, true), (123, 52, 347, 314, false), (21, 2, 477, 373, true), (74, 27, 363, 330, false)]
    );
}

#[test]
fn rule_08_a_plan_depends_on_nothing_but_seed_epoch_record_and_size() {
    let recipe = Recipe::training(224).unwrap();
    let plan = recipe.plan(500, 375, DRAW);
    let mut used = recipe.plan(33, 900, Draw { record: 9, ..DRAW });
    recipe.plan_into(&Origin::plain((500, 375)), DRAW, &mut used);
    assert_eq!(plan, used);
    for other in [Draw { seed: 43, ..DRAW }, Draw { epoch: 4, ..DRAW }, Draw { record: 0, ..DRAW }] {
        assert_ne!(plan, recipe.plan(500, 375, other));
    }
}

#[test]
fn draws_are_spread_evenly() {
    let mut tenths = [0u32; 10];
    let mut sum = 0.0;
    for record in 0..10_000 {
        let draws = Draw { seed: 7, epoch: 0, record }.at(0);
        let unit = draws.unit(0);
        assert!((0.0..1.0).contains(&unit));
        sum += unit;
        tenths[draws.below(1, 10) as usize] += 1;
    }
    assert!((sum / 10_000.0 - 0.5).abs() < 0.01, "mean {}", sum / 10_000.0);
    assert!(tenths.iter().all(|count| (880..1120).contains(count)), "{tenths:?}");
}

#[test]
fn half_of_the_pictures_are_mirrored() {
    let recipe = Recipe::training(8).unwrap();
    let mirrored = (0..10_000).filter(|record| recipe.plan(50, 40, Draw { record: *record, ..DRAW }).mirrored).count();
    assert!((4_800..5_200).contains(&mirrored), "{mirrored}");
}
