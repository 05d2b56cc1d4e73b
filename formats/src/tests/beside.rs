//! Tests of what is said of datasets that have more than is read: annotations in other layouts, other files, and folders that
//! are no classes.

use forebay_sources::{IndexChoice, Oversight, OversightKind};

use super::*;
use crate::scene::folder as with_texts;
use crate::tar::writer::TarWriter;
use crate::zip::tests::writer::ZipWriter;

/// What a folder of these files is said to have beside its records.
fn told(files: &[&str], options: &Options) -> Vec<Oversight> {
    let dir = folder(files);
    open(at(&dir), options).unwrap().oversights()
}

/// The kinds, counts and examples.
fn kinds(found: &[Oversight]) -> Vec<(OversightKind, u64, String)> {
    found.iter().map(|found| (found.kind, found.count, found.examples.join(" "))).collect()
}

fn unread(value: &str) -> Options {
    Options { own: OwnOptions::from_iter([("unread", value)]), ..Options::default() }
}

use OversightKind::{Annotations, Classes, Unread};

#[test]
fn layouts_that_are_not_understood_say_so_when_they_are_opened_as_class_folders() {
    for (layout, files, expected) in [
        ("CVAT", &["images/a.jpg", "images/b.jpg", "annotations.xml"][..], &[Annotations, Classes][..]),
        ("CreateML", &["train/a.jpg", "train/_annotations.createml.json", "valid/b.jpg"], &[Annotations, Classes]),
        ("CamVid", &["train/a.png", "trainannot/a.png", "val/b.png", "valannot/b.png"], &[Classes]),
        ("Roboflow's COCO", &["train/a.jpg", "train/_annotations.coco.json", "test/b.jpg"], &[Annotations, Classes]),
        ("Roboflow's VOC", &["train/a.jpg", "train/a.xml", "valid/b.jpg", "valid/b.xml"], &[Annotations, Classes]),
        ("Roboflow's table", &["train/a.jpg", "train/_annotations.csv", "test/b.jpg"], &[Annotations, Classes]),
        ("sets of classes", &["train/cat/a.jpg", "train/dog/b.jpg", "val/cat/c.jpg"], &[Classes]),
        ("masks", &["images/a.jpg", "masks/a.png"], &[Classes]),
        ("VOC with pictures of labels", &["images/a.jpg", "labels/a.png"], &[Classes]),
        ("Darknet", &["obj/a.jpg", "obj/a.txt", "obj/b.jpg", "obj/b.txt"], &[Annotations]),
        ("labelImg", &["a.jpg", "a.xml"], &[Annotations]),
        ("LabelMe", &["a.jpg", "a.json"], &[Annotations]),
        ("arrays", &["cat/a.jpg", "cat/a.npy"], &[Annotations]),
        ("a table", &["metadata.csv", "a.jpg"], &[Annotations]),
        ("phones", &["cat/a.jpg", "cat/b.HEIC"], &[Unread]),
        ("other files", &["cat/a.jpg", "cat/b.xyz"], &[Unread]),
        ("class folders", &["cat/a.jpg", "dog/b.jpg", "README.md", "LICENSE", ".DS_Store"], &[]),
    ] {
        let found = told(files, &Options::default());
        let found_kinds: Vec<_> = found.iter().map(|found| found.kind).collect();
        assert_eq!(found_kinds, expected, "{layout}: {found:?}");
    }
}

#[test]
fn an_oversight_counts_files_and_shows_the_first_and_the_user_accepts_it_by_name() {
    let files = ["cat/3.jpg", "cat/3.xml", "cat/1.xml", "dog/1.jpg", "dog/1.xml", "dog/2.xml", "a.heic"];
    let found = told(&files, &Options::default());
    assert_eq!(
        kinds(&found),
        [(Annotations, 4, "cat/1.xml cat/3.xml dog/1.xml".to_owned()), (Unread, 1, "a.heic".to_owned())]
    );
    assert!(found[0].remedy.contains("\"voc:\""), "{found:?}");
    assert_eq!(kinds(&told(&files, &labelled(Labels::None))), [(Unread, 1, "a.heic".to_owned())]);
    assert!(told(&files, &unread("accept")).is_empty());
    let dir = folder(&files);
    refusal(open(at(&dir), &unread("yes")), &["unread", "\"tell\", \"accept\""]);
}

