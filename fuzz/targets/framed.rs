//! Opening files of framed records (`tfrecord:`, `mxnet:`, `recordio:`): whatever the bytes, an error, or records that give
//! an error or some of the file's bytes. Half of the cases have right checksums, so that what is behind them is reached.
#![no_main]

use std::fs;

use arbitrary::Arbitrary;
use forebay_formats::open;
use forebay_sources::{Labels, Options, OwnOptions};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// Small, so that no case takes long.
const LIMIT: u64 = 1 << 20;

#[derive(Arbitrary, Debug)]
enum Case<'a> {
    TfRecord {
        bytes: &'a [u8],
        picture: bool,
    },
    /// Examples, in frames that are right.
    Examples {
        examples: Vec<&'a [u8]>,
        text: bool,
    },
    Mxnet {
        bytes: &'a [u8],
        index: Option<&'a [u8]>,
        picture: bool,
    },
    RecordIo {
        bytes: &'a [u8],
        payload: u8,
    },
    /// A chunk with a right checksum, whose fields are in the order of Go's or of Python's and Paddle's.
    Chunk {
        payload: &'a [u8],
        codec: u8,
        records: u32,
        is_go: bool,
        is_castagnoli: bool,
        kind: u8,
    },
}

thread_local! {
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder for the file");
}

fuzz_target!(|case: Case<'_>| {
    let mut labels = Labels::Auto;
    let word = |is_picture: bool, other: &str| if is_picture { "picture".to_owned() } else { other.to_owned() };
    let payloads = ["picture", "example", "i32+picture", "i64+picture"];
    let (scheme, bytes, payload, index) = match case {
        Case::TfRecord { bytes, picture } => ("tfrecord", bytes.to_vec(), word(picture, "example"), None),
        Case::Examples { examples, text } => {
            labels = if text { Labels::Text } else { Labels::None };
            ("tfrecord", examples.into_iter().flat_map(tf_frame).collect(), "example".to_owned(), None)
        }
        Case::Mxnet { bytes, index, picture } => ("mxnet", bytes.to_vec(), word(picture, "image"), index),
        Case::RecordIo { bytes, payload } => {
            ("recordio", bytes.to_vec(), payloads[usize::from(payload) % 4].to_owned(), None)
        }
        Case::Chunk { payload, codec, records, is_go, is_castagnoli, kind } => {
            let checksum = if is_castagnoli { crc32c::crc32c(payload) } else { crc32fast::hash(payload) };
            let (codec, size) = (u32::from(codec % 4), u32::try_from(payload.len()).expect("a small case"));
            let words = if is_go { [checksum, codec, size, records] } else { [records, checksum, codec, size] };
            let head = [&[4, 3, 2, 1], &words.map(u32::to_le_bytes).concat()[..]].concat();
            ("recordio", [&head, payload].concat(), payloads[usize::from(kind) % 4].to_owned(), None)
        }
    };
    let folder = FOLDER.with(|folder| folder.path().to_owned());
    let (file, beside) = (folder.join("x.rec"), folder.join("x.idx"));
    fs::write(&file, &bytes).expect("room for the file");
    match index {
        Some(index) => fs::write(&beside, index).expect("room for the index"),
        None => drop(fs::remove_file(&beside)),
    }
    let mut own: OwnOptions = [("payload", payload)].into_iter().collect();
    if scheme == "recordio" {
        own.set("chunk_limit", LIMIT.to_string());
    }
    let options = Options { labels, own, byte_limit: LIMIT, ..Options::default() };
    let name = format!("{scheme}:{}", file.display());
    let Ok(source) = open(&name, &options) else { return };
    let again = open(&name, &options).expect("the same dataset");
    assert_eq!((source.len(), source.fingerprint()), (again.len(), again.fingerprint()));
    let mut content = Vec::new();
    // A header may claim many records of a chunk that has none of them.
    for record in 0..source.len().min(1000) {
        match source.read(record, u64::MAX, &mut content) {
            Ok(()) => assert!(!content.is_empty() && content.len() as u64 <= LIMIT),
            Err(_) => assert!(content.is_empty()),
        }
        let label = source.label(record);
        assert!(source.classes().is_empty() || label < i64::try_from(source.classes().len()).expect("a small case"));
    }
});

/// A record of TensorFlow with right checksums.
fn tf_frame(record: &[u8]) -> Vec<u8> {
    let masked = |bytes: &[u8]| crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes();
    let len = (record.len() as u64).to_le_bytes();
    [&len[..], &masked(&len), record, &masked(record)].concat()
}
