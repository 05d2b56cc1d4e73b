//! Sources over photographs and tables that the project did not make; skipped, with the reason, where they are absent.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]
#![allow(clippy::print_stdout, reason = "a skipped test says why")]

#[path = "genuine/annotations.rs"]
mod annotations;
#[path = "genuine/shared.rs"]
mod shared;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use forebay_formats::open;
use forebay_sources::{DiskCache, Options, OwnOptions, Source};
use shared::shared;

#[test]
fn a_flat_folder_of_photographs_is_read_once_each() {
    let Some(folder) = shared("imagenet") else { return };
    let source = open(folder.to_str().unwrap(), &Options::default()).unwrap();
    assert_eq!(source.len(), 500);
    let paths: HashSet<PathBuf> = (0..source.len()).map(|record| source.locator(record).name().into()).collect();
    assert_eq!(paths.len(), 500);
    let mut bytes = Vec::new();
    for record in 0..source.len() {
        source.read(record, u64::MAX, &mut bytes).unwrap();
        assert_eq!((bytes.len() as u64, source.label(record)), (source.size(record), -1));
    }
}

#[test]
fn a_table_of_annotations_gives_its_lines_as_records_with_text_classes() {
    let Some(folder) = shared("voc_raccoon") else { return };
    let table = folder.join("data/raccoon_labels.csv");
    let own = OwnOptions::from_iter([("root", folder.join("images").to_str().unwrap())]);
    let options = Options { own, ..Options::default() };
    let source = open(table.to_str().unwrap(), &options).unwrap();
    assert_eq!(source.len(), 217);
    assert_eq!(source.classes(), ["raccoon"]);
    assert!(Path::new(&source.locator(0).name()).ends_with("images/raccoon-1.jpg"));
    assert_eq!(source.shard_name(0), "raccoon_labels.csv");
    source.read(216, u64::MAX, &mut Vec::new()).unwrap();
    let without_root = open(table.to_str().unwrap(), &Options::default()).unwrap_err().to_string();
    assert!(without_root.contains("root="), "{without_root}");
}

/// The records of a dataset, with their contents.
fn contents(source: &dyn Source) -> Vec<Vec<u8>> {
    let read = |record| {
        let mut bytes = Vec::new();
        source.read(record, u64::MAX, &mut bytes).unwrap();
        bytes
    };
    (0..source.len()).map(read).collect()
}

/// Compares each record with the photograph of its name, as far as the shared data has it. Says how many were compared.
fn compared(source: &dyn Source, names: impl Fn(u64) -> String) -> Option<usize> {
    let folder = shared("imagenet")?;
    let records = (0..).zip(contents(source));
    let same = records.filter(|(record, bytes)| {
        let photograph = std::fs::read(folder.join(names(*record)));
        assert!(bytes.starts_with(b"\xff\xd8") && bytes.ends_with(b"\xff\xd9"), "a JPEG");
        photograph.is_ok_and(|photograph| {
            assert!(photograph == *bytes, "byte for byte");
            true
        })
    });
    Some(same.count())
}