#[test]
fn what_lies_beside_the_pictures_is_kept_in_an_index() {
    let (dir, indexes) = (folder(&["train/1.jpg", "train/1.xml", "x/2.jpg"]), tempfile::tempdir().unwrap());
    let tar = dir.path().join("x.tar");
    fs::write(&tar, TarWriter::of(&[("a/1.jpg", b"one"), ("a/1.lbl", b"x"), ("b/2.jpg", b"two")])).unwrap();
    let tar = tar.to_str().unwrap();
    for name in [format!("folder:{}", at(&dir)), format!("tar:{tar}?members=files")] {
        let index = indexes.path().join("x.arrow");
        let report = make_index(&name, &Options::default(), Some(&index), true).unwrap();
        assert!(report.is_new);
        let of =
            |options: Options| open(&name, &Options { index: IndexChoice::File(index.clone()), ..options }).unwrap();
        let found = of(Options::default()).oversights();
        assert_eq!(found, open(&name, &Options::default()).unwrap().oversights());
        assert!(!found.is_empty(), "{name}");
        assert!(of(unread("accept")).oversights().is_empty(), "the index is the same");
    }
}

#[test]
fn archives_say_what_is_beside_their_pictures() {
    let dir = tempfile::tempdir().unwrap();
    let members: [(&str, &[u8]); 5] = [
        ("set/train/1.jpg", b"one"),
        ("set/val/2.jpg", b"two"),
        ("set/labels/1.txt", b"0 0 0 0 0"),
        ("set/readme.txt", b"about"),
        ("set/.hidden.xml", b"x"),
    ];
    let mut zip = ZipWriter::default();
    for (name, content) in members {
        zip.stored(name, content);
    }
    fs::write(dir.path().join("x.zip"), zip.end()).unwrap();
    fs::write(dir.path().join("x.tar"), TarWriter::of(&members)).unwrap();
    for file in ["x.zip", "x.tar"] {
        let name = dir.path().join(file);
        let source = opened(name.to_str().unwrap()).unwrap();
        let expected = [(Annotations, 1, "set/labels/1.txt".to_owned()), (Classes, 2, "train val".to_owned())];
        assert_eq!(kinds(&source.oversights()), expected, "{file}");
        let below = open(
            name.to_str().unwrap(),
            &Options { own: OwnOptions::from_iter([("folder", "set/train")]), ..Options::default() },
        );
        assert!(below.unwrap().oversights().is_empty(), "the rest was left out on purpose");
    }
}

#[test]
fn refusals_say_what_lies_where_pictures_should_be() {
    let dir = folder(&["images/1.jpg", "labelTxt/1.txt"]);
    refusal(opened(at(&dir)), &["labelTxt", "holds no picture", "1 text of oriented boxes", "labelTxt/1.txt"]);
    let dir = folder(&["a.heic", "b.heic"]);
    refusal(opened(at(&dir)), &["holds no picture", "2 pictures of formats that are not decoded", "a.heic"]);
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("x.tar"), TarWriter::of(&[("a.jp2", b"x"), ("b.jp2", b"x")])).unwrap();
    refusal(opened(dir.path().join("x.tar").to_str().unwrap()), &["no member is a picture", "2 pictures of formats"]);
}

#[test]
fn datasets_of_annotations_say_what_they_do_not_read() {
    let object = "<annotation><object><name>cat</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></object></annotation>";
    let dir = with_texts(&[
        ("Annotations/1.xml", object),
        ("Annotations/1.json", ""),
        ("JPEGImages/1.jpg", ""),
        ("JPEGImages/2.jpg", ""),
        ("JPEGImages/notes.md", ""),
    ]);
    let found = opened(at(&dir)).unwrap().oversights();
    assert_eq!(
        kinds(&found),
        [(Annotations, 1, "Annotations/1.json".to_owned()), (Unread, 1, "JPEGImages/2.jpg".to_owned())]
    );
    let dir = with_texts(&[
        ("images/1.jpg", ""),
        ("images/2.jpg", ""),
        ("images/2.txt", "0 0 0 0 0"),
        ("images/3.jpg", ""),
        ("labels/1.TXT", "0 0.5 0.5 1 1"),
        ("labels/4.txt", "0 0.5 0.5 1 1"),
        ("labels/classes.txt", "cat"),
    ]);
    let source = opened(at(&dir)).unwrap();
    assert_eq!(
        kinds(&source.oversights()),
        [(Annotations, 1, "images/2.txt".to_owned()), (Annotations, 1, "labels/4.txt".to_owned())]
    );
    assert_eq!(scene::values::<f32>(&*source, "boxes", 0), [0.0, 0.0, 1.0, 1.0], "TXT is read");
}

#[test]
fn several_sources_say_what_each_of_them_has() {
    let (first, second) = (folder(&["1.jpg", "1.xml"]), folder(&["2.jpg", "2.xyz"]));
    let names = [at(&first).to_owned(), at(&second).to_owned()];
    let found = open_all(&names, &Options::default()).unwrap().oversights();
    assert_eq!(found.iter().map(|found| found.kind).collect::<Vec<_>>(), [Annotations, Unread]);
    let limited = Options { own: OwnOptions::from_iter([("limit", "1")]), ..Options::default() };
    let two = folder(&["1.jpg", "2.jpg", "1.xml"]);
    assert_eq!(open(at(&two), &limited).unwrap().oversights().len(), 1);
}
