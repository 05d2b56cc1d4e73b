//! Tests of masks beside pictures: how they are found, what is read, and what is refused.

use std::fs;
use std::path::Path;
use std::sync::mpsc;

use forebay_sources::{ColumnMap, IndexChoice, OwnOptions};
use tempfile::TempDir;

use super::*;
use crate::npy::tests::npy;
use crate::scene::{folder, says, values};
use crate::tests::loopback::{Changes, Loopback};

/// The head of a PNG with this type of pixels, and something behind it. Nothing here decodes it.
pub(crate) fn png(bits: u8, colours: u8, rest: &str) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x02\0\0\0\x01".to_vec();
    png.extend([bits, colours, 0, 0, 0]);
    png.extend(rest.as_bytes());
    png
}

fn options(masks: &[(&str, &str)], own: &[(&str, &str)]) -> Options {
    let masks: ColumnMap = masks.iter().copied().collect();
    Options { masks, own: own.iter().copied().collect::<OwnOptions>(), ..Options::default() }
}

fn write(dir: &TempDir, file: &str, bytes: &[u8]) {
    let path = dir.path().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn opened(path: &Path, options: &Options) -> Box<dyn Source> {
    crate::open(path.to_str().unwrap(), options).unwrap()
}

fn refusal(path: &Path, options: &Options) -> String {
    crate::open(path.to_str().unwrap(), options).unwrap_err().to_string()
}

/// The picture and the masks of a record.
fn parts(source: &dyn Source, record: u64) -> (String, Vec<Option<Vec<u8>>>) {
    let mut bytes = Vec::new();
    source.read(record, u64::MAX, &mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, source.size(record), "the budget is charged with all of it");
    let masks = source.masks().len();
    let parts = RecordParts::of(&bytes, masks);
    let found = (0..masks).map(|mask| parts.mask(mask).map(<[u8]>::to_vec)).collect();
    (String::from_utf8(parts.picture().to_vec()).unwrap(), found)
}

/// Classes of pictures, of which the second has no mask.
fn classes() -> TempDir {
    let dir = folder(&[("train/cat/1.jpg", ""), ("train/cat/2.jpg", ""), ("train/dog/1.jpg", "")]);
    write(&dir, "masks/cat/1.png", &png(8, 3, "cat"));
    write(&dir, "masks/dog/1.png", &png(8, 3, "dog"));
    dir
}

#[test]
fn rule_45_masks_have_the_names_of_their_pictures_below_another_folder() {
    let dir = classes();
    let train = dir.path().join("train");
    for named in ["../masks".to_owned(), dir.path().join("masks").to_str().unwrap().to_owned(), "x;../masks".into()] {
        let source = opened(&train, &options(&[("seg", &named)], &[]));
        assert_eq!(source.masks(), [MaskColumn { name: "seg".into(), element: ElementType::U8 }]);
        assert_eq!(parts(&*source, 0), ("train/cat/1.jpg".into(), vec![Some(png(8, 3, "cat"))]));
        assert_eq!(parts(&*source, 1), ("train/cat/2.jpg".into(), vec![None]));
        assert_eq!(parts(&*source, 2), ("train/dog/1.jpg".into(), vec![Some(png(8, 3, "dog"))]));
        assert_eq!((source.classes(), source.label(2)), (&["cat".to_owned(), "dog".to_owned()][..], 1));
    }
}

#[test]
fn rule_45_several_columns_have_types_of_their_own_and_are_part_of_the_fingerprint() {
    let dir = folder(&[("JPEGImages/a.jpg", ""), ("JPEGImages/b.jpg", ""), ("SegmentationClass/b.png", "no PNG")]);
    write(&dir, "SegmentationClass/a.png", &png(4, 3, ""));
    write(&dir, "depth/b.png", &png(16, 0, ""));
    write(&dir, "panoptic/a.png", &png(8, 2, ""));
    let masks = [("classes", "../SegmentationClass"), ("depth", "../depth"), ("ids", "../panoptic")];
    let pictures = dir.path().join("JPEGImages");
    let open = |count: usize| opened(&pictures, &options(&masks[..count], &[]));
    let source = open(3);
    let elements: Vec<_> = source.masks().iter().map(|mask| mask.element).collect();
    assert_eq!(elements, [ElementType::U8, ElementType::U16, ElementType::I32]);
    let (_, found) = parts(&*source, 1);
    assert_eq!(
        found,
        [Some(b"no PNG".to_vec()), Some(png(16, 0, "")), None],
        "what is wrong with one shows when it is decoded"
    );
    let prints = [0, 1, 2, 3].map(|count| open(count).fingerprint());
    assert!((1..4).all(|number| !prints[..number].contains(&prints[number])), "{prints:?}");
    fs::remove_file(dir.path().join("SegmentationClass/b.png")).unwrap();
    assert_ne!(open(3).fingerprint(), prints[3]);
}

#[test]
fn rule_45_a_column_of_a_table_may_have_the_paths_of_masks() {
    let dir = folder(&[("pictures/a.jpg", ""), ("pictures/b.jpg", "")]);
    write(&dir, "other/of a.png", &png(1, 0, "a"));
    write(&dir, "train.csv", b"path,mask\npictures/a.jpg,other/of a.png\npictures/b.jpg,\n");
    let file = dir.path().join("train.csv");
    let columns: ColumnMap = [("mask_path", "mask")].into_iter().collect();
    let options = Options { columns: columns.clone(), ..options(&[("seg", "mask_path")], &[]) };
    let source = opened(&file, &options);
    assert_eq!(parts(&*source, 0).1, [Some(png(1, 0, "a"))]);
    assert_eq!(parts(&*source, 1).1, [None]);
    assert_eq!(values::<u8>(&*source, "mask_path", 0), b"other/of a.png");
    write(&dir, "train.csv", b"path,mask\npictures/a.jpg,other/of a.png\npictures/b.jpg,other/lost.png\n");
    let source = opened(&file, &options);
    let error = source.read(1, u64::MAX, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::Missing, "a mask that is named must be there");
    write(&dir, "train.csv", b"path,mask\npictures/a.jpg,../secret.png\npictures/b.jpg,\n");
    says(&refusal(&file, &options), &["masks.seg = \"../secret.png\"", "record 0"]);
}

#[test]
fn rule_28_masks_are_read_within_the_same_room_and_a_file_that_has_gone_is_a_bad_record() {
    let dir = classes();
    let source = opened(&dir.path().join("train"), &options(&[("seg", "../masks")], &[]));
    let mut bytes = Vec::new();
    for room in 0..source.size(0) {
        let error = source.read(0, room, &mut bytes).unwrap_err();
        let Retry::WithRoom(size) = error.retry() else { panic!("{error}") };
        assert!(size > room && size <= source.size(0) && bytes.is_empty(), "{room}: {size}");
    }
    source.read(0, source.size(0), &mut bytes).unwrap();
    write(&dir, "masks/cat/1.png", &png(8, 3, &"larger".repeat(9)));
    let Retry::WithRoom(size) = source.read(0, source.size(0), &mut bytes).unwrap_err().retry() else { panic!() };
    source.read(0, size, &mut bytes).unwrap();
    assert_eq!(size, bytes.len() as u64);
    fs::remove_file(dir.path().join("masks/cat/1.png")).unwrap();
    let error = source.read(0, u64::MAX, &mut bytes).unwrap_err();
    assert_eq!((error.kind, bytes.is_empty()), (ReadErrorKind::Missing, true));
    assert!(error.locator.to_string().contains("masks/cat/1.png"), "{}", error.locator);
}

/// Bytes of this process that are in memory.
fn resident() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = pages.split(' ').nth(1).unwrap().parse().unwrap();
    pages * rustix::param::page_size() as u64
}

