//! What chains of readers become, and which of them and of their shapes are refused.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use forebay_client::reader::{Chain, ChainError, ColumnAxes, Dims};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The settings that say what becomes of a picture.
const RECIPES: [&str; 3] = ["size", "transform", "recipe"];

fn files() -> Chain {
    Chain::open_files(["/data/a.recordio"]).unwrap()
}

fn read(shapes: &[&[i64]]) -> Result<Dims, String> {
    let shapes: Vec<_> = shapes.iter().map(|shape| shape.to_vec()).collect();
    Dims::new(&shapes).map_err(|error| error.to_string())
}

fn dims(shapes: &[&[i64]]) -> Dims {
    read(shapes).unwrap()
}

/// One of the readers that may be chained, with a number that it takes.
fn link(chain: Chain, kind: usize) -> Result<Chain, ChainError> {
    match kind {
        0 => chain.shuffle(7),
        1 => chain.batch(7),
        2 => chain.multi_pass(7),
        _ => chain.double_buffer(),
    }
}

#[test]
fn a_whole_chain_is_the_settings_of_one_stream() {
    let chain = Chain::open_files(["/data/a.recordio", "tar:/data/b.tar"]).unwrap().with("size", 224);
    let chain = chain.shuffle(1000).unwrap().batch(32).unwrap().multi_pass(5).unwrap().double_buffer().unwrap();
    let expected = json!({
        "source": ["/data/a.recordio", "tar:/data/b.tar"], "batch_size": 32, "shuffle": "grains", "epochs": 5,
        "prefetch_queue_depth": 2, "size": 224,
    });
    assert_eq!(Value::from(chain.settings().unwrap()), expected);
    assert!(chain.has_passes());
}

#[test]
fn repeats_and_weights_shuffle_all_records() {
    for key in ["repeats", "weights"] {
        let settings = files().with(key, 2).shuffle(9).unwrap().settings().unwrap();
        assert_eq!(settings["shuffle"], true, "{key}");
    }
}

#[test]
fn files_alone_are_read_one_record_at_a_time_pass_by_pass() {
    let settings = files().settings().unwrap();
    assert_eq!(Value::from(settings), json!({ "source": ["/data/a.recordio"], "batch_size": 1 }));
    assert!(!files().has_passes());
}

#[test]
fn shapes_without_a_recipe_are_the_size_that_pictures_must_have() {
    let chain = files().dims(dims(&[&[-1, 20, 30, 3], &[-1]]));
    assert_eq!(chain.settings().unwrap()["transform"], json!([{ "expect_size": { "size": [20, 30] } }]));
    for recipe in RECIPES {
        let settings = chain.clone().with(recipe, 8).settings().unwrap();
        assert_eq!(settings[recipe], 8);
        assert!(!RECIPES.iter().any(|key| *key != recipe && settings.contains_key(*key)), "{recipe}");
    }
}

#[test]
fn several_readers_of_files_become_one() {
    let [a, b] = ["/data/a.tar", "/data/b.csv"].map(|file| Chain::open_files([file]).unwrap().with("size", 8));
    let both = Chain::multiple([a.clone(), b]).unwrap();
    assert_eq!(both, Chain::open_files(["/data/a.tar", "/data/b.csv"]).unwrap().with("size", 8));
    assert!(matches!(Chain::multiple([a.clone(), files()]), Err(ChainError::Unlike(_))));
    assert!(matches!(Chain::multiple([a.clone(), a.batch(2).unwrap()]), Err(ChainError::Unlike(_))));
    assert_eq!(Chain::multiple([]), Err(ChainError::NoFile));
}

#[test]
fn what_no_stream_does_is_refused_with_what_to_do() {
    let batched = files().batch(8).unwrap();
    for (refused, words) in [
        (
            batched.clone().shuffle(100),
            "shuffle cannot be chained behind batch. Chain the readers in this order: open_files, shuffle, batch",
        ),
        (files().double_buffer().unwrap().batch(8), "batch cannot be chained behind double_buffer"),
        (files().multi_pass(2).unwrap().batch(8), "batch cannot be chained behind multi_pass"),
        (batched.clone().batch(8), "batch is in the chain already; chain it once"),
        (files().shuffle(0), "shuffle: give a number from 1 on"),
        (files().batch(0), "batch: give a number from 1 on"),
        (files().multi_pass(0), "multi_pass: give a number from 1 on"),
        (Chain::open_files::<String>([]), "open_files: there is no file"),
    ] {
        let error = refused.unwrap_err().to_string();
        assert!(error.starts_with(words), "{error}");
    }
    for (key, link) in [
        ("source", "open_files"),
        ("shuffle", "shuffle"),
        ("batch_size", "batch"),
        ("epochs", "multi_pass"),
        ("prefetch_queue_depth", "double_buffer"),
    ] {
        let error = files().with(key, 1).settings().unwrap_err().to_string();
        assert!(error.starts_with(&format!("{key}: in a chain, {link} decides on it")), "{error}");
    }
}

#[test]
fn batches_of_other_shapes_name_the_files() {
    let chain = Chain::open_files(["/data/a.tar", "/data/b.tar", "/data/c.tar"]).unwrap();
    let columns = [ColumnAxes::new("images", [None, Some(20), Some(30), Some(3)])];
    assert_eq!(chain.check(&columns), Ok(()), "without shapes, any will do");
    let chain = chain.dims(dims(&[&[-1, 20, 20, 3]]));
    let error = chain.check(&columns).unwrap_err().to_string();
    assert!(error.starts_with("open_files(\"/data/a.tar\" and 2 more): shapes[0] is (-1, 20, 20, 3), but"), "{error}");
}

