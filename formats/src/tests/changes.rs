//! Tests with files that vanish or grow after the dataset was opened, and with files that have no size.

use forebay_sources::ReadError;

use super::*;

/// A dataset of pictures `0.jpg` to `9.jpg` in the folder `pictures` of another, all of which were read.
fn ten_that_were_read() -> (TempDir, Box<dyn Source>) {
    let names: Vec<String> = (0..10).map(|number| format!("pictures/{number}.jpg")).collect();
    let dir = folder(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let source = opened(dir.path().join("pictures").to_str().unwrap()).unwrap();
    for record in 0..10 {
        source.read(record, u64::MAX, &mut Vec::new()).unwrap();
    }
    (dir, source)
}

fn error(source: &dyn Source, record: u64) -> ReadError {
    source.read(record, u64::MAX, &mut Vec::new()).unwrap_err()
}

#[test]
fn a_folder_that_vanishes_is_an_outage_and_a_file_that_vanishes_from_it_is_not() {
    let (dir, source) = ten_that_were_read();
    let (pictures, away) = (dir.path().join("pictures"), dir.path().join("away"));
    fs::remove_file(path(&*source, 3)).unwrap();
    assert_eq!(error(&*source, 3).kind, ReadErrorKind::Missing);
    fs::rename(&pictures, &away).unwrap();
    for record in 0..10 {
        let gone = error(&*source, record);
        assert_eq!(gone.kind, ReadErrorKind::Gone, "{gone}");
    }
    // As an unmounted file system leaves its folder behind.
    fs::create_dir(&pictures).unwrap();
    assert_eq!(error(&*source, 0).kind, ReadErrorKind::Gone);
    fs::remove_dir(&pictures).unwrap();
    fs::rename(&away, &pictures).unwrap();
    source.read(0, u64::MAX, &mut Vec::new()).unwrap();
    assert_eq!(error(&*source, 3).kind, ReadErrorKind::Missing);
}

#[test]
fn files_of_a_list_that_all_vanish_are_an_outage_wherever_they_are() {
    let dir = folder(&["a/1.jpg", "b/2.jpg", "c/3.jpg"]);
    let list = ["a/1.jpg", "b/2.jpg", "c/3.jpg"].map(|file| dir.path().join(file).to_str().unwrap().to_owned());
    let source = open_list(list.join("\0").as_bytes(), &Options::default()).unwrap();
    fs::remove_dir_all(dir.path().join("a")).unwrap();
    assert_eq!(error(&*source, 0).kind, ReadErrorKind::Missing);
    fs::remove_dir_all(dir.path().join("b")).unwrap();
    fs::remove_dir_all(dir.path().join("c")).unwrap();
    for record in 0..3 {
        assert_eq!(error(&*source, record).kind, ReadErrorKind::Gone);
    }
}

#[test]
fn a_file_that_has_grown_is_read_when_there_is_room_for_it_and_takes_no_memory_before() {
    let (_dir, source) = ten_that_were_read();
    let mut buf = Vec::new();
    fs::write(path(&*source, 4), vec![7; 3 << 20]).unwrap();
    let grown = source.read(4, source.size(4), &mut buf).unwrap_err();
    assert_eq!(grown.kind, ReadErrorKind::Larger { size: 3 << 20 });
    assert_eq!(buf.capacity(), 0);
    source.read(4, 3 << 20, &mut buf).unwrap();
    assert_eq!((buf.len(), buf.capacity()), (3 << 20, 3 << 20));
}

#[test]
fn files_without_a_size_are_no_storage_and_ask_for_room_step_by_step() {
    let dir = folder(&["1.jpg", "2.jpg"]);
    for (name, target) in [("3.jpg", "/proc/self/mem"), ("4.jpg", "/proc/self/status"), ("5.jpg", "/proc/kallsyms")] {
        symlink(target, dir.path().join(name)).unwrap();
    }
    let source = opened(at(&dir)).unwrap();
    let mut buf = Vec::new();
    assert_eq!(error(&*source, 2).kind, ReadErrorKind::Unreadable, "it says EIO, and no storage does");
    source.read(3, 0, &mut buf).unwrap();
    assert!(!buf.is_empty());
    let large = source.read(4, 0, &mut buf).unwrap_err();
    assert_eq!(large.kind, ReadErrorKind::Larger { size: 1 << 20 });
}
