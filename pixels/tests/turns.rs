//! Points and boxes follow pictures that are turned, sheared and seen from elsewhere: as torchvision moves them, and to where the
//! decoder puts the pixels.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]
#![allow(clippy::cast_precision_loss, reason = "small numbers")]

use forebay_pixels::sample::JpegForm;
use forebay_pixels::{
    Annotated, CpuDecoder, Draw, Limits, MappedBox, Operation, Orientation, Origin, Output, Plan, PointMap, Recipe,
    Step,
};
use proptest::prelude::*;
use serde_json::{Value, from_value, json};

const DRAW: Draw = Draw { seed: 1, epoch: 2, record: 3 };

fn recipe(list: Value) -> Recipe {
    Recipe::new(from_value(list).unwrap(), Output::default()).unwrap()
}

/// The map of a picture of 100 x 80.
fn map(recipe: &Recipe) -> PointMap {
    let origin = Origin::of_recipe((100, 80), Orientation::AsStored, recipe);
    origin.map(recipe, DRAW, Annotated::AsSeen, &mut Plan::default())
}

fn near<const N: usize>(found: [f32; N], expected: [f32; N], within: f32) -> bool {
    found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= within)
}

/// A rotation that keeps the size, and a cut behind it that keeps all of it.
fn rotation(degrees: f64) -> Recipe {
    recipe(json!([{ "random_rotation": { "degrees": [degrees, degrees] } }, { "center_crop": { "size": [80, 100] } }]))
}

#[test]
fn rule_45_a_turned_box_is_the_one_around_its_corners_and_is_clipped() {
    let map = map(&rotation(45.0));
    // Half of the diagonal of a square of 20 in the middle.
    let reach = 20.0 / 2.0_f32.sqrt();
    let MappedBox { clipped, visible } = map.xyxy([40.0, 30.0, 60.0, 50.0]);
    assert!(near(clipped, [50.0 - reach, 40.0 - reach, 50.0 + reach, 40.0 + reach], 1e-4), "{clipped:?}");
    assert!((visible - 1.0).abs() < 1e-6, "{visible}");
    // The upper left corner is turned out of the picture: the box around the other corners begins at the edge.
    let MappedBox { clipped, visible } = map.xyxy([0.0, 0.0, 50.0, 40.0]);
    let (up, down) = (40.0 - 40.0 / 2.0_f32.sqrt(), 40.0 + 50.0 / 2.0_f32.sqrt());
    assert!(near(clipped, [0.0, up, 50.0, down], 1e-4), "{clipped:?}");
    // Of the whole box's width of 90 / sqrt(2), 50 are left.
    assert!((visible - 50.0 / (90.0 / 2.0_f64.sqrt())).abs() < 1e-6, "{visible}");
}

#[test]
fn rule_45_a_point_is_shown_only_if_every_picture_on_the_way_has_shown_it() {
    let map = map(&recipe(json!([
        { "random_rotation": { "degrees": [90, 90] } },
        { "random_rotation": { "degrees": [-90, -90] } },
        { "center_crop": { "size": [80, 100] } },
    ])));
    // 80 of 100 columns are left by the first turn. The second one takes everything back to where it was.
    let [x, y, visibility] = map.keypoint([50.0, 40.0, 2.0]);
    assert!(near([x, y, visibility], [50.0, 40.0, 2.0], 1e-3), "{x} {y} {visibility}");
    let [x, y, visibility] = map.keypoint([5.0, 40.0, 2.0]);
    assert!(near([x, y], [5.0, 40.0], 1e-3) && visibility == 0.0, "{x} {y} {visibility}");
    assert!(map.xyxy([0.0, 30.0, 8.0, 50.0]).visible == 0.0, "what the first turn takes away does not come back");
    assert!(near(map.keypoint([0.0; 3]), [0.0; 3], 1e-9), "without a label it stays");
}

#[test]
fn rule_45_a_map_that_was_used_before_is_as_good_as_a_new_one() {
    let (mut used, mut plan) = (PointMap::default(), Plan::default());
    for recipe in [rotation(30.0), recipe(json!([{ "resize": { "size": [7, 9] } }])), rotation(-5.0)] {
        let origin = Origin::of_recipe((100, 80), Orientation::AsStored, &recipe);
        origin.map_into(&recipe, DRAW, Annotated::AsSeen, &mut plan, &mut used);
        assert_eq!(used, map(&recipe));
    }
}

