//! Points and boxes follow their picture: exactly for each transform, and where the decoder puts the pixels.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]
#![allow(clippy::float_cmp, reason = "what is not resized stays exact")]

use forebay_pixels::sample::JpegForm;
use forebay_pixels::{
    Annotated, CenterCrop, CpuDecoder, Draw, Form, Grayscale, Input, Interpolation, Limits, MappedBox, Orientation,
    Origin, Output, Pad, Plan, PointMap, RandomHorizontalFlip, RandomResizedCrop, RandomVerticalFlip, Recipe, Resize,
    Size, Transform,
};
use proptest::prelude::*;

const DRAW: Draw = Draw { seed: 1, epoch: 2, record: 3 };

fn resize(height: u32, width: u32) -> Transform {
    let size = Size::HeightWidth([height, width]);
    Transform::Resize(Resize { size, interpolation: Interpolation::Bilinear })
}

fn center(height: u32, width: u32) -> Transform {
    Transform::CenterCrop(CenterCrop { size: Size::HeightWidth([height, width]) })
}

fn pad(height: u32, width: u32) -> Transform {
    Transform::Pad(Pad::to(Size::HeightWidth([height, width]), 0))
}

fn flip() -> Transform {
    Transform::RandomHorizontalFlip(RandomHorizontalFlip::by_chance(1.0))
}

fn recipe(transforms: Vec<Transform>) -> Recipe {
    Recipe::new(transforms, Output::default()).unwrap()
}

/// The map of a picture of 100 x 80.
fn map(transforms: Vec<Transform>) -> PointMap {
    map_of(&recipe(transforms), Orientation::AsStored, Annotated::AsSeen)
}

fn map_of(recipe: &Recipe, orientation: Orientation, annotated: Annotated) -> PointMap {
    Origin::of_recipe((100, 80), orientation, recipe).map(recipe, DRAW, annotated, &mut Plan::default())
}

fn clipped(map: &PointMap, corners: [f32; 4]) -> ([f32; 4], f64) {
    let MappedBox { clipped, visible } = map.xyxy(corners);
    (clipped, visible)
}

#[test]
fn rule_45_a_resize_scales() {
    let map = map(vec![resize(160, 25)]);
    assert_eq!(map.point([100.0, 80.0]), [25.0, 160.0]);
    assert_eq!(map.point([10.0, 10.5]), [2.5, 21.0]);
    assert_eq!(clipped(&map, [8.0, 4.0, 20.0, 44.0]), ([2.0, 8.0, 5.0, 88.0], 1.0));
}

/// 100 x 80 loses 25 columns and 20 rows on each side. Boxes end where torchvision's `clamp_bounding_boxes` ends them.
#[test]
fn rule_45_a_cut_moves_points_and_clips_boxes() {
    let map = map(vec![center(40, 50)]);
    assert_eq!(map.point([25.0, 20.0]), [0.0, 0.0]);
    assert_eq!(map.point([10.0, 70.0]), [-15.0, 50.0], "points are not clipped");
    assert_eq!(clipped(&map, [30.0, 30.0, 40.0, 35.0]), ([5.0, 10.0, 15.0, 15.0], 1.0));
    assert_eq!(clipped(&map, [15.0, 10.0, 35.0, 30.0]), ([0.0, 0.0, 10.0, 10.0], 0.25));
    assert_eq!(clipped(&map, [60.0, 20.0, 100.0, 60.0]), ([35.0, 0.0, 50.0, 40.0], 0.375));
    assert_eq!(clipped(&map, [0.0, 0.0, 25.0, 80.0]), ([0.0, 0.0, 0.0, 40.0], 0.0), "the right end is not part of it");
    assert_eq!(clipped(&map, [30.0, 30.0, 30.0, 40.0]).1, 0.0, "no area");
    assert_eq!(clipped(&map, [40.0, 30.0, 30.0, 40.0]).1, 0.0, "its ends are the wrong way around");
    assert_eq!(clipped(&map, [f32::NAN, 30.0, 30.0, 40.0]).1, 0.0);
    assert_eq!(clipped(&map, [f32::NEG_INFINITY, 0.0, f32::INFINITY, 80.0]).1, 0.0);
}

#[test]
fn rule_45_a_border_moves() {
    let map = map(vec![pad(100, 140), center(100, 140)]);
    assert_eq!(map.point([0.0, 0.0]), [20.0, 10.0]);
    assert_eq!(clipped(&map, [-10.0, 0.0, 10.0, 80.0]), ([20.0, 10.0, 30.0, 90.0], 0.5), "a border shows nothing");
}

