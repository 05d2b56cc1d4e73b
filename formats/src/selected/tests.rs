//! Tests of lists of records in files, and of datasets with a selection.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use ::parquet::file::properties::WriterProperties;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, StringArray, UInt8Array, UInt64Array};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use proptest::prelude::*;

use crate::npy::tests::npy;
use crate::open;
use crate::parquet::tests::{batch, write};

use super::*;

/// Ten records of which the odd ones have the label 1, as a list with labels.
fn dataset(folder: &Path) -> String {
    let mut csv = String::from("path,label\n");
    for record in 0..10 {
        fs::write(folder.join(format!("{record}.jpg")), [record]).unwrap();
        writeln!(csv, "{record}.jpg,{}", record % 2).unwrap();
    }
    fs::write(folder.join("list.csv"), csv).unwrap();
    folder.join("list.csv").to_string_lossy().into_owned()
}

struct Scene {
    folder: tempfile::TempDir,
    dataset: String,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dataset = dataset(folder.path());
        Self { folder, dataset }
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).to_string_lossy().into_owned()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> String {
        fs::write(self.file(name), bytes).unwrap();
        self.file(name)
    }

    fn open(&self, select: Option<&str>, condition: Option<&str>) -> Opened {
        let options = Options {
            select: select.map(str::to_owned),
            condition: condition.map(str::to_owned),
            ..Options::default()
        };
        open(&self.dataset, &options)
    }

    /// The records of a list, or what is wrong with it.
    fn selected(&self, select: &str) -> Result<Vec<u64>, String> {
        let source = self.open(Some(select), None).map_err(|error| error.to_string())?;
        Ok(source.selection().unwrap().iter().collect())
    }

    #[track_caller]
    fn refused(&self, select: &str, words: &str) {
        let error = self.selected(select).unwrap_err();
        assert!(error.contains(words) && error.contains(select.split('?').next().unwrap()), "{error}");
    }
}

#[test]
fn rule_66_a_selection_changes_nothing_else_of_a_dataset() {
    let scene = Scene::new();
    let (whole, list) =
        (scene.open(None, None).unwrap(), scene.write("a.npy", &npy("<i8", false, "(2,)", &numbers(&[7, 2]))));
    let some = scene.open(Some(&list), Some("label = 1")).unwrap();
    assert!(whole.selection().is_none());
    assert_eq!(some.selection().unwrap().iter().collect::<Vec<_>>(), [7]);
    assert_eq!((some.len(), some.fingerprint(), some.classes()), (10, whole.fingerprint(), whole.classes()));
    let mut content = Vec::new();
    for record in 0..10 {
        some.read(record, 10, &mut content).unwrap();
        assert_eq!((&content[..], some.label(record)), (&[u8::try_from(record).unwrap()][..], whole.label(record)));
        assert_eq!(some.locator(record), whole.locator(record));
    }
    let refused = |select, condition| scene.open(select, condition).unwrap_err().to_string();
    let words = refused(Some(&*list), Some("label = 1 and label = 0"));
    assert!(words.contains("`select` and `where` together select none of the 10 records"), "{words}");
    let words = refused(None, Some("label = 9"));
    assert!(words.contains("`where` selects none of the 10 records"), "{words}");
    let words = refused(None, Some("babel = 9"));
    assert!(
        words.contains("where: the dataset has no column \"babel\"") && words.ends_with("\n  babel = 9\n  ^"),
        "{words}"
    );
}

fn numbers(all: &[i64]) -> Vec<u8> {
    all.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn rule_66_arrays_of_every_integer_type_and_either_order_of_bytes_are_lists() {
    let scene = Scene::new();
    for (of, data) in [
        ("|u1", vec![9, 0, 3]),
        ("|i1", vec![9, 0, 3]),
        ("<u2", vec![9, 0, 0, 0, 3, 0]),
        (">u2", vec![0, 9, 0, 0, 0, 3]),
        (">i4", vec![0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 3]),
        ("<i8", numbers(&[9, 0, 3])),
        (">u8", [9_u64, 0, 3].iter().flat_map(|number| number.to_be_bytes()).collect()),
    ] {
        let file = scene.write("a.npy", &npy(of, false, "(3,)", &data));
        assert_eq!(scene.selected(&file).unwrap(), [0, 3, 9], "{of}");
    }
    let bools = scene.write("b.npy", &npy("|b1", false, "(10,)", &[0, 1, 0, 0, 0, 0, 0, 0, 1, 0]));
    assert_eq!(scene.selected(&bools).unwrap(), [1, 8]);
}

#[test]
fn rule_66_the_first_wrong_entry_of_an_array_is_named() {
    let scene = Scene::new();
    let array = |of: &str, shape: &str, data: &[u8]| scene.write("a.npy", &npy(of, false, shape, data));
    scene.refused(
        &array("<i8", "(3,)", &numbers(&[1, 10, 11])),
        "its entry 1 is 10, and the dataset has records 0 to 9",
    );
    scene.refused(&array("<i8", "(2,)", &numbers(&[1, -1])), "its entry 1 is -1");
    scene.refused(&array("<u8", "(1,)", &[0xff; 8]), "its entry 0 is 18446744073709551615");
    scene.refused(&array("<i8", "(4,)", &numbers(&[4, 2, 4, 2])), "its entry 2 is 4, which is in it already");
    scene.refused(&array("|b1", "(9,)", &[1; 9]), "9 bools, and the dataset has 10 records");
    scene.refused(&array("|b1", "(11,)", &[1; 11]), "a bool beyond those of the dataset's 10 records");
    scene.refused(&array("<f8", "(1,)", &[0; 8]), "its values are f64, and record numbers are integers");
    scene.refused(&array("|u1", "(2, 1)", &[1, 2]), "its shape is (2, 1), and a list has one dimension");
    scene.refused(&array("|u1", "()", &[1]), "its shape is (), and");
    scene.refused(&array("|O", "(1,)", b"\x80\x04."), "objects of Python");
    scene.refused(&scene.write("a.npy", b"1\n2\n"), "must be an array of NumPy (.npy), or an Arrow or parquet file");
    scene.refused(&scene.write("a.npy", &vec![0; 20_000]), "more bytes than a list of the 10 records");
    scene.refused(&scene.file("none.npy"), "not");
    scene.refused(&format!("{}?column=a", array("|u1", "(1,)", &[1])), "it is no table");
    let none = array("<i8", "(0,)", &[]);
    let words = scene.selected(&none).unwrap_err();
    assert!(words.contains("`select` selects none of the 10 records of the dataset"), "{words}");
}

/// Writes a table as each of the kinds of files that are read.
fn tables(scene: &Scene, columns: &[(&str, ArrayRef)]) -> Vec<String> {
    let rows = batch(columns.to_vec());
    let (parquet, file, stream) = (scene.file("a.parquet"), scene.file("a.arrow"), scene.file("b.arrow"));
    write(Path::new(&parquet), std::slice::from_ref(&rows), WriterProperties::builder().build());
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME)).unwrap();
    let mut writer =
        FileWriter::try_new_with_options(fs::File::create(&file).unwrap(), &rows.schema(), options).unwrap();
    writer.write(&rows).unwrap();
    writer.finish().unwrap();
    let mut writer = StreamWriter::try_new(fs::File::create(&stream).unwrap(), &rows.schema()).unwrap();
    writer.write(&rows).unwrap();
    writer.finish().unwrap();
    vec![parquet, file, stream]
}

