//! Pictures with annotations that the project did not make: COCO 2017 and Pascal VOC as labelImg writes it.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_columns::{Column, Element};
use forebay_formats::open;
use forebay_sources::{ColumnMap, Options, OwnOptions, Source};

use super::shared;

fn column<'a>(source: &'a dyn Source, name: &str) -> &'a Column {
    &source.targets().columns()[source.targets().schema().find(name).unwrap()]
}

/// The values of all records, one after the other.
fn all<T: Element>(source: &dyn Source, name: &str) -> Vec<T> {
    let column = column(source, name);
    (0..column.len()).flat_map(|record| column.value(record).numbers::<T>(column.column_type()).unwrap()).collect()
}

fn all_are_readable(source: &dyn Source) {
    let mut bytes = Vec::new();
    for record in 0..source.len() {
        source.read(record, u64::MAX, &mut bytes).unwrap();
        assert!(bytes.starts_with(b"\xff\xd8"), "{}", source.locator(record));
    }
}

#[test]
fn coco_s_instances_are_read_with_boxes_classes_and_masks() {
    let Some(folder) = shared("coco_tiny") else { return };
    for (set, pictures, objects, crowds, first) in
        [("train", 32, 288, 4, "000000006818.jpg"), ("val", 6, 136, 1, "000000444010.jpg")]
    {
        // The sums were made by a program that reads the JSON without this one.
        let (classes, ids, coordinates, runs, right) = match set {
            "train" => (6404, 7407, 13002, 4254, 95_028.08),
            _ => (5095, 5824, 4916, 315, 48_544.67),
        };
        let file = folder.join(format!("annotations/instances_{set}2017.json"));
        let source = open(file.to_str().unwrap(), &Options::default()).unwrap();
        assert_eq!((source.len(), source.classes().len()), (pictures, 80));
        assert!(source.locator(0).to_string().ends_with(first), "{}", source.locator(0));
        assert_eq!((&*source.classes()[0], &*source.classes()[79]), ("person", "toothbrush"));
        let boxes = all::<f32>(&*source, "boxes");
        assert_eq!(boxes.len(), 4 * objects);
        let sum: f64 = boxes.chunks_exact(4).map(|corners| f64::from(corners[2])).sum();
        assert!((sum - right).abs() < 0.01, "{sum}");
        assert_eq!(all::<i64>(&*source, "classes").iter().sum::<i64>(), classes);
        let crowd = column(&*source, "crowd");
        let crowd =
            (0..crowd.len()).flat_map(|record| crowd.value(record).bytes()).filter(|&&crowd| crowd == 1).count();
        assert_eq!(crowd, crowds);
        all_are_readable(&*source);

        let columns = ColumnMap::from_iter(["polygons", "rle", "category_ids", "image_ids"].map(|name| (name, name)));
        let source = open(file.to_str().unwrap(), &Options { columns, ..Options::default() }).unwrap();
        assert_eq!(all::<i64>(&*source, "category_ids").iter().sum::<i64>(), ids);
        assert!(all::<i64>(&*source, "image_ids").is_sorted());
        // Objects of a crowd have a mask, and all others have polygons.
        let rle = column(&*source, "rle");
        let masks = (0..rle.len()).map(|record| rle.value(record).items()).sum::<usize>();
        assert_eq!(masks, objects);
        assert_eq!(all::<u32>(&*source, "rle").len(), runs);
        assert_eq!(all::<f32>(&*source, "polygons").len(), coordinates);
        all_are_readable(&*source);
    }
}

#[test]
fn labelimg_s_xml_files_are_read_with_their_boxes() {
    let Some(folder) = shared("voc_raccoon") else { return };
    let own = OwnOptions::from_iter([("one_based", "false")]);
    let source = open(folder.to_str().unwrap(), &Options { own, ..Options::default() }).unwrap();
    assert_eq!((source.len(), source.classes()), (200, &["raccoon".to_owned()][..]));
    let boxes = all::<f32>(&*source, "boxes");
    assert_eq!((boxes.len(), all::<i64>(&*source, "classes")), (4 * 217, vec![0; 217]));
    all_are_readable(&*source);

    // The same boxes are in a CSV beside them.
    let table = std::fs::read_to_string(folder.join("data/raccoon_labels.csv")).unwrap();
    let mut rows: Vec<Vec<f32>> =
        table.lines().skip(1).map(|line| line.split(',').skip(4).map(|cell| cell.parse().unwrap()).collect()).collect();
    let mut found: Vec<Vec<f32>> = boxes.chunks_exact(4).map(<[f32]>::to_vec).collect();
    rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
    found.sort_by(|a, b| a.partial_cmp(b).unwrap());
    assert_eq!(found, rows);

    let source = open(folder.to_str().unwrap(), &Options::default()).unwrap();
    let earlier: Vec<f32> = boxes.iter().zip([1.0, 1.0, 0.0, 0.0].iter().cycle()).map(|(at, by)| at - by).collect();
    assert_eq!(all::<f32>(&*source, "boxes"), earlier);
}

#[test]
fn the_lines_of_a_table_become_the_boxes_of_its_pictures() {
    let Some(folder) = shared("voc_raccoon") else { return };
    let table = folder.join("data/raccoon_labels.csv");
    let columns = ColumnMap::from_iter([("boxes", "xmin,ymin,xmax,ymax"), ("classes", "class")]);
    let own = OwnOptions::from_iter([("root", folder.join("images").to_str().unwrap()), ("group", "true")]);
    let source = open(table.to_str().unwrap(), &Options { columns, own, ..Options::default() }).unwrap();
    assert_eq!((source.len(), source.classes()), (200, &["raccoon".to_owned()][..]));
    assert_eq!((all::<f32>(&*source, "boxes").len(), all::<i64>(&*source, "classes").len()), (4 * 217, 217));
    all_are_readable(&*source);
}
