//! Tests of what `coco:` accepts, keeps and refuses.

mod relatives;

use std::fs;
use std::path::PathBuf;

use forebay_sources::{OwnOptions, ReadErrorKind, Source};
use tempfile::TempDir;

use super::*;
use crate::opened::OpenDataset;
use crate::scene::{names, values};

/// A JSON beside pictures `1.jpg` to `4.jpg`.
fn dataset(json: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    for number in 1..=4 {
        fs::write(dir.path().join(format!("{number}.jpg")), format!("picture {number}")).unwrap();
    }
    let file = dir.path().join("instances.json");
    fs::write(&file, json).unwrap();
    (dir, file)
}

/// Pictures 4, 2, 3 with these annotations, and categories 90 and 1.
fn with(annotations: &str) -> (TempDir, PathBuf) {
    dataset(&format!(
        r#"{{"info": {{}}, "annotations": [{annotations}],
        "images": [{{"id": 40, "file_name": "4.jpg"}}, {{"file_name": "2.jpg", "id": 2}}, {{"id": 3, "file_name": "3.jpg"}}],
        "categories": [{{"id": 90, "name": "toothbrush"}}, {{"supercategory": "x", "id": 1, "name": "person"}}]}}"#
    ))
}

fn columns(map: &[(&str, &str)]) -> Options {
    Options { columns: map.iter().copied().collect(), ..Options::default() }
}

fn opened(file: &Path, options: &Options) -> Box<dyn Source> {
    crate::open(file.to_str().unwrap(), options).unwrap()
}

fn refusal(file: &Path, options: &Options) -> String {
    crate::open(file.to_str().unwrap(), options).unwrap_err().to_string()
}

fn damage(source: &dyn Source, record: u64) -> String {
    let error = source.read(record, u64::MAX, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::Damaged);
    error.to_string()
}

const OBJECTS: &str = r#"{"segmentation": [[1, 2, 3, 4, 5, 6.5], [0, 0, 1, 1, 2, 2]], "area": 3.5, "iscrowd": 0,
        "image_id": 3, "bbox": [10, 20.5, 2, 3], "category_id": 90, "id": 1, "keypoints": [1, 2, 2, 0, 0, 0]},
    {"id": 2, "image_id": 40, "category_id": 1, "bbox": [0, 0, 0, 5]},
    {"id": 3, "image_id": 3, "category_id": 1, "bbox": [1, 1, 1, 1], "iscrowd": 1, "area": 1,
        "segmentation": {"counts": [2, 4, 0, 3], "size": [3, 3]}},
    {"id": 4, "image_id": 40, "category_id": 1, "bbox": [0, 0, 1, 1],
        "segmentation": {"counts": "61X13mN000`0", "size": [9, 10]}}"#;

/// Pictures 1 and 2 with these annotations, and categories with keypoints of these names.
fn with_keypoints(annotations: &str, categories: &[&str]) -> (TempDir, PathBuf) {
    let categories: Vec<String> = (1..)
        .zip(categories)
        .map(|(id, names)| format!(r#"{{"id": {id}, "name": "c{id}", "keypoints": [{names}]}}"#))
        .collect();
    dataset(&format!(
        r#"{{"images": [{{"id": 1, "file_name": "1.jpg"}}, {{"id": 2, "file_name": "2.jpg"}}],
        "annotations": [{annotations}], "categories": [{}]}}"#,
        categories.join(", ")
    ))
}

