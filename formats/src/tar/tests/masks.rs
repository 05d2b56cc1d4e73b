//! Tests of masks that are members of samples.

use forebay_columns::ElementType;
use forebay_sources::{ColumnMap, IndexChoice, MaskColumn, RecordParts, Request, Retry};

use super::*;
use crate::masks::tests::png;
use crate::npy::tests::npy;
use crate::tests::loopback::{Changes, Loopback};

fn masked(masks: &[(&str, &str)]) -> Options {
    Options { masks: masks.iter().copied().collect::<ColumnMap>(), ..Options::default() }
}

const BOTH: [(&str, &str); 2] = [("seg", "mask.png;seg.png"), ("depth", "depth.png")];

/// Three samples: with both masks, with one, and without any.
fn samples() -> Vec<u8> {
    TarWriter::of(&[
        ("1.jpg", b"one"),
        ("1.seg.png", &png(8, 3, "seg of one")),
        ("1.depth.png", &png(16, 0, "depth of one")),
        ("2.depth.png", &png(16, 0, "depth of two")),
        ("2.jpg", b"the second"),
        ("3.jpg", b"three"),
    ])
}

/// A picture and its masks.
type Parts = (Vec<u8>, Vec<Option<Vec<u8>>>);

/// Those of a record.
fn parts(source: &dyn Source, record: u64) -> Parts {
    let mut bytes = Vec::new();
    source.read(record, u64::MAX, &mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, source.size(record), "the budget is charged with all of it");
    split(&bytes, source.masks().len())
}

fn split(bytes: &[u8], masks: usize) -> Parts {
    let parts = RecordParts::of(bytes, masks);
    (parts.picture().to_vec(), (0..masks).map(|mask| parts.mask(mask).map(<[u8]>::to_vec)).collect())
}

fn expected() -> [Parts; 3] {
    [
        (b"one".to_vec(), vec![Some(png(8, 3, "seg of one")), Some(png(16, 0, "depth of one"))]),
        (b"the second".to_vec(), vec![None, Some(png(16, 0, "depth of two"))]),
        (b"three".to_vec(), vec![None, None]),
    ]
}

#[test]
fn rule_45_arrays_of_numpy_are_masks_by_their_suffix() {
    let first = npy("<i8", false, "(1, 2)", &[7; 16]);
    let second = npy("|u1", false, "(2, 1)", &[3; 2]);
    let (dir, source) = opened(
        TarWriter::of(&[
            ("1.jpg", b"one"),
            ("1.mask.npy", &first),
            ("2.mask.npy", &second),
            ("2.jpg", b"two"),
            ("2.depth.npy", &npy("<f4", false, "(1,)", &[0; 4])),
        ]),
        &masked(&[("seg", "mask.npy")]),
    );
    let source = source.unwrap();
    assert_eq!(source.masks(), [MaskColumn { name: "seg".into(), element: ElementType::I32 }]);
    let found = [0, 1].map(|record| parts(&*source, record).1);
    assert_eq!(found, [vec![Some(first)], vec![Some(second)]]);
    let floats = open(dir.path().join("x.tar").to_str().unwrap(), &masked(&[("seg", "depth.npy")]));
    let words = floats.unwrap_err().to_string();
    assert!(words.contains("masks.seg") && words.contains("NumPy with whole numbers"), "{words}");
}

#[test]
fn rule_45_members_of_a_sample_may_be_its_masks() {
    let (dir, source) = opened(samples(), &masked(&BOTH));
    let source = source.unwrap();
    let column = |name: &str, element| MaskColumn { name: name.into(), element };
    assert_eq!(source.masks(), [column("seg", ElementType::U8), column("depth", ElementType::U16)]);
    assert_eq!([0, 1, 2].map(|record| parts(&*source, record)), expected());
    let mut bytes = Vec::new();
    for room in 0..source.size(0) {
        let error = source.read(0, room, &mut bytes).unwrap_err();
        assert_eq!((error.retry(), bytes.len()), (Retry::WithRoom(source.size(0)), 0));
    }
    let open = |masks: &[(&str, &str)]| open(dir.path().join("x.tar").to_str().unwrap(), &masked(masks)).unwrap();
    let prints = [open(&BOTH), open(&BOTH[..1]), open(&BOTH[1..]), open(&[("mask_of", "seg.png")])];
    let prints = prints.map(|source| source.fingerprint());
    assert!((1..4).all(|number| !prints[..number].contains(&prints[number])), "{prints:?}");
}

