//! Tests of the folders that `yolo:` takes.

use std::fs;
use std::path::{Path, PathBuf};

use forebay_sources::{ColumnMap, OwnOptions, ReadErrorKind, Source};
use tempfile::TempDir;

use super::*;
use crate::Opened;
use crate::scene::{folder, values};

fn opened(path: &Path, own: &[(&str, &str)]) -> Opened {
    let own = own.iter().copied().collect::<OwnOptions>();
    crate::open(path.to_str().unwrap(), &Options { own, ..Options::default() })
}

fn names(source: &dyn Source, dir: &TempDir) -> Vec<String> {
    let below = |record| PathBuf::from(source.locator(record).name()).strip_prefix(dir.path()).unwrap().to_owned();
    (0..source.len()).map(|record| below(record).to_str().unwrap().to_owned()).collect()
}

#[test]
fn pictures_have_the_boxes_of_the_text_of_the_same_name() {
    let dir = folder(&[
        ("images/x.y.jpg", ""),
        ("images/b.png", ""),
        ("images/sub/images/c.jpg", ""),
        ("labels/x.y.txt", "1 0.5 0.5 0.5 1\n0 0.25 0.25 0.5 0.5\n"),
        ("images/sub/labels/c.txt", "0 0 0 0 1 1 1\n"),
        ("data.yaml", "names: [cat, dog]"),
    ]);
    let source = opened(dir.path(), &[]).unwrap();
    assert_eq!(names(&*source, &dir), ["images/b.png", "images/sub/images/c.jpg", "images/x.y.jpg"]);
    assert_eq!(source.classes(), ["cat", "dog"]);
    assert!(values::<f32>(&*source, "boxes", 0).is_empty());
    assert_eq!(source.targets().schema().fields()[0].role, Role::FractionBoxes);
    assert_eq!(values::<f32>(&*source, "boxes", 2), [0.25, 0.0, 0.75, 1.0, 0.0, 0.0, 0.5, 0.5]);
    assert_eq!(values::<i64>(&*source, "classes", 2), [1, 0]);
    let columns = ColumnMap::from_iter([("shapes", "polygons_normalised")]);
    let source = open(&Address::file(dir.path().join("data.yaml")), &Options { columns, ..Options::default() })
        .unwrap()
        .into_source();
    assert_eq!(values::<f32>(&*source, "shapes", 1), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    assert_eq!(source.targets().value(0, 2).items(), 2);
}

#[test]
fn sets_are_chosen_by_name_in_either_layout() {
    let inner = ["images/train/1.jpg", "images/val/2.jpg", "labels/train/1.txt", "labels/val/2.txt"];
    let outer = ["train/images/1.jpg", "val/images/2.jpg", "train/labels/1.txt", "val/labels/2.txt"];
    for layout in [inner, outer] {
        let [one, two, first, second] = layout;
        let dir = folder(&[(one, ""), (two, ""), (first, "0 0 0 0 0"), (second, "5 0 0 0 0")]);
        let train = opened(dir.path(), &[("set", "train")]).unwrap();
        assert_eq!(names(&*train, &dir), [one]);
        assert_eq!(values::<i64>(&*train, "classes", 0), [0]);
        let all = opened(dir.path(), &[("set", "all")]).unwrap();
        assert_eq!(names(&*all, &dir), [one, two]);
        assert_eq!(values::<i64>(&*all, "classes", 1), [5]);
        for own in [&[][..], &[("set", "../train")]] {
            let words = opened(dir.path(), own).unwrap_err().to_string();
            assert!(words.contains("(\"train\", \"val\"), or \"all\""), "{words}");
        }
    }
}

#[test]
fn a_wrong_text_damages_its_picture_alone_and_wrong_names_are_refused() {
    let dir = folder(&[
        ("images/1.jpg", ""),
        ("images/2.jpg", ""),
        ("labels/1.txt", "0 0.5 0.5 0.1 0.1\n2 1 1 1\n"),
        ("labels/2.txt", "1 0.5 0.5 0.1 0.1\n"),
    ]);
    let source = opened(dir.path(), &[]).unwrap();
    let error = source.read(0, u64::MAX, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::Damaged);
    assert!(error.to_string().contains("labels/1.txt\": line 2 has 3 numbers"), "{error}");
    source.read(1, u64::MAX, &mut Vec::new()).unwrap();
    let source = opened(dir.path(), &[("classes", "cat")]).unwrap();
    let error = source.read(1, u64::MAX, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("the class 1, but the last class is 0"), "{error}");
    let long = format!("names: [cat]\n{}", "# more\n".repeat(200_000));
    for (text, problem) in [
        ("names: cat", "neither a list nor a map"),
        ("nc: 3\n", "no line begins with \"names:\""),
        ("a picture's caption", "no line begins with \"names:\""),
        (&long, "more than 1048576 bytes"),
    ] {
        fs::write(dir.path().join("data.yaml"), text).unwrap();
        let words = opened(dir.path(), &[]).unwrap_err().to_string();
        assert!(["data.yaml", problem, "classes="].iter().all(|part| words.contains(part)), "{words}");
    }
    assert!(opened(dir.path(), &[("classes", "cat,dog")]).is_ok());
}

/// A pose dataset with two objects of three keypoints in the first picture, and these lines in its YAML.
fn poses(yaml: &str) -> TempDir {
    folder(&[
        ("images/1.jpg", ""),
        ("images/2.jpg", ""),
        (
            "labels/1.txt",
            "0 0.5 0.5 1 1 0.25 0.5 2 0.75 0.5 1 0 0 0\n0 0.5 0.5 0.5 0.5 0.5 0.5 1 0.5 0.25 1 0.125 0.5 2\n",
        ),
        ("data.yaml", &format!("names: [person]\n{yaml}")),
    ])
}

#[test]
fn rule_45_poses_have_boxes_and_keypoints_that_change_places_in_a_mirrored_picture() {
    let dir = poses("kpt_shape: [3, 3]\nflip_idx: [0, 2, 1]\n");
    let source = opened(dir.path(), &[]).unwrap();
    let fields = source.targets().schema().fields();
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["boxes", "classes", "keypoints"]);
    assert_eq!(
        (fields[2].role, &*fields[2].flip, fields[2].objects.as_deref()),
        (Role::FractionKeypoints, &[0, 2, 1][..], Some("objects"))
    );
    assert_eq!(values::<f32>(&*source, "boxes", 0), [0.0, 0.0, 1.0, 1.0, 0.25, 0.25, 0.75, 0.75]);
    let expected = [0.25, 0.5, 2.0, 0.75, 0.5, 1.0, 0.0, 0.0, 0.0, 0.5, 0.5, 1.0, 0.5, 0.25, 1.0, 0.125, 0.5, 2.0];
    assert_eq!(values::<f32>(&*source, "keypoints", 0), expected);
    assert!(values::<f32>(&*source, "keypoints", 1).is_empty());
    let given = poses("");
    let source = opened(given.path(), &[("kpt_shape", "3,3"), ("flip_idx", "2,1,0")]).unwrap();
    assert_eq!(source.targets().schema().fields()[2].flip, [2, 1, 0]);
    let wrong = poses("kpt_shape: [4, 3]\n");
    let source = opened(wrong.path(), &[]).unwrap();
    let error = source.read(0, u64::MAX, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("With kpt_shape [4, 3], a line has 16"), "{error}");
    for (yaml, words) in
        [("kpt_shape: [3]", "\"kpt_shape\" must be"), ("kpt_shape: [3, 3]\nflip_idx: [1]", "\"flip_idx\" must be")]
    {
        let error = opened(poses(yaml).path(), &[]).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("data.yaml"), "{error}");
    }
}

