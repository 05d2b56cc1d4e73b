//! Opening a dataset from an index: whatever its bytes, an error, or records that give an error or some of the dataset's
//! bytes. Most cases are an index that fits, with some bytes changed.
#![no_main]

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use arbitrary::Arbitrary;
use forebay_formats::{make_index, open, seal_index};
use forebay_sources::{IndexChoice, Options};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// Small, so that no case takes long.
const LIMIT: u64 = 1 << 20;

#[derive(Arbitrary, Debug)]
enum Case<'a> {
    /// No index, as a rule.
    Bytes { of: Kind, bytes: &'a [u8] },
    /// An index that fits, with these bytes at these places. It may get the checksums of what it is then, without which hardly
    /// any change comes further than to the checksums.
    Changed { of: Kind, changes: Vec<(u16, u8)>, cut: Option<u16>, is_sealed: bool },
}

/// What is indexed.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Kind {
    Files,
    Ranges,
    Members,
}

/// A dataset, and the index that fits it.
struct Dataset {
    name: PathBuf,
    index: Vec<u8>,
    file: PathBuf,
}

thread_local! {
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder for the datasets");
    static DATASETS: [Dataset; 3] = FOLDER.with(|folder| {
        let folder = folder.path();
        [files(folder), ranges(folder), members(folder)]
    });
}

fuzz_target!(|case: Case<'_>| {
    let (of, bytes, is_sealed) = match case {
        Case::Bytes { of, bytes } => (of, bytes.to_vec(), false),
        Case::Changed { of, changes, cut, is_sealed } => (of, changed(of, &changes, cut), is_sealed),
    };
    DATASETS.with(|datasets| {
        let dataset = &datasets[of as usize];
        fs::write(&dataset.file, &bytes).expect("room for the index");
        let options = Options { index: IndexChoice::File(dataset.file.clone()), ..options() };
        if is_sealed && seal(&dataset.file).is_err() {
            return;
        }
        let Ok(source) = open(&dataset.name.to_string_lossy(), &options) else { return };
        let mut content = Vec::new();
        for record in 0..source.len() {
            let _shown = (source.locator(record).to_string(), source.label(record), source.size(record));
            if source.read(record, u64::MAX, &mut content).is_err() {
                assert!(content.is_empty());
            }
        }
    });
});

/// Gives a changed index right checksums.
fn seal(path: &Path) -> io::Result<()> {
    seal_index(&File::options().read(true).write(true).open(path)?)
}

fn options() -> Options {
    Options { byte_limit: LIMIT, ..Options::default() }
}

fn changed(of: Kind, changes: &[(u16, u8)], cut: Option<u16>) -> Vec<u8> {
    let mut bytes = DATASETS.with(|datasets| datasets[of as usize].index.clone());
    let len = bytes.len();
    for (place, value) in changes {
        bytes[usize::from(*place) % len] = *value;
    }
    if let Some(cut) = cut {
        bytes.truncate(usize::from(cut) % len);
    }
    bytes
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

/// A tar of samples with a text.
fn members(folder: &Path) -> Dataset {
    let name = folder.join("x.tar");
    let mut bytes = Vec::new();
    let first = [("a.jpg", "one"), ("a.cls", "3"), ("a.txt", "words")];
    for (member, content) in first.into_iter().chain([("b.jpg", "second"), ("b.cls", "1")]) {
        let mut head = [0_u8; 512];
        head[..member.len()].copy_from_slice(member.as_bytes());
        head[100..108].copy_from_slice(b"0000644\0");
        head[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
        head[148..156].fill(b' ');
        head[156] = b'0';
        head[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
        head[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        bytes.extend(head);
        bytes.extend(content.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    fs::write(&name, bytes).expect("room for the tar");
    dataset(PathBuf::from(format!("tar:{}", name.display())), folder.join("tar.arrow"))
}

fn dataset(name: PathBuf, file: PathBuf) -> Dataset {
    make_index(&name.to_string_lossy(), &options(), Some(&file), true).expect("the dataset has an index");
    let index = fs::read(&file).expect("the index can be read");
    Dataset { name, index, file }
}
