//! Paddle's readers in Rust, over a private daemon: files by their tags, passes, and pictures of the wrong size.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use forebay_client::reader::{Chain, Dims, Reader, ReaderError};
use forebay_client::{Patient, PrivateDaemon};
use forebay_pixels::sample::photograph;

use crate::daemon::Home;

#[path = "../../../examples/reader.rs"]
#[expect(dead_code, reason = "the test calls what its main calls")]
mod example;

const FOREBAY: &str = env!("CARGO_BIN_EXE_forebay");

fn daemon() -> Arc<PrivateDaemon> {
    Arc::new(PrivateDaemon::new(FOREBAY))
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// A CSV of some of the pictures, whose name says nothing of its records.
fn csv(home: &Home, pictures: std::ops::Range<u64>) -> String {
    let lines = pictures.map(|number| format!("{},{number}", home.picture(number).display()));
    let path = home.path("list.csv");
    fs::write(&path, ["path,label".to_owned()].into_iter().chain(lines).collect::<Vec<_>>().join("\n")).unwrap();
    format!("csv:{}?root=/", path.display())
}

/// Records of all that is left of a pass, or of all passes.
fn rest(reader: &mut Reader) -> Vec<i64> {
    let mut records = Vec::new();
    while reader.has_next().unwrap() {
        let batch = reader.read_next().unwrap();
        records.extend_from_slice(&batch.records()[..batch.valid()]);
    }
    records
}

#[test]
fn the_example_reads_every_picture_of_every_pass_from_files_of_several_formats() {
    let home = Home::with_pictures(10);
    let files = [text(&home.path("pictures")), csv(&home, 0..3)];
    let all = example::brightness(FOREBAY, 2, &files).unwrap();
    assert_eq!((all.pictures, all.values), (2 * 13, 2 * 13 * 32 * 32 * 3));
    assert!((1..255 * all.values).contains(&all.sum), "{all:?}");
}

#[test]
fn rule_10_a_pass_ends_the_reader_until_it_is_reset_and_what_is_left_is_abandoned() {
    let home = Home::with_pictures(10);
    let chain = Chain::open_files([text(&home.path("pictures"))]).unwrap().with("size", 16).batch(4).unwrap();
    let daemon = daemon();
    let mut reader = Reader::open(&chain, &daemon).unwrap();
    assert_eq!(rest(&mut reader), (0..10).collect::<Vec<i64>>());
    assert!(matches!(reader.read_next(), Err(ReaderError::End)));
    reader.reset().unwrap();
    assert_eq!(reader.read_next().unwrap().records()[..4], [0, 1, 2, 3]);
    reader.reset().unwrap();
    assert_eq!(rest(&mut reader), (0..10).collect::<Vec<i64>>());
    let audit = reader.session_mut().audit(&mut Patient).unwrap();
    let counts: Vec<_> = audit.iter().take(3).map(|epoch| (epoch.delivered, epoch.abandoned)).collect();
    assert_eq!(counts, [(10, 0), (4, 6), (10, 0)]);
    assert!(audit.iter().take(3).all(|epoch| epoch.adds_up == Some(true)));
}

#[test]
fn passes_are_read_as_one_and_each_has_its_own_order() {
    let home = Home::with_pictures(12);
    let chain = Chain::open_files([text(&home.path("pictures"))]).unwrap().with("size", 16);
    let chain = chain.shuffle(4).unwrap().batch(4).unwrap().multi_pass(3).unwrap();
    let daemon = daemon();
    let mut reader = Reader::open(&chain, &daemon).unwrap();
    let records = rest(&mut reader);
    let mut orders: Vec<Vec<i64>> = records.chunks(12).map(<[i64]>::to_vec).collect();
    assert_eq!(orders.len(), 3);
    orders.dedup();
    assert_eq!(orders.len(), 3, "no order comes twice in a row");
    for mut order in orders {
        order.sort_unstable();
        assert_eq!(order, (0..12).collect::<Vec<i64>>());
    }
    reader.reset().unwrap();
    assert!(!reader.has_next().unwrap(), "there are no further passes");
}

#[test]
fn pictures_are_left_as_they_are_if_they_have_the_shape_and_another_one_is_named() {
    let home = Home::with_pictures(6);
    let dims = Dims::new(&[vec![-1, 18, 24, 3], vec![-1]]).unwrap();
    let chain = Chain::open_files([text(&home.path("pictures"))]).unwrap().dims(dims).batch(2).unwrap();
    let daemon = daemon();
    let mut reader = Reader::open(&chain, &daemon).unwrap();
    let batch = reader.read_next().unwrap();
    assert_eq!((batch.shape().height, batch.shape().width), (18, 24));
    assert_eq!(rest(&mut reader), [2, 3, 4, 5]);
    fs::write(home.picture(3), photograph(3, 40, 30)).unwrap();
    let mut reader = Reader::open(&chain, &daemon).unwrap();
    let error = loop {
        match reader.read_next() {
            Ok(_) => {}
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("0003.jpg"), "{error}");
    assert!(error.contains("30 pixels high and 40 wide, but must be 18 high and 24 wide"), "{error}");
}

#[test]
fn files_without_a_tag_and_shapes_that_batches_do_not_have_are_named() {
    let home = Home::with_pictures(2);
    let daemon = daemon();
    let noise = home.path("noise.bin");
    fs::write(&noise, [7; 100]).unwrap();
    let open = |chain: Chain| Reader::open(&chain.batch(2).unwrap(), &daemon).unwrap_err().to_string();
    let error = open(Chain::open_files([text(&home.path("pictures")), text(&noise)]).unwrap().with("size", 16));
    assert!(error.contains("noise.bin") && error.contains("recordio"), "{error}");
    let dims = Dims::new(&[vec![-1, 20, 20, 3]]).unwrap();
    let error = open(Chain::open_files([text(&home.path("pictures"))]).unwrap().with("size", 16).dims(dims));
    assert!(error.contains("/pictures\"): shapes[0] is (-1, 20, 20, 3), but the column"), "{error}");
}
