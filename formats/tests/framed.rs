//! Packed formats over files that other people's programs wrote; skipped, with the reason, where they are absent.
#![allow(clippy::print_stdout, reason = "a skipped test says why")]

#[path = "genuine/shared.rs"]
mod shared;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use forebay_formats::open;
use forebay_sources::{ColumnMap, Grains, Options, OwnOptions, ReadErrorKind, Source};
use shared::shared;

fn opened(path: &Path, options: &Options) -> Box<dyn Source> {
    open(path.to_str().expect("a plain path"), options).unwrap_or_else(|error| panic!("{error}"))
}

fn read(source: &dyn Source, record: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    source.read(record, u64::MAX, &mut bytes).unwrap_or_else(|error| panic!("{}: {error}", source.locator(record)));
    bytes
}

fn columns(map: &[(&str, &str)]) -> Options {
    Options { columns: map.iter().copied().collect::<ColumnMap>(), ..Options::default() }
}

/// Compares a picture with its file. Without the file, nothing is compared.
fn is_the_photograph(picture: &[u8], file: &Path) -> bool {
    assert!(picture.starts_with(&[0xff, 0xd8]), "{}", file.display());
    let Ok(expected) = fs::read(file) else { return false };
    assert!(picture == expected, "{}", file.display());
    true
}

#[test]
fn tensorflow_s_own_examples_have_pictures_and_the_boxes_of_their_table() {
    let Some(folder) = shared("tfrecord_raccoon") else { return };
    let source = opened(&folder.join("data/test.record"), &Options::default());
    assert_eq!(source.len(), 40);
    let sizes = [("name", "image/filename"), ("width", "image/width"), ("height", "image/height")];
    let names = opened(&folder.join("data/test.record"), &columns(&sizes));
    let table = source.targets();
    let column = |name: &str| table.schema().find(name).unwrap();
    let (boxes, classes) = (column("boxes"), column("classes"));
    let mut expected: BTreeMap<String, Vec<[f32; 4]>> = BTreeMap::new();
    let rows = fs::read_to_string(folder.join("data/test_labels.csv")).unwrap();
    for row in rows.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let sides = [4, 5, 6, 7].map(|place| cells[place].parse().unwrap());
        expected.entry(cells[0].to_owned()).or_default().push(sides);
    }
    let mut objects = 0;
    for record in 0..40_u8 {
        let place = usize::from(record);
        let name = String::from_utf8(names.targets().value(0, place).bytes().to_vec()).unwrap();
        // The table has pixels, the Examples have fractions.
        let side = |name: &str| {
            let field = names.targets().schema().find(name).unwrap();
            let column_type = &names.targets().schema().fields()[field].column_type;
            let sides = names.targets().value(field, place).numbers::<i64>(column_type).unwrap();
            f32::from(u16::try_from(sides[0]).unwrap())
        };
        let sides = [side("width"), side("height")];
        let found = table.value(boxes, place).numbers::<f32>(&"f32 [*, 4]".parse().unwrap()).unwrap();
        let rows = &expected[&name];
        assert_eq!(found.len(), rows.len() * 4, "{name}");
        for ((found, row), side) in found.iter().zip(rows.as_flattened()).zip(sides.iter().cycle()) {
            assert!((found * side - row).abs() < 0.01, "{name}: {found} of {side} is not {row}");
        }
        let kinds = table.value(classes, place).numbers::<i64>(&"i64 [*]".parse().unwrap()).unwrap();
        assert_eq!(kinds, vec![1; rows.len()], "{name}");
        objects += rows.len();
        assert!(read(&*source, record.into()).starts_with(&[0xff, 0xd8]), "{name}");
        assert_eq!(source.label(record.into()), -1);
    }
    assert_eq!(objects, rows.lines().count() - 1, "every row of the table was met");
}