#[test]
fn rule_45_keypoints_are_a_column_of_a_file_that_names_them_and_left_and_right_change_places() {
    let annotations = r#"{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9], "keypoints": [1, 2, 2, 3, 4, 1, 0, 0, 0]},
        {"id": 2, "image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9]},
        {"id": 3, "image_id": 2, "category_id": 1, "bbox": [0, 0, 9, 9], "keypoints": [1, 2, 2]}"#;
    let names = r#""left_hand", "nose", "right_hand""#;
    let (_dir, file) = with_keypoints(annotations, &[names]);
    let source = opened(&file, &Options::default());
    let field = source.targets().schema().fields().iter().find(|field| field.name == "keypoints").unwrap();
    assert_eq!((field.role, &*field.flip), (Role::Keypoints, &[2, 1, 0][..]));
    assert_eq!(values::<f32>(&*source, "keypoints", 0), [1.0, 2.0, 2.0, 3.0, 4.0, 1.0, 0.0, 0.0, 0.0]);
    let problem = damage(&*source, 1);
    assert!(problem.contains("has 1 keypoints, but its category names 3"), "{problem}");
    // Two skeletons have no common partners, and equal ones have.
    let partners = |categories: &[&str]| {
        let (_dir, file) = with_keypoints("", categories);
        opened(&file, &columns(&[("points", "keypoints")])).targets().schema().fields()[0].flip.clone()
    };
    assert!(partners(&[names, r#""left_wing", "right_wing""#]).is_empty());
    assert_eq!(partners(&[names, r#""L_foot", "tail", "R_foot""#]), [2, 1, 0]);
    assert!(partners(&[r#""nose", "tail""#]).is_empty() && partners(&["7"]).is_empty());
}

#[test]
fn records_are_ordered_by_image_id_and_have_lists_of_objects() {
    let (_dir, file) = with(OBJECTS);
    let source = opened(&file, &Options::default());
    assert_eq!(names(&*source), ["2.jpg", "3.jpg", "4.jpg"]);
    assert_eq!(source.classes(), ["person", "toothbrush"]);
    let schema = source.targets().schema();
    let shown: Vec<String> =
        schema.fields().iter().map(|field| format!("{}: {}", field.name, field.column_type)).collect();
    assert_eq!(shown, ["boxes: f32 [*, 4]", "classes: i64 [*]", "crowd: bool [*]", "area: f32 [*]"]);
    assert!((0..4).all(|column| schema.leader(column) == 0));
    assert_eq!(schema.fields()[0].role, Role::Boxes, "rule 45: they follow their pictures");
    assert!(values::<f32>(&*source, "boxes", 0).is_empty());
    assert_eq!(values::<f32>(&*source, "boxes", 1), [10.0, 20.5, 12.0, 23.5, 1.0, 1.0, 2.0, 2.0]);
    assert_eq!(values::<i64>(&*source, "classes", 1), [1, 0]);
    assert_eq!(source.targets().value(2, 1).bytes(), [0, 1]);
    // Where the area is missing, it is that of the box; a box without width is kept.
    assert_eq!(values::<f32>(&*source, "area", 2), [0.0, 1.0]);
    assert_eq!(source.label(1), -1);
    let mut bytes = Vec::new();
    source.read(1, u64::MAX, &mut bytes).unwrap();
    assert_eq!(bytes, b"picture 3");
}

#[test]
fn further_parts_become_columns_under_the_names_of_the_user() {
    let (_dir, file) = with(OBJECTS);
    let map = [
        ("shapes", "polygons"),
        ("masks", "rle"),
        ("points", "keypoints"),
        ("ids", "category_ids"),
        ("id", "image_ids"),
    ];
    let source = opened(&file, &columns(&map));
    assert_eq!(source.targets().columns().len(), 5);
    let roles: Vec<Role> = source.targets().schema().fields().iter().map(|field| field.role).collect();
    assert_eq!(roles, [Role::Points, Role::Plain, Role::Keypoints, Role::Plain, Role::Plain]);
    assert_eq!(values::<f32>(&*source, "shapes", 1), [1.0, 2.0, 3.0, 4.0, 5.0, 6.5, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0]);
    assert_eq!(source.targets().rooms()[0].0, [2, 2, 6]);
    assert_eq!(values::<u32>(&*source, "masks", 1), [2, 4, 0, 3]);
    assert_eq!(values::<u32>(&*source, "masks", 2), [6, 1, 40, 4, 5, 4, 5, 4, 21]);
    assert_eq!(values::<f32>(&*source, "points", 1), [1.0, 2.0, 2.0, 0.0, 0.0, 0.0]);
    assert_eq!(values::<i64>(&*source, "ids", 1), [90, 1]);
    assert_eq!((0..3).map(|record| values::<i64>(&*source, "id", record)[0]).collect::<Vec<_>>(), [2, 3, 40]);
    let words = refusal(&file, &columns(&[("boxes", "bboxes")]));
    assert!(words.contains("columns.boxes = \"bboxes\" must be one of \"boxes\", \"classes\""), "{words}");
    assert!(refusal(&file, &columns(&[("labels", "classes")])).contains("columns.labels"));
}

#[test]
fn captions_are_lists_of_texts_and_the_only_column_of_a_file_of_captions() {
    let captions = r#"{"image_id": 3, "id": 1, "caption": "A cat."}, {"image_id": 2, "id": 2, "caption": "Zwei Eulen ü"},
        {"image_id": 3, "id": 3, "caption": ""}"#;
    let (_dir, file) = with(captions);
    let source = opened(&file, &Options::default());
    assert_eq!(source.targets().schema().fields().len(), 1);
    let value = |record| source.targets().value(0, record);
    assert_eq!((value(0).bytes(), value(1).bytes()), ("Zwei Eulen ü".as_bytes(), &b"A cat."[..]));
    assert_eq!([0, 1, 2].map(|record| value(record).items()), [1, 2, 0]);
}

#[test]
fn pictures_without_annotations_are_kept_unless_they_are_to_be_skipped() {
    let (_dir, file) = with(OBJECTS);
    let own = OwnOptions::from_iter([("empty", "skip")]);
    let source = opened(&file, &Options { own, ..Options::default() });
    assert_eq!(names(&*source), ["3.jpg", "4.jpg"]);
    let own = OwnOptions::from_iter([("empty", "drop")]);
    let words = refusal(&file, &Options { own: own.clone(), ..Options::default() });
    assert!(words.contains("empty = \"drop\" must be one of \"keep\", \"skip\""), "{words}");
    let (_dir, file) = with("");
    let own = OwnOptions::from_iter([("empty", "skip")]);
    assert!(refusal(&file, &Options { own, ..Options::default() }).contains("holds no record"));
}

#[test]
fn what_is_wrong_with_an_annotation_is_an_error_of_its_picture_alone() {
    for (annotation, words) in [
        (r#""category_id": 1, "bbox": [1, 2, 3]"#, "\"bbox\" of 3 numbers"),
        (r#""category_id": 1, "bbox": [1, 2, -3, 1]"#, "the width -3"),
        (r#""category_id": 1, "bbox": [1, 2, 1e300, 1]"#, "too large"),
        (r#""category_id": 1, "bbox": ["1", 2, 3, 4]"#, "no list of numbers"),
        (r#""category_id": 1, "bbox": null"#, "no list of numbers"),
        (r#""category_id": 1"#, "no list of numbers"),
        (r#""category_id": 2, "bbox": [1, 2, 3, 4]"#, "category id 2, which the file does not list"),
        (r#""category_id": "x", "bbox": [1, 2, 3, 4]"#, "no integer as \"category_id\""),
        (r#""bbox": [1, 2, 3, 4]"#, "no integer as \"category_id\""),
        (r#""category_id": 1, "bbox": [1, 2, 3, 4], "iscrowd": 2"#, "neither 0 nor 1"),
        (r#""category_id": 1, "bbox": [1, 2, 3, 4], "area": -1"#, "\"area\""),
        (r#""category_id": 1, "bbox": [1, 2, 3, 4], "area": {"size": [[]]}"#, "\"area\""),
    ] {
        let (_dir, file) = with(&format!(
            r#"{{"id": 5, "image_id": 2, "category_id": 1, "bbox": [1, 2, 3, 4]}}, {{"id": 77, "image_id": 3, {annotation}}}"#
        ));
        let source = opened(&file, &Options::default());
        let error = damage(&*source, 1);
        assert!(error.contains("annotation 77 of image 3 ") && error.contains(words), "{words}: {error}");
        source.read(0, u64::MAX, &mut Vec::new()).unwrap();
        assert_eq!(values::<f32>(&*source, "boxes", 0).len(), 4);
    }
    for (segmentation, words) in [
        ("[[1, 2, 3]]", "odd number"),
        ("[[1, 2e39]]", "too large"),
        ("[1, 2, 3, 4]", "neither a list of polygons nor a mask"),
        ("{\"counts\": [1, 2], \"size\": [2, 2]}", "3 pixels, but its size is 2 x 2"),
        ("{\"counts\": [1, -2], \"size\": [2, 2]}", "not a run length"),
        ("{\"counts\": [1], \"size\": [1, 1.5]}", "\"size\""),
        ("{\"size\": [1, 1]}", "without \"counts\""),
        ("{\"counts\": \"\u{7f}\", \"size\": [1, 1]}", "character 0"),
    ] {
        let (_dir, file) =
            with(&format!(r#"{{"id": 77, "image_id": 3, "category_id": 1, "segmentation": {segmentation}}}"#));
        let source = opened(&file, &columns(&[("polygons", "polygons"), ("rle", "rle")]));
        let error = damage(&*source, 1);
        assert!(error.contains("annotation 77 of image 3 ") && error.contains(words), "{words}: {error}");
        // What is not wanted is not looked at.
        opened(&file, &columns(&[("classes", "classes")])).read(1, u64::MAX, &mut Vec::new()).unwrap();
    }
}

#[test]
fn annotations_of_images_that_are_not_listed_belong_to_no_record() {
    let (_dir, file) = with(r#"{"id": 1, "image_id": 99, "category_id": 5}, {"id": 2}"#);
    let source = opened(&file, &Options::default());
    (0..3).for_each(|record| source.read(record, u64::MAX, &mut Vec::new()).unwrap());
}

#[test]
fn a_file_that_cannot_be_understood_is_refused_where_it_is_wrong() {
    let image = |id: &str, name: &str| format!(r#"{{"id": {id}, "file_name": "{name}"}}"#);
    for (json, words) in [
        (r#"{"images": [{"id": 1, "file_na"#.to_owned(), &["byte 2", "ends too early"][..]),
        (
            r#"{"images": [{"id": 1, "file_name": "1.jpg"}], "annotations": [{"bbox": [NaN]}]}"#.into(),
            &["byte 7", "line 1"],
        ),
        (
            r#"{"images": [{"id": 1, "file_name": "1.jpg"}], "annotations": [{"bbox": [1e999]}]}"#.into(),
            &["out of range"],
        ),
        (r#"{"images": [{"id": "a", "file_name": "1.jpg"}]}"#.into(), &["invalid type: string \"a\"", "\"file_name\""]),
        (r#"{"images": [{"id": 1}]}"#.into(), &["image 1 has no \"file_name\""]),
        (r#"{"annotations": []}"#.into(), &["no \"images\""]),
        (r#"{"images": []}"#.into(), &["holds no record"]),
        (r#"{"images": []} x"#.into(), &["trailing characters"]),
        (
            format!(r#"{{"images": [{}, {}]}}"#, image("1", "1.jpg"), image("1", "2.jpg")),
            &["the id 1", "1.jpg", "2.jpg"],
        ),
        (format!(r#"{{"images": [{}]}}"#, image("1", "../1.jpg")), &["leads out", "image 1", "root="]),
        (format!(r#"{{"images": [{}]}}"#, image("1", "")), &["image 1 has no \"file_name\", or an empty one"]),
        (format!(r#"{{"images": [{}]}}"#, image("1", "nowhere.jpg")), &["None of the 1 files", "root="]),
        (
            format!(
                r#"{{"images": [{}], "categories": [{{"id": 1, "name": "a"}}, {{"id": 1, "name": "b"}}]}}"#,
                image("1", "1.jpg")
            ),
            &["two categories have the id 1"],
        ),
        (format!(r#"{{"images": [{}], "annotations": {}"#, image("1", "1.jpg"), "[".repeat(100_000)), &["byte "]),
    ] {
        let (_dir, file) = dataset(&json);
        let message = refusal(&file, &Options::default());
        assert!(words.iter().all(|word| message.contains(word)), "{words:?}: {message}");
    }
}

#[test]
fn a_json_is_recognised_by_its_first_key_and_may_begin_with_a_mark() {
    let (_dir, file) = dataset("\u{feff} { \"images\": [{\"id\": 1, \"file_name\": \"1.jpg\"}]}");
    assert_eq!(opened(&file, &Options::default()).len(), 1);
    for other in ["{\"image\": 1}", "[]", "{\"images2\": []}"] {
        let (_dir, file) = dataset(other);
        assert!(refusal(&file, &Options::default()).contains("not a dataset that Forebay recognises"), "{other}");
    }
}

#[test]
fn the_pictures_are_found_beside_the_annotations() {
    for folder in ["train2017", "images/train2017", "images", "annotations/train2017", "annotations"] {
        let dir = tempfile::tempdir().unwrap();
        for path in [folder, "annotations"] {
            fs::create_dir_all(dir.path().join(path)).unwrap();
        }
        fs::write(dir.path().join(folder).join("2.jpg"), "x").unwrap();
        let file = dir.path().join("annotations/person_keypoints_train2017.json");
        fs::write(&file, r#"{"images": [{"id": 1, "file_name": "1.jpg"}, {"id": 2, "file_name": "2.jpg"}]}"#).unwrap();
        let source = opened(&file, &Options::default());
        source.read(1, u64::MAX, &mut Vec::new()).unwrap();
        assert_eq!(source.read(0, u64::MAX, &mut Vec::new()).unwrap_err().kind, ReadErrorKind::Missing);
    }
}

#[test]
fn pictures_are_not_looked_for_above_the_annotations() {
    let dir = tempfile::tempdir().unwrap();
    let annotations = dir.path().join("x/annotations");
    fs::create_dir_all(annotations.join("images")).unwrap();
    for path in ["1.jpg", "x/1.jpg", "x/annotations/images/1.jpg"] {
        fs::write(dir.path().join(path), "x").unwrap();
    }
    for name in ["a_...json", "a_..json", "a_.json", "a_b.json"] {
        let file = annotations.join(name);
        fs::write(&file, r#"{"images": [{"id": 1, "file_name": "1.jpg"}]}"#).unwrap();
        let found = PathBuf::from(opened(&file, &Options::default()).locator(0).name());
        assert_eq!(found, annotations.join("images/1.jpg"), "{name}");
    }
    fs::remove_file(annotations.join("images/1.jpg")).unwrap();
    let words = refusal(&annotations.join("a_b.json"), &Options::default());
    assert!(words.contains("None of the 1 files") && words.contains("root="), "{words}");
}

#[test]
fn rule_46_the_fingerprint_knows_the_targets() {
    let print = |annotations: &str, options: &Options| opened(&with(annotations).1, options).fingerprint();
    let first = print(OBJECTS, &Options::default());
    assert_eq!(print(OBJECTS, &Options::default()), first);
    let other = OBJECTS.replace("20.5", "20.25");
    assert_ne!(print(&other, &Options::default()), first);
    assert_ne!(print(OBJECTS, &columns(&[("boxes", "boxes")])), first);
}

#[test]
fn bytes_that_were_changed_cause_no_panic() {
    let map = ["boxes", "classes", "area", "crowd", "captions", "keypoints", "polygons", "rle", "image_ids"];
    let options = columns(&map.map(|name| (name, name)));
    let (dir, file) = with(OBJECTS);
    let text = fs::read(&file).unwrap();
    let mut readable = 0;
    crate::mutations::each(&text, 3000, |bytes| {
        fs::write(&file, bytes).unwrap();
        let Ok(source) = open(&Address::file(&file), &options).map(OpenDataset::into_source) else { return };
        for record in 0..source.len() {
            match source.read(record, 1 << 10, &mut Vec::new()) {
                Ok(()) => readable += 1,
                Err(error) => assert!(
                    matches!(error.kind, ReadErrorKind::Damaged | ReadErrorKind::Missing | ReadErrorKind::NotAFile),
                    "{error}"
                ),
            }
        }
    });
    assert!(readable > 100, "most changes leave something to read: {readable}");
    drop(dir);
}
