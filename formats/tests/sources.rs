//! Sources over photographs and tables that the project did not make; skipped, with the reason, where they are absent.
#![allow(clippy::print_stdout, reason = "a skipped test says why")]

#[path = "genuine/annotations.rs"]
mod annotations;

use std::collections::HashSet;
use std::env;
use std::path::{Path, PathBuf};

use forebay_formats::open;
use forebay_sources::{Options, OwnOptions};

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
