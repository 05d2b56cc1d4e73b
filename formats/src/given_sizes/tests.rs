//! Sizes from the columns of tables and annotations: what they say, and what is refused.

use std::fs;

use forebay_sources::OwnOptions;

use super::*;
use crate::open;
use crate::scene::says;
use crate::tests::folder;

fn options(columns: &[&str], sizes: &str) -> Options {
    let columns = columns.iter().map(|name| (*name, *name)).collect();
    Options { columns, own: OwnOptions::from_iter([("sizes", sizes)]), ..Options::default() }
}

/// Height, width and orientation of each record.
fn known(source: &dyn Source) -> Vec<Option<(u32, u32, u8)>> {
    let of = |size: PictureSize| (size.height, size.width, size.orientation);
    (0..source.len()).map(|record| source.sizes().get(record).map(of)).collect()
}

#[test]
fn rule_61_the_columns_of_a_table_are_sizes_as_seen_or_as_stored_with_orientations() {
    let dir = folder(&["a.jpg", "b.jpg", "c.jpg", "d.jpg"]);
    let table = dir.path().join("t.csv");
    let rows = "path,label,h,w,turn,name\na.jpg,0,30,40,6,x\nb.jpg,0,0,40,1,x\nc.jpg,0,50,60,99,x\nd.jpg,0,-5,7,3,x\n";
    fs::write(&table, rows).unwrap();
    let name = table.to_str().unwrap();
    let columns = ["h", "w", "turn", "name"];
    let seen = open(name, &options(&columns, "h,w")).unwrap();
    assert_eq!(known(&*seen), [Some((30, 40, 1)), None, Some((50, 60, 1)), None]);
    let stored = open(name, &options(&columns, " h , w,turn")).unwrap();
    assert_eq!(known(&*stored), [Some((40, 30, 6)), None, Some((50, 60, 1)), None]);
    let plain = open(name, &Options { own: OwnOptions::default(), ..options(&columns, "") }).unwrap();
    assert!(plain.sizes().is_empty());
    assert_eq!(plain.fingerprint(), seen.fingerprint(), "the values are in it, whatever they are used for");
    let refused = |sizes: &str| open(name, &options(&columns, sizes)).unwrap_err().to_string();
    says(&refused("h"), &["sizes", "two columns"]);
    says(&refused("h,"), &["two columns"]);
    says(&refused("h,w,turn,x"), &["two columns"]);
    says(&refused("h,width"), &["\"width\"", "\"h\", \"w\", \"turn\", \"name\""]);
    says(&refused("h,name"), &["\"name\"", "one number for each record"]);
}

#[test]
fn rule_61_annotations_of_coco_have_the_heights_and_widths_of_their_images() {
    let dir = folder(&["1.jpg", "2.jpg", "3.jpg"]);
    let file = dir.path().join("instances.json");
    let images = r#"{"id": 9, "file_name": "1.jpg", "height": 480, "width": 640},
        {"id": 2, "file_name": "2.jpg", "width": 500.0, "height": 333}, {"id": 5, "file_name": "3.jpg", "height": "x"}"#;
    fs::write(&file, format!(r#"{{"images": [{images}], "annotations": [], "categories": []}}"#)).unwrap();
    let source = open(file.to_str().unwrap(), &options(&["height", "width"], "height,width")).unwrap();
    // By rising id.
    assert_eq!(known(&*source), [Some((333, 500, 1)), None, Some((480, 640, 1))]);
    let names: Vec<_> = source.targets().schema().fields().iter().map(|field| field.name.clone()).collect();
    assert_eq!(names, ["height", "width"]);
}

#[test]
fn rule_61_a_list_of_one_number_is_a_number_and_other_lists_are_no_size() {
    let mut column = Column::new("i64 [*]".parse().unwrap());
    for numbers in [&[7_i64][..], &[7, 8], &[], &[-1]] {
        column.push(numbers);
    }
    assert_eq!([0, 1, 2, 3].map(|record| number(&column, record)), [Some(7), None, None, Some(-1)]);
    let mut column = Column::new("f32".parse().unwrap());
    column.push(&[640.0_f32]);
    column.push(&[0.5_f32]);
    column.push(&[f32::NAN]);
    column.push_null();
    assert_eq!([0, 1, 2, 3].map(|record| number(&column, record)), [Some(640), None, None, None]);
}
