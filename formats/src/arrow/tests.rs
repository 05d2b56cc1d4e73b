//! Arrow files that the library writes, read back: types, nulls, saved folders, and what is refused.

mod compressed;
mod hostile;
mod masks;

use std::fs;
use std::sync::Arc;

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, BinaryViewArray, DictionaryArray, Int64Array, LargeBinaryArray, ListArray, NullArray, RecordBatch,
    StringArray, StringViewArray, StructArray,
};
use arrow_buffer::NullBuffer;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use forebay_sources::{Grains, ReadErrorKind, Source as _};

use super::*;
use crate::opened::OpenDataset;
use crate::parquet::tests::hostile::Dice;
use crate::parquet::tests::{batch, binary, images, mapped, read};

/// A dataset without compression.
fn open(address: &Address, options: &Options) -> Result<Packed, SourceError> {
    super::open(address, options).map(|opened| match opened {
        OpenDataset::Ranges(packed) => packed,
        other => panic!("{other:?} is compressed"),
    })
}

pub(crate) fn stream(path: &Path, batches: &[RecordBatch]) {
    let mut writer = StreamWriter::try_new(fs::File::create(path).unwrap(), &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
}

pub(crate) fn file(path: &Path, batches: &[RecordBatch]) {
    let mut writer = FileWriter::try_new(fs::File::create(path).unwrap(), &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
}

/// A file whose buffers are compressed.
fn compressed(path: &Path, batches: &[RecordBatch], compression: CompressionType) {
    let options = IpcWriteOptions::default().try_with_compression(Some(compression)).unwrap();
    let file = fs::File::create(path).unwrap();
    let mut writer = FileWriter::try_new_with_options(file, &batches[0].schema(), options).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
}

pub(crate) fn zstd(path: &Path, batches: &[RecordBatch]) {
    compressed(path, batches, CompressionType::ZSTD);
}

/// A compressed file of these pictures. Beside them are bytes that do not become fewer, so that a longer picture makes a longer
/// file.
pub(crate) fn write_compressed(path: &Path, pictures: &[&[u8]]) {
    let mut dice = Dice(4);
    let mut random = |len: usize| (0..len).map(|_| u8::try_from(dice.below(256)).unwrap()).collect::<Vec<u8>>();
    let beside: Vec<Vec<u8>> = pictures.iter().map(|picture| random(picture.len())).collect();
    let beside: Vec<_> = beside.iter().map(|bytes| Some(&bytes[..])).collect();
    let pictures: Vec<_> = pictures.iter().map(|picture| Some(*picture)).collect();
    let table = batch(vec![("beside", binary(&beside)), ("image", binary(&pictures))]);
    compressed(path, &[table], CompressionType::ZSTD);
}

/// A stream of these pictures.
pub(crate) fn write_pictures(path: &Path, pictures: &[&[u8]]) {
    let pictures: Vec<_> = pictures.iter().map(|picture| Some(*picture)).collect();
    stream(path, &[batch(vec![("image", binary(&pictures))])]);
}

fn pictures(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|number| vec![u8::try_from(number % 251).unwrap(); 1 + number * 3]).collect()
}

/// Columns of every kind that stand before the picture and have to be passed over.
fn others(rows: usize) -> Vec<(&'static str, ArrayRef)> {
    let texts: Vec<String> = (0..rows).map(|row| format!("a text that is longer than a view {row}")).collect();
    let views: StringViewArray = texts.iter().map(Some).collect();
    let dictionary: DictionaryArray<Int8Type> =
        (0..rows).map(|row| if row.is_multiple_of(2) { "x" } else { "y" }).collect();
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>((0..rows).map(|row| Some(vec![Some(1); row % 3])));
    let nested: StringArray = texts.iter().map(Some).collect();
    let structure = StructArray::try_from(vec![
        ("a", Arc::new(nested) as ArrayRef),
        ("b", Arc::new(NullArray::new(rows)) as ArrayRef),
    ]);
    vec![
        ("nothing", Arc::new(NullArray::new(rows))),
        ("views", Arc::new(views)),
        ("dictionary", Arc::new(dictionary)),
        ("lists", Arc::new(lists)),
        ("structure", Arc::new(structure.unwrap())),
    ]
}

#[test]
fn every_kind_of_picture_is_read_behind_every_kind_of_column() {
    let dir = tempfile::tempdir().unwrap();
    let expected = pictures(50);
    let rows: Vec<Option<&[u8]>> = expected.iter().map(|picture| Some(&picture[..])).collect();
    let structures: Vec<_> = rows.iter().map(|row| (*row, Some("x.jpg"))).collect();
    let large: LargeBinaryArray = rows.iter().copied().collect();
    let views: BinaryViewArray = rows.iter().copied().collect();
    let columns: [ArrayRef; 4] = [binary(&rows), images(&structures), Arc::new(large), Arc::new(views)];
    for column in columns {
        let mut table = others(50);
        table.push(("picture", column));
        table.push(("label", Arc::new((0..50).map(Some).collect::<Int64Array>())));
        let table = batch(table);
        // A slice has offsets that do not begin with 0.
        let batches = [table.slice(0, 20), table.slice(20, 0), table.slice(20, 30)];
        for (name, write) in [("a.arrow", stream as fn(&Path, &[RecordBatch])), ("b.feather", file)] {
            let path = dir.path().join(name);
            write(&path, &batches);
            let columns = mapped(&[("lists", "lists"), ("text", "structure.a"), ("views", "views")]);
            let source = open(&Address::file(&path), &columns).unwrap();
            assert_eq!(source.len(), 50);
            for (record, picture) in (0..).zip(&expected) {
                assert_eq!(read(&source, record).as_deref(), Ok(&picture[..]), "{name} {record}");
                assert_eq!((source.size(record), source.label(record)), (picture.len() as u64, record.cast_signed()));
            }
            assert!(source.locator(33).to_string().ends_with(&format!("{name}, row 33")), "{}", source.locator(33));
            assert_eq!(source.grains(), Grains::Records);
            let types: Vec<String> =
                source.targets().schema().fields().iter().map(|field| field.column_type.to_string()).collect();
            assert_eq!(types, ["i32 [*]", "u8 [*]", "u8 [*]"]);
            assert_eq!(source.targets().value(0, 41).items(), 41 % 3);
            for column in [1, 2] {
                assert_eq!(source.targets().value(column, 41).bytes(), b"a text that is longer than a view 41");
            }
        }
    }
    let both = open(&Address::file(dir.path()), &Options::default()).unwrap();
    assert_eq!((both.len(), both.shard_name(49), both.shard_name(50)), (100, "a.arrow", "b.feather"));
    assert!(both.locator(52).to_string().ends_with("b.feather, row 2"));
}

#[test]
fn a_picture_that_is_null_or_elsewhere_is_a_bad_record_and_spoils_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.arrow");
    let rows =
        images(&[(Some(b"one"), None), (None, None), (None, Some("/x/2.jpg")), (Some(b""), None), (Some(b"no"), None)]);
    let (fields, arrays, _) = rows.as_any().downcast_ref::<StructArray>().unwrap().clone().into_parts();
    let nulls = NullBuffer::from(vec![true, true, true, true, false]);
    let rows: ArrayRef = Arc::new(StructArray::new(fields, arrays, Some(nulls)));
    stream(&path, &[batch(vec![("image", rows)])]);
    let source = open(&Address::file(&path), &Options::default()).unwrap();
    assert_eq!(read(&source, 0), Ok(b"one".to_vec()));
    let words = |record| source.read(record, u64::MAX, &mut Vec::new()).unwrap_err().to_string();
    assert_eq!([words(1), words(4)].map(|words| words.contains("the picture is null")), [true, true]);
    assert!(words(2).contains("only the path \"/x/2.jpg\""), "{}", words(2));
    assert_eq!(read(&source, 3), Err(ReadErrorKind::Empty));
}

