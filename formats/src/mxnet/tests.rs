//! Tests of `MXNet`'s `RecordIO`: parts, headers, indexes, and what is damaged; and a writer of it.

use std::fs;

use forebay_columns::Role;
use forebay_sources::{ColumnMap, Labels, OwnOptions, ReadErrorKind, Source};
use tempfile::TempDir;

use super::*;
use crate::scene::{labels, says, values};
use crate::tfrecord::tests::spoiled::Dice;

const MAGIC: [u8; 4] = [0x0a, 0x23, 0xd7, 0xce];

/// Records as `MXNet` frames them.
pub(crate) fn write(records: &[&[u8]]) -> Vec<u8> {
    let mut file = Vec::new();
    for record in records {
        let cuts: Vec<usize> =
            (0..record.len() / 4).map(|word| word * 4).filter(|&at| record[at..at + 4] == MAGIC).collect();
        let starts = std::iter::once(0).chain(cuts.iter().map(|at| at + 4));
        let ends = cuts.iter().copied().chain(std::iter::once(record.len()));
        for (place, (start, end)) in starts.zip(ends).enumerate() {
            let kind = match (place, place == cuts.len()) {
                (0, true) => 0,
                (0, false) => 1,
                (_, false) => 2,
                (_, true) => 3_u32,
            };
            file.extend(MAGIC);
            file.extend((kind << 29 | u32::try_from(end - start).unwrap()).to_le_bytes());
            file.extend(&record[start..end]);
            file.resize(file.len().next_multiple_of(4), 0);
        }
    }
    file
}

/// A picture behind an image header.
fn image(labels: &[f32], id: u64, picture: &[u8]) -> Vec<u8> {
    let (flag, label, further) = match labels {
        [label] => (0, *label, &[][..]),
        _ => (u32::try_from(labels.len()).unwrap(), 0.0, labels),
    };
    let further: Vec<u8> = further.iter().flat_map(|label| label.to_le_bytes()).collect();
    [&flag.to_le_bytes()[..], &label.to_le_bytes(), &id.to_le_bytes(), &[0; 8], &further, picture].concat()
}

/// Pictures with image headers.
pub(crate) fn write_images(pictures: &[&[u8]]) -> Vec<u8> {
    written(&(0..).zip(pictures).map(|(id, picture)| image(&[7.0], id, picture)).collect::<Vec<_>>())
}

