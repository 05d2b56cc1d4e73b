//! How often random lists and flips choose what: as torchvision does, by chi-square over 10,000 draws of fixed seeds.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

#[path = "shared/chi_square.rs"]
mod chi_square;

use std::collections::BTreeMap;

use chi_square::assert_as_often;
use forebay_pixels::{Draw, Operation, Output, Recipe, Step, Transform};
use serde_json::{Value, from_value, json};

const DRAWS: u32 = 10_000;

/// How often each list of operations was drawn, and how often the picture was mirrored.
fn drawn(transform: &Value) -> (BTreeMap<String, u32>, u32) {
    let list: Vec<Transform> = from_value(json!([{ "center_crop": { "size": 20 } }, transform])).unwrap();
    let recipe = Recipe::new(list, Output::default()).unwrap();
    let (mut lists, mut mirrored) = (BTreeMap::new(), 0);
    for record in 0..DRAWS {
        let plan = recipe.plan(20, 20, Draw { seed: 5, epoch: 1, record: u64::from(record) });
        let names = plan.steps.iter().filter_map(|step| match step {
            Step::Operate(operation) => Some(Operation::name(operation)),
            _ => None,
        });
        *lists.entry(names.collect::<Vec<_>>().join(" ")).or_insert(0) += 1;
        mirrored += u32::from(plan.mirrored);
    }
    (lists, mirrored)
}

/// That each list of operations is drawn with this probability, and no other one.
fn are_drawn(transform: &Value, expected: &[(&str, f64)]) {
    let (lists, _) = drawn(transform);
    assert_eq!(lists.len(), expected.len(), "{transform}: {lists:?}");
    let counts = expected
        .iter()
        .map(|(names, share)| (lists.get(*names).copied().unwrap_or_default(), share * f64::from(DRAWS)));
    assert_as_often(&counts.collect::<Vec<_>>(), &transform.to_string());
}

#[test]
fn rule_08_a_choice_takes_each_transform_as_often_or_by_its_weight() {
    let transforms = json!([
        { "random_invert": { "p": 1 } },
        { "random_equalize": { "p": 1 } },
        { "random_autocontrast": { "p": 1 } },
    ]);
    let third = 1.0 / 3.0;
    are_drawn(
        &json!({ "random_choice": { "transforms": transforms } }),
        &[("invert", third), ("equalize", third), ("autocontrast", third)],
    );
    are_drawn(
        &json!({ "random_choice": { "transforms": transforms, "p": [1, 2, 5] } }),
        &[("invert", 0.125), ("equalize", 0.25), ("autocontrast", 0.625)],
    );
    let sixth = 0.5 * third;
    are_drawn(
        &json!({ "random_order": { "transforms": transforms } }),
        &[
            ("invert equalize autocontrast", sixth),
            ("invert autocontrast equalize", sixth),
            ("equalize invert autocontrast", sixth),
            ("equalize autocontrast invert", sixth),
            ("autocontrast invert equalize", sixth),
            ("autocontrast equalize invert", sixth),
        ],
    );
}

#[test]
fn rule_08_what_happens_by_chance_happens_with_its_probability() {
    let applied = json!({ "random_apply": { "transforms": [{ "random_equalize": { "p": 1 } }], "p": 0.8 } });
    are_drawn(&applied, &[("", 0.2), ("equalize", 0.8)]);
    let inner = json!({ "random_apply": { "transforms": [{ "random_equalize": { "p": 0.25 } }], "p": 0.4 } });
    are_drawn(&inner, &[("", 0.9), ("equalize", 0.1)]);
    for (name, drawn) in [
        ("random_invert", "invert"),
        ("random_autocontrast", "autocontrast"),
        ("random_equalize", "equalize"),
        ("random_grayscale", "rgb_to_grayscale"),
    ] {
        are_drawn(&json!({ name: { "p": 0.3 } }), &[("", 0.7), (drawn, 0.3)]);
    }
    for share in [0.5, 0.1] {
        let (_, mirrored) = drawn(&json!({ "random_horizontal_flip": { "p": share } }));
        let expected = share * f64::from(DRAWS);
        let counts = [(mirrored, expected), (DRAWS - mirrored, f64::from(DRAWS) - expected)];
        assert_as_often(&counts, &format!("mirrored with {share}"));
    }
}