#[test]
fn rule_31_a_mask_takes_no_memory_but_that_of_its_record() {
    const SIZE: u64 = 256 << 20;
    let dir = classes();
    fs::File::options().write(true).open(dir.path().join("masks/dog/1.png")).unwrap().set_len(SIZE).unwrap();
    let source = opened(&dir.path().join("train"), &options(&[("seg", "../masks")], &[]));
    let mut bytes = Vec::new();
    let before = resident();
    source.read(2, source.size(2), &mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, source.size(2));
    // Other tests run in this process, with less memory than that.
    let most = before + SIZE + SIZE / 2;
    assert!(resident() < most, "only the record's own buffer has its bytes");
    drop(bytes);
    assert!(resident() < before + SIZE / 2, "nothing stays behind");
}

#[test]
fn rule_45_a_mask_that_cannot_be_looked_at_is_not_taken_for_none() {
    let dir = classes();
    let looped = dir.path().join("masks/cat/2.png");
    std::os::unix::fs::symlink(&looped, &looped).unwrap();
    let source = opened(&dir.path().join("train"), &options(&[("seg", "../masks")], &[]));
    let error = source.read(1, u64::MAX, &mut Vec::new()).unwrap_err();
    assert_eq!((error.kind, error.retry()), (ReadErrorKind::Unreadable, Retry::Never));
    source.read(0, u64::MAX, &mut Vec::new()).unwrap();
}

