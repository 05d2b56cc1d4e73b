//! Annotations of pictures: a file of any bytes is refused in words, or its pictures are read or refused one by one. The
//! first byte says which form the file has.
#![no_main]

use std::fs;
use std::path::Path;

use forebay_sources::{ColumnMap, Options, OwnOptions};
use libfuzzer_sys::fuzz_target;

/// Records that are read of a dataset.
const MOST: u64 = 64;

/// A form: the scheme, what is opened, the file with the bytes, and all columns that it can have.
type Form = (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)]);

const FORMS: [Form; 6] = [
    (
        "coco",
        "a.json",
        "a.json",
        &[
            ("boxes", "boxes"),
            ("classes", "classes"),
            ("crowd", "crowd"),
            ("area", "area"),
            ("captions", "captions"),
            ("category_ids", "category_ids"),
            ("keypoints", "keypoints"),
            ("polygons", "polygons"),
            ("rle", "rle"),
            ("image_ids", "image_ids"),
            ("ids", "ids"),
            ("negatives", "negatives"),
            ("not_exhaustive", "not_exhaustive"),
        ],
    ),
    ("voc", "", "annotations/a.xml", &[("boxes", "boxes"), ("classes", "classes"), ("occluded", "occluded")]),
    ("yolo", "", "labels/a.txt", &[("classes", "classes"), ("polygons", "polygons")]),
    ("yolo", "", "data.yaml", &[("classes", "classes")]),
    ("csv", "a.csv", "a.csv", &[("boxes", "a,b"), ("classes", "c"), ("text", "d;e")]),
    ("folder", "", "metadata.jsonl", &[("boxes", "a,b"), ("classes", "c"), ("text", "d;e")]),
];

fn write(folder: &Path, file: &str, bytes: &[u8]) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().expect("it is in the folder")).expect("there is room for small folders");
    fs::write(path, bytes).expect("there is room for a small file");
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, bytes)) = bytes.split_first() else { return };
    let (scheme, opened, file, columns) = FORMS[usize::from(first) % FORMS.len()];
    let folder = tempfile::tempdir().expect("there is room for small folders");
    write(folder.path(), "a.jpg", b"a picture");
    write(folder.path(), "images/a.jpg", b"a picture");
    write(folder.path(), file, bytes);
    let name = format!("{scheme}:{}", folder.path().join(opened).display());
    let named = Options { columns: ColumnMap::from_iter(columns.iter().copied()), ..Options::default() };
    let grouped = Options { own: OwnOptions::from_iter([("group", "true")]), ..named.clone() };
    for options in [Options::default(), named, grouped] {
        let Ok(source) = forebay_formats::open(&name, &options) else { continue };
        let mut buf = Vec::new();
        for record in 0..source.len().min(MOST) {
            if source.read(record, 1 << 20, &mut buf).is_err() {
                assert!(buf.is_empty(), "an error leaves nothing");
            }
            for column in source.targets().columns() {
                assert_eq!(column.len() as u64, source.len(), "a value per record");
            }
            assert!(!source.locator(record).to_string().is_empty());
        }
    }
});