#[test]
fn poses_without_a_shape_are_refused_and_never_become_polygons() {
    let error = opened(poses("").path(), &[]).unwrap();
    let error = error.read(0, u64::MAX, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("look like a box and 3 keypoints") && error.contains("kpt_shape"), "{error}");
    // Visibilities of 0 and 1 could be coordinates of a polygon: all lines together tell.
    let ambiguous = |line: &str| folder(&[("images/1.jpg", ""), ("labels/1.txt", line)]);
    let dir = ambiguous("0 .5 .5 .25 .25 .5 .5 1 .5 .25 0\n0 .5 .5 .25 .25 .5 .5 1 .5 .25 1");
    let error = opened(dir.path(), &[]).unwrap_err().to_string();
    assert!(error.contains("kpt_shape=\"none\""), "{error}");
    assert!(opened(dir.path(), &[("kpt_shape", "none")]).is_ok());
    assert!(opened(ambiguous("0 .5 .5 .25 .25 .5 .5 1 .5 .25 0\n0 0 0 1 0 1 1").path(), &[]).is_ok());
    let columns = ColumnMap::from_iter([("points", "keypoints")]);
    let asked = open(&Address::file(poses("").path()), &Options { columns, ..Options::default() });
    assert!(asked.unwrap_err().to_string().contains("kpt_shape"));
}

