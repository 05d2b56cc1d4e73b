//! Random crops and vertical flips: every crop is one that torchvision can give, each as likely, and what is mirrored top to bottom
//! is what was there, row by row, with everything that follows it.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]
#![allow(clippy::float_cmp, reason = "what is not resized stays exact")]

#[path = "shared/chi_square.rs"]
mod chi_square;

use std::collections::BTreeMap;

use chi_square::assert_as_often;
use forebay_pixels::{
    Annotated, Composition, CpuDecoder, Draw, Fault, Limits, MappedBox, Orientation, Origin, Output, Plan, Recipe,
    RoundSource, Step,
};
use proptest::prelude::*;
use serde_json::{Value, from_value, json};

fn recipe(list: Value) -> Recipe {
    Recipe::new(from_value(list).unwrap(), Output::default()).unwrap()
}

fn draw(record: u64) -> Draw {
    Draw { seed: 9, epoch: 3, record }
}

/// A picture in which each pixel has its own column and row as red and green.
fn numbered(width: u32, height: u32) -> Vec<u8> {
    let mut file = format!("P6 {width} {height} 255\n").into_bytes();
    let at = (0..height).flat_map(|row| (0..width).map(move |column| (column, row)));
    file.extend(at.flat_map(|(column, row)| [column, row, 200].map(|value| u8::try_from(value).unwrap())));
    file
}

fn made(list: Value, file: &[u8], record: u64) -> Result<Vec<u8>, Fault> {
    let recipe = recipe(list);
    let mut out = vec![0; recipe.place_len()];
    CpuDecoder::new().decode(file, &recipe, draw(record), &Limits::default(), &mut out).map(|_| out)
}

/// Red and green of the first pixel: where the crop begins.
fn first(out: &[u8]) -> (u8, u8) {
    (out[0], out[1])
}

#[test]
fn a_random_crop_begins_at_every_place_as_often() {
    let file = numbered(9, 6);
    let mut counts = BTreeMap::new();
    for record in 0..6000 {
        let out = made(json!([{ "random_crop": { "size": [4, 5] } }]), &file, record).unwrap();
        *counts.entry(first(&out)).or_insert(0) += 1;
    }
    let all: Vec<(u8, u8)> = (0..5).flat_map(|column| (0..3).map(move |row| (column, row))).collect();
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), all, "9 - 5 + 1 columns and 6 - 4 + 1 rows");
    assert_as_often(&counts.values().map(|count| (*count, 400.0)).collect::<Vec<_>>(), "places of a crop");
}

#[test]
fn a_crop_of_a_padded_picture_shows_the_border_of_its_mode() {
    let file = numbered(6, 5);
    // The whole padded picture, so that there is one place alone: 2 columns to the left, 1 row above, 3 and 2 at the other ends.
    let whole = |mode: &str, fill: Value| {
        let crop = json!({ "size": [8, 11], "padding": [2, 1, 3, 2], "padding_mode": mode, "fill": fill });
        made(json!([{ "random_crop": crop }]), &file, 0).unwrap()
    };
    let at = |out: &[u8], column: usize, row: usize| out[(row * 11 + column) * 3..][..3].to_vec();
    let constant = whole("constant", json!([7, 8, 9]));
    assert_eq!(
        (at(&constant, 0, 0), at(&constant, 1, 7), at(&constant, 2, 1)),
        (vec![7, 8, 9], vec![7, 8, 9], vec![0, 0, 200])
    );
    let edge = whole("edge", json!(0));
    assert_eq!((at(&edge, 0, 0), at(&edge, 10, 7)), (vec![0, 0, 200], vec![5, 4, 200]));
    let reflect = whole("reflect", json!(0));
    assert_eq!((at(&reflect, 0, 0), at(&reflect, 10, 7)), (vec![2, 1, 200], vec![2, 2, 200]));
    let symmetric = whole("symmetric", json!(0));
    assert_eq!((at(&symmetric, 0, 0), at(&symmetric, 10, 7)), (vec![1, 0, 200], vec![3, 3, 200]));
}