/// What a cut takes away does not come back with the border, as torchvision clamps after each step.
#[test]
fn rule_45_what_was_cut_off_is_not_shown_by_a_later_border() {
    let map = map(vec![center(40, 50), pad(80, 100)]);
    assert_eq!(map.point([10.0, 10.0]), [10.0, 10.0]);
    assert_eq!(clipped(&map, [5.0, 20.0, 45.0, 60.0]), ([25.0, 20.0, 45.0, 60.0], 0.5));
    assert_eq!(clipped(&map, [5.0, 20.0, 15.0, 60.0]).1, 0.0);
}

#[test]
fn rule_45_mirroring_turns_columns_around_wherever_it_stands_in_the_list() {
    let mirrored = map(vec![resize(80, 100), flip()]);
    assert_eq!(mirrored.point([0.0, 7.0]), [100.0, 7.0]);
    assert_eq!(clipped(&mirrored, [10.0, 0.0, 30.0, 5.0]), ([70.0, 0.0, 90.0, 5.0], 1.0));
    for transforms in [vec![flip(), center(79, 51)], vec![center(79, 51), flip()]] {
        // The middle 51 of 100 begin at column 24, and of the mirrored picture that is what ends at 76.
        let (map, first) = (map(transforms.clone()), if transforms[0] == flip() { 76.0 } else { 75.0 });
        assert_eq!(map.point([first, 10.0])[0], 0.0, "{transforms:?}");
    }
}

#[test]
fn rule_45_a_vertical_flip_turns_rows_around_wherever_it_stands_in_the_list() {
    let flip = || Transform::RandomVerticalFlip(RandomVerticalFlip::by_chance(1.0));
    let flipped = map(vec![resize(80, 100), flip()]);
    assert_eq!(flipped.point([7.0, 0.0]), [7.0, 80.0]);
    assert_eq!(clipped(&flipped, [0.0, 10.0, 5.0, 30.0]), ([0.0, 50.0, 5.0, 70.0], 1.0));
    for transforms in [vec![flip(), center(51, 99)], vec![center(51, 99), flip()]] {
        // Of 80 rows 29 are cut off: the middle 51 begin at row 14.
        let (map, first) = (map(transforms.clone()), if transforms[0] == flip() { 66.0 } else { 65.0 });
        assert_eq!(map.point([10.0, first])[1], 0.0, "{transforms:?}");
    }
}

#[test]
fn rule_45_every_orientation_is_followed_whichever_picture_was_annotated() {
    // Where the pixel in column 30 and row 20 of the stored picture is seen: its corners, which are 1 apart.
    let seen = |number: u16| match number {
        2 => [69.0, 20.0],
        3 => [69.0, 59.0],
        4 => [30.0, 59.0],
        5 => [20.0, 30.0],
        6 => [59.0, 30.0],
        7 => [59.0, 69.0],
        8 => [20.0, 69.0],
        _ => [30.0, 20.0],
    };
    for number in 1..=8 {
        let orientation = Orientation::from_exif(number);
        let [left, top] = seen(number);
        let as_seen = [left, top, left + 1.0, top + 1.0];
        let as_stored = [30.0, 20.0, 31.0, 21.0];
        let (width, height) = orientation.seen(100, 80);
        let turned = recipe(vec![resize(height, width)]);
        let maps = [Annotated::AsStored, Annotated::AsSeen].map(|annotated| map_of(&turned, orientation, annotated));
        assert_eq!(clipped(&maps[0], as_stored), (as_seen, 1.0), "orientation {number}");
        assert_eq!(clipped(&maps[1], as_seen), (as_seen, 1.0), "orientation {number}");
        let input = Input { adjust_orientation: false, ..Input::default() };
        let left_alone = recipe(vec![resize(80, 100)]).with_input(input).unwrap();
        let maps =
            [Annotated::AsStored, Annotated::AsSeen].map(|annotated| map_of(&left_alone, orientation, annotated));
        assert_eq!(clipped(&maps[0], as_stored), (as_stored, 1.0), "orientation {number}");
        assert_eq!(clipped(&maps[1], as_seen), (as_stored, 1.0), "orientation {number}");
    }
}