#[test]
fn masks_that_cannot_be_are_refused_by_name() {
    let dir = classes();
    let train = dir.path().join("train");
    fs::create_dir(dir.path().join("empty")).unwrap();
    for named in ["../empty", "../nothing", "cat"] {
        says(
            &refusal(&train, &options(&[("seg", named)], &[])),
            &["masks.seg = ", named, "a PNG or an npy file of the name"],
        );
    }
    says(&refusal(&train, &options(&[("mask", "../masks")], &[])), &["\"mask\" is taken"]);
    write(&dir, "colours/cat/1.png", &png(8, 6, ""));
    says(&refusal(&train, &options(&[("seg", "../colours")], &[])), &["masks.seg = ", "1.png", "with grey"]);
    let list = format!("{}\0", train.join("cat/1.jpg").to_str().unwrap());
    let source =
        crate::open_list(list.as_bytes(), &options(&[("seg", dir.path().join("masks").to_str().unwrap())], &[]));
    assert_eq!(parts(&*source.unwrap(), 0).1, [Some(png(8, 3, "cat"))]);
}

#[test]
fn rule_45_masks_of_a_folder_may_be_arrays_of_numpy() {
    let dir = folder(&[("train/cat/1.jpg", ""), ("train/cat/2.jpg", "")]);
    let array = npy("<u2", false, "(1, 2)", &[1, 0, 0, 9]);
    write(&dir, "masks/2.npy", &array);
    let source = opened(&dir.path().join("train"), &options(&[("seg", "../masks")], &[]));
    assert_eq!(source.masks()[0].element, ElementType::U16);
    let found = [0, 1].map(|record| parts(&*source, record).1);
    assert_eq!(found, [vec![None], vec![Some(array)]]);
    // If there are masks of both kinds, those that are PNG files count.
    write(&dir, "masks/1.png", &png(8, 3, "cat"));
    let source = opened(&dir.path().join("train"), &options(&[("seg", "../masks")], &[]));
    assert_eq!([0, 1].map(|record| parts(&*source, record).1), [vec![Some(png(8, 3, "cat"))], vec![None]]);
    write(&dir, "floats/1.npy", &npy("<f4", false, "(1, 2)", &[0; 8]));
    says(
        &refusal(&dir.path().join("train"), &options(&[("seg", "../floats")], &[])),
        &["floats/1.npy", "whole numbers"],
    );
}