#[test]
fn the_samples_that_webdataset_wrote_are_photographs_with_labels_and_json() {
    let Some(folder) = shared("generated/webdataset") else { return };
    let columns = [("caption", "json"), ("again", "json:label"), ("name", "json:file"), ("class", "cls")];
    let options = Options { columns: columns.into_iter().collect(), ..Options::default() };
    let source = open(folder.join("imagenet-00000{0..1}.tar").to_str().unwrap(), &options).unwrap();
    assert_eq!(source.len(), 64);
    let name = |record| String::from_utf8(table_text(&*source, record)).unwrap();
    assert!(compared(&*source, name).is_none_or(|compared| compared > 20));
    let labels: Vec<i64> = (0..64).map(|record| source.label(record)).collect();
    assert_eq!(labels, (0..64).collect::<Vec<_>>());
    let table = source.targets();
    let types: Vec<String> = table.columns().iter().map(|column| column.column_type().to_string()).collect();
    assert_eq!(types, ["u8 [*]", "i64", "u8 [*]", "i64"]);
    assert_eq!(table.value(0, 0).bytes(), br#"{"label": 0, "file": "n01440764_tench.JPEG"}"#);
    assert_eq!(table.value(2, 0).bytes(), b"n01440764_tench.JPEG");
    assert_eq!(table.columns()[1], table.columns()[3]);
    assert!(source.locator(33).to_string().ends_with("imagenet-000001.tar, member n01664065_loggerhead.jpg"));
}

/// What the third column has.
fn table_text(source: &dyn Source, record: u64) -> Vec<u8> {
    source.targets().value(2, usize::try_from(record).unwrap()).bytes().to_vec()
}

#[test]
fn odd_keys_that_webdataset_wrote_are_split_as_webdataset_does() {
    let Some(folder) = shared("generated/webdataset") else { return };
    let source = open(folder.join("odd_keys.tar").to_str().unwrap(), &Options::default()).unwrap();
    assert_eq!(contents(&*source).iter().map(Vec::len).collect::<Vec<_>>(), [100_582, 36_973, 99_943, 50_366, 142_314]);
    let long = format!("long/{}.jpg", "k".repeat(150));
    let names = ["dir.with.dots/a.jpg", "dir/b.jpg", &long, "uni/é中.jpg", "./dot/c.jpg"];
    for (record, name) in (0..).zip(names) {
        assert!(source.locator(record).to_string().ends_with(&format!("odd_keys.tar, member {name}")));
    }
}

#[test]
fn genuine_tars_without_pictures_or_compressed_ones_are_refused_with_the_way_out() {
    let (Some(genuine), Some(generated)) = (shared("webdataset/testdata"), shared("generated/webdataset")) else {
        return;
    };
    for (file, words) in [
        (genuine.join("sample.tgz"), &["compressed", "gunzip"][..]),
        (generated.join("gz.tar.gz"), &["compressed", "gunzip"]),
        (genuine.join("compressed.tar"), &["no member is a picture, of 3"]),
        (genuine.join("testgz.tar"), &["no member is a picture, of 1000"]),
        (genuine.join("mpdata.tar"), &["no member is a picture, of 100"]),
    ] {
        let error = open(file.to_str().unwrap(), &Options::default()).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    }
}

#[test]
fn genuine_compressed_tars_are_unpacked_into_the_cache() {
    let (Some(genuine), Some(generated)) = (shared("webdataset/testdata"), shared("generated/webdataset")) else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let cache = Some(DiskCache { folder: dir.path().join("cache"), size: DiskCache::LEAST });
    let options = Options { cache, ..Options::default() };
    let source = open(genuine.join("sample.tgz").to_str().unwrap(), &options).unwrap();
    assert_eq!(source.len(), 90);
    assert!(contents(&*source).iter().all(|bytes| bytes.starts_with(b"\x89PNG")));
    assert!((0..90).all(|record| (0..10).contains(&source.label(record))), "digits");
    let other = open(generated.join("gz.tar.gz").to_str().unwrap(), &options).unwrap();
    assert!(contents(&*other).iter().all(|bytes| bytes.starts_with(b"\xff\xd8")));
    let tar = dir.path().join("sample.tar");
    let out = std::fs::File::create(&tar).unwrap();
    let gunzip = std::process::Command::new("gunzip").arg("-c").arg(genuine.join("sample.tgz")).stdout(out).status();
    if !gunzip.is_ok_and(|status| status.success()) {
        println!("gunzip is absent, so nothing is compared with it");
        return;
    }
    let plain = open(tar.to_str().unwrap(), &Options::default()).unwrap();
    assert!(contents(&*plain) == contents(&*source));
}

#[test]
fn the_shards_that_mosaicml_streaming_wrote_are_photographs_with_columns() {
    let Some(folder) = shared("generated/mds") else { return };
    let names = ["caption", "half", "info", "raw", "score", "small", "text_int"];
    let options = Options { columns: names.map(|name| (name, name)).into_iter().collect(), ..Options::default() };
    let source = open(folder.to_str().unwrap(), &options).unwrap();
    assert_eq!(source.len(), 32);
    let table = source.targets();
    let types: Vec<String> = table.columns().iter().map(|column| column.column_type().to_string()).collect();
    assert_eq!(types, ["u8 [*]", "f16", "u8 [*]", "u8 [*]", "f32", "u8", "i64"]);
    for (record, number) in (0..32).zip(0_u16..) {
        let value = |column| table.value(column, usize::from(number)).bytes().to_vec();
        assert_eq!(source.label(record), i64::from(number) * 3);
        assert_eq!(value(2), format!("{{\"i\": {number}}}").into_bytes());
        assert_eq!(value(3), b"x".repeat(number.into()));
        assert_eq!(value(4), (f32::from(number) / 4.0).to_le_bytes());
        assert_eq!(value(5), [u8::try_from(number).unwrap()]);
        assert_eq!(value(6), (i64::from(number) - 5).to_le_bytes());
    }
    let name = |record| String::from_utf8(table.value(0, usize::try_from(record).unwrap()).bytes().to_vec()).unwrap();
    assert!(compared(&*source, name).is_none_or(|compared| compared == 32));
    assert!(source.locator(31).to_string().contains("shard.00003.mds, row "));
}