#[test]
fn the_images_say_which_axis_has_the_colours_and_how_large_pictures_are() {
    for (shape, layout, size) in [
        ([-1, 20, 30, 3], None, Some([20, 30])),
        ([-1, 3, 20, 30], Some("NCHW"), Some([20, 30])),
        ([-1, 3, 3, 3], None, Some([3, 3])),
        ([-1, -1, 30, 3], None, None),
        ([-1, 3, 20, -1], Some("NCHW"), None),
        ([-1, 3, 20, 1], Some("NCHW"), Some([20, 1])),
    ] {
        let settings = files().dims(dims(&[&shape])).settings().unwrap();
        assert_eq!(settings.get("layout").map(|layout| layout.as_str().unwrap()), layout, "{shape:?}");
        let expected = size.map(|size| json!([{ "expect_size": { "size": size } }]));
        assert_eq!(settings.get("transform"), expected.as_ref(), "{shape:?}");
    }
    for (shape, layout) in [([-1, 20, 30, 1], None), ([-1, 1, 20, 30], Some("NCHW")), ([-1, 1, 1, 1], None)] {
        let settings = files().dims(dims(&[&shape])).settings().unwrap();
        assert_eq!(settings.get("layout").map(|layout| layout.as_str().unwrap()), layout, "{shape:?}");
        assert_eq!(settings["mode"], "L");
    }
    for (shape, mode) in [([-1, 20, 30, 4], "RGBA"), ([-1, 2, 20, 30], "LA"), ([-1, 4, 2, 1], "L")] {
        assert_eq!(files().dims(dims(&[&shape])).settings().unwrap()["mode"], mode, "{shape:?}");
    }
    assert_eq!(files().dims(dims(&[&[-1, 3, 20, 30]])).settings().unwrap().get("mode"), None);
    let told = files().dims(dims(&[&[-1, 3, 20, 30]])).with("layout", "NHWC").settings().unwrap();
    assert_eq!(told["layout"], "NHWC");
}

#[test]
fn shapes_without_a_meaning_are_refused_with_their_place() {
    for (shapes, words) in [
        (&[][..], "shapes[0] is missing"),
        (&[&[-1, 20, 30, 5][..]], "shapes[0] is (-1, 20, 30, 5); the images come first"),
        (&[&[-1, 3, 20][..]], "shapes[0] is (-1, 3, 20); the images come first"),
        (&[&[32, 3, 20, 30][..]], "shapes[0] is (32, 3, 20, 30); its first axis is the places of a batch"),
        (&[&[-1, 3, 20, 0][..]], "shapes[0] has an axis of 0"),
        (&[&[-1, 3, 20, 30][..], &[-2]], "shapes[1] has an axis of -2"),
        (&[&[-1, 3, 20, 30][..], &[]], "shapes[1] is (); its first axis"),
        (&[&[-1, 3, 20, i64::MAX][..]], "shapes[0] has an axis of 9223372036854775807"),
    ] {
        let error = read(shapes).unwrap_err();
        assert!(error.starts_with(words), "{error}");
    }
}

#[test]
fn a_column_of_another_shape_is_named_with_both_shapes() {
    let columns = [
        ColumnAxes::new("images", [None, Some(20), Some(30), Some(3)]),
        ColumnAxes::new("labels", [None]),
        ColumnAxes::new("boxes", [None, None, Some(4)]),
    ];
    let check = |shapes: &[&[i64]]| dims(shapes).check(&columns).map_err(|error| error.to_string());
    let images = &[-1, 20, 30, 3][..];
    for fits in [&[images][..], &[images, &[-1]], &[images, &[-1], &[-1, -1, 4]], &[&[-1, -1, -1, 3]]] {
        assert_eq!(check(fits), Ok(()), "{fits:?}");
    }
    for (shapes, words) in [
        (&[&[-1, 20, 31, 3][..]][..], "shapes[0] is (-1, 20, 31, 3), but the column \"images\" has (-1, 20, 30, 3)"),
        (&[images, &[-1, 1]], "shapes[1] is (-1, 1), but the column \"labels\" has (-1,)"),
        (&[images, &[-1], &[-1, 2, 4]], "shapes[2] is (-1, 2, 4), but the column \"boxes\" has (-1, -1, 4)"),
        (&[images, &[-1], &[-1, -1, 4], &[-1]], "shapes[3] is of no column; there are only images, labels, boxes"),
    ] {
        let error = check(shapes).unwrap_err();
        assert!(error.starts_with(words), "{error}");
    }
}

proptest! {
    /// Against the plain rule: no reader twice, and the numbers of the kinds never fall, but for the last two.
    #[test]
    fn any_chain_is_taken_if_and_only_if_it_is_in_the_order_of_streams(kinds in prop::collection::vec(0..4_usize, 0..6)) {
        let made = kinds.iter().try_fold(files(), |chain, kind| link(chain, *kind));
        let once = (0..4).all(|kind| kinds.iter().filter(|other| **other == kind).count() <= 1);
        let ordered = kinds.windows(2).all(|pair| pair[0].min(2) <= pair[1].min(2));
        prop_assert_eq!(made.is_ok(), once && ordered);
    }
}
