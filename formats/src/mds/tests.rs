//! Tests of what a dataset in MDS may hold, and of what is wrong with one.

mod values;
pub(crate) mod writer;

use std::fs;

use forebay_sources::{DiskCache, Labels, Options, Source};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;
use tempfile::TempDir;

use self::writer::{MdsWriter, WrittenColumn};
use crate::scene::{contents, says};
use crate::unpacked::Compression;
use crate::{Opened, open};

const COLUMNS: [WrittenColumn; 3] = [("caption", "str", None), ("image", "jpeg:90", None), ("label", "int", Some(8))];

fn int(number: i64) -> [u8; 8] {
    number.to_le_bytes()
}

fn plain() -> MdsWriter {
    let mut mds = MdsWriter::new(&COLUMNS);
    mds.shard(&[&[b"a cat", b"one", &int(7)], &[b"", b"second", &int(-1)]]).shard(&[&[b"x", b"3", &int(2)]]);
    mds
}

fn opened(mds: &MdsWriter, options: &Options) -> (TempDir, Opened) {
    let dir = tempfile::tempdir().unwrap();
    mds.write(dir.path());
    let source = open(dir.path().to_str().unwrap(), options);
    (dir, source)
}

fn mapped(columns: &[(&str, &str)]) -> Options {
    Options { columns: columns.iter().copied().collect(), ..Options::default() }
}

fn refusal(mds: &MdsWriter, options: &Options, words: &[&str]) {
    let message = opened(mds, options).1.unwrap_err().to_string();
    says(&message, words);
}

/// The type and the bytes of a column's values.
fn column(source: &dyn Source, name: &str) -> (String, Vec<Vec<u8>>) {
    let table = source.targets();
    let place = table.schema().find(name).unwrap();
    let records = usize::try_from(source.len()).unwrap();
    let values = (0..records).map(|record| table.value(place, record).bytes().to_vec()).collect();
    (table.columns()[place].column_type().to_string(), values)
}

#[test]
fn samples_of_several_shards_are_records_with_labels_and_columns() {
    let (dir, source) = opened(&plain(), &mapped(&[("text", "title;caption"), ("again", "label")]));
    let source = source.unwrap();
    assert_eq!(contents(&*source), [Ok(b"one".to_vec()), Ok(b"second".to_vec()), Ok(b"3".to_vec())]);
    assert_eq!((0..3).map(|record| source.label(record)).collect::<Vec<_>>(), [7, -1, 2]);
    assert_eq!(column(&*source, "text"), ("u8 [*]".into(), vec![b"a cat".to_vec(), vec![], b"x".to_vec()]));
    assert_eq!(column(&*source, "again").0, "i64");
    assert!(source.locator(1).to_string().ends_with("shard.00000.mds, row 1"));
    assert!(source.locator(2).to_string().ends_with("shard.00001.mds, row 0"));
    let by_index = format!("mds:{}/index.json", dir.path().display());
    let without = open(&by_index, &Options { labels: Labels::None, ..Options::default() }).unwrap();
    assert_eq!((without.len(), without.label(0)), (3, -1));
}

#[test]
fn numbers_and_texts_of_every_encoding_become_columns() {
    let mut mds = MdsWriter::new(&[
        ("image", "png", None),
        ("f16", "float16", Some(2)),
        ("f32", "float32", Some(4)),
        ("f64", "float64", Some(8)),
        ("i8", "int8", Some(1)),
        ("u16", "uint16", Some(2)),
        ("u64", "uint64", Some(8)),
        ("digits", "str_int", None),
        ("decimal", "str_float", None),
        ("raw", "bytes", None),
        ("info", "json", None),
    ]);
    let u64_max = u64::MAX.to_le_bytes();
    let (half, float, double) = ([0, 0x3c], 1.5_f32.to_le_bytes(), 2.5_f64.to_le_bytes());
    mds.shard(&[&[b"p", &half, &float, &double, b"\xff", b"\x01\x02", &u64_max, b"-12", b"0.25", b"\xff\0", b"{}"]]);
    let names = ["f16", "f32", "f64", "i8", "u16", "u64", "digits", "decimal", "raw", "info"];
    let columns: Vec<(&str, &str)> = names.iter().map(|&name| (name, name)).collect();
    let source = opened(&mds, &mapped(&columns)).1.unwrap();
    let expected: [(&str, &[u8]); 10] = [
        ("f16", &half),
        ("f32", &float),
        ("f64", &double),
        ("i8", b"\xff"),
        ("u16", b"\x01\x02"),
        ("u64", &u64_max),
        ("i64", &int(-12)),
        ("f64", &0.25_f64.to_le_bytes()),
        ("u8 [*]", b"\xff\0"),
        ("u8 [*]", b"{}"),
    ];
    for (name, (column_type, bytes)) in names.iter().zip(expected) {
        assert_eq!(column(&*source, name), (column_type.to_owned(), vec![bytes.to_vec()]), "{name}");
    }
    // No column has a label's name.
    assert_eq!(source.label(0), -1);
    let labelled = opened(&mds, &mapped(&[("labels", "digits")])).1.unwrap();
    assert_eq!(labelled.label(0), -12);
    let refused = opened(&mds, &mapped(&[("images", "raw"), ("labels", "info")])).1.unwrap_err().to_string();
    says(&refused, &["no sample has a label in \"info\"", "a list or an object", "labels=\"none\""]);
}

