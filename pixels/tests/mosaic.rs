//! Mosaics: what of a result each of the four pictures has, and what may stand beside them in a list.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::collections::BTreeSet;

use forebay_pixels::{
    Annotated, CpuDecoder, Draw, Dtype, Layout, Limits, Mosaics, Orientation, Origin, Output, Plan, Recipe, Rect,
};
use proptest::prelude::*;
use serde_json::{Value, from_value, json};

fn recipe(list: Value, output: Output) -> Recipe {
    Recipe::new(from_value(list).unwrap(), output).unwrap()
}

fn draw(record: u64) -> Draw {
    Draw { seed: 5, epoch: 1, record }
}

/// A file of one colour.
fn plain(width: u32, height: u32, value: u8) -> Vec<u8> {
    let mut file = format!("P6 {width} {height} 255\n").into_bytes();
    file.extend(std::iter::repeat_n(value, (width * height * 3) as usize));
    file
}

/// Where a picture of this size is in the result.
fn shown(recipe: &Recipe, size: (u32, u32), draw: Draw) -> [f32; 4] {
    let origin = Origin::of_recipe(size, Orientation::AsStored, recipe);
    let map = origin.map(recipe, draw, Annotated::AsSeen, &mut Plan::default());
    #[allow(clippy::cast_precision_loss, reason = "small numbers")]
    let whole = [0.0, 0.0, size.0 as f32, size.1 as f32];
    map.xyxy(whole).clipped
}

fn holds(part: Rect, x: u32, y: u32) -> bool {
    (part.left..part.left + part.width).contains(&x) && (part.top..part.top + part.height).contains(&y)
}

proptest! {
    #[test]
    fn the_parts_of_four_pictures_are_all_of_the_result_and_show_each_where_its_boxes_are(
        record in any::<u64>(), height in 1..40_u32, width in 1..40_u32, translate in 0.0..0.5_f64, flips in any::<[bool; 2]>(),
        sizes in prop::array::uniform4((1..60_u32, 1..60_u32)), planar in any::<bool>(), half in any::<bool>(),
    ) {
        let mosaic = json!({ "size": [height, width], "scale": [0.3, 1.8], "translate": translate, "fill": 9 });
        let [across, down] = flips.map(|flip| json!({ "p": f64::from(u8::from(flip)) }));
        let list =
            json!([{ "mosaic": mosaic }, { "random_horizontal_flip": across }, { "random_vertical_flip": down }]);
        let layout = if planar { Layout::Nchw } else { Layout::Nhwc };
        let dtype = if half { Dtype::Float16 } else { Dtype::Uint8 };
        let recipe = recipe(list, Output { dtype, layout, ..Output::default() });
        let mosaics = Mosaics::of(&recipe).unwrap();
        let (mut decoder, mut plan) = (CpuDecoder::new(), Plan::default());
        // What no picture has laid stays what it is.
        let mut whole = vec![0xEE; recipe.place_len()];
        let mut tiles = [None; 4];
        for (quarter, ((width, height), tile)) in sizes.into_iter().zip(&mut tiles).enumerate() {
            let mut made = vec![0xFF; recipe.place_len()];
            let value = u8::try_from(100 + quarter).unwrap();
            let file = plain(width, height, value);
            decoder.decode(&file, mosaics.quarter(quarter), draw(record), &Limits::default(), &mut made).unwrap();
            *tile = mosaics.tile(quarter, draw(record), &mut plan);
            if let Some(tile) = *tile {
                mosaics.lay(tile, &made, &mut whole);
            }
        }
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            let owners: Vec<usize> = (0..4).filter(|quarter| tiles[*quarter].is_some_and(|tile| holds(tile, x, y))).collect();
            prop_assert_eq!(owners.len(), 1, "{} {} of {:?}", x, y, tiles);
            let [left, top, right, below] = shown(mosaics.quarter(owners[0]), sizes[owners[0]], draw(record));
            #[allow(clippy::cast_precision_loss, reason = "small numbers")]
            let (column, row) = (x as f32 + 0.5, y as f32 + 0.5);
            let is_shown = left < column && column < right && top < row && row < below;
            let expected = if is_shown { 100 + u8::try_from(owners[0]).unwrap() } else { 9 };
            let at = (y * width + x) as usize * if planar { 1 } else { 3 };
            let found = if half {
                half::f16::from_le_bytes([whole[2 * at], whole[2 * at + 1]]).to_f32() * 255.0
            } else {
                f32::from(whole[at])
            };
            prop_assert!((found - f32::from(expected)).abs() < 0.5, "{} {}: {} {}", x, y, found, expected);
        }
    }
}

