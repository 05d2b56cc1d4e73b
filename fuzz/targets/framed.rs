//! Opening files of framed records (`tfrecord:`, `mxnet:`, `recordio:`): whatever the bytes, an error, or records that give
//! an error or some of the file's bytes. Half of the kinds have right checksums, so that what is behind them is reached. The
//! first byte is the kind, and the second one has its flags. So a genuine file behind two bytes is a seed.
#![no_main]

use std::fs;

use forebay_formats::open;
use forebay_sources::{ColumnMap, Labels, Options, OwnOptions};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// Small, so that no case takes long.
const LIMIT: u64 = 1 << 20;

thread_local! {
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder for the file");
}

/// What is opened.
struct Case {
    scheme: &'static str,
    bytes: Vec<u8>,
    payload: &'static str,
    labels: Labels,
    /// An index beside the file.
    index: Option<Vec<u8>>,
}

/// Columns of image headers and of Examples.
const OF_HEADERS: [(&str, &str); 2] = [("all", "label"), ("id", "id")];
const OF_EXAMPLES: [(&str, &str); 2] = [("numbers", "image/object/bbox/xmin;a"), ("text", "image/filename;b")];
const PAYLOADS: [&str; 4] = ["picture", "example", "i32+picture", "i64+picture"];

fuzz_target!(|bytes: &[u8]| {
    let Some((&[kind, flags], rest)) = bytes.split_first_chunk() else { return };
    let Case { scheme, bytes, payload, labels, index } = case(kind, flags, rest);
    let folder = FOLDER.with(|folder| folder.path().to_owned());
    let (file, beside) = (folder.join("x.rec"), folder.join("x.idx"));
    fs::write(&file, &bytes).expect("room for the file");
    match index {
        Some(index) => fs::write(&beside, index).expect("room for the index"),
        None => drop(fs::remove_file(&beside)),
    }
    let mut own = OwnOptions::from_iter([("payload", payload)]);
    if scheme == "recordio" {
        own.set("chunk_limit", LIMIT.to_string());
    }
    if scheme == "tfrecord" && flags & 0x80 != 0 {
        own.set("check", "false");
    }
    let columns = match payload {
        "image" if flags & 0x40 != 0 => ColumnMap::from_iter(OF_HEADERS),
        "example" if flags & 0x40 != 0 => ColumnMap::from_iter(OF_EXAMPLES),
        _ => ColumnMap::default(),
    };
    let options = Options { labels, own, columns, byte_limit: LIMIT, ..Options::default() };
    let name = format!("{scheme}:{}", file.display());
    let Ok(source) = open(&name, &options) else { return };
    let again = open(&name, &options).expect("the same dataset");
    assert_eq!((source.len(), source.fingerprint()), (again.len(), again.fingerprint()));
    for column in source.targets().columns() {
        assert_eq!(column.len() as u64, source.len(), "a value per record");
    }
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

/// The case of a kind.
fn case(kind: u8, flags: u8, rest: &[u8]) -> Case {
    let flag = flags & 1 == 1;
    let plain = |scheme, payload| Case { scheme, bytes: rest.to_vec(), payload, labels: Labels::Auto, index: None };
    match kind % 5 {
        0 => plain("tfrecord", if flag { "picture" } else { "example" }),
        1 => {
            // Examples, in frames that are right.
            let bytes = parts(rest).flat_map(tf_frame).collect();
            let labels = if flag { Labels::Text } else { Labels::None };
            Case { bytes, labels, ..plain("tfrecord", "example") }
        }
        2 => {
            let case = plain("mxnet", if flag { "picture" } else { "image" });
            if flags & 2 == 0 {
                return case;
            }
            let mut parts = parts(rest);
            let index = parts.next().unwrap_or_default().to_vec();
            Case { index: Some(index), bytes: parts.next().unwrap_or_default().to_vec(), ..case }
        }
        3 => plain("recordio", PAYLOADS[usize::from(flags) % 4]),
        _ => Case { bytes: chunk(flags, rest), ..plain("recordio", PAYLOADS[usize::from(flags) % 4]) },
    }
}

/// Parts of the bytes, each behind its length in two bytes. The last one may be cut.
fn parts(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (len, rest) = bytes.split_first_chunk()?;
        let (part, after) = rest.split_at(rest.len().min(u16::from_le_bytes(*len).into()));
        bytes = after;
        Some(part)
    })
}

/// A chunk with a right checksum, whose fields are in the order of Go's or of Python's and Paddle's. Its first byte is the
/// number of records that its header claims.
fn chunk(flags: u8, bytes: &[u8]) -> Vec<u8> {
    let (&records, payload) = bytes.split_first().unwrap_or((&0, &[]));
    let (is_go, is_castagnoli) = (flags & 4 != 0, flags & 8 != 0);
    let checksum = if is_castagnoli { crc32c::crc32c(payload) } else { crc32fast::hash(payload) };
    let (codec, size) = (u32::from(flags >> 4 & 3), u32::try_from(payload.len()).expect("a small case"));
    // A header may claim many more records than its chunk has bytes.
    let records = if records == 255 { u32::MAX } else { records.into() };
    let words = if is_go { [checksum, codec, size, records] } else { [records, checksum, codec, size] };
    [&[4, 3, 2, 1], &words.map(u32::to_le_bytes).concat()[..], payload].concat()
}

/// A record of TensorFlow with right checksums.
fn tf_frame(record: &[u8]) -> Vec<u8> {
    let masked = |bytes: &[u8]| crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes();
    let len = (record.len() as u64).to_le_bytes();
    [&len[..], &masked(&len), record, &masked(record)].concat()
}
