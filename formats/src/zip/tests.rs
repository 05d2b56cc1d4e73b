//! Tests of what a zip may hold, and of what is wrong with one.

mod hostile;
pub(crate) mod writer;

use std::fs;

use forebay_sources::{Labels, Options, OwnOptions, Retry};
use tempfile::TempDir;

use self::writer::ZipWriter;
use crate::scene::{contents, says};
use crate::{Opened, open};

fn opened(bytes: &[u8], options: &Options) -> (TempDir, Opened) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("x.zip"), bytes).unwrap();
    let source = open(dir.path().join("x.zip").to_str().unwrap(), options);
    (dir, source)
}

fn refusal(bytes: &[u8], words: &[&str]) {
    let message = opened(bytes, &Options::default()).1.unwrap_err().to_string();
    says(&message, words);
}

#[test]
fn stored_and_deflated_pictures_in_class_folders_are_read() {
    let mut zip = ZipWriter::default();
    let long = vec![b'x'; 100_000];
    zip.stored("dog/", b"").stored("dog/1.jpg", b"one").deflated("cat/2.PNG", &long).stored("notes.txt", b"text");
    zip.deflated("__MACOSX/cat/._2.PNG", b"x").deflated("dog/3.webp", b"");
    let (dir, source) = opened(&zip.end(), &Options::default());
    let source = source.unwrap();
    assert_eq!(source.classes(), ["cat", "dog"]);
    assert_eq!((0..3).map(|record| source.label(record)).collect::<Vec<_>>(), [1, 0, 1]);
    assert_eq!(contents(&*source), [Ok(b"one".to_vec()), Ok(long), Err("the file is empty".into())]);
    assert_eq!(source.size(1), 100_000, "what it is, and not what is stored of it");
    let (mut bytes, room) = (Vec::new(), 99_999);
    assert_eq!(source.read(1, room, &mut bytes).unwrap_err().retry(), Retry::WithRoom(100_000));
    assert!(source.locator(1).to_string().ends_with("x.zip, member cat/2.PNG"));
    let without =
        open(&format!("zip:{}", dir.path().display()), &Options { labels: Labels::None, ..Options::default() });
    assert_eq!(without.unwrap().label(0), -1);
}

#[test]
fn one_folder_of_a_zip_can_be_chosen() {
    let mut zip = ZipWriter::default();
    zip.stored("all/train/dog/1.jpg", b"1").stored("all/train/cat/1.jpg", b"2").stored("all/val/cat/1.jpg", b"3");
    let own = OwnOptions::from_iter([("folder", "all/train")]);
    let source = opened(&zip.end(), &Options { own, ..Options::default() }).1.unwrap();
    assert_eq!(source.classes(), ["cat", "dog"]);
    let whole = opened(&zip.end(), &Options::default()).1.unwrap();
    assert_eq!(whole.classes(), ["train", "val"]);
}

#[test]
fn zip64_and_comments_are_read() {
    let mut zip = ZipWriter::default();
    zip.is_zip64 = true;
    zip.stored("a.jpg", b"one").deflated("b.jpg", b"second");
    let (_dir, source) = opened(&zip.end(), &Options::default());
    assert_eq!(contents(&*source.unwrap()), [Ok(b"one".to_vec()), Ok(b"second".to_vec())]);
    let mut zip = ZipWriter::default();
    zip.comment = b"PK\x05\x06 a comment that looks like an end".to_vec();
    zip.stored("a.jpg", b"one");
    assert_eq!(opened(&zip.end(), &Options::default()).1.unwrap().len(), 1);
}

#[test]
fn a_zip_that_the_system_s_program_wrote_is_read() {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in [("b/1.jpg", "one".repeat(50)), ("a/2.jpg", "2".into())] {
        fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
        fs::write(dir.path().join(name), content).unwrap();
    }
    let zip = std::process::Command::new("zip").args(["-qr", "x.zip", "b", "a"]).current_dir(dir.path()).status();
    if !zip.is_ok_and(|status| status.success()) {
        println!("skipped: the program zip is absent");
        return;
    }
    let source = open(dir.path().join("x.zip").to_str().unwrap(), &Options::default()).unwrap();
    assert_eq!((source.classes().len(), source.label(0)), (2, 1));
    assert_eq!(contents(&*source), [Ok("one".repeat(50).into_bytes()), Ok(b"2".to_vec())]);
}

#[test]
fn a_zip_behind_other_bytes_is_read_as_the_zip_alone() {
    for is_zip64 in [false, true] {
        let mut zip = ZipWriter::default();
        (zip.is_zip64, zip.comment) = (is_zip64, b"made by x".to_vec());
        zip.stored("cat/1.jpg", b"one").deflated("dog/2.jpg", b"two two two two");
        for before in [&b"#!"[..], b"MZ a program PK\x03\x04", &vec![0; 70_000]] {
            let bytes = [before, &zip.end()].concat();
            let (_dir, source) = opened(&bytes, &Options::default());
            assert_eq!(
                contents(&*source.unwrap()),
                [Ok(b"one".to_vec()), Ok(b"two two two two".to_vec())],
                "{is_zip64}"
            );
        }
    }
}
