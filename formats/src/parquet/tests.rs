//! Tables that the library writes, read back: types, encodings, nulls, grains, and what is refused.

mod bombs;
pub(crate) mod hostile;
mod masks;
mod places;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use ::parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use arrow_array::builder::{Float32Builder, ListBuilder};
use arrow_array::types::Int64Type;
use arrow_array::{
    ArrayRef, BinaryArray, Int64Array, LargeBinaryArray, ListArray, RecordBatch, StringArray, StructArray,
};
use arrow_schema::DataType;
use forebay_sources::{ColumnMap, Grains, Labels, ReadErrorKind, Retry, Source};

use super::*;

/// A table with these columns.
pub(crate) fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

pub(crate) fn binary(pictures: &[Option<&[u8]>]) -> ArrayRef {
    Arc::new(BinaryArray::from_opt_vec(pictures.to_vec()))
}

/// Pictures as Hugging Face stores them: bytes and a path.
pub(crate) fn images(rows: &[(Option<&[u8]>, Option<&str>)]) -> ArrayRef {
    let field = |name, of| Arc::new(arrow_schema::Field::new(name, of, true));
    let bytes: Vec<_> = rows.iter().map(|row| row.0).collect();
    let paths: StringArray = rows.iter().map(|row| row.1).collect();
    Arc::new(StructArray::from(vec![
        (field("bytes", DataType::Binary), binary(&bytes)),
        (field("path", DataType::Utf8), Arc::new(paths) as ArrayRef),
    ]))
}

fn plain() -> WriterPropertiesBuilder {
    WriterProperties::builder().set_dictionary_enabled(false)
}

pub(crate) fn write(path: &Path, batches: &[RecordBatch], properties: WriterProperties) {
    let file = fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batches[0].schema(), Some(properties)).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.close().unwrap();
}

/// A file of these pictures.
pub(crate) fn write_pictures(path: &Path, pictures: &[&[u8]]) {
    let pictures: Vec<_> = pictures.iter().map(|picture| Some(*picture)).collect();
    write(path, &[batch(vec![("image", binary(&pictures))])], plain().build());
}

pub(crate) fn mapped(columns: &[(&str, &str)]) -> Options {
    Options { columns: columns.iter().copied().collect::<ColumnMap>(), ..Options::default() }
}

pub(crate) fn read(source: &dyn Source, record: u64) -> Result<Vec<u8>, ReadErrorKind> {
    let mut buf = Vec::new();
    source.read(record, u64::MAX, &mut buf).map(|()| buf).map_err(|error| error.kind)
}

fn at_usize(record: u64) -> usize {
    usize::try_from(record).unwrap()
}

/// Pictures of growing lengths; every seventh is the same.
fn pictures(count: usize) -> Vec<Vec<u8>> {
    let picture = |number: usize| {
        if number.is_multiple_of(7) { vec![7; 40] } else { vec![u8::try_from(1 + number % 200).unwrap(); 10 + number] }
    };
    (0..count).map(picture).collect()
}

#[test]
fn every_encoding_and_compression_that_is_read_gives_what_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let expected = pictures(500);
    let rows: Vec<Option<&[u8]>> = expected.iter().map(|picture| Some(&picture[..])).collect();
    let structures: Vec<_> = rows.iter().map(|row| (*row, Some("x.jpg"))).collect();
    let large: LargeBinaryArray = rows.iter().copied().collect();
    let columns: [ArrayRef; 3] = [binary(&rows), images(&structures), Arc::new(large)];
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
        Compression::GZIP(GzipLevel::default()),
    ] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let plain = [(true, Encoding::PLAIN), (false, Encoding::PLAIN)];
            let deltas = [Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY].map(|delta| (false, delta));
            for (dictionary, encoding) in [plain, deltas].concat() {
                let properties = WriterProperties::builder()
                    .set_compression(compression)
                    .set_writer_version(version)
                    .set_dictionary_enabled(dictionary)
                    .set_encoding(encoding)
                    .set_data_page_size_limit(2000)
                    .set_write_batch_size(10)
                    .set_max_row_group_row_count(Some(190))
                    .build();
                for column in &columns {
                    let path = dir.path().join("a.parquet");
                    write(&path, &[batch(vec![("img", ArrayRef::clone(column))])], properties.clone());
                    let source = open(&Address::file(&path), &Options::default()).unwrap();
                    assert_eq!(source.len(), 500);
                    for record in (0..500).rev() {
                        assert_eq!(read(&source, record).as_deref(), Ok(&expected[at_usize(record)][..]));
                    }
                    let sizes: u64 = (0..500).map(|record| source.size(record)).sum();
                    let taken: usize = expected.iter().map(Vec::len).sum();
                    let is_whole = !dictionary && encoding != Encoding::DELTA_BYTE_ARRAY;
                    assert!(!is_whole || sizes >= taken as u64, "sizes are averages of pages");
                    assert!(matches!(source.grains(), Grains::Starts([0, 190, 380])), "{:?}", source.grains());
                }
            }
        }
    }
}

