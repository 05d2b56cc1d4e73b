//! Opening a dataset from an index: whatever its bytes, an error, or records that give an error or some of the dataset's
//! bytes. Most cases are an index that fits, with some bytes changed.
#![no_main]

use std::fs;
use std::path::{Path, PathBuf};

use arbitrary::Arbitrary;
use forebay_formats::{make_index, open};
use forebay_sources::{IndexChoice, Options};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// Small, so that no case takes long.
const LIMIT: u64 = 1 << 20;

#[derive(Arbitrary, Debug)]
enum Case<'a> {
    /// No index, as a rule.
    Bytes { of_files: bool, bytes: &'a [u8] },
    /// An index that fits, with these bytes at these places.
    Changed { of_files: bool, changes: Vec<(u16, u8)>, cut: Option<u16> },
}

/// A dataset, and the index that fits it.
struct Dataset {
    name: PathBuf,
    index: Vec<u8>,
    file: PathBuf,
}

thread_local! {
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder for the datasets");
    static FILES: Dataset = FOLDER.with(|folder| files(folder.path()));
    static RANGES: Dataset = FOLDER.with(|folder| ranges(folder.path()));
}

fuzz_target!(|case: Case<'_>| {
    let (of_files, bytes) = match case {
        Case::Bytes { of_files, bytes } => (of_files, bytes.to_vec()),
        Case::Changed { of_files, changes, cut } => (of_files, changed(of_files, &changes, cut)),
    };
    let check = |dataset: &Dataset| {
        fs::write(&dataset.file, &bytes).expect("room for the index");
        let options = Options { index: IndexChoice::File(dataset.file.clone()), ..options() };
        let Ok(source) = open(&dataset.name.to_string_lossy(), &options) else { return };
        let mut content = Vec::new();
        for record in 0..source.len() {
            let _shown = (source.locator(record).to_string(), source.label(record), source.size(record));
            if source.read(record, u64::MAX, &mut content).is_err() {
                assert!(content.is_empty());
            }
        }
    };
    if of_files { FILES.with(check) } else { RANGES.with(check) }
});

fn options() -> Options {
    Options { byte_limit: LIMIT, ..Options::default() }
}

fn changed(of_files: bool, changes: &[(u16, u8)], cut: Option<u16>) -> Vec<u8> {
    let change = |dataset: &Dataset| {
        let mut bytes = dataset.index.clone();
        for (place, value) in changes {
            let len = bytes.len();
            bytes[usize::from(*place) % len] = *value;
        }
        if let Some(cut) = cut {
            let len = bytes.len();
            bytes.truncate(usize::from(cut) % len);
        }
        bytes
    };
    if of_files { FILES.with(change) } else { RANGES.with(change) }
}

fn files(folder: &Path) -> Dataset {
    let name = folder.join("files");
    for picture in ["cat/1.jpg", "cat/2.jpg", "dog/1.png"] {
        let path = name.join(picture);
        fs::create_dir_all(path.parent().unwrap_or(&name)).expect("room for a folder");
        fs::write(path, picture).expect("room for a picture");
    }
    dataset(name, folder.join("files.arrow"))
}

/// A file of TensorFlow's records.
fn ranges(folder: &Path) -> Dataset {
    let name = folder.join("x.tfrecord");
    let mask = |bytes: &[u8]| crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes();
    let mut bytes = Vec::new();
    for picture in [&b"one"[..], b"second", b"the third"] {
        let len = (picture.len() as u64).to_le_bytes();
        for part in [&len[..], &mask(&len), picture, &mask(picture)] {
            bytes.extend_from_slice(part);
        }
    }
    fs::write(&name, bytes).expect("room for the records");
    dataset(PathBuf::from(format!("tfrecord:{}?payload=picture", name.display())), folder.join("x.arrow"))
}

fn dataset(name: PathBuf, file: PathBuf) -> Dataset {
    make_index(&name.to_string_lossy(), &options(), Some(&file), true).expect("the dataset has an index");
    let index = fs::read(&file).expect("the index can be read");
    Dataset { name, index, file }
}