#[test]
fn rule_53_an_index_is_of_the_pictures_and_says_nothing_of_their_masks() {
    let (dir, indexes) = (classes(), tempfile::tempdir().unwrap());
    let (train, index) = (dir.path().join("train"), indexes.path().join("x.arrow"));
    let masked = options(&[("seg", "../masks")], &[]);
    let scanned = opened(&train, &masked);
    crate::make_index(train.to_str().unwrap(), &Options::default(), Some(&index), false).unwrap();
    let indexed = opened(&train, &Options { index: IndexChoice::File(index), ..masked });
    assert_eq!(indexed.fingerprint(), scanned.fingerprint());
    write(&dir, "masks/cat/1.png", &png(8, 3, "tac"));
    assert_eq!(parts(&*indexed, 0), ("train/cat/1.jpg".into(), vec![Some(png(8, 3, "tac"))]));
}

#[test]
fn rule_45_masks_in_a_store_are_requested_and_not_waited_for() {
    let dir = classes();
    write(&dir, "depth/dog/1.png", &png(16, 0, "depth"));
    let store = Loopback::of(dir.path(), Changes::Tagged);
    let masks = options(&[("seg", "../masks"), ("depth", "../depth")], &[]);
    let source = crate::open("s3://data/train", &store.options(&masks)).unwrap();
    assert!(matches!(source.reading(), Reading::Requests { .. }));
    let answered = |record, room| {
        let (sender, answers) = mpsc::channel();
        let done = move |buf, read| sender.send((buf, read)).unwrap();
        source.request(Request::new(record, room, b"left over".to_vec(), source.locator(record), done));
        answers.recv().unwrap()
    };
    for record in 0..3 {
        let mut read = Vec::new();
        source.read(record, u64::MAX, &mut read).unwrap();
        assert_eq!(answered(record, u64::MAX), (read.clone(), Ok(())), "record {record}");
        let (buf, error) = answered(record, read.len() as u64 - 1);
        assert_eq!(error.unwrap_err().kind, ReadErrorKind::Larger { size: read.len() as u64 });
        assert!(buf.is_empty());
    }
    fs::remove_file(dir.path().join("masks/dog/1.png")).unwrap();
    let error = answered(2, u64::MAX).1.unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::Missing);
    assert!(error.locator.to_string().starts_with("s3://data/masks/dog/1.png"), "{}", error.locator);
    // Whoever withdraws a request hears the end of it.
    let (sender, answers) = mpsc::channel();
    let done = move |_, read: Result<(), ReadError>| sender.send(read).unwrap();
    let request = Request::new(0, u64::MAX, Vec::new(), source.locator(0), done);
    request.withdrawal().withdraw();
    source.request(request);
    answers.recv().unwrap().unwrap_err();
}

#[test]
fn rule_45_formats_without_masks_refuse_them_by_name_and_say_where_masks_can_be() {
    let dir = folder(&[]);
    write(&dir, "x.rec", &crate::mxnet::tests::write_images(&[b"picture"]));
    write(&dir, "x.recordio", &crate::recordio::tests::write(&[b"picture"]));
    write(&dir, "x.tfrecord", &crate::tfrecord::tests::write(&[b"picture"]));
    write(&dir, "x.tar", &crate::tar::writer::TarWriter::of(&[("a/1.jpg", b"x")]));
    let masked = |own: &[(&str, &str)]| options(&[("seg", "mask;other")], own);
    for (file, own, words) in [
        ("x.rec", &[][..], &["MXNet", "no mask"][..]),
        ("x.rec", &[("payload", "picture")], &["MXNet", "samples of tars"]),
        ("x.recordio", &[], &["payload=example"]),
        ("x.recordio", &[("payload", "i32+picture")], &["payload=example"]),
        ("x.tfrecord", &[("payload", "picture")], &["payload=example"]),
        ("x.tar", &[("members", "files")], &["\"samples\" where columns or masks are named"]),
    ] {
        let refused = refusal(&dir.path().join(file), &masked(own));
        says(&refused, words);
        assert!(file == "x.tar" || refused.starts_with("masks.seg = \"mask;other\" must be "), "{refused}");
    }
}
