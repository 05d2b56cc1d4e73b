//! The conformance suite of [`Source`]: what its contract says, checked on every implementation.
//!
//! A new source is one line in [`SOURCES`].

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use forebay_sources::{Options, ReadErrorKind, Source};

use crate::open;

/// Lays a dataset out over the picture files of a folder and gives the name to open it by.
type Lay = fn(&Path) -> PathBuf;

const SOURCES: &[(&str, Lay)] = &[
    ("folder", |dir| dir.to_owned()),
    ("csv", |dir| list(dir, "list.csv", &["b/4.JPG,x", "a/1.jpg,y", "a/2.png,x", "b/3.jpg,x"])),
    ("files", |dir| list(dir, "list.txt", &["b/3.jpg", "a/1.jpg", "a/2.png", "b/4.JPG"])),
];

const FILES: [(&str, &str); 4] =
    [("a/1.jpg", "one"), ("a/2.png", "second"), ("b/3.jpg", "3"), ("b/4.JPG", "the fourth")];

#[test]
fn every_source_keeps_the_contract() {
    for (name, lay) in SOURCES {
        let dir = tempfile::tempdir().unwrap();
        for (file, content) in FILES {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let dataset = lay(dir.path());
        let open = || open(dataset.to_str().unwrap(), &Options::default()).unwrap();
        println!("{name}: {}", dataset.display());
        records_are_numbered_labelled_and_readable(&*open());
        many_threads_may_read_at_once(&*open());
        a_record_that_cannot_be_read_spoils_no_other(&open);
        rule_2_the_fingerprint_knows_paths_and_sizes_but_not_times(&open);
        limits_hold(&dataset);
    }
}

fn records_are_numbered_labelled_and_readable(source: &dyn Source) {
    assert_eq!(source.len(), FILES.len() as u64);
    assert!(!source.is_empty());
    let mut buf = b"left over".to_vec();
    for record in 0..source.len() {
        source.read(record, u64::MAX, &mut buf).unwrap();
        assert_eq!(buf, fs::read(file(source, record)).unwrap());
        assert_eq!(source.size(record), buf.len() as u64);
        let label = source.label(record);
        match usize::try_from(label) {
            Ok(place) => assert!(source.classes().is_empty() || place < source.classes().len()),
            Err(_) => assert_eq!(label, -1),
        }
        assert!(!source.shard_name(record).is_empty());
    }
}

fn many_threads_may_read_at_once(source: &dyn Source) {
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut buf = Vec::new();
                for record in (0..source.len()).cycle().take(100) {
                    source.read(record, u64::MAX, &mut buf).unwrap();
                    assert_eq!(buf, fs::read(file(source, record)).unwrap());
                }
            });
        }
    });
}

fn a_record_that_cannot_be_read_spoils_no_other(open: &dyn Fn() -> Box<dyn Source>) {
    let source = open();
    let path = file(&*source, 1);
    let content = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let mut buf = b"left over".to_vec();
    let error = source.read(1, u64::MAX, &mut buf).unwrap_err();
    assert_eq!((error.kind, error.locator), (ReadErrorKind::Missing, source.locator(1)));
    assert!(buf.is_empty());
    source.read(2, u64::MAX, &mut buf).unwrap();
    assert_eq!(source.len(), FILES.len() as u64);
    fs::write(&path, content).unwrap();
    source.read(1, u64::MAX, &mut buf).unwrap();
}

fn rule_2_the_fingerprint_knows_paths_and_sizes_but_not_times(open: &dyn Fn() -> Box<dyn Source>) {
    let source = open();
    let path = file(&*source, 0);
    let content = fs::read(&path).unwrap();
    fs::File::open(&path).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(open().fingerprint(), source.fingerprint(), "another time, the same dataset");
    fs::write(&path, [content.as_slice(), b"more"].concat()).unwrap();
    assert_ne!(open().fingerprint(), source.fingerprint(), "another size, another dataset");
    fs::write(&path, content).unwrap();
    assert_eq!(open().fingerprint(), source.fingerprint());
}

fn limits_hold(dataset: &Path) {
    let options = Options { byte_limit: 6, ..Options::default() };
    let source = open(dataset.to_str().unwrap(), &options).unwrap();
    let mut buf = Vec::new();
    for record in 0..source.len() {
        let size = fs::metadata(file(&*source, record)).unwrap().len();
        match source.read(record, u64::MAX, &mut buf) {
            Ok(()) => assert!(size <= 6),
            Err(error) => {
                assert!(size > 6);
                assert_eq!(error.kind, ReadErrorKind::TooLarge { limit: 6, size });
            }
        }
    }
}

fn file(source: &dyn Source, record: u64) -> PathBuf {
    source.locator(record).name().into()
}

fn list(dir: &Path, name: &str, lines: &[&str]) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, lines.join("\n")).unwrap();
    path
}