#[test]
fn a_label_in_json_is_a_text_or_an_integer_and_a_list_is_none() {
    let labels = |values: &[&[u8]]| {
        let mut mds = MdsWriter::new(&[("image", "png", None), ("target", "json", None)]);
        let samples: Vec<[&[u8]; 2]> = values.iter().map(|value| [&b"p"[..], *value]).collect();
        mds.shard(&samples.iter().map(|sample| &sample[..]).collect::<Vec<_>>());
        opened(&mds, &Options::default()).1
    };
    let texts = labels(&[b"\"zebra\"", b" \"yak\"", b"[\"yak\", \"zebra\"]", b"2.5", b"null"]).unwrap();
    assert_eq!(texts.classes(), ["yak", "zebra"]);
    assert_eq!((0..5).map(|record| texts.label(record)).collect::<Vec<_>>(), [1, 0, -1, -1, -1]);
    for (record, word) in [(2, "is a list"), (3, "neither an integer nor a text"), (4, "label is empty")] {
        says(&texts.read(record, u64::MAX, &mut Vec::new()).unwrap_err().to_string(), &[word]);
    }
    assert_eq!(labels(&[b"-3", b"\"4\""]).unwrap().label(1), 4);
    for wrong in [&b"[4, 5]"[..], b"{\"id\": 4}", b"4 5", b"true"] {
        says(&labels(&[wrong, wrong]).unwrap_err().to_string(), &["no sample has a label in \"target\""]);
    }
}

#[test]
fn a_text_with_a_list_is_no_label_unless_texts_were_asked_for() {
    let mut mds = MdsWriter::new(&[("image", "png", None), ("label", "str", None)]);
    mds.shard(&[&[b"p", b"[PAD]"], &[b"p", b"[\"yak\", \"gnu\"]"]]);
    let refused = opened(&mds, &Options::default()).1.unwrap_err().to_string();
    says(&refused, &["record 1 is a list in a text", "labels=\"none\"", "labels=\"text\""]);
    let texts = opened(&mds, &Options { labels: Labels::Text, ..Options::default() }).1.unwrap();
    assert_eq!(texts.classes(), ["[\"yak\", \"gnu\"]", "[PAD]"]);
}

#[test]
fn columns_that_cannot_be_used_are_refused_with_the_reason() {
    let mut mds = MdsWriter::new(&[
        ("array", "ndarray:float32", None),
        ("code", "pkl", None),
        ("image", "list[pil]", None),
        ("new", "cube", None),
        ("score", "float32", Some(4)),
    ]);
    mds.shard(&[&[b"a", b"c", b"p", b"n", &[0; 4]]]);
    for (columns, words) in [
        (&[][..], &["no column has the encoding jpeg, png or pil", "\"image\"", "columns="][..]),
        (&[("images", "image")], &["\"list[pil]\"", "raw pixels"]),
        (&[("images", "picture")], &["\"images\" names no column", "\"picture\"", "\"score\""]),
        (&[("images", "score")], &["\"score\"", "cannot be used"]),
    ] {
        refusal(&mds, &mapped(columns), words);
    }
    mds.columns.push(("photo", "jpeg", None));
    mds.files.clear();
    let mut mds = MdsWriter::new(&mds.columns);
    mds.shard(&[&[b"a", b"c", b"p", b"n", &[0; 4], b"photo"]]);
    for (columns, words) in [
        (&[("code", "code")][..], &["run code"][..]),
        (&[("array", "array:x")], &["\"array:x\""]),
        (&[("new", "new")], &["does not know"]),
        (&[("labels", "score")], &["\"score\"", "cannot be used"]),
        (&[("mask_of", "photo")], &["only read as images"]),
        (&[("a b", "score")], &["letters"]),
    ] {
        refusal(&mds, &mapped(columns), words);
    }
    let mut two = MdsWriter::new(&[("a", "jpeg", None), ("b", "png", None)]);
    two.shard(&[&[b"1", b"2"]]);
    refusal(&two, &Options::default(), &["more than one column", "\"a\", \"b\""]);
    let (_dir, source) = opened(&two, &mapped(&[("images", "b")]));
    assert_eq!(contents(&*source.unwrap()), [Ok(b"2".to_vec())]);
}

