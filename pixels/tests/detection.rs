//! Transforms for detection: a canvas around the picture, a part that shows an object, and gains of HSV.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::{
    Annotated, CpuDecoder, Draw, Limits, Operation, Orientation, Origin, Output, Plan, PointMap, Recipe, RecordBoxes,
    Rect, Step, Transform, TransformList, sample,
};
use proptest::prelude::*;
use serde_json::{Value, from_value, json};

fn recipe(list: Value) -> Recipe {
    Recipe::new(from_value(list).unwrap(), Output::default()).unwrap()
}

fn draw(record: u64) -> Draw {
    Draw { seed: 5, epoch: 1, record }
}

/// Plan and map of a record whose picture is stored as 200 x 100.
fn planned(recipe: &Recipe, record: u64, annotated: Annotated, orientation: Orientation) -> (Plan, PointMap) {
    let (mut plan, mut map) = (Plan::default(), PointMap::default());
    let origin = Origin::of_recipe((200, 100), orientation, recipe);
    origin.map_into(recipe, draw(record), annotated, &mut plan, &mut map);
    (plan, map)
}

/// A recipe with this transform, bound to the same boxes for each record.
fn bound(list: Value, annotated: Annotated, in_fractions: bool, boxes: &'static [[f32; 4]]) -> Recipe {
    recipe(list).with_boxes(RecordBoxes::new(annotated, in_fractions, |_, give| boxes.iter().copied().for_each(give)))
}

fn with_last(transform: &Value) -> Value {
    json!([transform, { "center_crop": { "size": [400, 400] } }])
}

#[test]
fn a_picture_is_laid_on_a_canvas_as_often_as_large_and_where_torchvision_would_lay_it() {
    let recipe = recipe(with_last(&json!({ "random_zoom_out": { "fill": [123.0, 117.9, 104], "p": 0.5 } })));
    let (mut zoomed, mut times, mut lefts) = (0, 0.0, 0.0);
    for record in 0..10_000 {
        let plan = recipe.plan(200, 100, draw(record));
        let Some(Step::Canvas { width, height, left, top, border }) = plan.steps.first() else { continue };
        if (*width, *height) == (400, 400) {
            continue;
        }
        assert_eq!(*border, forebay_pixels::Border::Fill([123, 117, 104].into()), "cut off below the point");
        assert!((200..=800).contains(width) && (100..=400).contains(height));
        assert!(*width / 2 == *height || (*width - 1) / 2 == *height, "both sides by one factor: {width} x {height}");
        assert!(left + 200 <= *width && top + 100 <= *height);
        zoomed += 1;
        times += f64::from(*width) / 200.0;
        lefts += f64::from(*left) / f64::from((*width - 200).max(1));
    }
    let count = f64::from(zoomed);
    assert!((4800..5200).contains(&zoomed), "{zoomed}");
    assert!((times / count - 2.5).abs() < 0.05 && (lefts / count - 0.5).abs() < 0.02, "{times} {lefts} of {count}");
}

#[test]
fn the_border_of_a_canvas_has_its_colour_and_the_picture_is_where_the_map_says() {
    let list = json!([{ "random_zoom_out": { "fill": [10, 200, 30], "side_range": [2.0, 2.0], "p": 1.0 } }]);
    let pipeline = TransformList::new(from_value(list.clone()).unwrap(), Output::default()).unwrap();
    let rgb = sample::photograph_rgb(3, 20, 10);
    let made = CpuDecoder::new().transform_sized(&rgb, (20, 10), &pipeline, draw(7), &Limits::default()).unwrap();
    assert_eq!((made.width, made.height), (40, 20));
    let last = json!({ "center_crop": { "size": [20, 40] } });
    let recipe = recipe(json!([list[0], last]));
    let origin = Origin::of_recipe((20, 10), Orientation::AsStored, &recipe);
    let [left, top] = origin.map(&recipe, draw(7), Annotated::AsSeen, &mut Plan::default()).point([0.0, 0.0]);
    for (number, pixel) in made.bytes.chunks_exact(3).enumerate() {
        #[allow(clippy::cast_precision_loss, reason = "small numbers")]
        let (x, y) = ((number % 40) as f32 - left, (number / 40) as f32 - top);
        let inside = (0.0..20.0).contains(&x) && (0.0..10.0).contains(&y);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a pixel of the picture")]
        let expected = if inside { &rgb[(y as usize * 20 + x as usize) * 3..][..3] } else { &[10, 200, 30] };
        assert_eq!(pixel, expected, "{x} {y}");
    }
}

