//! Tests of `TFRecord` files: what is accepted, refused and damaged; and a writer of them.

pub(crate) mod spoiled;

use std::fs;

use forebay_columns::{ElementType, Role};
use forebay_sources::{ColumnMap, IndexChoice, Labels, OwnOptions, ReadErrorKind, RecordParts, Source};
use tempfile::TempDir;

use super::*;
use crate::example::tests::{Values, example};
use crate::masks::tests::png;
use crate::scene::says;

/// Records as TensorFlow frames them.
pub(crate) fn write(records: &[&[u8]]) -> Vec<u8> {
    let frame = |record: &&[u8]| {
        let len = (record.len() as u64).to_le_bytes();
        [&len[..], &masked(&len).to_le_bytes(), record, &masked(record).to_le_bytes()].concat()
    };
    records.iter().flat_map(frame).collect()
}

/// Pictures in Examples, with a label.
pub(crate) fn write_examples(pictures: &[&[u8]]) -> Vec<u8> {
    let one = |picture: &&[u8]| {
        example(&[("image/class/label", Values::Integers(&[7])), ("image/encoded", Values::Bytes(&[picture]))])
    };
    let examples: Vec<Vec<u8>> = pictures.iter().map(one).collect();
    write(&examples.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

struct Written {
    dir: TempDir,
}

impl Written {
    fn new(bytes: &[u8]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x.tfrecord"), bytes).unwrap();
        Self { dir }
    }

    fn of(examples: &[Vec<u8>]) -> Self {
        Self::new(&write(&examples.iter().map(Vec::as_slice).collect::<Vec<_>>()))
    }

    fn open(&self, options: &Options) -> Result<Packed, SourceError> {
        open(&Address::file(self.dir.path().join("x.tfrecord")), options, &Scan::default())
    }

    /// As it is opened by its name: with what the convention says of its columns.
    fn with_roles(&self, options: &Options) -> Box<dyn Source> {
        crate::open(&self.dir.path().join("x.tfrecord").display().to_string(), options).unwrap()
    }

    fn refused(&self, options: &Options, words: &[&str]) {
        let message = self.open(options).unwrap_err().to_string();
        says(&message, words);
    }
}

fn own(key: &str, value: &str) -> Options {
    Options { own: OwnOptions::from_iter([(key, value)]), ..Options::default() }
}

fn columns(map: &[(&str, &str)]) -> Options {
    Options { columns: map.iter().copied().collect(), ..Options::default() }
}

fn read(source: &dyn Source, record: u64) -> Result<Vec<u8>, forebay_sources::ReadError> {
    let mut buf = Vec::new();
    source.read(record, u64::MAX, &mut buf).map(|()| buf)
}

fn labels(source: &dyn Source) -> Vec<i64> {
    (0..source.len()).map(|record| source.label(record)).collect()
}

/// An Example with a picture and these features.
fn with(features: Vec<(&'static str, Values<'_>)>) -> Vec<u8> {
    example(&[("image/encoded", Values::Bytes(&[b"jpeg"]))].into_iter().chain(features).collect::<Vec<_>>())
}

#[test]
fn a_file_is_recognised_by_the_checksum_of_its_first_length() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let is_one = |path: &Path| recognises(&Address::file(path));
    fs::write(path("train-00000-of-00001"), write_examples(&[b"abc"])).unwrap();
    fs::write(path("x.tfrecord"), "twelve bytes and more").unwrap();
    assert!(is_one(&path("train-00000-of-00001")));
    assert!(!is_one(&path("x.tfrecord")) && !is_one(dir.path()));
    fs::write(path("y.tfrecord"), write_examples(&[b"abc"])).unwrap();
    assert!(is_one(dir.path()));
    fs::write(path("z.tfrecord.gz"), [0x1f, 0x8b, 8, 0]).unwrap();
    assert!(is_one(&path("z.tfrecord.gz")));
}

#[test]
fn labels_are_integers_whole_floats_or_texts_that_become_classes() {
    let label = |values| with(vec![("image/class/label", values)]);
    let integers = Written::of(&[label(Values::Integers(&[3])), label(Values::Integers(&[-2]))]);
    assert_eq!(labels(&integers.open(&Options::default()).unwrap()), [3, -2]);
    let text = Options { labels: Labels::Text, ..Options::default() };
    let source = integers.open(&text).unwrap();
    assert_eq!((labels(&source), source.classes()), (vec![1, 0], &["-2".to_owned(), "3".to_owned()][..]));
    let none = Options { labels: Labels::None, ..Options::default() };
    assert_eq!(labels(&integers.open(&none).unwrap()), [-1, -1]);
    let floats = Written::of(&[label(Values::Floats(&[3.0])), label(Values::Floats(&[4.0]))]);
    assert_eq!(labels(&floats.open(&Options::default()).unwrap()), [3, 4]);
    let text = |text| with(vec![("name", Values::Bytes(&[text]))]);
    let texts = Written::of(&[text(b"owl"), text(b"cat"), text(b"owl")]);
    let source = texts.open(&columns(&[("labels", "label;name")])).unwrap();
    assert_eq!((labels(&source), source.classes()), (vec![1, 0, 1], &["cat".to_owned(), "owl".to_owned()][..]));
    assert_eq!(labels(&texts.open(&Options::default()).unwrap()), [-1; 3]);
    texts.refused(&columns(&[("labels", "class")]), &["x.tfrecord", "\"name\"", "labels=\"none\""]);
    let mixed = Written::of(&[label(Values::Integers(&[3])), text(b"owl")]);
    mixed.refused(&Options::default(), &["nothing as its label", "an integer", "labels=\"none\""]);
}

#[test]
fn several_labels_of_an_example_are_none_and_so_is_a_list_in_a_text() {
    let label = |values| with(vec![("image/class/label", values)]);
    for values in [Values::Integers(&[5, 6]), Values::Floats(&[5.0, 6.0, 7.0]), Values::Bytes(&[b"gnu", b"yak"])] {
        let words =
            &["no record can be used", "labels in \"image/class/label\"", "where one is wanted", "labels=\"none\""];
        Written::of(&[label(values)]).refused(&Options::default(), words);
    }
    let texts = Written::of(&[label(Values::Bytes(&[b"[\"gnu\", \"yak\"]"]))]);
    texts.refused(&Options::default(), &["is a list in a text", "labels=\"none\"", "labels=\"text\""]);
    Written::of(&[label(Values::Bytes(&[b"\xe9"]))]).refused(&Options::default(), &["not in UTF-8"]);
    let asked = Options { labels: Labels::Text, ..Options::default() };
    assert_eq!(texts.open(&asked).unwrap().classes(), ["[\"gnu\", \"yak\"]"]);
}

#[test]
fn what_is_wrong_with_one_example_is_an_error_of_its_read() {
    let label = |values| with(vec![("image/class/label", values)]);
    let good = || label(Values::Integers(&[1]));
    let written = Written::of(&[
        good(),
        b"\x0a\x05abc".to_vec(),
        example(&[("image/class/label", Values::Integers(&[1]))]),
        label(Values::Integers(&[1, 2])),
        label(Values::Floats(&[0.5])),
        example(&[("image/encoded", Values::Bytes(&[b"a", b"b"]))]),
        example(&[("image/encoded", Values::Integers(&[1]))]),
        Vec::new(),
        good(),
    ]);
    let source = written.open(&Options::default()).unwrap();
    assert_eq!(labels(&source), [1, -1, -1, -1, -1, -1, -1, -1, 1]);
    for (record, words) in [
        (1, "not a tf.train.Example"),
        (2, "no picture"),
        (3, "2 labels"),
        (4, "0.5"),
        (5, "2 values"),
        (6, "not bytes"),
        (7, "no picture"),
    ] {
        let error = read(&source, record).unwrap_err();
        assert_eq!(error.kind, ReadErrorKind::Damaged);
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_eq!((read(&source, 0).unwrap(), read(&source, 8).unwrap()), (b"jpeg".to_vec(), b"jpeg".to_vec()));
}

#[test]
fn a_checksum_is_compared_at_each_read_unless_the_user_does_without() {
    let mut bytes = write_examples(&[b"first", b"second"]);
    let place = bytes.windows(6).position(|window| window == b"second").unwrap();
    bytes[place] ^= 1;
    let written = Written::new(&bytes);
    let source = written.open(&Options::default()).unwrap();
    assert_eq!(read(&source, 0).unwrap(), b"first");
    let error = read(&source, 1).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::Damaged);
    assert!(error.to_string().contains("checksum of the data"), "{error}");
    let source = written.open(&own("check", "false")).unwrap();
    assert_eq!((read(&source, 0).unwrap(), read(&source, 1).unwrap()), (b"first".to_vec(), b"recond".to_vec()));
    assert_eq!((source.size(0), source.size(1)), (5, 6), "only the picture is read");
}

#[test]
fn a_record_whose_damage_hides_its_label_fails_alone() {
    let good = write_examples(&[b"one", b"two", b"three"]);
    let places: Vec<usize> = (0..good.len()).filter(|&at| good[at..].starts_with(b"class/label")).collect();
    for (record, place) in (0..).zip(places) {
        let mut bytes = good.clone();
        bytes[place] ^= 1;
        let written = Written::new(&bytes);
        let source = written.open(&Options::default()).unwrap();
        assert!(read(&source, record).unwrap_err().to_string().contains("checksum of the data"));
        let others = (0..3).filter(|&other| other != record);
        others.for_each(|other| assert_eq!((read(&source, other).is_ok(), source.label(other)), (true, 7)));
        written.refused(&own("check", "false"), &["labels=\"none\""]);
    }
}

#[test]
fn a_cut_file_a_wrong_length_and_another_file_are_errors_of_opening_with_their_place() {
    let bytes = write_examples(&[b"first", b"second"]);
    let first = write_examples(&[b"first"]).len();
    for end in [bytes.len() - 1, bytes.len() - 4, first + 11, first + 1] {
        let words = [&format!("byte {first}")[..], "ends inside a record", &format!("truncate -s {first}")];
        Written::new(&bytes[..end]).refused(&Options::default(), &words);
    }
    let mut wrong = bytes.clone();
    wrong[first + 2] ^= 1;
    Written::new(&wrong).refused(&Options::default(), &[&format!("byte {first}"), "right checksum"]);
    // A huge length with a right checksum.
    let huge = u64::MAX.to_le_bytes();
    let huge = [&bytes[..], &huge, &masked(&huge).to_le_bytes()].concat();
    Written::new(&huge).refused(&Options::default(), &[&format!("byte {}", bytes.len()), "ends inside"]);
    for (start, words) in [
        (&b"\x1f\x8b\x08\x00"[..], "gunzip"),
        (b"\x78\x9c", "pigz -d -z"),
        (b"version https://git-lfs.github.com/spec/v1", "git lfs pull"),
        (b"PK\x03\x04", "not a TFRecord file"),
    ] {
        let file = [start, &[0; 20]].concat();
        Written::new(&file).refused(&Options::default(), &["x.tfrecord, byte 0", words]);
    }
    Written::new(b"").refused(&Options::default(), &["holds no record"]);
}

#[test]
fn features_become_columns_of_the_type_that_all_records_share() {
    let one = with(vec![
        ("id", Values::Integers(&[5])),
        ("sizes", Values::Integers(&[1, 2])),
        ("score", Values::Floats(&[0.5])),
        ("caption", Values::Bytes(&[b"a cat"])),
        ("captions", Values::Bytes(&[b"a", b"cat"])),
    ]);
    let two = with(vec![
        ("id", Values::UnpackedIntegers(&[-6])),
        ("score", Values::UnpackedFloats(&[1.5])),
        ("captions", Values::Bytes(&[b"dog"])),
    ]);
    let map =
        [("id", "id"), ("sizes", "sizes"), ("score", "score"), ("caption", "text;caption"), ("captions", "captions")];
    let source = Written::of(&[one.clone(), two]).open(&columns(&map)).unwrap();
    let table = source.targets();
    let types: Vec<String> = table.schema().fields().iter().map(|field| field.column_type.to_string()).collect();
    assert_eq!(types, ["i64", "i64 [*]", "f32", "u8 [*]", "u8 [*][*]"]);
    let numbers = |column: usize, record| {
        let of = &table.schema().fields()[column].column_type;
        table.value(column, record).numbers::<i64>(of).unwrap()
    };
    assert_eq!((numbers(0, 0), numbers(0, 1), numbers(1, 0)), (vec![5], vec![-6], vec![1, 2]));
    assert!(table.value(1, 1).is_null() && table.value(3, 1).is_null());
    assert_eq!((table.value(3, 0).bytes(), table.value(4, 0).bytes()), (&b"a cat"[..], &b"acat"[..]));
    assert_eq!((table.value(4, 0).items(), table.value(4, 1).items()), (2, 1));
    assert_eq!(table.schema().fields()[2].column_type.element(), ElementType::F32);
    let written = Written::of(&[one.clone(), with(vec![("id", Values::Floats(&[1.0]))])]);
    let source = written.open(&columns(&[("id", "id")])).unwrap();
    let error = read(&source, 1).unwrap_err().to_string();
    assert!(error.contains("\"id\" has another type"), "{error}");
    assert_eq!(source.targets().schema().fields()[0].column_type.to_string(), "i64", "a damaged record has no say");
    Written::of(std::slice::from_ref(&one)).refused(&columns(&[("x", "nowhere")]), &["\"x\"", "\"captions\""]);
    Written::of(std::slice::from_ref(&one)).refused(&columns(&[("x", "")]), &["columns.x", "the name of a feature"]);
    Written::of(&[one]).refused(&columns(&[("1x", "id")]), &["\"1x\" cannot be the name"]);
}

fn objects(boxes: usize, classes: usize, size: Option<i64>) -> Vec<u8> {
    let (low, high) = (vec![0.25; boxes], vec![0.5; boxes]);
    let classes: Vec<i64> = (0..).take(classes).collect();
    let size = size.map(|size| [size]);
    let mut features = vec![
        ("image/object/bbox/xmin", Values::Floats(&low)),
        ("image/object/bbox/ymin", Values::Floats(&low)),
        ("image/object/bbox/xmax", Values::Floats(&high)),
        ("image/object/bbox/ymax", Values::Floats(&high)),
        ("image/object/class/label", Values::Integers(&classes)),
    ];
    if let Some(size) = &size {
        features.push(("image/width", Values::Integers(size)));
        features.push(("image/height", Values::Integers(size)));
    }
    with(features)
}

#[test]
fn boxes_by_themselves_are_fractions_that_follow_their_picture_whatever_size_the_examples_give() {
    let written =
        Written::of(&[objects(1, 1, Some(100)), objects(0, 0, Some(7)), with(vec![]), objects(2, 2, Some(8))]);
    let source = written.with_roles(&Options::default());
    let table = source.targets();
    let fields: Vec<(String, String, Option<&str>)> = table
        .schema()
        .fields()
        .iter()
        .map(|field| (field.name.clone(), field.column_type.to_string(), field.objects.as_deref()))
        .collect();
    let of = |name: &str, column: &str| (name.to_owned(), column.to_owned(), Some("objects"));
    assert_eq!(fields, [of("boxes", "f32 [*, 4]"), of("classes", "i64 [*]")]);
    let boxes = |record| table.value(0, record).numbers::<f32>(&table.schema().fields()[0].column_type).unwrap();
    assert_eq!(table.schema().fields()[0].role, Role::FractionBoxes);
    assert_eq!(boxes(0), [0.25, 0.25, 0.5, 0.5]);
    assert_eq!((boxes(1), boxes(2)), (vec![], vec![]));
    assert_eq!(boxes(3), [0.25, 0.25, 0.5, 0.5, 0.25, 0.25, 0.5, 0.5]);
    assert!(!table.value(0, 2).is_null(), "a picture without objects is no missing value");
    assert_eq!(table.value(1, 3).items(), 2);
    for record in 0..4 {
        assert_eq!(read(&*source, record).unwrap(), b"jpeg");
    }
    let named = written.with_roles(&columns(&[("kinds", "image/object/class/label"), ("b", "image/object/bbox")]));
    assert_eq!(named.targets().schema().find("b"), Some(1));
    assert_eq!(named.targets().schema().leader(1), 0);
    let without_size = Written::of(&[objects(1, 1, None)]).with_roles(&Options::default());
    assert_eq!(without_size.targets().value(0, 0).bytes()[..4], 0.25_f32.to_le_bytes());
    assert_eq!(without_size.targets().schema().fields()[0].role, Role::FractionBoxes);
}

#[test]
fn objects_that_do_not_agree_are_damaged_records_without_values() {
    let written = Written::of(&[objects(2, 1, Some(8)), objects(1, 1, None), objects(1, 0, Some(8))]);
    let source = written.with_roles(&Options::default());
    for (record, words) in [(0, "2 objects"), (2, "0 in another")] {
        let error = read(&*source, record).unwrap_err();
        assert!(error.kind == ReadErrorKind::Damaged && error.to_string().contains(words), "{error}");
        let place = usize::try_from(record).unwrap();
        assert_eq!((source.targets().value(0, place).items(), source.targets().value(1, place).items()), (0, 0));
    }
    assert_eq!(read(&*source, 1).unwrap(), b"jpeg");
    assert_eq!(source.targets().value(1, 1).items(), 1);
}

#[test]
fn records_that_are_pictures_have_no_labels_and_no_columns() {
    let written = Written::new(&write(&[b"jpeg", b"", b"png"]));
    let picture = own("payload", "picture");
    let source = written.open(&picture).unwrap();
    assert_eq!(labels(&source), [-1; 3]);
    assert_eq!((read(&source, 0).unwrap(), read(&source, 2).unwrap()), (b"jpeg".to_vec(), b"png".to_vec()));
    assert_eq!(read(&source, 1).unwrap_err().kind, ReadErrorKind::Empty);
    written.refused(&Options::default(), &["no record can be used", "payload=\"picture\""]);
    written.refused(&Options { columns: ColumnMap::from_iter([("a", "b")]), ..picture }, &["payload"]);
    written.refused(&own("payload", "x"), &["payload", "\"example\", \"picture\""]);
    written.refused(&own("check", "no"), &["check"]);
}

#[test]
fn other_pictures_of_the_same_records_are_another_dataset() {
    let written = Written::of(&[example(&[("left", Values::Bytes(&[b"a"])), ("right", Values::Bytes(&[b"b"]))])]);
    let print = |options: &[(&str, &str)], name| {
        let options = Options { own: options.iter().copied().collect(), ..columns(&[("images", name)]) };
        written.open(&options).unwrap().fingerprint()
    };
    for options in [&[][..], &[("check", "false")]] {
        assert_eq!(print(options, "left"), print(options, "left"));
        assert_ne!(print(options, "left"), print(options, "right"));
    }
}

#[test]
fn rule_45_a_feature_of_bytes_may_have_the_masks_with_and_without_a_check_and_from_an_index() {
    let mask = png(8, 3, "the mask");
    let written = Written::of(&[
        with(vec![("image/segmentation/class/encoded", Values::Bytes(&[&mask]))]),
        with(vec![]),
        with(vec![("image/segmentation/class/encoded", Values::Bytes(&[&mask, &mask]))]),
    ]);
    let masks = ColumnMap::from_iter([("seg", "other;image/segmentation/class/encoded")]);
    let index = tempfile::tempdir().unwrap();
    let path = written.dir.path().join("x.tfrecord").display().to_string();
    let mut prints = Vec::new();
    for check in ["true", "false"] {
        let options = Options { masks: masks.clone(), ..own("check", check) };
        let file = index.path().join(check);
        crate::make_index(&path, &options, Some(&file), false).unwrap();
        for choice in [IndexChoice::Never, IndexChoice::File(file)] {
            let source = crate::open(&path, &Options { index: choice, ..options.clone() }).unwrap();
            assert_eq!((source.masks()[0].name.as_str(), source.masks()[0].element), ("seg", ElementType::U8));
            let parts = |record| {
                let bytes = read(&*source, record).unwrap();
                let parts = RecordParts::of(&bytes, 1);
                (parts.picture().to_vec(), parts.mask(0).map(<[u8]>::to_vec))
            };
            assert_eq!([parts(0), parts(1)], [(b"jpeg".to_vec(), Some(mask.clone())), (b"jpeg".to_vec(), None)]);
            assert!(read(&*source, 2).unwrap_err().to_string().contains("is no mask"));
            prints.push(source.fingerprint());
        }
    }
    assert_eq!((prints[0], prints[2]), (prints[1], prints[3]));
    let absent = Options { masks: ColumnMap::from_iter([("seg", "nothing")]), ..Options::default() };
    written.refused(&absent, &["masks.seg", "at least one record"]);
}