#[test]
fn an_index_that_does_not_fit_is_refused() {
    type Change = fn(&mut MdsWriter);
    let cases: [(Change, &[&str]); 10] = [
        (|mds| mds.said(1)["format"] = json!("csv"), &["shard 1", "\"csv\"", "MDSWriter"]),
        (|mds| mds.said(0)["version"] = json!(1), &["version 1"]),
        (|mds| mds.said(1)["column_names"][0] = json!("other"), &["shard 1", "other columns"]),
        (|mds| mds.said(0)["column_sizes"] = json!([null, null]), &["shard 0", "sizes"]),
        (|mds| mds.said(0)["column_sizes"] = json!([null, null, 4]), &["shard 0", "sizes"]),
        (|mds| mds.said(1)["raw_data"]["basename"] = json!("../x.mds"), &["leads out of the folder"]),
        (|mds| mds.said(1)["raw_data"]["basename"] = json!("/etc/passwd"), &["leads out of the folder"]),
        (|mds| mds.said(1)["raw_data"]["bytes"] = json!(u64::MAX), &["the index says 18446744073709551615"]),
        (|mds| mds.said(1)["samples"] = json!(u64::MAX), &["18446744073709551615 samples"]),
        (|mds| *mds.said(1) = json!({"format": "mds"}), &["not an index of MDS shards"]),
    ];
    for (change, words) in cases {
        let mut mds = plain();
        change(&mut mds);
        refusal(&mds, &Options::default(), words);
    }
    let dir = tempfile::tempdir().unwrap();
    MdsWriter::new(&COLUMNS).write(dir.path());
    let name = format!("mds:{}", dir.path().display());
    assert!(open(&name, &Options::default()).unwrap_err().to_string().contains("holds no record"));
}

#[test]
fn compressed_shards_are_unpacked_into_the_cache_and_otherwise_refused_by_name() {
    for (name, compression) in [
        ("zstd:7", Compression::Zstd),
        ("gz", Compression::Gzip),
        ("bz2:9", Compression::Bzip2),
        ("br:11", Compression::Brotli),
        ("snappy", Compression::Snappy),
    ] {
        let mut mds = plain();
        mds.said(1)["compression"] = json!(name);
        mds.said(1)["zip_data"] = json!({"basename": "shard.00001.mds.z", "bytes": 1, "hashes": {}});
        assert_eq!(opened(&mds, &Options::default()).1.unwrap().len(), 3, "one that is there as it is");
        let (_, bytes) = mds.files.pop().unwrap();
        mds.files.push(("shard.00001.mds.z".into(), compression.compressed(&bytes)));
        refusal(&mds, &Options::default(), &["shard.00001.mds.z", "cache_size"]);
        let cache = tempfile::tempdir().unwrap();
        let cache = DiskCache { folder: cache.path().join("cache"), size: DiskCache::LEAST };
        let (_dir, source) = opened(&mds, &Options { cache: Some(cache), ..mapped(&[("text", "caption")]) });
        let source = source.unwrap();
        assert_eq!(contents(&*source)[1..], [Ok(b"second".to_vec()), Ok(b"3".to_vec())], "{name}");
        assert_eq!((source.label(2), column(&*source, "text").1[2].as_slice()), (2, &b"x"[..]));
    }
    let mut mds = plain();
    mds.files.pop();
    mds.said(1)["compression"] = json!("xz:9");
    mds.said(1)["zip_data"] = json!({"basename": "x.xz"});
    refusal(&mds, &Options::default(), &["shard.00001.mds", "\"xz:9\"", "Decompress"]);
    mds.said(1)["compression"] = json!("zstd");
    refusal(&mds, &Options::default(), &["x.xz", "does not exist"]);
    mds.said(1)["zip_data"] = json!({"basename": "../x"});
    refusal(&mds, &Options::default(), &["leads out of the folder"]);
    mds.said(1)["compression"] = json!(null);
    mds.said(1)["zip_data"] = json!(null);
    refusal(&mds, &Options::default(), &["shard.00001.mds", "does not exist"]);
}