/// Numbers of torchvision 0.29.2: its kernels for boxes in a picture of 100 x 80, for the boxes below.
#[test]
fn rule_45_boxes_are_torchvision_s() {
    let boxes = [[10.0, 20.0, 40.0, 60.0], [0.0, 0.0, 100.0, 80.0], [70.0, 5.0, 95.0, 30.0]];
    let whole = json!({ "center_crop": { "size": [80, 100] } });
    for (list, expected) in VECTORS {
        let document: Value = serde_json::from_str(list).unwrap();
        let map = map(&recipe(json!([document, whole])));
        for (corners, expected) in boxes.into_iter().zip(expected) {
            let found = map.xyxy(corners).clipped;
            assert!(near(found, expected, 0.01), "{list}: {corners:?} is at {found:?}, and not at {expected:?}");
        }
    }
}

/// The corners of a perspective are drawn, so that the numbers hold for these draws alone.
#[test]
fn rule_45_boxes_follow_a_perspective_as_torchvision_s_do() {
    let recipe = recipe(json!([
        { "random_perspective": { "distortion_scale": 0.5, "p": 1.0 } }, { "center_crop": { "size": [80, 100] } },
    ]));
    let steps = recipe.plan(100, 80, DRAW).steps;
    let [Step::Operate(Operation::Perspective(drawn))] = *steps.as_slice() else { panic!("{steps:?}") };
    assert_eq!(drawn.endpoints, ENDPOINTS);
    let map = map(&recipe);
    for (corners, expected) in PERSPECTIVE {
        let found = map.xyxy(corners).clipped;
        assert!(near(found, expected, 0.01), "{corners:?} is at {found:?}, and not at {expected:?}");
    }
}

const VECTORS: [(&str, [[f32; 4]; 3]); 4] = [
    (
        r#"{ "random_rotation": { "degrees": [33, 33] } }"#,
        [[5.5604, 28.673, 52.5061, 78.559], [0.0, 0.0, 100.0, 80.0], [47.711, 0.0, 82.2938, 20.7205]],
    ),
    (
        r#"{ "random_rotation": { "degrees": [-100, -100], "center": [20, 31.5] } }"#,
        [[0.0, 16.7029, 33.0618, 53.1931], [0.0, 3.3819, 54.4944, 80.0], [8.4536, 80.0, 37.415, 80.0]],
    ),
    (
        r#"{ "random_affine": { "degrees": [17, 17], "scale": [1.3, 1.3], "shear": [5, 5, -8, -8] } }"#,
        [[0.0, 0.0, 47.7857, 58.3451], [0.0, 0.0, 100.0, 80.0], [78.6373, 9.2831, 100.0, 53.0196]],
    ),
    (
        r#"{ "random_affine": { "degrees": [-140, -140], "scale": [0.6, 0.6], "shear": [25, 25], "center": [0, 10] } }"#,
        [[0.0, 0.0, 25.4037, 3.3454], [0.0, 0.0, 42.0, 12.7978], [0.0, 0.0, 0.0, 0.0]],
    ),
];
const ENDPOINTS: [[i32; 2]; 4] = [[20, 11], [78, 3], [91, 67], [6, 78]];
const PERSPECTIVE: [([f32; 4], [f32; 4]); 3] = [
    ([10.0, 20.0, 40.0, 60.0], [18.0851, 20.1462, 42.7255, 55.7759]),
    ([0.0, 0.0, 100.0, 80.0], [5.7392, 2.9186, 92.1165, 79.2481]),
    ([70.0, 5.0, 95.0, 30.0], [61.1388, 6.1471, 79.1388, 24.4665]),
];

/// What turns or shears, but no corner so much that a pixel could not be near its tip.
fn bend() -> impl Strategy<Value = Value> {
    let filter = prop::sample::select(vec!["nearest", "bilinear"]);
    (0..3, -180.0..180.0_f64, any::<bool>(), filter).prop_map(|(kind, degrees, expand, filter)| match kind {
        0 => json!({ "random_rotation": { "degrees": [degrees, degrees], "expand": expand, "interpolation": filter } }),
        1 => json!({ "random_affine": { "degrees": [degrees, degrees], "translate": [0.1, 0.2], "scale": [0.8, 1.6],
            "shear": [-8, 8, -8, 8], "interpolation": filter } }),
        _ => json!({ "random_perspective": { "distortion_scale": 0.3, "p": 1.0, "interpolation": filter } }),
    })
}

