//! Tests of limits: how one is given, and what of the dataset stays.

use std::fs;

use forebay_columns::ColumnType;
use forebay_sources::{ColumnMap, IndexChoice, OwnOptions};

use super::*;
use crate::scene::{contents, folder, labels, says, values};
use crate::{check, make_index, open, open_all, open_list, recordio};

fn limited(limit: &str) -> Options {
    Options { own: OwnOptions::from_iter([("limit", limit)]), ..Options::default() }
}

#[test]
fn the_first_records_keep_their_labels_columns_and_contents() {
    let dir = folder(&[("a.jpg", ""), ("b.jpg", ""), ("c.jpg", "")]);
    let file = dir.path().join("t.csv");
    fs::write(&file, "path,breed,caption\nc.jpg,owl,first\na.jpg,cat,\nb.jpg,ant,third\n").unwrap();
    let columns = ColumnMap::from_iter([("labels", "breed"), ("caption", "caption")]);
    let name = format!("csv:{}?limit=2", file.display());
    let source = open(&name, &Options { columns: columns.clone(), ..Options::default() }).unwrap();
    let whole = open(file.to_str().unwrap(), &Options { columns, ..Options::default() }).unwrap();
    assert_eq!((source.len(), source.classes()), (2, whole.classes()));
    assert_eq!(labels(&*source), labels(&*whole)[..2]);
    assert_eq!(contents(&*source), contents(&*whole)[..2]);
    assert_eq!(values::<u8>(&*source, "caption", 0), b"first");
    let table = source.targets();
    assert_eq!((table.columns()[0].len(), table.columns()[0].column_type()), (2, &ColumnType::text()));
    assert!(table.value(0, 1).is_null());
    assert_ne!(source.fingerprint(), whole.fingerprint());
}

#[test]
fn a_limit_that_leaves_nothing_out_changes_nothing() {
    let dir = folder(&[("a.jpg", ""), ("b.jpg", "")]);
    let name = dir.path().to_str().unwrap();
    let print = |options: &Options| open(name, options).unwrap().fingerprint();
    let whole = print(&Options::default());
    assert_eq!([print(&limited("2")), print(&limited("3"))], [whole, whole]);
    assert_ne!(print(&limited("1")), whole);
}

#[test]
fn a_limit_is_a_number_above_0_of_every_scheme() {
    let dir = folder(&[("a.jpg", ""), ("b.jpg", "")]);
    let name = dir.path().to_str().unwrap();
    for wrong in ["0", "-1", "2.5", "all", ""] {
        let text = check(name, &limited(wrong)).unwrap_err().to_string();
        says(&text, &["limit = ", wrong, "a whole number above 0"]);
        says(&open(name, &limited(wrong)).unwrap_err().to_string(), &["limit"]);
    }
    let unknown = Options { own: OwnOptions::from_iter([("limits", "1")]), ..Options::default() };
    says(&open(name, &unknown).unwrap_err().to_string(), &["no option \"limits\"", "\"limit\""]);
    let list = format!("{name}/b.jpg\0{name}/a.jpg\0");
    let listed = open_list(list.as_bytes(), &limited("1")).unwrap();
    assert_eq!(contents(&*listed), [Ok(b"b.jpg".to_vec())]);
}

#[test]
fn each_of_several_sources_has_the_limit_for_itself() {
    let (one, other) = (folder(&[("a.jpg", ""), ("b.jpg", "")]), folder(&[("c.jpg", ""), ("d.jpg", "")]));
    let names = [one.path().to_str().unwrap().to_owned(), other.path().to_str().unwrap().to_owned()];
    let found = |source: &dyn Source| contents(source).into_iter().map(Result::unwrap).collect::<Vec<_>>();
    assert_eq!(found(&*open_all(&names, &limited("1")).unwrap()), [b"a.jpg", b"c.jpg"]);
    let only_second = [names[0].clone(), format!("folder:{}?limit=1", names[1])];
    let source = open_all(&only_second, &Options::default()).unwrap();
    assert_eq!(found(&*source), [b"a.jpg", b"b.jpg", b"c.jpg"]);
}

#[test]
fn rule_56_the_last_grain_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let file = recordio::tests::write_chunks(&[&[b"1", b"2", b"3"], &[b"4", b"5"], &[b"6"]]);
    fs::write(dir.path().join("t.recordio"), file).unwrap();
    let name = format!("{}/t.recordio", dir.path().display());
    let starts = |limit: &str| match open(&name, &limited(limit)).unwrap().grains() {
        Grains::Starts(starts) => starts.to_vec(),
        Grains::Records => Vec::new(),
    };
    let expected: [&[u64]; 6] = [&[0], &[0], &[0], &[0, 3], &[0, 3], &[0, 3, 5]];
    for (limit, expected) in (1..).zip(expected) {
        assert_eq!(starts(&limit.to_string()), expected, "{limit}");
    }
}

#[test]
fn rule_53_one_index_serves_every_limit() {
    let dir = folder(&[("a.jpg", ""), ("b.jpg", ""), ("c.jpg", "")]);
    let indexes = tempfile::tempdir().unwrap();
    let (name, index) = (dir.path().to_str().unwrap(), indexes.path().join("x.arrow"));
    let made = make_index(name, &limited("1"), Some(&index), false).unwrap();
    assert_eq!(made.records, 3);
    for limit in ["1", "2"] {
        let indexed = Options { index: IndexChoice::File(index.clone()), ..limited(limit) };
        let (indexed, scanned) = (open(name, &indexed).unwrap(), open(name, &limited(limit)).unwrap());
        assert_eq!((indexed.len(), indexed.fingerprint()), (limit.parse().unwrap(), scanned.fingerprint()));
    }
}

#[test]
#[should_panic(expected = "record 1 of 1")]
fn a_record_beyond_the_limit_is_a_mistake_of_the_caller() {
    let dir = folder(&[("a.jpg", ""), ("b.jpg", "")]);
    let source = open(dir.path().to_str().unwrap(), &limited("1")).unwrap();
    let _label = source.label(1);
}

#[test]
fn the_examples_of_the_page_open() {
    let page = include_str!("../../../docs/sources.md");
    let section = page.split("\n## ").find(|section| section.starts_with("First records\n")).unwrap();
    let examples = section.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let dir = folder(&[("train/cat/1.jpg", ""), ("train/cat/2.jpg", ""), ("train/dog/1.jpg", "")]);
    fs::write(dir.path().join("train.csv"), "train/cat/1.jpg,1\ntrain/dog/1.jpg,2\ntrain/cat/2.jpg,1\n").unwrap();
    let mut opened = 0;
    for example in examples.lines() {
        let name = example.replace("/data", dir.path().to_str().unwrap()).replace("=1000", "=2");
        assert_eq!(open(&name, &Options::default()).unwrap().len(), 2, "{example}");
        opened += 1;
    }
    assert_eq!(opened, 2);
}