#[test]
fn wrong_values_are_refused_by_name() {
    let refused = [
        (json!({ "random_zoom_out": { "side_range": [0.5, 2.0] } }), "side_range is [0.5, 2]"),
        (json!({ "random_zoom_out": { "fill": 256 } }), "fill is"),
        (json!({ "random_hsv": { "hsv_s": 1.5 } }), "hsv_s is 1.5, but must be from 0 to 1"),
        (json!({ "three_augment": { "radius": [2.0, 1.0] } }), "radius is [2, 1], but the smaller one must be first"),
        (json!({ "random_iou_crop": { "min_scale": 0.0 } }), "min_scale and max_scale are 0 and 1"),
        (
            json!({ "random_iou_crop": { "min_aspect_ratio": 3.0 } }),
            "min_aspect_ratio and max_aspect_ratio are 3 and 2",
        ),
        (json!({ "random_iou_crop": { "sampler_options": [] } }), "sampler_options must be"),
        (json!({ "random_iou_crop": { "trials": 0 } }), "trials is 0"),
    ];
    for (document, words) in refused {
        let transform: Transform = from_value(document).unwrap();
        let error = TransformList::new(vec![transform], Output::default()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn the_gains_of_hsv_are_uniform_and_around_no_change() {
    let recipe = recipe(json!([{ "random_hsv": {} }, { "center_crop": { "size": 100 } }]));
    let mut ends = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
    let mut sums = [0.0; 3];
    for record in 0..4000 {
        let plan = recipe.plan(200, 100, draw(record));
        let Step::Operate(Operation::HsvGains(gains)) = plan.steps[0] else { panic!("{:?}", plan.steps) };
        for ((number, end), sum) in
            [gains.hue, gains.saturation - 1.0, gains.value - 1.0].into_iter().zip(&mut ends).zip(&mut sums)
        {
            *end = [end[0].min(number), end[1].max(number)];
            *sum += number / 4000.0;
        }
    }
    for (([low, high], gain), mean) in ends.into_iter().zip([0.015, 0.7, 0.4]).zip(sums) {
        assert!(-gain <= low && low < -0.99 * gain && 0.99 * gain < high && high < gain, "{low} {high}");
        assert!(mean.abs() < 0.05 * gain, "{mean}");
    }
}

/// No middle is at the edge of a pixel, where rounding would decide.
const BOXES: &[[f32; 4]] = &[[20.25, 20.5, 80.5, 70.25], [150.25, 10.5, 190.5, 90.25], [100.25, 40.5, 110.5, 50.25]];

fn overlap(part: Rect, corners: [f32; 4]) -> f32 {
    #[allow(clippy::cast_precision_loss, reason = "small numbers")]
    let ends = [part.left, part.top, part.left + part.width, part.top + part.height].map(|at| at as f32);
    let side = |axis: usize| (ends[axis + 2].min(corners[axis + 2]) - ends[axis].max(corners[axis])).max(0.0);
    let area = |of: [f32; 4]| (of[2] - of[0]) * (of[3] - of[1]);
    let both = side(0) * side(1);
    both / (area(ends) + area(corners) - both)
}

#[test]
fn rule_45_a_part_shows_as_much_of_a_box_as_was_drawn_and_drops_objects_whose_middle_is_outside() {
    for least in [0.0, 0.3, 0.5] {
        let list = with_last(&json!({ "random_iou_crop": { "sampler_options": [least] } }));
        let recipe = bound(list, Annotated::AsSeen, false, BOXES);
        for record in 0..500 {
            let (plan, _) = planned(&recipe, record, Annotated::AsSeen, Orientation::AsStored);
            let Step::Cut(part) = plan.steps[0] else { panic!("{:?}", plan.steps) };
            assert!(part.left + part.width <= 200 && part.top + part.height <= 100 && part.height >= 30, "{part:?}");
            let ratio = f64::from(part.width) / f64::from(part.height);
            assert!((0.5..=2.0).contains(&ratio), "{part:?}");
            let inside = |[left, top, right, below]: [f32; 4]| {
                let (x, y) = (f64::from(left + right) / 2.0, f64::from(top + below) / 2.0);
                let (left, top) = (f64::from(part.left), f64::from(part.top));
                left < x && x < left + f64::from(part.width) && top < y && y < top + f64::from(part.height)
            };
            let dropped: Vec<bool> = BOXES.iter().map(|corners| !inside(*corners)).collect();
            assert_eq!(plan.dropped(), dropped, "{part:?}");
            let most = BOXES.iter().filter(|corners| inside(**corners)).map(|corners| overlap(part, *corners));
            assert!(most.reduce(f32::max).unwrap() >= least - 1e-6, "{part:?}");
        }
    }
}

#[test]
fn rule_45_a_part_that_cannot_be_found_leaves_the_picture_as_it_is() {
    let whole = |options: Value, boxes| {
        let list = with_last(&json!({ "random_iou_crop": { "sampler_options": options } }));
        let recipe = bound(list, Annotated::AsSeen, false, boxes);
        let plan = planned(&recipe, 3, Annotated::AsSeen, Orientation::AsStored).0;
        let is_whole = !matches!(plan.steps[0], Step::Cut(Rect { height: ..100, .. }));
        assert!(!is_whole || !plan.dropped().contains(&true));
        is_whole
    };
    assert!(whole(json!([1.0]), BOXES), "1 is torchvision's word for this");
    assert!(whole(json!([0.0]), &[]), "no box");
    assert!(whole(json!([0.99]), BOXES), "no part overlaps so much");
    assert!(whole(json!([0.0]), &[[f32::NAN, 0.0, 5.0, 5.0], [300.0, 0.0, 400.0, 50.0]]), "no number, and outside");
    assert!(!whole(json!([0.0]), BOXES));
}

/// Boxes that are no part of the picture take trials away. A part that is found all the same is the one that few boxes give.
#[test]
fn rule_45_a_part_is_compared_with_so_many_boxes_at_most() {
    // The middle of the first box is in a part that begins in the corner, which is one of some hundred.
    const CORNER: [f32; 4] = [0.0, 0.0, 0.5, 0.5];
    let list = with_last(&json!({ "random_iou_crop": { "sampler_options": [0.0] } }));
    let cut = |count: usize, record| {
        let give = move |_: u64, give: &mut dyn FnMut([f32; 4])| {
            give(CORNER);
            (1..count).for_each(|_| give([f32::NAN; 4]));
        };
        let recipe = recipe(list.clone()).with_boxes(RecordBoxes::new(Annotated::AsSeen, false, give));
        let plan = planned(&recipe, record, Annotated::AsSeen, Orientation::AsStored).0;
        plan.steps.first().and_then(|step| if let Step::Cut(part) = step { Some(*part) } else { None })
    };
    let (mut found, mut given_up) = (0, 0);
    for record in 0..24 {
        let few = cut(1, record);
        assert_eq!(cut(1000, record), few, "ordinary records");
        match (few, cut(10_000, record)) {
            (Some(_), None) => given_up += 1,
            (few, many) => {
                assert_eq!(many, few);
                found += i32::from(few.is_some());
            }
        }
    }
    assert!(found > 0 && given_up > 0, "{found} {given_up}");
}

#[test]
fn rule_45_boxes_are_found_where_earlier_transforms_have_moved_them() {
    // The canvas is twice as large, and mirrored before the part is drawn.
    let list = json!([
        { "random_zoom_out": { "side_range": [2.0, 2.0], "p": 1.0 } },
        { "random_horizontal_flip": { "p": 1.0 } },
        { "random_iou_crop": { "sampler_options": [0.0], "max_scale": 0.5 } },
        { "center_crop": { "size": [400, 400] } },
    ]);
    let recipe = bound(list, Annotated::AsSeen, false, &BOXES[2..]);
    for record in 0..200 {
        let (plan, map) = planned(&recipe, record, Annotated::AsSeen, Orientation::AsStored);
        assert_eq!(plan.dropped(), [false]);
        assert!(map.xyxy(BOXES[2]).visible >= 0.25, "the middle of the only box is always shown");
        // All that the last step adds is a border.
        let part = plan.steps.iter().find_map(|step| if let Step::Cut(part) = step { Some(*part) } else { None });
        assert!(part.is_some_and(|part| part.width <= 200 && part.height <= 100), "{:?}", plan.steps);
    }
}

proptest! {
    /// Whatever the file's orientation, and however the dataset counts, the same part of the seen picture is drawn.
    #[test]
    fn rule_45_boxes_of_either_picture_and_in_fractions_draw_the_same_part(exif in 1_u16..9, record in 0_u64..200) {
        let orientation = Orientation::from_exif(exif);
        let (wide, high) = orientation.seen(200, 100);
        let list = || with_last(&json!({ "random_iou_crop": { "sampler_options": [0.1, 0.3] } }));
        let plan = |recipe: &Recipe, annotated| planned(recipe, record, annotated, orientation).0;
        let stored = bound(list(), Annotated::AsStored, false, BOXES);
        let of_stored = plan(&stored, Annotated::AsStored);
        // Where these boxes are seen.
        let turn = recipe(json!([{ "center_crop": { "size": [high, wide] } }]));
        let (_, map) = planned(&turn, 0, Annotated::AsStored, orientation);
        let seen: Vec<[f32; 4]> = BOXES.iter().map(|corners| map.xyxy(*corners).clipped).collect();
        #[allow(clippy::cast_precision_loss, reason = "small numbers")]
        let sides = [wide as f32, high as f32, wide as f32, high as f32];
        let fractions: Vec<[f32; 4]> =
            seen.iter().map(|corners| std::array::from_fn(|at| corners[at] / sides[at])).collect();
        for (boxes, in_fractions) in [(seen, false), (fractions, true)] {
            let give = move |_: u64, give: &mut dyn FnMut([f32; 4])| boxes.iter().copied().for_each(give);
            let recipe = recipe(list()).with_boxes(RecordBoxes::new(Annotated::AsSeen, in_fractions, give));
            let found = plan(&recipe, Annotated::AsSeen);
            prop_assert_eq!(&found.steps, &of_stored.steps);
            prop_assert_eq!(found.dropped(), of_stored.dropped());
        }
    }
}
