//! Packed formats over files that other people's programs wrote; skipped, with the reason, where they are absent.
#![allow(clippy::print_stdout, reason = "a skipped test says why")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use forebay_formats::open;
use forebay_sources::{ColumnMap, Options, Source};

/// The folder of a set of the shared data: below `FOREBAY_TEST_DATA`, or beside the checkout.
fn shared(set: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = env::var_os("FOREBAY_TEST_DATA").map_or_else(beside, PathBuf::from).join(set);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: {} is absent; set FOREBAY_TEST_DATA to a folder that holds {set}", folder.display());
    None
}

fn opened(path: &Path, options: &Options) -> Box<dyn Source> {
    open(path.to_str().expect("a plain path"), options).unwrap_or_else(|error| panic!("{error}"))
}

fn read(source: &dyn Source, record: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    source.read(record, u64::MAX, &mut bytes).unwrap_or_else(|error| panic!("{}: {error}", source.locator(record)));
    bytes
}

fn columns(map: &[(&str, &str)]) -> Options {
    Options { columns: map.iter().copied().collect::<ColumnMap>(), ..Options::default() }
}

/// Compares a picture with its file. Without the file, nothing is compared.
fn is_the_photograph(picture: &[u8], file: &Path) -> bool {
    assert!(picture.starts_with(&[0xff, 0xd8]), "{}", file.display());
    let Ok(expected) = fs::read(file) else { return false };
    assert!(picture == expected, "{}", file.display());
    true
}

#[test]
fn tensorflow_s_own_examples_have_pictures_and_the_boxes_of_their_table() {
    let Some(folder) = shared("tfrecord_raccoon") else { return };
    let source = opened(&folder.join("data/test.record"), &Options::default());
    assert_eq!(source.len(), 40);
    let names = opened(&folder.join("data/test.record"), &columns(&[("name", "image/filename")]));
    let table = source.targets();
    let column = |name: &str| table.schema().find(name).unwrap();
    let (boxes, classes) = (column("boxes"), column("classes"));
    let mut expected: BTreeMap<String, Vec<[f32; 4]>> = BTreeMap::new();
    let rows = fs::read_to_string(folder.join("data/test_labels.csv")).unwrap();
    for row in rows.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let sides = [4, 5, 6, 7].map(|place| cells[place].parse().unwrap());
        expected.entry(cells[0].to_owned()).or_default().push(sides);
    }
    let mut objects = 0;
    for record in 0..40_u8 {
        let place = usize::from(record);
        let name = String::from_utf8(names.targets().value(0, place).bytes().to_vec()).unwrap();
        let found = table.value(boxes, place).numbers::<f32>(&"f32 [*, 4]".parse().unwrap()).unwrap();
        let rows = &expected[&name];
        assert_eq!(found.len(), rows.len() * 4, "{name}");
        for (found, row) in found.iter().zip(rows.as_flattened()) {
            assert!((found - row).abs() < 0.01, "{name}: {found} is not {row}");
        }
        let kinds = table.value(classes, place).numbers::<i64>(&"i64 [*]".parse().unwrap()).unwrap();
        assert_eq!(kinds, vec![1; rows.len()], "{name}");
        objects += rows.len();
        assert!(read(&*source, record.into()).starts_with(&[0xff, 0xd8]), "{name}");
        assert_eq!(source.label(record.into()), -1);
    }
    assert_eq!(objects, rows.lines().count() - 1, "every row of the table was met");
}

#[test]
fn pictures_in_tfrecords_are_the_photographs_that_were_packed() {
    let (Some(generated), Some(imagenet)) = (shared("generated"), shared("imagenet")) else { return };
    let file = generated.join("tfrecord/imagenet64.tfrecord");
    let source = opened(&file, &columns(&[("name", "image/filename"), ("bbox", "bbox")]));
    assert_eq!(source.len(), 64);
    let types: Vec<String> =
        source.targets().schema().fields().iter().map(|field| field.column_type.to_string()).collect();
    assert_eq!(types, ["u8 [*]", "f32 [*]"]);
    let mut compared = 0;
    for record in 0..64_u8 {
        let name = String::from_utf8(source.targets().value(0, record.into()).bytes().to_vec()).unwrap();
        compared += u32::from(is_the_photograph(&read(&*source, record.into()), &imagenet.join(&name)));
        assert_eq!(source.label(record.into()), i64::from(record));
    }
    assert!(compared >= 32, "half of the photographs are here as files");
    let bbox = source.targets().value(1, 0).numbers::<f32>(&"f32 [*]".parse().unwrap()).unwrap();
    assert_eq!(bbox, [0.1, 0.2, 0.9, 1.0]);
}
