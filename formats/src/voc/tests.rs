//! Tests of the folders that `voc:` takes, and of what becomes of wrong annotations.

use std::fs;

use forebay_sources::{OwnOptions, ReadErrorKind, Source};
use tempfile::TempDir;

use super::*;
use crate::scene::{folder, names, values};

/// An annotation with objects of these classes, the box of each a pixel further.
fn xml(classes: &[&str]) -> String {
    let object = |(place, class): (usize, &&str)| {
        let [left, top, right, bottom] = [1, 2, 30, 40].map(|corner| corner + place);
        format!(
            "<object><name>{class}</name><difficult>{}</difficult><bndbox><xmin>{left}</xmin><ymin>{top}</ymin>\
             <xmax>{right}</xmax><ymax>{bottom}</ymax></bndbox></object>",
            place % 2
        )
    };
    format!("<annotation>\n{}</annotation>", classes.iter().enumerate().map(object).collect::<String>())
}

fn challenge() -> TempDir {
    folder(&[
        ("JPEGImages/1.jpg", ""),
        ("JPEGImages/2.jpg", ""),
        ("JPEGImages/3.jpg", ""),
        ("JPEGImages/unknown.jpg", ""),
        ("Annotations/1.xml", &xml(&["owl", "cat"])),
        ("Annotations/2.xml", &xml(&[])),
        ("Annotations/3.xml", &xml(&["dog"])),
        ("ImageSets/Main/train.txt", "2\r\n1\r\n"),
        ("ImageSets/Main/val.txt", "3\nmissing\n"),
        ("ImageSets/Main/cat_train.txt", "1  1\n2 -1\n"),
    ])
}

fn with(own: &[(&str, &str)]) -> Options {
    Options { own: own.iter().copied().collect::<OwnOptions>(), ..Options::default() }
}

fn opened(dir: &TempDir, own: &[(&str, &str)]) -> Box<dyn Source> {
    crate::open(dir.path().to_str().unwrap(), &with(own)).unwrap()
}

fn refusal(dir: &TempDir, own: &[(&str, &str)]) -> String {
    open(&Address::file(dir.path()), &with(own)).unwrap_err().to_string()
}

#[test]
fn a_set_has_its_own_order_and_the_classes_of_the_whole_folder() {
    let dir = challenge();
    let source = opened(&dir, &[("set", "train")]);
    assert_eq!(names(&*source), ["2.jpg", "1.jpg"]);
    assert_eq!(source.classes(), ["cat", "dog", "owl"]);
    assert_eq!(values::<i64>(&*source, "classes", 1), [2, 0]);
    assert_eq!(values::<f32>(&*source, "boxes", 1), [0.0, 1.0, 30.0, 40.0, 1.0, 2.0, 31.0, 41.0]);
    assert!(values::<f32>(&*source, "boxes", 0).is_empty());
    let difficult = source.targets().schema().find("difficult").unwrap();
    assert_eq!(source.targets().value(difficult, 1).bytes(), [0, 1]);
    assert_eq!((source.label(0), source.shard_name(0).ends_with("/train")), (-1, true));
    let source = opened(&dir, &[("set", "train"), ("one_based", "false")]);
    assert_eq!(values::<f32>(&*source, "boxes", 1)[..4], [1.0, 2.0, 30.0, 40.0]);
    assert_eq!(names(&*opened(&dir, &[("set", "cat_train")])), ["1.jpg", "2.jpg"]);
    assert_eq!(names(&*opened(&dir, &[("set", "all")])), ["1.jpg", "2.jpg", "3.jpg"]);
}

#[test]
fn a_folder_with_sets_asks_for_one_by_name() {
    let dir = challenge();
    for own in [&[][..], &[("set", "test")], &[("set", "../Main/train")], &[("set", "")]] {
        let words = refusal(&dir, own);
        assert!(words.contains("\"train\", \"val\", \"cat_train\"") && words.contains("\"all\""), "{words}");
    }
    let dir = folder(&[("Annotations/1.xml", &xml(&[])), ("ImageSets/Main/x.txt", "../../1\n")]);
    assert!(refusal(&dir, &[("set", "x")]).contains("\"../../1\""));
}

