//! Files that are relatives of COCO's instances: panoptic annotations, and LVIS.

use super::*;

const SEGMENTS: &str = r#"{"image_id": 3, "file_name": "3.png", "segments_info": [
        {"id": 7, "category_id": 90, "iscrowd": 0, "bbox": [1, 2, 3, 4], "area": 9},
        {"id": 70000, "category_id": 1, "iscrowd": 1, "bbox": [0, 0, 5, 5], "area": 11}]},
    {"segments_info": [{"id": 5, "category_id": 1, "bbox": [0, 0, 2, 2]}], "image_id": 40}"#;

#[test]
fn the_segments_of_a_panoptic_annotation_are_the_objects_of_its_picture() {
    let (_dir, file) = with(SEGMENTS);
    let source = opened(&file, &Options::default());
    let columns: Vec<&str> = source.targets().schema().fields().iter().map(|field| &*field.name).collect();
    assert_eq!(columns, ["boxes", "classes", "crowd", "area", "ids"]);
    assert_eq!(values::<i64>(&*source, "ids", 1), [7, 70_000]);
    assert_eq!(values::<f32>(&*source, "boxes", 1), [1.0, 2.0, 4.0, 6.0, 0.0, 0.0, 5.0, 5.0]);
    assert_eq!(values::<i64>(&*source, "classes", 1), [1, 0]);
    assert_eq!(values::<i64>(&*source, "ids", 2), [5]);
    assert!(values::<i64>(&*source, "ids", 0).is_empty());
    // Of any other file they are the annotations' own, and only on request.
    let (_dir, file) = with(OBJECTS);
    let source = opened(&file, &columns_of_ids());
    assert_eq!(values::<i64>(&*source, "numbers", 1), [1, 3]);
}

fn columns_of_ids() -> Options {
    columns(&[("numbers", "ids")])
}

#[test]
fn a_segment_that_is_wrong_makes_its_picture_a_bad_record_and_none_has_segments_of_its_own() {
    let wrong = r#"{"image_id": 3, "segments_info": [{"id": 7, "category_id": 90, "bbox": [1, 2, -3, 4]}]},
        {"image_id": 2, "segments_info": [{"id": 8, "category_id": 1, "bbox": [0, 0, 1, 1],
            "segments_info": [{"id": 9, "category_id": 1, "bbox": [0, 0, 1, 1]}]}]}"#;
    let (_dir, file) = with(wrong);
    let source = opened(&file, &Options::default());
    assert!(damage(&*source, 1).contains("annotation 7 of image 3"));
    assert_eq!(values::<i64>(&*source, "ids", 0), [8]);
}

/// LVIS: two folders of pictures beside that of the JSON, and no file names.
fn lvis(negative: i64) -> (TempDir, PathBuf) {
    let dir = crate::scene::folder(&[("train2017/1.jpg", ""), ("val2017/2.jpg", ""), ("annotations/x", "")]);
    let file = dir.path().join("annotations/lvis_v1_val.json");
    let json = format!(
        r#"{{"images": [{{"id": 1, "coco_url": "http://images.example.org/val2017/2.jpg", "neg_category_ids": [{negative}, 3],
            "not_exhaustive_category_ids": []}},
            {{"id": 2, "coco_url": "http://images.example.org/train2017/1.jpg", "not_exhaustive_category_ids": [1]}}],
        "annotations": [{{"id": 1, "image_id": 2, "category_id": 3, "bbox": [0, 0, 1, 1], "area": 1}}],
        "categories": [{{"id": 1, "name": "a"}}, {{"id": 2, "name": "b"}}, {{"id": 3, "name": "c"}}]}}"#
    );
    fs::write(&file, json).unwrap();
    (dir, file)
}

#[test]
fn pictures_of_lvis_are_found_by_their_urls_and_its_negatives_are_columns() {
    let (dir, file) = lvis(1);
    let options = columns(&[("classes", "classes"), ("negatives", "negatives"), ("unsure", "not_exhaustive")]);
    let source = opened(&file, &options);
    let paths: Vec<_> = (0..2).map(|record| fs::canonicalize(source.locator(record).name()).unwrap()).collect();
    let folder = fs::canonicalize(dir.path()).unwrap();
    assert_eq!(paths, [folder.join("val2017/2.jpg"), folder.join("train2017/1.jpg")]);
    assert_eq!(values::<i64>(&*source, "negatives", 0), [0, 2]);
    assert_eq!((values::<i64>(&*source, "negatives", 1), values::<i64>(&*source, "unsure", 1)), (vec![], vec![0]));
    assert_eq!(values::<i64>(&*source, "classes", 1), [2]);
    // Without these columns nobody asks whether the ids mean something.
    let (_dir, file) = lvis(9);
    let source = opened(&file, &options);
    assert!(damage(&*source, 0).contains("image 1 names the category id 9"));
    opened(&file, &Options::default()).read(0, u64::MAX, &mut Vec::new()).unwrap();
}