#[test]
fn what_is_wrong_with_one_sample_is_an_error_of_its_read() {
    let mut mds = MdsWriter::new(&[("caption", "str", None), ("image", "jpeg", None), ("label", "str_int", None)]);
    mds.shard(&[&[b"a", b"one", b"1"], &[b"b", b"two", b"x"], &[b"\xff", b"three", b"3"], &[b"d", b"", b"4"]]);
    let (dir, source) = opened(&mds, &mapped(&[("caption", "caption")]));
    let found = contents(&*source.unwrap());
    assert_eq!(found[0], Ok(b"one".to_vec()));
    for (found, word) in
        found[1..].iter().zip(["\"label\": it is not an integer", "\"caption\": it is not UTF-8", "empty"])
    {
        assert!(found.as_ref().unwrap_err().contains(word), "{found:?}");
    }
    // The lengths in the second sample are behind those of the first one and its 5 bytes.
    let bytes = &mut mds.files[0].1;
    let second = usize::try_from(u32::from_le_bytes(bytes[8..12].try_into().unwrap())).unwrap();
    bytes[second] += 1;
    mds.write(dir.path());
    let found = contents(&*open(dir.path().to_str().unwrap(), &Options::default()).unwrap());
    assert!(found[1].as_ref().unwrap_err().contains("lengths in it"), "{found:?}");
    assert_eq!(found[2], Ok(b"three".to_vec()));
}

#[test]
fn whatever_the_bytes_nothing_panics_and_what_is_read_was_written_nearby() {
    let genuine = plain();
    let dir = tempfile::tempdir().unwrap();
    genuine.write(dir.path());
    let index = fs::read(dir.path().join("index.json")).unwrap();
    let shard = genuine.files[0].1.clone();
    let mut state = 13_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut opened_ones = 0;
    for _ in 0..2000 {
        let (mut bytes, file) =
            if next(3) == 0 { (index.clone(), "index.json") } else { (shard.clone(), "shard.00000.mds") };
        let len = bytes.len();
        match next(4) {
            0 => bytes.truncate(next(len)),
            1 => bytes.copy_within(0..next(20), next(len - 20)),
            _ => (0..=next(3)).for_each(|_| bytes[next(len)] ^= 1 << next(8)),
        }
        fs::write(dir.path().join(file), &bytes).unwrap();
        let source = open(&format!("mds:{}", dir.path().display()), &mapped(&[("caption", "caption")]));
        if let Ok(source) = source {
            opened_ones += 1;
            for content in contents(&*source).into_iter().flatten() {
                // Contents have no checksum: they are what the file has, in one piece.
                let has = |bytes: &[u8]| bytes.windows(content.len()).any(|window| window == content);
                assert!(has(&bytes) || has(&shard) || has(&genuine.files[1].1));
            }
        }
        fs::write(dir.path().join(file), if file == "index.json" { &index } else { &shard }).unwrap();
    }
    assert!(opened_ones > 300, "{opened_ones}");
}

#[test]
fn a_pipe_in_the_place_of_the_index_is_no_index_and_holds_no_thread() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("index.json");
    mknodat(CWD, pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
    fs::write(dir.path().join("1.jpg"), "one").unwrap();
    let name = dir.path().to_str().unwrap();
    assert_eq!(open(name, &Options::default()).unwrap().len(), 1, "a folder of pictures");
    let message = open(&format!("mds:{name}"), &Options::default()).unwrap_err().to_string();
    assert!(message.contains("index.json") && message.contains("not a regular file"), "{message}");
}

#[test]
fn an_index_that_names_a_shard_twice_is_refused() {
    let mut mds = plain();
    let first = mds.said(0).clone();
    *mds.said(1) = first;
    refusal(&mds, &Options::default(), &["shard 1 is in \"shard.00000.mds\", as an earlier one is"]);
}