#[test]
fn a_picture_that_is_too_small_is_refused_or_gets_what_it_lacks_on_both_ends() {
    let file = numbered(6, 5);
    let fault = made(json!([{ "random_crop": { "size": [5, 8], "padding": 0 } }]), &file, 0).unwrap_err();
    assert_eq!(fault, Fault::TooSmall { found: (6, 5), crop: (8, 5) });
    assert!(fault.to_string().contains("5 pixels high and 6 wide, too small for a crop of 5 x 8"), "{fault}");
    // Two columns are missing: the picture gets two on either end, of which the crop shows two at any of three places.
    let list = json!([{ "random_crop": { "size": [5, 8], "pad_if_needed": true, "padding_mode": "edge" } }]);
    let mut counts = BTreeMap::new();
    for record in 0..3000 {
        let out = made(list.clone(), &file, record).unwrap();
        let columns: Vec<u8> = out.chunks_exact(3).take(8).map(|rgb| rgb[0]).collect();
        assert_eq!(out[1], 0, "rows are as many as asked for");
        *counts.entry(columns).or_insert(0) += 1;
    }
    let expected: Vec<Vec<u8>> =
        vec![vec![0, 0, 0, 1, 2, 3, 4, 5], vec![0, 0, 1, 2, 3, 4, 5, 5], vec![0, 1, 2, 3, 4, 5, 5, 5]];
    assert_eq!(counts.keys().cloned().collect::<Vec<_>>(), expected);
    assert_as_often(&counts.values().map(|count| (*count, 1000.0)).collect::<Vec<_>>(), "places of a padded crop");
}

#[test]
fn rule_8_a_crop_and_a_flip_draw_by_record_epoch_and_place_in_the_list() {
    let recipe =
        recipe(json!([{ "random_vertical_flip": {} }, { "random_crop": { "size": [16, 20], "padding": [3, 2] } }]));
    for (epoch, record) in [(0, 0), (0, 1), (5, 1), (5, 70_000)] {
        let draw = Draw { seed: 4, epoch, record };
        let plan = recipe.plan(40, 30, draw);
        let (flip, crop) = (draw.at(0), draw.at(1));
        assert_eq!(plan.flipped, flip.unit(0) < 0.5);
        let (top, left) = (crop.below(0, 30 + 4 - 16 + 1), crop.below(1, 40 + 6 - 20 + 1));
        // The border is above what is mirrored as well.
        let top = if plan.flipped { 34 - 16 - top } else { top };
        let Some(Step::Cut(part)) = plan.steps.last() else { panic!("{:?}", plan.steps) };
        let (beside, above) = if plan.steps.len() == 1 { (3, 2) } else { (0, 0) };
        assert_eq!((part.left + beside, part.top + above, part.width, part.height), (left, top, 20, 16));
    }
}

#[test]
fn wrong_values_of_a_crop_and_a_flip_are_refused() {
    for (list, words) in [
        (json!([{ "random_crop": { "size": 0 } }]), "size is 0 x 0"),
        (json!([{ "random_crop": { "size": 4, "padding": 99999 } }]), "padding is [99999, 99999, 99999, 99999]"),
        (json!([{ "random_crop": { "size": 4, "fill": 256 } }]), "fill is"),
        (json!([{ "random_vertical_flip": { "p": 1.5 } }, { "center_crop": { "size": 4 } }]), "p is 1.5"),
    ] {
        let error = Recipe::new(from_value(list).unwrap(), Output::default()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn rule_45_boxes_follow_a_crop_and_a_vertical_flip() {
    let recipe = recipe(json!([
        { "random_vertical_flip": { "p": 1.0 } },
        { "random_crop": { "size": [90, 120], "padding": [20, 10, 0, 0] } },
    ]));
    let origin = Origin::of_recipe((100, 80), Orientation::AsStored, &recipe);
    let map = origin.map(&recipe, draw(0), Annotated::AsSeen, &mut Plan::default());
    // Rows 10 to 30 are 50 to 70 from below, and ten rows and twenty columns come before the picture.
    let MappedBox { clipped, visible } = map.xyxy([5.0, 10.0, 25.0, 30.0]);
    assert_eq!((clipped, visible), ([25.0, 60.0, 45.0, 80.0], 1.0));
    assert_eq!(map.point([0.0, 0.0]), [20.0, 90.0]);
}

fn upside_down(out: &[u8], row: usize) -> Vec<u8> {
    out.rchunks_exact(row).flatten().copied().collect()
}

/// What keeps the place of each pixel, and what moves it.
fn step() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!({ "random_horizontal_flip": { "p": 1.0 } }),
        json!({ "center_crop": { "size": [18, 22] } }),
        json!({ "pad_by": { "padding": [2, 3, 4, 1], "padding_mode": "reflect" } }),
        json!({ "pad_by": { "padding": [0, 5, 1, 0], "fill": [1, 2, 3] } }),
        json!({ "random_invert": { "p": 1.0 } }),
        json!({ "random_autocontrast": { "p": 1.0 } }),
        json!({ "random_rotation": { "degrees": [31, 31] } }),
        json!({ "random_crop": { "size": [15, 19], "pad_if_needed": true } }),
    ])
}