#[test]
fn what_pyarrow_compressed_with_brotli_and_stored_as_deltas_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    fs::write(&path, include_bytes!("tests/brotli.parquet")).unwrap();
    let source = open(&Address::file(&path), &mapped(&[("text", "text")])).unwrap();
    assert_eq!(source.len(), 40);
    for record in (0..40).rev() {
        let number = u8::try_from(record).unwrap();
        assert_eq!(read(&source, record), Ok(vec![1 + number; 10 + at_usize(record)]));
        assert_eq!(source.label(record), record.cast_signed() % 3);
        assert_eq!(source.targets().value(0, at_usize(record)).bytes(), format!("text {}", record / 4).as_bytes());
    }
}

#[test]
fn labels_and_further_columns_are_read_with_the_names_of_the_classes() {
    let dir = tempfile::tempdir().unwrap();
    let mut boxes = ListBuilder::new(Float32Builder::new());
    boxes.append_value([Some(1.0), Some(2.0)]);
    boxes.append_null();
    boxes.append_value([]);
    let mut table = batch(vec![
        ("label", Arc::new(Int64Array::from(vec![1, 0, 1]))),
        ("kind", Arc::new(StringArray::from(vec!["dog", "cat", "dog"]))),
        ("image", binary(&[Some(b"one"), Some(b"two"), Some(b"three")])),
        ("scores", Arc::new(boxes.finish())),
    ]);
    let noted = r#"{"info": {"features": {"label": {"names": ["a", "b"], "_type": "ClassLabel"}}}}"#;
    table.schema_metadata_mut().insert("huggingface".to_owned(), noted.to_owned());
    for name in ["a", "b"] {
        write(&dir.path().join(format!("{name}.parquet")), &[table.clone()], plain().build());
    }
    let source = open(&Address::file(dir.path()), &mapped(&[("scores", "scores"), ("kind", "none;kind")])).unwrap();
    assert_eq!(source.classes(), ["a", "b"]);
    let labels = |source: &dyn Source| (0..source.len()).map(|record| source.label(record)).collect::<Vec<_>>();
    assert_eq!(labels(&source), [1, 0, 1, 1, 0, 1]);
    assert_eq!((source.shard_name(2), source.shard_name(3)), ("a.parquet", "b.parquet"));
    assert!(source.locator(4).to_string().ends_with("b.parquet, row 1"), "{}", source.locator(4));
    let targets = source.targets();
    let types = targets.schema().fields().iter().map(|field| format!("{}: {}", field.name, field.column_type));
    assert_eq!(types.collect::<Vec<_>>(), ["scores: f32 [*]", "kind: u8 [*]"]);
    assert_eq!((targets.value(0, 3).items(), targets.value(1, 4).bytes()), (2, &b"cat"[..]));
    assert!(targets.value(0, 4).is_null());

    let source = open(&Address::file(dir.path()), &mapped(&[("labels", "kind")])).unwrap();
    assert_eq!((source.classes(), labels(&source)), (&["cat".to_owned(), "dog".into()][..], vec![1, 0, 1, 1, 0, 1]));
    let none = open(&Address::file(dir.path()), &Options { labels: Labels::None, ..Options::default() }).unwrap();
    assert_eq!((none.classes(), labels(&none)), (&[][..], vec![-1; 6]));
    assert_ne!(none.fingerprint(), source.fingerprint());
}

#[test]
fn a_picture_that_is_null_or_elsewhere_is_a_bad_record_and_spoils_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    let rows = images(&[
        (Some(b"one"), None),
        (None, None),
        (None, Some("/x/2.jpg")),
        (Some(b""), None),
        (Some(b"five"), None),
    ]);
    write(&path, &[batch(vec![("image", rows)])], plain().build());
    let source = open(&Address::file(&path), &Options::default()).unwrap();
    assert_eq!([read(&source, 0), read(&source, 4)], [Ok(b"one".to_vec()), Ok(b"five".to_vec())]);
    let words = |record| {
        let error = source.read(record, u64::MAX, &mut Vec::new()).unwrap_err();
        assert_eq!((error.retry(), &error.locator), (Retry::Never, &source.locator(record)));
        error.to_string()
    };
    assert!(words(1).contains("the picture is null"), "{}", words(1));
    assert!(words(2).contains("only the path \"/x/2.jpg\""), "{}", words(2));
    assert_eq!(words(3), "the file is empty");
}

