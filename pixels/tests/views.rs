//! Views: each has the pixels that it would have alone, from one decode of what all of them need.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::sample::{JpegForm, photograph_rgb};
use forebay_pixels::{
    Background, CpuDecoder, Draw, Fault, Form, Limits, Match, Output, Recipe, SeekPoints, Transform, View, ViewOrder,
    ViewPlaces, document,
};
use serde_json::{Map, Value, from_value, json};

fn recipe(list: Value) -> Recipe {
    let list: Vec<Transform> = from_value(list).unwrap();
    Recipe::new(list, Output::default()).unwrap()
}

/// Two global views and two local ones, as for self-supervised training, with colours and blur.
fn views() -> (Recipe, Vec<View>) {
    let global =
        json!([{ "random_resized_crop": { "size": 48, "scale": [0.32, 1.0] } }, { "random_horizontal_flip": {} }]);
    let second = json!([
        { "random_resized_crop": { "size": 48, "scale": [0.32, 1.0] } },
        { "color_jitter": { "brightness": 0.4, "hue": 0.1 } },
        { "gaussian_blur": { "kernel_size": 5 } },
    ]);
    let local =
        json!([{ "random_resized_crop": { "size": 20, "scale": [0.05, 0.32] } }, { "random_horizontal_flip": {} }]);
    let solarized = json!([{ "random_solarize": { "threshold": 128 } }, { "center_crop": { "size": 20 } }]);
    let view = |name: &str, list| View { name: name.to_owned(), recipe: recipe(list) };
    let further =
        vec![view("second", second), view("local_0", local.clone()), view("local_1", local), view("old", solarized)];
    (recipe(global), further)
}

/// What a decoder makes of each view at once.
fn together(decoder: &mut CpuDecoder, bytes: &[u8], order: ViewOrder<'_>) -> Result<Vec<Vec<u8>>, Fault> {
    let lens = std::iter::once(order.recipe.place_len()).chain(order.views.iter().map(|view| view.recipe.place_len()));
    let mut places: Vec<Vec<u8>> = lens.map(|len| vec![0xEE; len]).collect();
    let (first, further) = places.split_first_mut().unwrap();
    let mut further: Vec<&mut [u8]> = further.iter_mut().map(Vec::as_mut_slice).collect();
    let to = ViewPlaces { first, further: &mut further };
    decoder.decode_views((bytes, None), order, &Limits::default(), to)?;
    Ok(places)
}

fn alone(bytes: &[u8], recipe: &Recipe, draw: Draw) -> Vec<u8> {
    let mut out = vec![0; recipe.place_len()];
    CpuDecoder::new().decode(bytes, recipe, draw, &Limits::default(), &mut out).unwrap();
    out
}

fn files() -> Vec<Vec<u8>> {
    let jpeg = |sampling, progressive, orientation: u8| {
        let form = JpegForm { sampling, progressive, ..JpegForm::default() };
        let plain = form.encode(&photograph_rgb(3, 201, 134), 201, 134).unwrap();
        let exif = [
            &b"\xff\xe1\0\x22Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0"[..],
            &[orientation, 0, 0, 0],
            &[0; 4],
        ]
        .concat();
        [&plain[..2], &exif, &plain[2..]].concat()
    };
    let ppm = [&b"P6\n90 60\n255\n"[..], &photograph_rgb(4, 90, 60)].concat();
    vec![jpeg([2, 2], false, 1), jpeg([1, 1], false, 6), jpeg([2, 1], true, 3), ppm]
}

#[test]
fn rule_48_a_view_has_the_pixels_that_it_has_alone() {
    let (recipe, views) = views();
    let mut decoder = CpuDecoder::new();
    for bytes in files() {
        for epoch in 0..6 {
            let draw = Draw { seed: 8, epoch, record: 5 };
            let made = together(&mut decoder, &bytes, ViewOrder { recipe: &recipe, views: &views, draw }).unwrap();
            assert!(made[0] == alone(&bytes, &recipe, draw), "images, epoch {epoch}");
            for (view, made) in views.iter().zip(&made[1..]) {
                assert!(*made == alone(&bytes, &view.recipe, draw.of_view(&view.name)), "{}, epoch {epoch}", view.name);
            }
            assert!(made[2] != made[3], "two views with one list differ by their names");
        }
    }
}