#[test]
fn pictures_in_tfrecords_are_the_photographs_that_were_packed() {
    let (Some(generated), Some(imagenet)) = (shared("generated"), shared("imagenet")) else { return };
    let file = generated.join("tfrecord/imagenet64.tfrecord");
    let source = opened(&file, &columns(&[("name", "image/filename"), ("bbox", "bbox")]));
    assert_eq!(source.len(), 64);
    let types: Vec<String> =
        source.targets().schema().fields().iter().map(|field| field.column_type.to_string()).collect();
    assert_eq!(types, ["u8 [*]", "f32 [*]"]);
    let mut compared = 0;
    for record in 0..64_u8 {
        let name = String::from_utf8(source.targets().value(0, record.into()).bytes().to_vec()).unwrap();
        compared += u32::from(is_the_photograph(&read(&*source, record.into()), &imagenet.join(&name)));
        assert_eq!(source.label(record.into()), i64::from(record));
    }
    assert!(compared >= 32, "half of the photographs are here as files");
    let bbox = source.targets().value(1, 0).numbers::<f32>(&"f32 [*]".parse().unwrap()).unwrap();
    assert_eq!(bbox, [0.1, 0.2, 0.9, 1.0]);
}

fn own(key: &str, value: &str) -> Options {
    Options { own: [(key, value)].into_iter().collect::<OwnOptions>(), ..Options::default() }
}

fn all(source: &dyn Source) -> Vec<Vec<u8>> {
    (0..source.len()).map(|record| read(source, record)).collect()
}

#[test]
fn mxnet_s_own_files_have_their_pictures_and_labels() {
    let (Some(generated), Some(imagenet)) = (shared("generated"), shared("imagenet")) else { return };
    let source = opened(&generated.join("mxnet/imagenet64.rec"), &columns(&[("id", "id")]));
    let list = fs::read_to_string(generated.join("mxnet/imagenet64.lst")).unwrap();
    assert_eq!((source.len(), list.lines().count()), (64, 64));
    let mut compared = 0;
    for (record, line) in list.lines().enumerate() {
        let cells: Vec<&str> = line.split('\t').collect();
        let number = record as u64;
        compared += u32::from(is_the_photograph(&read(&*source, number), &imagenet.join(cells[2])));
        assert_eq!(Some(source.label(number).to_string().as_str()), cells[1].split('.').next());
        assert_eq!(source.targets().value(0, record).bytes(), cells[0].parse::<u64>().unwrap().to_le_bytes());
    }
    assert!(compared >= 32, "half of the photographs are here as files");
    let without_index = opened(&generated.join("mxnet/imagenet64.rec"), &own("index", "none"));
    assert_eq!(all(&*without_index), all(&*source));
}

#[test]
fn mxnet_s_parts_with_the_magic_inside_are_put_together() {
    let Some(generated) = shared("generated") else { return };
    let file = generated.join("mxnet/magic_inside.rec");
    let source = opened(&file, &own("payload", "picture"));
    assert_eq!(source.len(), 11);
    assert!(source.read(0, u64::MAX, &mut Vec::new()).is_err(), "the first one is empty");
    let magic = &[0x0a, 0x23, 0xd7, 0xce][..];
    let written = [
        b"a".to_vec(),
        magic.to_vec(),
        [magic, magic].concat(),
        [b"abcd", magic, b"efgh"].concat(),
        [b"abc", magic, b"x"].concat(),
        [b"abcd", magic, magic, b"zz"].concat(),
        [magic, b"tail"].concat(),
        [b"123412341234", magic].concat(),
    ];
    for (record, written) in (1..).zip(written) {
        assert_eq!(read(&*source, record), written, "record {record}");
    }
    let images = opened(&file, &columns(&[("label", "label"), ("id", "id")]));
    let labels = images.targets().value(0, 9).numbers::<f32>(&"f32 [*]".parse().unwrap()).unwrap();
    assert_eq!((labels, images.label(9), images.label(10)), (vec![1.0, 2.5, -3.0], 1, 3));
    let id = images.targets().value(1, 10).numbers::<u64>(&"u64".parse().unwrap()).unwrap();
    assert_eq!(id, [(1 << 40) + 5]);
    assert!(read(&*images, 9).starts_with(&[0xff, 0xd8]) && read(&*images, 10).starts_with(&[0xff, 0xd8]));
}