#[test]
fn rule_56_grains_are_made_of_pages_and_one_row_group_has_many() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    let expected = pictures(300);
    let rows: Vec<Option<&[u8]>> = expected.iter().map(|picture| Some(&picture[..])).collect();
    let write = |properties: WriterPropertiesBuilder| {
        let properties = properties.set_data_page_size_limit(1000).set_write_batch_size(5).build();
        write(&path, &[batch(vec![("image", binary(&rows))])], properties);
        let files = [ContainerFile::look(&Address::file(&path)).unwrap()];
        let opened = OpenFiles::new(1);
        let file = opened.get(0, &files[0]).unwrap();
        let table = file::TableFile::open(0, &files[0], Arc::clone(&file), &Options::default()).unwrap();
        let (mut groups, _) = table.groups(0).unwrap();
        (groups.remove(0), FileRanges::new(file, files[0].stamp.len))
    };
    for (properties, most) in [(plain(), 4000), (plain(), 1), (WriterProperties::builder(), 3000)] {
        let (group, chunks) = write(properties);
        let grains = grain::plan(&group, most);
        assert!(grains.len() > 5, "{grains:?}");
        assert!(grains.iter().flat_map(Clone::clone).eq(0..300), "each row is in one grain: {grains:?}");
        for rows in &grains {
            let grain = grain::read(&chunks, &group, rows, Vec::new()).unwrap();
            assert_eq!(grain.ends.len() as u64, rows.end - rows.start);
            assert!(grain.bytes.len() as u64 <= 2 * most + 8000, "{} bytes for {most}", grain.bytes.len());
            for (place, row) in rows.clone().enumerate() {
                assert_eq!(cells::cell(&grain, place), Some(cells::GrainCell::Picture(&expected[at_usize(row)])));
            }
        }
    }
}

#[test]
fn what_the_user_must_decide_or_change_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    let refused = |table: RecordBatch, options: &Options, words: &[&str]| {
        write(&path, &[table], plain().build());
        let error = open(&Address::file(&path), options).unwrap_err().to_string();
        for words in words {
            assert!(error.contains(words), "{words:?} is not in: {error}");
        }
    };
    let one = || binary(&[Some(b"one")]);
    let (default, labels) = (Options::default(), |values| Arc::new(Int64Array::from(values)) as ArrayRef);
    refused(batch(vec![("a", one()), ("b", one())]), &default, &["\"a\" (Binary), \"b\" (Binary)", "columns = "]);
    refused(batch(vec![("image", one()), ("label", one())]), &default, &["labels=\"none\""]);
    let two = binary(&[Some(b"one"), Some(b"two")]);
    refused(batch(vec![("image", two), ("label", labels(vec![Some(1), None]))]), &default, &["row 1", "is null"]);
    refused(batch(vec![("image", one())]), &mapped(&[("x", "y")]), &["\"x\" is to be \"y\""]);
    refused(batch(vec![("image", one())]), &mapped(&[("x", "image")]), &["cannot be \"x\"", "type Binary"]);
    let reserved = batch(vec![("image", one()), ("y", labels(vec![Some(1)]))]);
    refused(reserved, &mapped(&[("mask", "y")]), &["\"mask\" is taken"]);
    let texts = |text: &str| Arc::new(StringArray::from(vec![text])) as ArrayRef;
    let written = || batch(vec![("image", one()), ("label", texts("['gnu', 'yak']"))]);
    refused(written(), &default, &["row 0", "is a list in a text", "labels=\"none\"", "labels=\"text\""]);
    let asked = Options { labels: Labels::Text, ..Options::default() };
    assert_eq!(open(&Address::file(&path), &asked).unwrap().classes(), ["['gnu', 'yak']"]);
    let lists = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(4), Some(5)])])) as ArrayRef;
    refused(
        batch(vec![("image", one()), ("labels", lists)]),
        &default,
        &["\"labels\" has the type List", "labels=\"none\""],
    );
    let table = batch(vec![("image", one())]);
    write(&path, &[table], plain().set_compression(Compression::LZ4).build());
    let error = open(&Address::file(&path), &default).unwrap_err().to_string();
    assert!(error.contains("compressed with LZ4") && error.contains("zstd"), "{error}");
    write(&path, &[batch(vec![("image", binary(&[]))])], plain().build());
    assert!(matches!(open(&Address::file(&path), &default), Err(SourceError::NoRecords { .. })));
}

#[test]
fn a_table_is_recognised_by_its_name_or_its_first_bytes() {
    let dir = tempfile::tempdir().unwrap();
    write_pictures(&dir.path().join("a.parquet"), &[b"one"]);
    fs::copy(dir.path().join("a.parquet"), dir.path().join("b.bin")).unwrap();
    for name in ["", "a.parquet", "b.bin", "{a,a}.parquet"] {
        let source = crate::open(dir.path().join(name).to_str().unwrap(), &Options::default()).unwrap();
        assert_eq!(read(&*source, 0), Ok(b"one".to_vec()), "{name}");
    }
    fs::write(dir.path().join("metadata.parquet"), "it describes pictures").unwrap();
    assert!(!recognises(&Address::file(dir.path())));
}