fn list() -> impl Strategy<Value = Value> {
    let before = prop::option::of(prop::sample::select(vec![
        json!({ "center_crop": { "size": [70, 80] } }),
        json!({ "random_horizontal_flip": { "p": 0.5 } }),
        json!({ "random_vertical_flip": { "p": 0.5 } }),
        json!({ "random_crop": { "size": [58, 59], "padding": 4 } }),
        json!({ "resize": { "size": [90, 110] } }),
        json!({ "pad_by": { "padding": [3, 9] } }),
    ]));
    let after = prop::sample::select(vec![
        json!({ "center_crop": { "size": [80, 90] } }),
        json!({ "resize": { "size": [90, 100] } }),
        json!({ "pad": { "size": [240, 240] } }),
    ]);
    (before, bend(), prop::option::of(bend()), any::<bool>(), after).prop_map(|(before, bend, second, flips, after)| {
        let kinds = ["random_horizontal_flip", "random_vertical_flip"];
        let flip = flips.then(|| kinds.map(|kind| json!({ kind: { "p": 0.7 } }))).into_iter().flatten();
        let last = json!({ "center_crop": { "size": [200, 200] } });
        before.into_iter().chain([bend]).chain(second).chain(flip).chain([after, last]).collect()
    })
}

/// A black picture of this size with a white block, as a JPEG.
fn block((width, height): (u32, u32), [left, top, right, below]: [u32; 4]) -> Vec<u8> {
    let at = (0..height).flat_map(|row| (0..width).map(move |column| (column, row)));
    let white = |(column, row): (u32, u32)| (left..right).contains(&column) && (top..below).contains(&row);
    let rgb: Vec<u8> = at.flat_map(|at| [if white(at) { 255 } else { 0 }; 3]).collect();
    JpegForm { quality: 100, sampling: [1, 1], ..JpegForm::default() }.encode(&rgb, width, height).unwrap()
}

/// Left, top, right and below of what is brighter than half, in a picture that is 200 pixels wide.
fn bright(out: &[u8]) -> Option<[f32; 4]> {
    let white = out.chunks_exact(3).enumerate().filter(|(_, rgb)| rgb[1] > 127);
    let boxes = white.map(|(number, _)| [number % 200, number / 200].map(|at| at as f32));
    let boxes = boxes.map(|[x, y]| [x, y, x + 1.0, y + 1.0]);
    boxes.reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn rule_45_turned_pixels_are_where_the_map_says(
        size in (60..120_u32, 60..120_u32),
        first in (0..30_u32, 0..30_u32),
        sides in (15..30_u32, 15..30_u32),
        list in list(),
        record in any::<u64>(),
    ) {
        let corners = [first.0, first.1, first.0 + sides.0, first.1 + sides.1];
        let (recipe, draw) = (recipe(list), Draw { record, ..DRAW });
        let mut out = vec![0; recipe.place_len()];
        let bytes = block(size, corners);
        let decoded = CpuDecoder::new().decode(&bytes, &recipe, draw, &Limits::default(), &mut out).unwrap();
        let map = decoded.origin.map(&recipe, draw, Annotated::AsSeen, &mut Plan::default());
        let corners = corners.map(|at| at as f32);
        let MappedBox { clipped, visible } = map.xyxy(corners);
        let [left, top, right, below] = corners;
        let points = [[left, top], [right, top], [right, below], [left, below]].map(|point| map.point(point));
        let around = points.map(|[x, y]| [x, y, x, y]).into_iter();
        let around = around.reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])]).unwrap();
        let Some(bright) = bright(&out) else {
            // The box around a turned one is larger than what is left of it behind an edge.
            prop_assert!(visible < 0.999, "{:?}", clipped);
            return Ok(());
        };
        prop_assert!(visible > 0.0, "{:?}", bright);
        prop_assert!((0..2).all(|at| bright[at] >= clipped[at] - 1.6 && bright[at + 2] <= clipped[at + 2] + 1.6),
            "{:?} is not within {:?}", bright, clipped);
        prop_assert!((0..2).all(|at| bright[at] >= around[at] - 1.6 && bright[at + 2] <= around[at + 2] + 1.6),
            "{:?} is not within {:?}", bright, around);
        let inside = (1.0..199.0).contains(&around[0]) && (1.0..199.0).contains(&around[2])
            && (1.0..199.0).contains(&around[1]) && (1.0..199.0).contains(&around[3]);
        if visible > 0.999 && inside {
            prop_assert!(near(bright, around, 3.0), "{:?} and {:?}", bright, around);
        }
    }
}