#[test]
fn rule_45_a_keypoint_that_is_not_shown_is_not_visible_and_one_without_a_label_stays() {
    let map = map(vec![center(40, 50)]);
    assert_eq!(map.keypoint([25.0, 20.0, 2.0]), [0.0, 0.0, 2.0]);
    assert_eq!(map.keypoint([75.0, 20.0, 2.0]), [50.0, 0.0, 0.0]);
    assert_eq!(map.keypoint([0.0, 0.0, 0.0]), [0.0; 3]);
}

fn interpolation() -> impl Strategy<Value = Interpolation> {
    let all = [Interpolation::Nearest, Interpolation::Bilinear, Interpolation::Bicubic, Interpolation::Lanczos3];
    prop::sample::select(all.to_vec())
}

/// Cuts, borders and mirrors, and something that moves nothing.
fn moves() -> impl Strategy<Value = Vec<Transform>> {
    let one = prop_oneof![
        [24..64_u32, 24..64_u32].prop_map(|[height, width]| center(height, width)),
        [24..90_u32, 24..90_u32].prop_map(|[height, width]| pad(height, width)),
        Just(flip()),
        Just(Transform::Grayscale(Grayscale { num_output_channels: 3 })),
    ];
    prop::collection::vec(one, 0..3)
}

/// One resize, with anything around it: a second one would enlarge what the first one has blurred.
fn any_recipe() -> impl Strategy<Value = Recipe> {
    let size = [24..80_u32, 24..80_u32].prop_map(Size::HeightWidth);
    let sized = (size, interpolation(), any::<bool>(), 0.2..1.0_f64).prop_map(|(size, interpolation, part, scale)| {
        if part {
            let (scale, ratio) = ([scale, 1.0], [0.7, 1.4]);
            Transform::RandomResizedCrop(RandomResizedCrop { size, scale, ratio, interpolation })
        } else {
            Transform::Resize(Resize { size, interpolation })
        }
    });
    let last = [24..80_u32, 24..80_u32].prop_map(|[height, width]| center(height, width));
    let input = (any::<bool>(), prop::option::of(Just(2.0)));
    (moves(), prop::option::of(sized), moves(), last, input).prop_map(|(before, sized, after, last, input)| {
        let all = before.into_iter().chain(sized).chain(after).chain([last]).collect();
        let (adjust_orientation, reducing_gap) = input;
        recipe(all).with_input(Input { adjust_orientation, reducing_gap, ..Input::default() }).unwrap()
    })
}

/// A black picture of this size with a white block, as a JPEG with this orientation.
fn block((width, height): (u32, u32), [left, top, right, below]: [u32; 4], orientation: u8) -> Vec<u8> {
    let mut rgb = Vec::new();
    for row in 0..height {
        for column in 0..width {
            let white = (left..right).contains(&column) && (top..below).contains(&row);
            rgb.extend([if white { 255 } else { 0 }; 3]);
        }
    }
    let form = JpegForm { quality: 100, sampling: [1, 1], ..JpegForm::default() };
    let jpeg = form.encode(&rgb, width, height).unwrap();
    let mut exif = b"\xFF\xE1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0".to_vec();
    exif[29] = orientation;
    [&jpeg[..2], &exif, &jpeg[2..]].concat()
}