#[test]
fn rule_66_a_column_of_a_table_is_a_list_as_well() {
    let scene = Scene::new();
    let of = |column: ArrayRef| tables(&scene, &[("record", column)]);
    for column in [
        Arc::new(Int64Array::from(vec![9, 0, 3])) as ArrayRef,
        Arc::new(UInt8Array::from(vec![9, 0, 3])),
        Arc::new(Int32Array::from(vec![9, 0, 3])),
        Arc::new(UInt64Array::from(vec![9, 0, 3])),
    ] {
        for file in &of(column) {
            assert_eq!(scene.selected(file).unwrap(), [0, 3, 9], "{file}");
        }
    }
    let bools: BooleanArray = (0..10).map(|record| Some(record == 4)).collect();
    for file in &of(Arc::new(bools)) {
        assert_eq!(scene.selected(file).unwrap(), [4]);
    }
    let wrong: [(ArrayRef, &str); 7] = [
        (Arc::new(Int64Array::from(vec![1, 10])), "its entry 1 is 10"),
        (Arc::new(Int64Array::from(vec![1, 1])), "its entry 1 is 1, which is in it already"),
        (Arc::new(Int64Array::from(vec![Some(1), None])), "its entry 1 is null"),
        (Arc::new(Float64Array::from(vec![1.0])), "its values are Float64"),
        (Arc::new(StringArray::from(vec!["1"])), "its values are Utf8"),
        (Arc::new(BooleanArray::from(vec![true; 9])), "9 bools"),
        (
            Arc::new(Int64Array::from((0..11).collect::<Vec<_>>())),
            "more entries than the dataset has records, which are 10",
        ),
    ];
    for (column, words) in wrong {
        for file in &of(column) {
            scene.refused(file, words);
        }
    }
    let two: [(&str, ArrayRef); 2] =
        [("keep", Arc::new(Int64Array::from(vec![5]))), ("score", Arc::new(Float64Array::from(vec![0.5])))];
    for file in tables(&scene, &two) {
        assert_eq!(scene.selected(&format!("{file}?column=keep")).unwrap(), [5]);
        scene.refused(&file, "several columns or none (\"keep\", \"score\"). Name one of them behind the file");
        scene.refused(&format!("{file}?column=kept"), "no column \"kept\". Its columns are \"keep\", \"score\"");
        let whole = fs::read(&file).unwrap();
        for cut in (0..whole.len()).step_by(7) {
            fs::write(&file, &whole[..cut]).unwrap();
            // A stream that is cut between two messages is found at its end alone.
            if let Ok(selected) = scene.selected(&format!("{file}?column=keep")) {
                assert_eq!(selected, [5]);
            }
        }
    }
}

proptest! {
    #[test]
    fn rule_66_a_changed_file_is_refused_or_selects_records_of_the_dataset(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), which in 0_usize..4
    ) {
        let scene = Scene::new();
        let list: [(&str, ArrayRef); 1] = [("record", Arc::new(Int64Array::from(vec![9, 0, 3])))];
        let mut files = tables(&scene, &list);
        files.push(scene.write("a.npy", &npy("<i8", false, "(3,)", &numbers(&[9, 0, 3]))));
        let mut bytes = fs::read(&files[which]).unwrap();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        fs::write(&files[which], bytes).unwrap();
        if let Ok(selected) = scene.selected(&files[which]) {
            prop_assert!(!selected.is_empty() && selected.iter().all(|record| *record < 10));
        }
    }
}