#[test]
fn a_file_of_im2rec_has_all_labels_of_its_list() {
    let Some(folder) = shared("mxnet_rec") else { return };
    let source = opened(&folder.join("train.rec"), &columns(&[("label", "label")]));
    let list = fs::read_to_string(folder.join("train.lst")).unwrap();
    assert_eq!((source.len(), list.lines().count()), (12, 12));
    let mut found: Vec<Vec<f32>> = Vec::new();
    for record in 0..12_u8 {
        assert!(read(&*source, record.into()).starts_with(&[0xff, 0xd8]));
        assert_eq!(source.label(record.into()), 4);
        found.push(source.targets().value(0, record.into()).numbers(&"f32 [*]".parse().unwrap()).unwrap());
    }
    for (found, line) in found.iter().zip(list.lines()) {
        let cells: Vec<&str> = line.split('\t').collect();
        let expected: Vec<f32> = cells[1..cells.len() - 1].iter().map(|cell| cell.parse().unwrap()).collect();
        assert_eq!((found.len(), found), (9, &expected));
    }
}

#[test]
fn records_without_an_image_header_are_taken_on_request() {
    let Some(folder) = shared("mxnet_rec") else { return };
    let file = folder.join("sagemaker_seq2seq_val.rec");
    assert_eq!(opened(&file, &own("payload", "picture")).len(), 10_000);
    let as_images = open(file.to_str().expect("a plain path"), &Options::default()).unwrap_err().to_string();
    assert!(as_images.contains("payload=\"picture\""), "{as_images}");
}

#[test]
fn recordio_of_all_genuine_writers_has_the_photographs_that_were_packed() {
    let (Some(generated), Some(imagenet)) = (shared("generated"), shared("imagenet")) else { return };
    let names = fs::read_to_string(generated.join("mxnet/imagenet64.lst")).unwrap();
    let names: Vec<&str> = names.lines().filter_map(|line| line.split('\t').next_back()).collect();
    let packed = all(&*opened(&generated.join("mxnet/imagenet64.rec"), &Options::default()));
    for (file, records, grains) in [
        ("go_pyrecordio007_jpeg64.recordio", 64, 1),
        ("py_pyrecordio004_no_compression_jpeg16.recordio", 16, 9),
        ("py_pyrecordio004_snappy_jpeg16.recordio", 16, 9),
        ("py_pyrecordio004_gzip_jpeg16.recordio", 16, 9),
    ] {
        let source = opened(&generated.join("recordio").join(file), &Options::default());
        assert_eq!(source.len(), records, "{file}");
        let Grains::Starts(starts) = source.grains() else { panic!("{file} has chunks") };
        assert_eq!(starts.len(), grains, "{file}");
        let mut compared = 0;
        for (record, picture) in all(&*source).iter().enumerate() {
            assert!(picture == &packed[record], "{file}: record {record}");
            compared += u32::from(is_the_photograph(picture, &imagenet.join(names[record])));
        }
        assert!(compared >= 5, "{file}: some of the photographs are here as files");
    }
}

#[test]
fn empty_records_of_recordio_are_records_that_cannot_be_read() {
    let Some(generated) = shared("generated") else { return };
    let content = |file: &str| {
        let source = opened(&generated.join("recordio").join(file), &Options::default());
        let read = |record| {
            let mut bytes = Vec::new();
            match source.read(record, u64::MAX, &mut bytes) {
                Ok(()) => Some(bytes),
                Err(error) => {
                    assert_eq!(error.kind, ReadErrorKind::Empty);
                    None
                }
            }
        };
        (0..source.len()).map(read).collect::<Vec<_>>()
    };
    let some = |text: &str| Some(text.as_bytes().to_vec());
    assert_eq!(content("go_pyrecordio007_with_empty_records.recordio"), [some("a"), None, some("b"), None, None]);
    let python = content("py_pyrecordio004_default_empty_records.recordio");
    assert_eq!(python[..3], [some("a"), None, some("bb")]);
    assert_eq!(python[3].as_ref().map(Vec::len), Some(3000));
}

#[test]
fn upstream_s_own_sample_of_recordio_is_read() {
    let Some(folder) = shared("recordio") else { return };
    let file = folder.join("elasticdl_pyrecordio_0.0.4_test_data_with_snappy_compression");
    let records = all(&*opened(&file, &Options::default()));
    assert_eq!((records.len(), &records[0][..]), (20, &b"china"[..]));
}