/// Left, top, right and below of what is brighter than half.
fn bright(recipe: &Recipe, out: &[u8]) -> Option<[f32; 4]> {
    let (_, width, _) = recipe.shape();
    let pixels = out.chunks_exact(3).zip(0_u16..).filter(|(rgb, _)| rgb[1] > 127);
    let at = pixels.map(|(_, number)| [number % u16::try_from(width).unwrap(), number / u16::try_from(width).unwrap()]);
    let boxes = at.map(|[x, y]| [f32::from(x), f32::from(y), f32::from(x) + 1.0, f32::from(y) + 1.0]);
    boxes.reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn rule_45_pixels_are_where_the_map_says_for_files_and_for_kept_pictures(
        size in (40..120_u32, 40..120_u32),
        part in [0.0..1.0_f64, 0.0..1.0, 0.0..1.0, 0.0..1.0],
        orientation in 1..=8_u8,
        recipe in any_recipe(),
        record in any::<u64>(),
        max_side in prop::option::of(40..120_u32),
        kept in any::<bool>(),
    ) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "parts of small numbers")]
        let span = |side: u32, at: f64, len: f64| {
            let len = (f64::from(side) * (0.4 + 0.5 * len)) as u32;
            let first = (f64::from(side - len) * at) as u32;
            (first, first + len)
        };
        let ((left, right), (top, below)) = (span(size.0, part[0], part[1]), span(size.1, part[2], part[3]));
        let corners = [left, top, right, below];
        let bytes = block(size, corners, orientation);
        let draw = Draw { seed: 5, epoch: 1, record };
        let (limits, mut decoder, mut out) = (Limits::default(), CpuDecoder::new(), vec![0; recipe.place_len()]);
        let decoded = if kept {
            let form = Form { adjust_orientation: recipe.input().adjust_orientation, max_side, ..Form::default() };
            let (picture, _) = decoder.upright(&bytes, form, &limits).unwrap();
            decoder.transform(&picture, &recipe, draw, &limits, &mut out).unwrap()
        } else {
            decoder.decode(&bytes, &recipe, draw, &limits, &mut out).unwrap()
        };
        let origin = decoded.origin;
        prop_assert_eq!((origin.stored, origin.orientation as u8), (size, orientation));
        prop_assert!(kept || origin == Origin::of_recipe(size, origin.orientation, &recipe));
        let map = origin.map(&recipe, draw, Annotated::AsStored, &mut Plan::default());
        #[allow(clippy::cast_precision_loss, reason = "small numbers")]
        let MappedBox { clipped, visible } = map.xyxy(corners.map(|at| at as f32));
        // Where a picture was shrunk before, each of its pixels may have become several.
        let shrunk = Origin { stored: origin.size, orientation: Orientation::AsStored, turned: Orientation::AsStored, ..origin };
        let of_shrunk = shrunk.map(&recipe, draw, Annotated::AsStored, &mut Plan::default());
        let [first, second] = [of_shrunk.point([0.0; 2]), of_shrunk.point([1.0; 2])];
        let is_shrunk = origin.size != origin.turned.seen(size.0, size.1);
        let within = [0, 1].map(|axis| if is_shrunk { 1.0 + (second[axis] - first[axis]).abs() } else { 1.0 });
        let enough = |low: usize| clipped[low + 2] - clipped[low] >= 1.0 + within[low];
        match bright(&recipe, &out) {
            // A blurred edge may hide what is hardly shown.
            None => prop_assert!(!enough(0) || !enough(1), "{clipped:?}"),
            Some(bright) => {
                prop_assert!(visible > 0.0);
                for (number, (at, expected)) in bright.iter().zip(clipped).enumerate() {
                    prop_assert!((at - expected).abs() <= within[number % 2], "{bright:?} and {clipped:?}");
                }
            }
        }
    }
}

fn keypoint_map(list: Vec<Transform>) -> PointMap {
    let recipe = recipe(list);
    let origin = Origin::of_recipe((100, 80), Orientation::AsStored, &recipe);
    let (mut plan, mut map) = (Plan::default(), PointMap::default());
    origin.map_into(&recipe, DRAW, Annotated::AsSeen, &mut plan, &mut map);
    origin.keypoint_map_into(&plan, Annotated::AsSeen, &mut map);
    map
}