#[test]
fn rule_46_masks_in_a_store_are_requested_behind_their_picture() {
    let (dir, _) = opened(samples(), &masked(&BOTH));
    let store = Loopback::of(dir.path(), Changes::Tagged);
    let source = open("tar:s3://data/x.tar", &store.options(&masked(&BOTH))).unwrap();
    assert_eq!([0, 1, 2].map(|record| parts(&*source, record)), expected());
    for (record, expected) in (0..).zip(expected()) {
        let (sender, answers) = std::sync::mpsc::channel();
        let done = move |buf, read| sender.send((buf, read)).unwrap();
        source.request(Request::new(record, u64::MAX, Vec::new(), source.locator(record), done));
        let (bytes, read) = answers.recv().unwrap();
        read.unwrap();
        assert_eq!(split(&bytes, 2), expected);
    }
}

#[test]
fn rule_53_an_index_has_the_masks_that_are_in_the_same_files() {
    let indexes = tempfile::tempdir().unwrap();
    let (dir, scanned) = opened(samples(), &masked(&BOTH));
    let (tar, index) = (dir.path().join("x.tar"), indexes.path().join("x.arrow"));
    let name = tar.to_str().unwrap();
    let indexed = |options: Options| open(name, &Options { index: IndexChoice::File(index.clone()), ..options });
    crate::make_index(name, &masked(&BOTH), Some(&index), false).unwrap();
    let source = indexed(masked(&BOTH)).unwrap();
    let scanned = scanned.unwrap();
    assert_eq!((source.fingerprint(), source.masks()), (scanned.fingerprint(), scanned.masks()));
    assert_eq!([0, 1, 2].map(|record| parts(&*source, record)), expected());
    for other in [masked(&BOTH[..1]), Options::default()] {
        refusal((tempfile::tempdir().unwrap(), indexed(other)), &["its choice"]);
    }
}

#[test]
fn a_mask_that_cannot_be_used_makes_its_record_bad_and_no_other() {
    let mut tar = TarWriter::default();
    tar.entry(b'0', "1.jpg", b"one").entry(b'0', "1.seg.png", &png(8, 0, ""));
    tar.entry(b'0', "2.jpg", b"two").entry(b'0', "2.seg.png", b"");
    tar.entry(b'0', "3.jpg", b"three").entry(b'2', "3.seg.png", b"");
    tar.entry(b'0', "4.jpg", b"four");
    tar.pax("GNU.sparse.size", "9").pax("GNU.sparse.map", "0,4").entry(b'0', "4.seg.png", b"mask");
    tar.entry(b'0', "5.jpg", b"five").entry(b'0', "5.seg.png", b"no PNG");
    let (dir, source) = opened(tar.end(), &masked(&[("seg", "seg.png")]));
    let source = source.unwrap();
    let found = read(&*source, &dir);
    for (record, word) in [(1, "\"seg.png\" cannot be used: it is empty"), (2, "link"), (3, "sparse")] {
        assert!(found[record].1.as_ref().unwrap_err().contains(word), "{:?}", found[record]);
    }
    assert_eq!(parts(&*source, 4), (b"five".to_vec(), vec![Some(b"no PNG".to_vec())]), "decoding it says what it is");
    assert!(found[0].1.is_ok());
}

#[test]
fn masks_that_no_sample_has_or_that_are_no_png_are_refused_by_name() {
    let refused = |masks: &[(&str, &str)], words: &[&str]| refusal(opened(samples(), &masked(masks)), words);
    refused(&[("seg", "png")], &["masks.seg = \"png\"", "at least one record"]);
    refused(&[("seg", "jpg")], &["masks.seg = ", "member 3.jpg", "with grey"]);
    refused(&[("seg", "json:mask")], &["masks.seg = \"json:mask\"", "seg.png"]);
    refused(&[("mask", "seg.png")], &["\"mask\" is taken"]);
    let files = Options { own: own("members", "files").own, ..masked(&BOTH) };
    refusal(opened(samples(), &files), &["members", "\"samples\" where columns or masks"]);
    let column = Options { columns: [("x", "seg.png")].into_iter().collect(), ..Options::default() };
    refusal(opened(samples(), &column), &["\"x\"", "masks = {...}"]);
}

#[test]
fn a_sparse_mask_is_not_expanded_to_look_at_its_head() {
    let mut tar = TarWriter::default();
    tar.entry(b'0', "1.jpg", b"one");
    // With its holes it would have more bytes than any machine has memory.
    tar.pax("GNU.sparse.size", "9000000000000000").pax("GNU.sparse.map", "0,1").entry(b'0', "1.seg.png", b"x");
    tar.entry(b'0', "2.jpg", b"two").entry(b'0', "2.seg.png", &png(8, 0, ""));
    let (dir, source) = opened(tar.end(), &masked(&[("seg", "seg.png")]));
    let found = read(&*source.unwrap(), &dir);
    assert!(found[0].1.as_ref().unwrap_err().contains("--sparse"), "{found:?}");
}