#[test]
fn poses_of_two_numbers_a_point_are_refused_without_a_shape_and_never_become_polygons() {
    let dir = |lines: &[&str]| {
        folder(&[
            ("images/1.jpg", ""),
            ("images/2.jpg", ""),
            ("labels/1.txt", lines[0]),
            ("labels/2.txt", lines.get(1).copied().unwrap_or_default()),
        ])
    };
    // Five points each; one has no place, and one is a little outside of its box.
    let poses = [
        "0 .5 .4 .4 .6 .4 .2 .6 .25 .5 .5 0 0 .31 .68\n1 .25 .25 .3 .3 .2 .2 .3 .2 .25 .3 .11 .35 .42 .12\n",
        "0 .7 .7 .2 .5 .65 .6 .75 .6 .7 .7 .66 .9 .74 .9\n",
    ];
    let error = opened(dir(&poses).path(), &[]).unwrap_err().to_string();
    assert!(
        ["5 points", "\"kpt_shape: [5, 2]\"", "kpt_shape=\"none\""].iter().all(|part| error.contains(part)),
        "{error}"
    );
    let source = opened(dir(&poses).path(), &[("kpt_shape", "5,2")]).unwrap();
    assert_eq!(values::<f32>(&*source, "boxes", 1), [0.6, 0.45, 0.8, 0.95]);
    assert!(opened(dir(&poses).path(), &[("kpt_shape", "none")]).is_ok());
    // One point each, beside a line of a box alone.
    let single = ["0 .8 .7 .1 .1 .81 .72\n0 .5 .5 .25 .5\n", "0 .2 .6 .2 .1 .21 .61\n"];
    let error = opened(dir(&single).path(), &[]).unwrap_err().to_string();
    assert!(error.contains("1 point of x and y") && error.contains("[1, 2]"), "{error}");
    // Polygons, although all have as many points, such as oriented boxes in the middle, and polygons of several sizes.
    for polygons in [
        ["0 .1 .1 .4 .1 .4 .5 .1 .5\n0 .6 .2 .9 .2 .9 .7 .6 .7\n", "2 .2 .5 .3 .5 .3 .9 .2 .9\n"],
        ["0 .5 .4 .4 .6 .4 .2\n", "0 .5 .4 .4 .6 .4 .2 .45 .3\n"],
        ["0 .3 .3 .5 .3 .5 .4 .3 .4\n", "0 .4 .45 .55 .5 .5 .6 .36 .55\n1 .3 .3 .31 .3 .31 .31 .3 .31\n"],
    ] {
        assert!(opened(dir(&polygons).path(), &[]).is_ok(), "{polygons:?}");
    }
}

#[test]
fn pictures_without_any_text_are_refused_with_what_lies_in_its_place() {
    for (files, words) in [
        (&["images/1.jpg", "images/2.jpg"][..], &["none of the 2 pictures", "\"folder:\""][..]),
        (&["images/1.jpg", "labelTxt/1.txt"], &["text of oriented boxes", "labelTxt/1.txt"]),
        (&["images/1.jpg", "images/1.txt"], &["1 text, as YOLO", "images/1.txt"]),
        (&["images/1.jpg", "labels/2.txt"], &["for which there is no picture", "labels/2.txt"]),
        (&["images/1.jpg", "labels/1.xml"], &["1 XML file", "labels/1.xml"]),
    ] {
        let dir = folder(&files.iter().map(|file| (*file, "")).collect::<Vec<_>>());
        let error =
            crate::open(&format!("yolo:{}", dir.path().display()), &Options::default()).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{words:?}: {error}");
    }
}

#[test]
fn a_folder_is_recognised_by_its_texts_and_other_folders_are_not() {
    for (files, expected) in [
        (&["images/a.jpg", "labels/a.txt"][..], true),
        (&["images/x/a.jpg", "labels/x/a.txt"], true),
        (&["valid/images/a.jpg", "valid/labels/a.txt"], true),
        (&["images/a.jpg", "labels/a.jpg"], false),
        (&["images/a.jpg", "labels.txt"], false),
        (&["cat/a.jpg", "labels/a.txt"], false),
        (&["cat/images/a.jpg", "cat/labels/a.txt"], false),
    ] {
        let dir = folder(&files.iter().map(|file| (*file, "")).collect::<Vec<_>>());
        assert_eq!(YoloLayout::is_one(&Address::file(dir.path())), expected, "{files:?}");
        fs::write(dir.path().join("x.yaml"), "names: [a]").unwrap();
        assert_eq!(YoloLayout::is_one(&Address::file(dir.path().join("x.yaml"))), expected, "{files:?}");
        assert!(!YoloLayout::is_one(&Address::file(dir.path().join(files[0]))));
    }
}