/// Where torchvision's `KeyPoints` are: a flip takes x to `width - 1 - x`, a resize scales x, and a crop moves it.
#[test]
fn rule_45_keypoints_by_centers_of_pixels_go_where_torchvision_takes_them() {
    let step = |document: serde_json::Value| serde_json::from_value::<Transform>(document).unwrap();
    let across = || step(serde_json::json!({ "random_horizontal_flip": { "p": 1.0, "keypoints": "centers" } }));
    let down = || step(serde_json::json!({ "random_vertical_flip": { "p": 1.0, "keypoints": "centers" } }));
    let crop = |left| step(serde_json::json!({ "crop": { "top": 0, "left": left, "height": 40, "width": 50 } }));
    let turn = || step(serde_json::json!({ "random_rotation": { "degrees": [90, 90] } }));
    let invert = || step(serde_json::json!({ "random_invert": { "p": 1.0 } }));
    // A picture of 100 x 80, and a keypoint at (30, 20).
    let cases = [
        (vec![across(), center(80, 100)], [100.0 - 1.0 - 30.0, 20.0]),
        (vec![down(), center(80, 100)], [30.0, 80.0 - 1.0 - 20.0]),
        (vec![down(), across(), center(80, 100)], [100.0 - 1.0 - 30.0, 80.0 - 1.0 - 20.0]),
        (vec![across(), crop(40)], [100.0 - 1.0 - 30.0 - 40.0, 20.0]),
        (vec![crop(9), across()], [50.0 - 1.0 - (30.0 - 9.0), 20.0]),
        (vec![across(), resize(40, 25)], [(100.0 - 1.0 - 30.0) / 4.0, 10.0]),
        (vec![down(), resize(240, 100)], [30.0, (80.0 - 1.0 - 20.0) * 3.0]),
        (vec![resize(40, 25), across()], [25.0 - 1.0 - 30.0 / 4.0, 10.0]),
        (vec![across(), resize(160, 300), across()], [300.0 - 1.0 - (100.0 - 1.0 - 30.0) * 3.0, 40.0]),
        (vec![across(), across(), resize(80, 100)], [30.0, 20.0]),
        (vec![across(), invert(), across(), resize(80, 100)], [30.0, 20.0]),
        (vec![across(), invert(), resize(160, 100)], [100.0 - 1.0 - 30.0, 40.0]),
        (vec![across(), flip(), resize(80, 100)], [100.0 - (100.0 - 1.0 - 30.0), 20.0]),
        (vec![flip(), resize(40, 25)], [(100.0 - 30.0) / 4.0, 10.0]),
        (vec![resize(80, 80), across(), turn()], [20.0, 80.0 - (80.0 - 1.0 - 24.0)]),
        (vec![resize(80, 80), down(), turn()], [80.0 - 1.0 - 20.0, 80.0 - 24.0]),
        (vec![resize(80, 80), turn(), down()], [20.0, 80.0 - 1.0 - (80.0 - 24.0)]),
    ];
    for (list, [x, y]) in cases {
        let found = keypoint_map(list.clone()).keypoint([30.0, 20.0, 2.0]);
        let near = (found[0] - x).abs() < 1e-4 && (found[1] - y).abs() < 1e-4 && found[2] == 2.0;
        assert!(near, "{found:?}, but torchvision has {x}, {y}: {list:?}");
        assert_eq!(map(list.clone()).point([30.0, 20.0]), map(by_corners(list)).point([30.0, 20.0]), "other points");
    }
    // What is in the first pixel is shown in the last one, and the reverse.
    let both = keypoint_map(vec![across(), down(), center(80, 100)]);
    assert_eq!(both.keypoint([0.0, 79.0, 2.0]), [99.0, 0.0, 2.0]);
    assert_eq!(both.keypoint([99.0, 0.0, 1.0]), [0.0, 79.0, 1.0]);
    assert_eq!(both.keypoint([100.0, 20.0, 2.0]), [-1.0, 59.0, 0.0]);
    assert_eq!(both.keypoint([20.0, 80.0, 2.0]), [79.0, -1.0, 0.0]);
}

/// The same with flips that count from corners.
fn by_corners(list: Vec<Transform>) -> Vec<Transform> {
    let plain = |transform| match transform {
        Transform::RandomHorizontalFlip(flip) => {
            Transform::RandomHorizontalFlip(RandomHorizontalFlip::by_chance(flip.p))
        }
        Transform::RandomVerticalFlip(flip) => Transform::RandomVerticalFlip(RandomVerticalFlip::by_chance(flip.p)),
        other => other,
    };
    list.into_iter().map(plain).collect()
}

#[test]
fn flip_pairs_are_those_of_the_first_flip_that_names_some_and_name_each_keypoint_once() {
    for kind in ["random_horizontal_flip", "random_vertical_flip"] {
        let list = |pairs: serde_json::Value| {
            let list = serde_json::json!([
                { "random_horizontal_flip": {} },
                { "random_apply": { "transforms": [{ (kind): { "flip_pairs": pairs } }] } },
                { "random_vertical_flip": { "flip_pairs": [[7, 8]] } },
                { "center_crop": { "size": 8 } },
            ]);
            Recipe::new(serde_json::from_value(list).unwrap(), Output::default())
        };
        assert_eq!(list(serde_json::json!([[1, 2], [4, 3]])).unwrap().flip_pairs(), [[1, 2], [4, 3]]);
        assert_eq!(list(serde_json::json!([])).unwrap().flip_pairs(), [[7, 8]]);
        for (pairs, problem) in [
            ([[1, 1], [2, 3]], "keypoint 1 twice"),
            ([[0, 5], [5, 2]], "keypoint 5 twice"),
            ([[0, 10_000], [1, 2]], "below 10000"),
        ] {
            let refused = list(serde_json::json!(pairs)).unwrap_err().to_string();
            assert!(refused.contains(problem), "{refused}");
        }
    }
}