proptest! {
    #[test]
    fn a_flip_mirrors_what_it_is_given_and_two_leave_it_alone(
        before in prop::collection::vec(step(), 0..4), after in prop::collection::vec(step(), 0..3), record in any::<u64>(),
    ) {
        let file = numbered(29, 23);
        let flip = json!({ "random_vertical_flip": { "p": 1.0 } });
        let size = json!({ "center_crop": { "size": [17, 21] } });
        let list = |parts: [&[Value]; 4]| Value::from(parts.concat());
        let plain = made(list([&before, std::slice::from_ref(&size), &[], &[]]), &file, record).unwrap();
        let flipped = made(list([&before, std::slice::from_ref(&size), std::slice::from_ref(&flip), &[]]), &file, record);
        prop_assert_eq!(flipped.unwrap(), upside_down(&plain, 21 * 3));
        // What follows draws by its place, so that two flips are compared with two that are never carried out.
        let never = json!({ "random_vertical_flip": { "p": 0.0 } });
        let twice = |flip: &Value| list([&before, &[flip.clone(), flip.clone()], &after, std::slice::from_ref(&size)]);
        prop_assert_eq!(made(twice(&flip), &file, record).unwrap(), made(twice(&never), &file, record).unwrap());
        // A step that is given a flipped picture sees it flipped.
        let seen = |file: &[u8], flip: &Value| made(list([std::slice::from_ref(flip), &after, std::slice::from_ref(&size), &[]]), file, record);
        let header = file.len() - 29 * 23 * 3;
        let turned = [&file[..header], &upside_down(&file[header..], 29 * 3)].concat();
        prop_assert_eq!(seen(&file, &flip).unwrap(), seen(&turned, &never).unwrap());
    }
}

#[test]
fn a_flip_costs_a_gpu_no_launch_unless_operations_come_before_it() {
    let rounds = |list: Value| {
        let recipe = recipe(list);
        let made = Composition::of((50, 40), Orientation::AsStored, &recipe, draw(0), &Limits::default()).unwrap();
        let mut rows = Vec::new();
        made.sums.rows.each(|first, _| rows.push(first));
        (made.rounds, rows)
    };
    let flip = json!({ "random_vertical_flip": { "p": 1.0 } });
    let (resize, invert) = (json!({ "resize": { "size": [20, 20] } }), json!({ "random_invert": { "p": 1.0 } }));
    for list in [json!([resize, flip]), json!([flip, resize]), json!([resize, flip, invert])] {
        let (rounds, rows) = rounds(list.clone());
        assert!(rounds.len() == 1 && rows.iter().rev().is_sorted(), "{list}: {rows:?}");
    }
    let (late, rows) = rounds(json!([resize, invert, flip, invert]));
    assert!(late.len() == 2 && rows.is_sorted() && matches!(late[1].source, RoundSource::Moved(_)), "{late:?}");
    let (inside, _) = rounds(json!([{ "random_crop": { "size": [20, 20], "padding": 0, "padding_mode": "reflect" } }]));
    assert_eq!(inside.len(), 1, "a crop that shows nothing of its border is a cut");
}
