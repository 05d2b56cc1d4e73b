//! Tests of several sources as one dataset: classes, columns, grains and what does not go together.

use std::fs;
use std::path::Path;

use forebay_sources::{ColumnMap, Grains, Labels, Options, OwnOptions, Source};
use tempfile::TempDir;

use crate::Opened;
use crate::tests::folder;

fn names(paths: &[&Path]) -> Vec<String> {
    paths.iter().map(|path| path.to_str().unwrap().to_owned()).collect()
}

fn open(paths: &[&Path]) -> Opened {
    crate::open_all(&names(paths), &Options::default())
}

fn by_number() -> Options {
    Options { own: OwnOptions::from_iter([("classes_by", "number")]), ..Options::default() }
}

fn labels(source: &dyn Source) -> Vec<i64> {
    (0..source.len()).map(|record| source.label(record)).collect()
}

fn refusal(opened: Opened, words: &[&str]) {
    let message = opened.unwrap_err().to_string();
    for word in words {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
}

/// A CSV of pictures that are there, with these lines.
fn csv(lines: &str) -> TempDir {
    let dir = folder(&["a.jpg", "b.jpg"]);
    fs::write(dir.path().join("list.csv"), lines).unwrap();
    dir
}

#[test]
fn records_follow_each_other_and_classes_of_one_name_are_one() {
    let first = folder(&["cat/1.jpg", "owl/2.jpg"]);
    let second = folder(&["dog/3.jpg", "owl/4.jpg"]);
    let source = open(&[first.path(), second.path()]).unwrap();
    assert_eq!(source.classes(), ["cat", "owl", "dog"]);
    assert_eq!(labels(&*source), [0, 1, 2, 1]);
    let mut bytes = Vec::new();
    source.read(2, u64::MAX, &mut bytes).unwrap();
    assert_eq!(bytes, b"dog/3.jpg");
    assert!(source.locator(3).to_string().contains("owl/4.jpg"));
    let members: Vec<(&str, u64)> =
        source.members().iter().map(|member| (member.name.as_str(), member.records)).collect();
    assert_eq!(members, [(first.path().to_str().unwrap(), 2), (second.path().to_str().unwrap(), 2)]);
    let other = open(&[second.path(), first.path()]).unwrap();
    assert_ne!(source.fingerprint(), other.fingerprint(), "the order is part of the dataset");
}

#[test]
fn labels_of_a_source_without_any_stay_absent() {
    let (first, second) = (folder(&["cat/1.jpg"]), folder(&["2.jpg"]));
    let source = open(&[second.path(), first.path()]).unwrap();
    assert_eq!((labels(&*source), source.classes()), (vec![-1, 0], &["cat".to_owned()][..]));
}

#[test]
fn numbers_and_names_of_classes_are_not_mixed_unless_the_user_says_that_they_agree() {
    let (named, numbered) = (folder(&["cat/1.jpg", "owl/2.jpg"]), csv("a.jpg,1\nb.jpg,0\n"));
    let list = numbered.path().join("list.csv");
    let paths = [named.path(), list.as_path()];
    refusal(open(&paths), &[named.path().to_str().unwrap(), "list.csv", "classes_by = \"number\""]);
    let source = crate::open_all(&names(&paths), &by_number()).unwrap();
    assert_eq!((labels(&*source), source.classes().len()), (vec![0, 1, 1, 0], 2));
    let without = Options { labels: Labels::None, ..Options::default() };
    assert_eq!(labels(&*crate::open_all(&names(&paths), &without).unwrap()), [-1; 4]);
    fs::write(&list, "a.jpg,2\n").unwrap();
    refusal(crate::open_all(&names(&paths), &by_number()), &["has 2 classes", "the label 2"]);
}

#[test]
fn classes_that_keep_their_numbers_must_agree_as_far_as_both_name_them() {
    let first = folder(&["cat/1.jpg", "owl/2.jpg"]);
    let (longer, other) = (folder(&["cat/1.jpg", "owl/2.jpg", "yak/3.jpg"]), folder(&["dog/1.jpg"]));
    let source = crate::open_all(&names(&[first.path(), longer.path()]), &by_number()).unwrap();
    assert_eq!((labels(&*source), source.classes()[2].as_str()), (vec![0, 1, 0, 1, 2], "yak"));
    refusal(
        crate::open_all(&names(&[first.path(), other.path()]), &by_number()),
        &["class 0 is \"cat\" in the first and \"dog\" in the second"],
    );
    let wrong = Options { own: OwnOptions::from_iter([("classes_by", "luck")]), ..Options::default() };
    refusal(crate::open_all(&names(&[first.path(), other.path()]), &wrong), &["classes_by = \"luck\""]);
}

#[test]
fn a_column_that_only_one_has_is_null_in_the_other_and_class_numbers_follow_their_names() {
    let first = yolo("names: [owl, cat]", "0 0.5 0.5 0.5 0.5\n1 0.5 0.5 0.5 0.5");
    let second = yolo("names: [cat, dog]", "1 0.5 0.5 0.5 0.5\n0 0.5 0.5 0.5 0.5");
    let pictures = folder(&["1.jpg"]);
    let [first, second] = [&first, &second].map(|dir| format!("yolo:{}", dir.path().display()));
    let source = open(&[Path::new(&first), Path::new(&second), pictures.path()]).unwrap();
    assert_eq!(source.classes(), ["owl", "cat", "dog"]);
    let table = source.targets();
    let place = table.schema().find("classes").unwrap();
    let numbers = |record| table.value(place, record).numbers::<i64>(&table.schema().fields()[place].column_type);
    assert_eq!((numbers(0), numbers(1)), (Some(vec![0, 1]), Some(vec![2, 1])));
    assert!(!table.value(place, 1).is_null() && table.value(place, 2).is_null());
    assert_eq!(table.value(table.schema().find("boxes").unwrap(), 2).items(), 0);
}

/// A folder of YOLO with one picture.
fn yolo(data: &str, objects: &str) -> TempDir {
    let dir = folder(&["images/1.jpg"]);
    fs::create_dir(dir.path().join("labels")).unwrap();
    fs::write(dir.path().join("labels/1.txt"), objects).unwrap();
    fs::write(dir.path().join("data.yaml"), data).unwrap();
    dir
}

#[test]
fn columns_of_one_name_and_two_types_are_refused_with_both_sources() {
    let (first, second) = (csv("path,label,weight\na.jpg,1,2.5\n"), csv("path,label,weight\na.jpg,1,heavy\n"));
    let lists = [first.path().join("list.csv"), second.path().join("list.csv")];
    let paths = [lists[0].as_path(), lists[1].as_path()];
    let words = [lists[0].to_str().unwrap(), lists[1].to_str().unwrap(), "\"weight\"", "in the first and"];
    let columns = ColumnMap::from_iter([("weight", "weight")]);
    refusal(crate::open_all(&names(&paths), &Options { columns, ..Options::default() }), &words);
}

#[test]
fn rule_56_grains_are_counted_through_and_a_record_that_is_read_alone_is_a_grain() {
    let dir = tempfile::tempdir().unwrap();
    let pictures = folder(&["1.jpg", "2.jpg"]);
    let file = dir.path().join("train.recordio");
    fs::write(&file, crate::recordio::tests::write(&[b"one", b"two", b"three"])).unwrap();
    let alone = open(&[&file]).unwrap();
    let Grains::Starts(own) = alone.grains() else { panic!("RecordIO has chunks") };
    let starts: Vec<u64> = [0, 1].into_iter().chain(own.iter().map(|start| start + 2)).collect();
    let source = open(&[pictures.path(), &file]).unwrap();
    assert_eq!(source.grains(), Grains::Starts(&starts));
    assert_eq!(open(&[pictures.path(), pictures.path()]).unwrap().grains(), Grains::Records);
}

#[test]
fn a_source_that_is_not_there_is_named() {
    let pictures = folder(&["1.jpg"]);
    let missing = pictures.path().join("absent");
    refusal(open(&[pictures.path(), &missing]), &["absent", "does not exist"]);
    let names = names(&[pictures.path(), &missing]);
    assert!(crate::check_all(&names, &Options::default()).unwrap_err().to_string().contains("absent"));
    assert!(crate::check_all(&names[..1], &by_number()).is_err(), "one source has no such option");
    crate::check_all(&[names[0].clone(), names[0].clone()], &by_number()).unwrap();
}

#[test]
fn rule_58_all_columns_of_classes_are_renumbered_whatever_their_names() {
    let first = yolo("names: [owl, cat]", "0 0.5 0.5 0.5 0.5");
    let second = yolo("names: [cat, dog]", "1 0.5 0.5 0.5 0.5");
    let names = [&first, &second].map(|dir| format!("yolo:{}", dir.path().display()));
    let columns = ColumnMap::from_iter([("kinds", "classes")]);
    let source = crate::open_all(&names, &Options { columns, ..Options::default() }).unwrap();
    let table = source.targets();
    let numbers = |record| table.value(0, record).numbers::<i64>(&table.schema().fields()[0].column_type);
    assert_eq!((numbers(0), numbers(1)), (Some(vec![0]), Some(vec![2])));
}

#[test]
fn two_classes_of_one_name_in_a_source_are_not_merged_in_silence() {
    let first = yolo("names: [owl, owl]", "0 0.5 0.5 0.5 0.5");
    let second = yolo("names: [cat, dog]", "1 0.5 0.5 0.5 0.5");
    let names = [&first, &second].map(|dir| format!("yolo:{}", dir.path().display()));
    refusal(crate::open_all(&names, &Options::default()), &["two classes with the name \"owl\"", "classes_by"]);
}

#[test]
fn masks_of_all_sources_are_those_of_the_whole() {
    let first = folder(&["a.jpg", "masks/a.png"]);
    let second = folder(&["b.jpg", "masks/b.png"]);
    let mask = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x02\0\0\0\x01\x08\0\0\0\0";
    fs::write(first.path().join("masks/a.png"), mask).unwrap();
    fs::write(second.path().join("masks/b.png"), mask).unwrap();
    let lists = [&first, &second].map(|dir| {
        let list = dir.path().join("list.csv");
        let name = if dir.path() == first.path() { "a" } else { "b" };
        fs::write(&list, format!("path,mask\n{name}.jpg,masks/{name}.png\n")).unwrap();
        format!("csv:{}", list.display())
    });
    let [columns, masks] = [("place", "mask"), ("segments", "place")].map(|entry| ColumnMap::from_iter([entry]));
    let source = crate::open_all(&lists, &Options { columns, masks, ..Options::default() }).unwrap();
    assert_eq!(source.masks().iter().map(|mask| &*mask.name).collect::<Vec<_>>(), ["segments"]);
    for record in 0..2 {
        let mut bytes = Vec::new();
        source.read(record, u64::MAX, &mut bytes).unwrap();
        let parts = forebay_sources::RecordParts::of(&bytes, 1);
        assert_eq!(parts.mask(0), Some(&mask[..]));
    }
}