#[test]
fn partners_are_any_records_and_a_picture_has_some_as_often_as_was_asked_for() {
    let mosaics =
        |p: f64| Mosaics::of(&recipe(json!([{ "mosaic": { "size": 8, "p": p } }]), Output::default())).unwrap();
    let (always, some) = (mosaics(1.0), mosaics(0.25));
    let (mut drawn, mut seen) = (0, BTreeSet::new());
    for record in 0..4000 {
        let partners = always.partners(draw(record), 50).unwrap();
        assert!(partners.iter().all(|partner| *partner < 50));
        seen.extend(partners);
        drawn += i32::from(some.partners(draw(record), 50).is_some());
        assert_eq!(always.partners(draw(record), 1), Some([0; 3]), "a dataset of one record");
    }
    assert_eq!((seen.len(), mosaics(0.0).partners(draw(1), 50)), (50, None));
    assert!((900..1100).contains(&drawn), "{drawn}");
    // A record has other partners in other epochs.
    let of_epoch = |epoch| always.partners(Draw { epoch, ..draw(7) }, 1 << 40);
    assert_ne!(of_epoch(0), of_epoch(1));
    assert!(Mosaics::of(&Recipe::training(8).unwrap()).is_none());
}

#[test]
#[expect(clippy::float_cmp, reason = "these are whole pixels")]
fn a_picture_that_is_alone_has_the_whole_result() {
    let mosaic = json!({ "size": 32, "scale": [1.0, 1.0], "translate": 0.0, "p": 0.0 });
    let mosaics = Mosaics::of(&recipe(json!([{ "mosaic": mosaic }]), Output::default())).unwrap();
    let whole = Rect { left: 0, top: 0, width: 32, height: 32 };
    assert_eq!(mosaics.tile(0, draw(1), &mut Plan::default()), Some(whole));
    assert_eq!(shown(mosaics.quarter(0), (64, 32), draw(1)), [0.0, 8.0, 32.0, 24.0], "as a letterbox");
}

#[test]
fn what_a_mosaic_cannot_go_with_is_refused_by_name() {
    let mosaic = json!({ "mosaic": { "size": 8 } });
    let refused = [
        (json!([{ "resize": { "size": [8, 8] } }, mosaic]), "transform 1 (mosaic): it must be the first of the list"),
        (json!([mosaic, mosaic]), "transform 1 (mosaic): it must be the first of the list"),
        (
            json!([mosaic, { "color_jitter": { "contrast": 0.4 } }]),
            "transform 1 (color_jitter): it cannot follow mosaic",
        ),
        (json!([mosaic, { "center_crop": { "size": 8 } }]), "transform 1 (center_crop): it cannot follow mosaic"),
        (
            json!([{ "random_apply": { "transforms": [mosaic] } }]),
            "transforms[0] (mosaic): it must be the first of the",
        ),
        (json!([{ "mosaic": { "size": 8, "scale": [2.0, 1.0] } }]), "scale is [2, 1]"),
        (json!([{ "mosaic": { "size": 8, "translate": 1.5 } }]), "translate is 1.5, but must be from 0 to 1"),
        (json!([{ "mosaic": { "size": 8, "p": -1.0 } }]), "p is -1, but must be from 0 to 1"),
    ];
    for (list, words) in refused {
        let error = Recipe::new(from_value(list).unwrap(), Output::default()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