fn written(records: &[Vec<u8>]) -> Vec<u8> {
    write(&records.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

struct Folder {
    dir: TempDir,
}

impl Folder {
    fn new(rec: &[u8], idx: Option<&str>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x.rec"), rec).unwrap();
        if let Some(idx) = idx {
            fs::write(dir.path().join("x.idx"), idx).unwrap();
        }
        Self { dir }
    }

    fn open(&self, options: &Options) -> Result<Packed, SourceError> {
        open(&Address::file(self.dir.path().join("x.rec")), options, &Scan::default())
    }

    fn refused(&self, options: &Options, words: &[&str]) {
        let message = self.open(options).unwrap_err().to_string();
        says(&message, words);
    }
}

fn own(key: &str, value: &str) -> Options {
    Options { own: OwnOptions::from_iter([(key, value)]), ..Options::default() }
}

fn read(source: &dyn Source, record: u64) -> Result<Vec<u8>, forebay_sources::ReadError> {
    let mut buf = Vec::new();
    source.read(record, u64::MAX, &mut buf).map(|()| buf)
}

fn all(source: &dyn Source) -> Vec<Vec<u8>> {
    (0..source.len()).map(|record| read(source, record).unwrap()).collect()
}

#[test]
fn a_record_in_parts_is_put_together_with_the_magic_between_them() {
    let magic = &MAGIC[..];
    let records: Vec<Vec<u8>> = vec![
        b"plain".to_vec(),
        [magic, b"begins"].concat(),
        [b"ends", magic].concat(),
        [b"four", magic, magic, b"more", magic, b"x"].concat(),
        [b"odd", magic, b"stays"].concat(),
        magic.to_vec(),
    ];
    let folder = Folder::new(&written(&records), None);
    let source = folder.open(&own("payload", "picture")).unwrap();
    assert_eq!(all(&source), records);
    assert_eq!(labels(&source), [-1; 6]);
    // A header whose further labels have the bits of the magic number is in parts too.
    let label = f32::from_le_bytes(MAGIC);
    let folder =
        Folder::new(&written(&[image(&[1.0, label, 2.0, label], 5, b"pic"), image(&[3.0], 6, b"other")]), None);
    let columns = ColumnMap::from_iter([("all", "label"), ("id", "id")]);
    let source = folder.open(&Options { columns, ..Options::default() }).unwrap();
    assert_eq!(all(&source), [&b"pic"[..], b"other"]);
    assert_eq!(labels(&source), [1, 3]);
    let floats = source.targets().value(0, 0).numbers::<f32>(&"f32 [*]".parse().unwrap()).unwrap();
    assert_eq!(floats, [1.0, label, 2.0, label]);
    assert_eq!(source.targets().value(1, 1).bytes(), 6_u64.to_le_bytes());
}

#[test]
fn labels_are_whole_numbers_or_the_user_says_what_they_become() {
    let folder = Folder::new(&written(&[image(&[3.0], 0, b"a"), image(&[0.5, 1.0], 1, b"b")]), None);
    let named = Options { columns: ColumnMap::from_iter([("labels", "label")]), ..Options::default() };
    folder.refused(&named, &["x.rec, byte 36", "0.5", "\"label\""]);
    let columns = ColumnMap::from_iter([("label", "label")]);
    let source = folder.open(&Options { columns, labels: Labels::None, ..Options::default() }).unwrap();
    assert_eq!(labels(&source), [-1, -1]);
    assert_eq!(source.targets().value(0, 1).items(), 2);
    let folder = Folder::new(&written(&[image(&[10.0], 0, b"a"), image(&[9.0], 1, b"b")]), None);
    let source = folder.open(&Options { labels: Labels::Text, ..Options::default() }).unwrap();
    assert_eq!((labels(&source), source.classes()), (vec![0, 1], &["10".to_owned(), "9".to_owned()][..]));
    let bad = |name: &str, part: &str| Options { columns: ColumnMap::from_iter([(name, part)]), ..Options::default() };
    folder.refused(&bad("x", "bbox"), &["columns.x", "\"boxes\" or \"classes\""]);
    folder.refused(&bad("labels", "id"), &["columns.labels", "\"label\""]);
}

#[test]
fn a_wrong_image_header_is_an_error_of_its_record_and_of_the_dataset_if_all_are_wrong() {
    let beyond = [&100_u32.to_le_bytes()[..], &[0; 24]].concat();
    let folder = Folder::new(
        &written(&[image(&[1.0], 0, b"a"), b"short".to_vec(), beyond.clone(), image(&[2.0], 1, b"")]),
        None,
    );
    let source = folder.open(&Options::default()).unwrap();
    assert_eq!(labels(&source), [1, -1, -1, 2]);
    for (record, kind, words) in [
        (1, ReadErrorKind::Damaged, "it has 5 bytes"),
        (2, ReadErrorKind::Damaged, "100 labels"),
        (3, ReadErrorKind::Empty, "empty"),
    ] {
        let error = read(&source, record).unwrap_err();
        assert_eq!(error.kind, kind);
        assert!(error.to_string().contains(words), "{error}");
    }
    let folder = Folder::new(&written(&[b"short".to_vec(), beyond]), None);
    folder.refused(&Options::default(), &["no record has an image header", "5 bytes", "payload=\"picture\""]);
    assert_eq!(folder.open(&own("payload", "picture")).unwrap().len(), 2);
}

#[test]
fn an_index_gives_the_order_and_may_name_fewer_records() {
    let rec = write_images(&[b"a", b"bb", b"ccccc"]);
    let folder = Folder::new(&rec, Some("2\t72\n0\t0\n"));
    assert_eq!(all(&folder.open(&Options::default()).unwrap()), [&b"ccccc"[..], b"a"]);
    assert_eq!(folder.open(&own("index", "none")).unwrap().len(), 3);
    let other = folder.dir.path().join("other.idx");
    fs::write(&other, "b\t36\r\n\n").unwrap();
    assert_eq!(all(&folder.open(&own("index", other.to_str().unwrap())).unwrap()), [b"bb"]);
    fs::copy(folder.dir.path().join("x.rec"), folder.dir.path().join("y.rec")).unwrap();
    let of_two = open(&Address::file(folder.dir.path()), &own("index", other.to_str().unwrap()), &Scan::default())
        .unwrap_err()
        .to_string();
    assert!(of_two.contains("several .rec files"), "{of_two}");
    assert_eq!(open(&Address::file(folder.dir.path()), &Options::default(), &Scan::default()).unwrap().len(), 5);
}

#[test]
fn an_index_of_another_file_is_an_error_that_names_its_line() {
    let rec = write_images(&[b"a", b"bb"]);
    for (idx, words) in [
        ("0\t0\n1\t44\n", &["x.idx, line 2", "byte 44", "index of another file", "index=\"none\""][..]),
        ("0\t0\n1\t72\n", &["line 2", "another file"]),
        ("0\t0\n1\t0\n", &["line 2", "earlier line"]),
        ("0\n", &["line 1", "a key, a tab"]),
        ("0\t-4\n", &["line 1", "a key, a tab"]),
        ("", &["x.idx", "names no file"]),
    ] {
        Folder::new(&rec, Some(idx)).refused(&Options::default(), words);
    }
    Folder::new(b"", Some("0\t0\n")).refused(&Options::default(), &["x.rec", "holds no record"]);
    let missing = own("index", "/nowhere/x.idx");
    Folder::new(&rec, None).refused(&missing, &["/nowhere/x.idx", "does not exist"]);
}

#[test]
fn the_header_of_an_insightface_file_and_its_identities_are_left_out() {
    let records = [
        image(&[4.0, 6.0], 0, b""),
        image(&[0.0], 1, b"one"),
        image(&[0.0, 9.0], 2, b"two"),
        image(&[1.0], 3, b""),
        image(&[1.0, 3.0], 4, b""),
        image(&[3.0, 4.0], 5, b""),
    ];
    let source = Folder::new(&written(&records), None);
    let source = source.open(&Options::default()).unwrap();
    assert_eq!(labels(&source), [0, 0, 1], "an empty picture before the identities is a record, which cannot be read");
    let kept = Folder::new(&written(&records[1..3]), None).open(&Options::default()).unwrap().len();
    assert_eq!(kept, 2);
}

#[test]
fn a_cut_file_and_a_wrong_head_are_errors_of_opening_with_their_place() {
    let rec = write_images(&[b"a", b"bb"]);
    for end in [rec.len() - 1, 37, 43, 44] {
        let words = ["x.rec, byte 36", "ends inside a record", "truncate -s 36"];
        Folder::new(&rec[..end], None).refused(&Options::default(), &words);
    }
    let mut wrong = rec.clone();
    wrong[37] ^= 1;
    Folder::new(&wrong, None).refused(&Options::default(), &["byte 36", "no record begins here"]);
    let mut middle = rec.clone();
    middle[43] = 2 << 5;
    Folder::new(&middle, None).refused(&Options::default(), &["byte 36", "no record begins here"]);
    let mut never_ends = rec;
    never_ends[43] = 1 << 5;
    Folder::new(&never_ends, None).refused(&Options::default(), &["ends inside a record"]);
    Folder::new(b"version https://git-lfs", None).refused(&Options::default(), &["byte 0", "git lfs pull"]);
    Folder::new(b"something else", None).refused(&Options::default(), &["byte 0", "not an MXNet RecordIO file"]);
    Folder::new(b"", None).refused(&Options::default(), &["holds no record"]);
}

#[test]
fn a_record_whose_frame_has_changed_is_damaged() {
    let [a, b, c] = [&[7; 40][..], &MAGIC, b"tail"];
    let genuine = write(&[&[a, b, c].concat()]);
    let mut joined = genuine.clone();
    frame::join(&mut joined).unwrap();
    assert_eq!(joined, [a, b, c].concat());
    for place in [0, 4, 7, 48, 52, 55] {
        let mut changed = genuine.clone();
        changed[place] ^= 0x10;
        assert!(frame::join(&mut changed).is_err(), "{place}");
    }
}

#[test]
fn spoiled_files_never_panic() {
    let records = [
        image(&[1.0], 0, b"picture one"),
        image(&[2.0, 3.0], 1, &[&MAGIC[..], b"two", &MAGIC].concat()),
        image(&[4.0], 2, b"three"),
    ];
    let genuine = written(&records);
    let mut dice = Dice(0xbead);
    let (mut opened, mut refused) = (0, 0);
    for _ in 0..3000 {
        let mut bytes = genuine.clone();
        dice.spoil(&mut bytes);
        let folder = Folder::new(&bytes, None);
        let Ok(source) = folder.open(&Options { labels: Labels::None, ..Options::default() }) else {
            refused += 1;
            continue;
        };
        opened += 1;
        for record in 0..source.len() {
            if let Err(error) = read(&source, record) {
                assert!(matches!(error.kind, ReadErrorKind::Damaged | ReadErrorKind::Empty), "{error}");
            }
        }
    }
    assert!(opened > 300 && refused > 300, "{opened} {refused}");
}

#[test]
fn records_with_image_headers_are_another_dataset_than_the_same_ones_as_pictures() {
    let folder = Folder::new(&write_images(&[b"one", b"two"]), None);
    let print = |payload| {
        let options = Options { labels: Labels::None, ..own("payload", payload) };
        folder.open(&options).unwrap().fingerprint()
    };
    assert_ne!(print("image"), print("picture"));
}

#[test]
fn labels_that_are_fractions_become_a_column() {
    let folder = Folder::new(&written(&[image(&[2.0], 0, b"a"), image(&[0.25], 1, b"b")]), None);
    let source = folder.open(&Options::default()).unwrap();
    assert_eq!((labels(&source), values::<f32>(&source, "label", 1)), (vec![-1, -1], vec![0.25]));
    assert_eq!(source.targets().schema().fields()[0].column_type.to_string(), "f32");
    let folder = Folder::new(&written(&[image(&[0.5, 1.5], 0, b"a"), image(&[0.25], 1, b"b")]), None);
    let source = folder.open(&Options::default()).unwrap();
    assert_eq!(values::<f32>(&source, "label", 0), [0.5, 1.5]);
    let text = folder.open(&Options { labels: Labels::Text, ..Options::default() }).unwrap();
    assert_eq!(text.classes(), ["0.25", "0.5"]);
}

#[test]
fn labels_of_objects_become_boxes_and_classes_that_follow_their_picture() {
    let packed = |objects: &[f32]| [&[2.0, 5.0][..], objects].concat();
    let records = [
        image(&packed(&[1.0, 0.1, 0.2, 0.5, 0.75, 0.0, 0.0, 0.0, 1.0, 1.0]), 0, b"two"),
        image(&packed(&[]), 1, b"none"),
        image(&packed(&[4.0, 0.25, 0.25, 0.5, 0.5]), 2, b"one"),
    ];
    let folder = Folder::new(&written(&records), None);
    let path = folder.dir.path().join("x.rec").display().to_string();
    let source = crate::open(&path, &Options::default()).unwrap();
    let fields = source.targets().schema().fields();
    let of = |place: usize| (fields[place].name.as_str(), fields[place].role, fields[place].objects.as_deref());
    assert_eq!(of(0), ("boxes", Role::FractionBoxes, Some("objects")));
    assert_eq!(of(1), ("classes", Role::Plain, Some("objects")));
    assert_eq!(values::<f32>(&*source, "boxes", 0), [0.1, 0.2, 0.5, 0.75, 0.0, 0.0, 1.0, 1.0]);
    assert_eq!((values::<i64>(&*source, "classes", 0), values::<i64>(&*source, "classes", 1)), (vec![1, 0], vec![]));
    assert_eq!(labels(&*source), [-1; 3]);
    // A record whose labels are others is bad where objects are wanted, and otherwise its labels are a list.
    let mixed = Folder::new(&written(&[records[0].clone(), image(&[3.0], 1, b"x")]), None);
    let named = ColumnMap::from_iter([("b", "boxes")]);
    let source = mixed.open(&Options { columns: named, ..Options::default() }).unwrap();
    let error = source.read(1, u64::MAX, &mut Vec::new()).unwrap_err();
    says(&error.to_string(), &["not those of objects"]);
    assert_eq!(labels(&mixed.open(&Options::default()).unwrap()), [2, 3]);
}
