//! Tests of what a tar may hold, and of what is wrong with one.

mod hostile;
mod labels;
mod masks;
mod samples;
mod sparse;

use std::fs;

use forebay_sources::{Labels, Options, OwnOptions, ReadErrorKind, Source};
use tempfile::TempDir;

use super::writer::{TarWriter, pax_line};
use crate::{Opened, open};

/// A folder with these files.
fn folder(files: &[(&str, Vec<u8>)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    dir
}

fn opened(bytes: Vec<u8>, options: &Options) -> (TempDir, Opened) {
    let dir = folder(&[("x.tar", bytes)]);
    let source = open(dir.path().join("x.tar").to_str().unwrap(), options);
    (dir, source)
}

fn own(key: &str, value: &str) -> Options {
    Options { own: OwnOptions::from_iter([(key, value)]), ..Options::default() }
}

/// The members of all records, with their contents.
fn read(source: &dyn Source, dir: &TempDir) -> Vec<(String, Result<Vec<u8>, String>)> {
    let mut bytes = Vec::new();
    let member = |record| {
        let name = source.locator(record).to_string();
        name.split_once(", member ").unwrap().1.to_owned()
    };
    assert!(source.locator(0).to_string().starts_with(dir.path().to_str().unwrap()));
    let content = |record, bytes: &mut Vec<u8>| match source.read(record, u64::MAX, bytes) {
        Ok(()) => Ok(bytes.clone()),
        Err(error) => {
            assert!(matches!(error.kind, ReadErrorKind::Damaged | ReadErrorKind::Empty), "{error}");
            Err(error.to_string())
        }
    };
    (0..source.len()).map(|record| (member(record), content(record, &mut bytes))).collect()
}

/// Names and contents, where all of them can be read.
fn contents(opened: (TempDir, Opened)) -> Vec<(String, Vec<u8>)> {
    let (dir, source) = opened;
    read(&*source.unwrap(), &dir).into_iter().map(|(name, content)| (name, content.unwrap())).collect()
}

fn refusal(opened: (TempDir, Opened), words: &[&str]) {
    let message = opened.1.unwrap_err().to_string();
    for word in words {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
}

fn expected(files: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    files.iter().map(|(name, content)| ((*name).to_owned(), content.as_bytes().to_vec())).collect()
}

fn labels(source: &dyn Source) -> Vec<i64> {
    (0..source.len()).map(|record| source.label(record)).collect()
}

#[test]
fn long_names_of_every_kind_are_read() {
    let long = format!("{}name.jpg", "long/".repeat(60));
    let mut tar = TarWriter::default();
    tar.entry(b'5', "folder/", b"").entry(b'0', "plain.jpg", b"1");
    tar.pax("path", &long).entry(b'0', "cut", b"2");
    tar.entry(b'K', "././@LongLink", b"a long target\0");
    tar.entry(b'L', "././@LongLink", format!("g{long}\0").as_bytes());
    tar.entry(b'0', "cut", b"3");
    tar.changed(b'0', "name.jpg", b"4", |header| header[345..351].copy_from_slice(b"prefix"));
    tar.changed(b'0', "gnu.jpg", b"5", |header| {
        header[257..265].copy_from_slice(b"ustar  \0");
        header[345..351].copy_from_slice(b"012345");
    });
    tar.changed(0, "old.jpg", b"6", |header| header[257..265].fill(0));
    tar.changed(b'7', "wide.jpg", b"7", |header| {
        header[124..136].copy_from_slice(b"\x80\0\0\0\0\0\0\0\0\0\0\x01");
    });
    let options = Options { labels: Labels::None, ..Options::default() };
    let names = ["plain.jpg", &long, &format!("g{long}"), "prefix/name.jpg", "gnu.jpg", "old.jpg", "wide.jpg"];
    let found = contents(opened(tar.end(), &options));
    assert_eq!(found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), names);
    assert_eq!(found.iter().flat_map(|(_, content)| content.clone()).collect::<Vec<_>>(), b"1234567");
}

#[test]
fn the_size_of_a_pax_header_wins_and_belongs_to_the_next_file_alone() {
    let mut tar = TarWriter::default();
    // A long name between the two keeps its own size. The file's own header says 0.
    tar.pax("size", "5").entry(b'L', "././@LongLink", b"the name.jpg\0");
    tar.changed(b'0', "cut", b"12345", |header| header[124..136].copy_from_slice(b"00000000000\0"));
    tar.entry(b'0', "b.jpg", b"67");
    let found = contents(opened(tar.end(), &Options::default()));
    assert_eq!(found, expected(&[("the name.jpg", "12345"), ("b.jpg", "67")]));
}

#[test]
fn class_folders_in_several_tars_are_one_list_of_classes() {
    let dir = folder(&[
        ("1.tar", TarWriter::of(&[("./dog/1.jpg", b"one"), ("./notes.txt", b"x"), ("./.hidden/2.jpg", b"x")])),
        ("0.tar", TarWriter::of(&[("cat/3.JPEG", b"three")])),
    ]);
    let source = open(dir.path().to_str().unwrap(), &Options::default()).unwrap();
    assert_eq!((source.classes(), labels(&*source)), (&["cat".to_owned(), "dog".into()][..], vec![0, 1]));
    assert_eq!(source.shard_name(1), "1.tar");
    assert!(source.locator(1).to_string().ends_with("1.tar, member ./dog/1.jpg"));
    let pattern = format!("tar:{}/{{0..1}}.tar", dir.path().display());
    assert_eq!(open(&pattern, &Options::default()).unwrap().fingerprint(), source.fingerprint());
}

#[test]
fn tars_can_be_classes_themselves() {
    let dir = folder(&[
        ("n02.tar", TarWriter::of(&[("n02_1.JPEG", b"one"), ("n02_2.JPEG", b"two")])),
        ("n01.tar", TarWriter::of(&[("n01_1.JPEG", b"three")])),
    ]);
    let name = dir.path().to_str().unwrap();
    assert_eq!(labels(&*open(name, &Options::default()).unwrap()), [-1, -1, -1]);
    let source = open(name, &own("classes", "tars")).unwrap();
    assert_eq!((source.classes(), labels(&*source)), (&["n01".to_owned(), "n02".into()][..], vec![0, 1, 1]));
}

#[test]
fn a_folder_of_pictures_stays_one_although_a_tar_is_beside_them() {
    let dir = folder(&[("x.tar", TarWriter::of(&[("1.jpg", b"one")])), ("2.jpg", b"two".to_vec())]);
    let source = open(dir.path().to_str().unwrap(), &Options::default()).unwrap();
    assert!(source.locator(0).to_string().ends_with("2.jpg"));
}

#[test]
fn a_tar_without_its_extension_is_known_by_its_header() {
    let dir = folder(&[("shard", TarWriter::of(&[("1.jpg", b"one")]))]);
    assert_eq!(open(dir.path().join("shard").to_str().unwrap(), &Options::default()).unwrap().len(), 1);
}

#[test]
fn tars_in_a_tar_are_classes_and_their_pictures_are_read_from_the_outer_one() {
    let first = TarWriter::of(&[("n01_1.JPEG", b"one"), ("n01_2.JPEG", b"two"), ("n01.txt", b"x")]);
    let second = TarWriter::of(&[("n02_1.JPEG", b"three")]);
    let bytes = TarWriter::of(&[("n02.tar", &second), ("n01.tar", &first)]);
    let (dir, source) = opened(bytes.clone(), &Options::default());
    let source = source.unwrap();
    assert_eq!((source.classes(), labels(&*source)), (&["n01".to_owned(), "n02".into()][..], vec![1, 0, 0]));
    let found = read(&*source, &dir);
    let words: Vec<(&str, &[u8])> =
        found.iter().map(|(name, content)| (name.as_str(), content.as_deref().unwrap())).collect();
    assert_eq!(
        words,
        [("n02.tar/n02_1.JPEG", &b"three"[..]), ("n01.tar/n01_1.JPEG", b"one"), ("n01.tar/n01_2.JPEG", b"two")]
    );
    // Damage inside is found where it is in the outer file.
    let mut broken = bytes;
    broken[512] ^= 1;
    refusal(opened(broken, &Options::default()), &["byte 512", "checksum"]);
}

#[test]
fn options_that_cannot_be_together_are_refused() {
    let tar = TarWriter::of(&[("1.jpg", b"one")]);
    let columns = [("caption", "txt")].into_iter().collect();
    refusal(opened(tar.clone(), &Options { columns, ..own("members", "files") }), &["members", "samples"]);
    refusal(opened(tar.clone(), &own("members", "pairs")), &["members", "samples", "files"]);
    refusal(opened(tar, &own("unfinished", "perhaps")), &["unfinished"]);
}

#[test]
fn tars_that_the_system_s_program_wrote_are_read_in_each_of_its_formats() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("cat")).unwrap();
    fs::write(dir.path().join("cat/1.jpg"), "one").unwrap();
    fs::hard_link(dir.path().join("cat/1.jpg"), dir.path().join("cat/2.jpg")).unwrap();
    // A hole of 1 MiB before the content.
    let holes = fs::File::create(dir.path().join("cat/3.jpg")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&holes, b"three", 1 << 20).unwrap();
    for format in ["gnu", "oldgnu", "pax", "ustar", "v7"] {
        // The oldest format has at most 99 bytes.
        let long = if format == "v7" {
            "cat/4.jpg".into()
        } else {
            format!("cat/{}{}.jpg", "deep/".repeat(30), "n".repeat(90))
        };
        fs::create_dir_all(dir.path().join(&long).parent().unwrap()).unwrap();
        fs::write(dir.path().join(&long), "deep").unwrap();
        let path = dir.path().join(format!("{format}.tar"));
        let sparse = if ["ustar", "v7"].contains(&format) { "--sort=name" } else { "--sparse" };
        let tar = std::process::Command::new("tar")
            .args([&format!("--format={format}"), "--sort=name", sparse, "-cf"])
            .arg(&path)
            .arg("cat")
            .current_dir(dir.path())
            .status();
        fs::remove_file(dir.path().join(&long)).unwrap();
        if tar.is_err() {
            println!("skipped: the program tar is absent");
            return;
        }
        let source = open(path.to_str().unwrap(), &Options::default()).unwrap();
        assert_eq!(source.classes(), ["cat"], "{format}");
        let found = read(&*source, &dir);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["cat/1.jpg", "cat/2.jpg", "cat/3.jpg", &long], "{format}");
        assert_eq!(found[0].1, Ok(b"one".to_vec()));
        assert!(found[1].1.as_ref().unwrap_err().contains("link"));
        let content = found[2].1.as_ref().unwrap();
        assert!(content.len() == (1 << 20) + 5 && content.ends_with(b"\0three"), "{format}");
        assert_eq!(found[3].1, Ok(b"deep".to_vec()));
    }
}