/// A folder as `save_to_disk` writes it.
fn saved(folder: &Path, state: &str) {
    fs::create_dir_all(folder).unwrap();
    for (name, label) in [("data-0.arrow", 1), ("data-1.arrow", 0)] {
        let labels: ArrayRef = Arc::new(Int64Array::from(vec![label]));
        stream(&folder.join(name), &[batch(vec![("image", binary(&[Some(name.as_bytes())])), ("label", labels)])]);
    }
    fs::write(folder.join("state.json"), state).unwrap();
    let info = r#"{"features": {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}}}"#;
    fs::write(folder.join("dataset_info.json"), info).unwrap();
}

#[test]
fn a_saved_folder_has_its_files_in_the_order_of_its_state() {
    let dir = tempfile::tempdir().unwrap();
    saved(dir.path(), r#"{"_data_files": [{"filename": "data-1.arrow"}, {"filename": "data-0.arrow"}]}"#);
    let source = crate::open(dir.path().to_str().unwrap(), &Options::default()).unwrap();
    assert_eq!([read(&*source, 0), read(&*source, 1)], [Ok(b"data-1.arrow".to_vec()), Ok(b"data-0.arrow".to_vec())]);
    assert_eq!((source.classes(), source.label(1)), (&["cat".to_owned(), "dog".into()][..], 1));
    for (state, words) in [
        ("{", "It is not JSON"),
        ("{}", "names no files"),
        (r#"{"_data_files": [{}]}"#, "has no name"),
        (r#"{"_data_files": [{"filename": "../x.arrow"}]}"#, "outside of the folder"),
        (r#"{"_data_files": [{"filename": "/x.arrow"}]}"#, "outside of the folder"),
        (r#"{"_data_files": [{"filename": "x.arrow"}]}"#, "does not exist"),
        (r#"{"_data_files": []}"#, "holds no record"),
        (r#"{"_data_files": [], "_indices_data_files": [{"filename": "i.arrow"}]}"#, "flatten_indices"),
    ] {
        saved(dir.path(), state);
        let error = open(&Address::file(dir.path()), &Options::default()).unwrap_err().to_string();
        assert!(error.contains(words), "{words:?} is not in: {error}");
    }
    let splits = tempfile::tempdir().unwrap();
    fs::write(splits.path().join("dataset_dict.json"), r#"{"splits": ["train"]}"#).unwrap();
    let error = crate::open(splits.path().to_str().unwrap(), &Options::default()).unwrap_err().to_string();
    assert!(error.contains("Give the folder of one of them"), "{error}");
}

#[test]
fn files_of_one_dataset_agree_about_labels_and_classes() {
    let dir = tempfile::tempdir().unwrap();
    let table = |label: bool, names: &str| {
        let mut columns = vec![("image", binary(&[Some(b"one")]))];
        if label {
            columns.push(("label", Arc::new(Int64Array::from(vec![0])) as ArrayRef));
        }
        let mut table = batch(columns);
        let noted = format!(r#"{{"features": {{"label": {{"names": [{names}], "_type": "ClassLabel"}}}}}}"#);
        table.schema_metadata_mut().insert("huggingface", noted);
        table
    };
    for (second, words) in [
        (table(false, "\"a\""), "it has no label"),
        (table(true, "\"b\""), "other classes"),
        (table(true, "\"a\", \"b\""), "other classes"),
    ] {
        stream(&dir.path().join("a.arrow"), &[table(true, "\"a\"")]);
        stream(&dir.path().join("b.arrow"), &[second]);
        let error = open(&Address::file(dir.path()), &Options::default()).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("b.arrow"), "{error}");
    }
    stream(&dir.path().join("a.arrow"), &[table(false, "")]);
    assert!(
        open(&Address::file(dir.path()), &Options::default()).unwrap_err().to_string().contains("before have none")
    );
    stream(&dir.path().join("b.arrow"), &[table(false, "")]);
    assert_eq!(open(&Address::file(dir.path()), &Options::default()).unwrap().label(1), -1);
}

#[test]
fn a_column_that_cannot_be_one_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.arrow");
    let mut table = others(3);
    table.push(("image", binary(&[Some(b"one"), Some(b"two"), Some(b"three")])));
    stream(&path, &[batch(table)]);
    let refused = |columns: &[(&str, &str)]| open(&Address::file(&path), &mapped(columns)).unwrap_err().to_string();
    assert!(refused(&[("x", "nothing")]).contains("\"nothing\" cannot be \"x\""));
    // The values of a dictionary are in messages of their own.
    for column in ["x", "labels"] {
        let words = refused(&[(column, "dictionary")]);
        assert!(words.contains("\"dictionary\" has numbers of a dictionary"), "{words}");
    }
}