#[test]
fn a_picture_without_a_readable_annotation_is_damaged_alone() {
    let dir = challenge();
    let source = opened(&dir, &[("set", "val")]);
    source.read(0, u64::MAX, &mut Vec::new()).unwrap();
    let error = source.read(1, u64::MAX, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::Damaged);
    assert!(error.to_string().contains("Annotations/missing.xml\" does not exist"), "{error}");
    fs::write(dir.path().join("Annotations/3.xml"), xml(&["dog"]).replace("<xmax>30", "<xmax>x")).unwrap();
    let source = opened(&dir, &[("set", "all")]);
    let error = source.read(2, u64::MAX, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("3.xml\" has a wrong object 1: \"x\" is not an \"xmax\""), "{error}");
    source.read(1, u64::MAX, &mut Vec::new()).unwrap();
    let source = opened(&dir, &[("set", "train"), ("classes", "cat, bird")]);
    assert_eq!(source.classes(), ["cat", "bird"]);
    let error = source.read(1, u64::MAX, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("the class \"owl\", which classes= does not name"), "{error}");
    assert!(refusal(&dir, &[("set", "train"), ("classes", "a,,b")]).contains("classes = \"a,,b\""));
}

#[test]
fn xml_files_may_be_beside_the_pictures_and_name_them_when_their_own_name_does_not() {
    let named = |name: &str| xml(&["x"]).replace('\n', &format!("<filename>{name}</filename>"));
    let dir = folder(&[
        ("a.PNG", ""),
        ("a.xml", &named("b.jpg")),
        ("b.jpg", ""),
        ("c.xml", &named("folder\\b.jpg")),
        ("d.XML", &named("nowhere.jpg")),
    ]);
    let name = format!("voc:{}", dir.path().display());
    let source = crate::open(&name, &Options::default()).unwrap();
    assert_eq!(names(&*source), ["a.PNG", "b.jpg", "d.jpg"]);
    assert_eq!(source.read(2, u64::MAX, &mut Vec::new()).unwrap_err().kind, ReadErrorKind::Missing);
    // Without its name, such a folder is one of pictures.
    assert_eq!(names(&*opened(&dir, &[])), ["a.PNG", "b.jpg"]);
    let dir = folder(&[("annotations/1.xml", &xml(&["x"])), ("pictures/1.jpg", "")]);
    let root = dir.path().join("pictures");
    assert_eq!(names(&*opened(&dir, &[("root", root.to_str().unwrap())])), ["1.jpg"]);
    assert!(refusal(&dir, &[]).contains("None of the 1 files"));
    assert!(refusal(&folder(&[("1.jpg", "")]), &[]).contains("xml"));
}

#[test]
fn bytes_that_were_changed_cause_no_panic() {
    let text = xml(&["owl", "cat", "dog"]);
    let dir = folder(&[
        ("annotations/1.xml", &text),
        ("annotations/2.xml", &text),
        ("images/1.jpg", ""),
        ("images/2.jpg", ""),
    ]);
    let (mut wrong, mut right) = (0, 0);
    crate::mutations::each(text.as_bytes(), 2000, |bytes| {
        fs::write(dir.path().join("annotations/1.xml"), bytes).unwrap();
        let source = open(&Address::file(dir.path()), &Options::default()).unwrap().into_source();
        match source.read(0, u64::MAX, &mut Vec::new()) {
            Ok(()) => right += 1,
            Err(error) => {
                assert_eq!(error.kind, ReadErrorKind::Damaged);
                wrong += 1;
            }
        }
        source.read(1, u64::MAX, &mut Vec::new()).unwrap();
        assert_eq!(values::<f32>(&*source, "boxes", 1).len(), 12);
    });
    assert!(wrong > 100 && right > 10, "{wrong} and {right}");
}