#[test]
fn rule_48_a_view_changes_no_other_and_a_name_decides_its_draws() {
    let (recipe, views) = views();
    let (bytes, draw) = (&files()[0], Draw { seed: 1, epoch: 2, record: 3 });
    let mut decoder = CpuDecoder::new();
    let all = together(&mut decoder, bytes, ViewOrder { recipe: &recipe, views: &views, draw }).unwrap();
    let fewer = together(&mut decoder, bytes, ViewOrder { recipe: &recipe, views: &views[1..2], draw }).unwrap();
    assert!(all[0] == fewer[0] && all[2] == fewer[1]);
    assert_eq!(draw.of_view("local_0"), draw.of_view("local_0"));
    let bits = ["local_0", "local_1", "", "images"].map(|name| draw.of_view(name).at(0).bits(0));
    assert_eq!(bits, [0x7d9d_fb30_7a23_a55b, 0x678e_344a_60de_73f5, 0xa74c_9cd4_7e51_82ca, 0x556d_4ca6_2308_ffb9]);
}

#[test]
fn rule_48_kept_pictures_and_seek_points_give_the_same_views() {
    let (recipe, views) = views();
    let bytes = &files()[0];
    let (mut decoder, mut points) = (CpuDecoder::new(), SeekPoints::default());
    let (kept, _) = decoder.upright(bytes, Form::default(), &Limits::default()).unwrap();
    for epoch in 0..4 {
        let order = ViewOrder { recipe: &recipe, views: &views, draw: Draw { seed: 8, epoch, record: 5 } };
        let plain = together(&mut decoder, bytes, order).unwrap();
        for is_kept in [true, false] {
            let mut places: Vec<Vec<u8>> = plain.iter().map(|place| vec![0; place.len()]).collect();
            let (first, further) = places.split_first_mut().unwrap();
            let mut further: Vec<&mut [u8]> = further.iter_mut().map(Vec::as_mut_slice).collect();
            let to = ViewPlaces { first, further: &mut further };
            if is_kept {
                decoder.transform_views(&kept, order, &Limits::default(), to).unwrap();
            } else {
                decoder.decode_views((bytes, Some(&mut points)), order, &Limits::default(), to).unwrap();
            }
            assert!(places == plain, "epoch {epoch}, kept: {is_kept}");
        }
    }
}

#[test]
fn rule_48_a_picture_that_one_view_cannot_be_made_of_is_bad() {
    let (recipe, views) = views();
    let bytes = &files()[0];
    let order = ViewOrder { recipe: &recipe, views: &views, draw: Draw { seed: 8, epoch: 0, record: 5 } };
    let mut decoder = CpuDecoder::new();
    let cut = &bytes[..bytes.len() / 2];
    assert_eq!(together(&mut decoder, cut, order), Err(Fault::Truncated));
    assert!(together(&mut decoder, bytes, order).is_ok(), "the next picture is good");
}

#[test]
fn rule_48_the_document_of_a_view_has_the_first_one_s_defaults() {
    let map = |value| match value {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    let first = map(
        json!({ "size": 32, "dtype": "float32", "match": "torch", "fill": [1, 2, 3], "adjust_orientation": false }),
    );
    let first = document::read(&first, true).unwrap();
    let view = document::read_view(&map(json!({ "size": 16, "layout": "NCHW" })), true, &first).unwrap();
    assert_eq!((view.output().dtype, view.output().background), (first.output().dtype, Background::Colour([1, 2, 3])));
    assert_eq!((view.matched(), view.input(), view.shape()), (Match::Torch, first.input(), (16, 16, 3)));
    assert_ne!(view.output().layout, first.output().layout);
    let refused = document::read_view(&Map::new(), true, &first).unwrap_err();
    assert!(refused.mistakes[0].problem.starts_with("is missing"));
}
