//! Opening archives: whatever the bytes, an error, or records that give an error or what the file has. The first byte says how
//! the archive is opened.
#![no_main]

use std::fs;
use std::path::PathBuf;

use forebay_formats::open;
use forebay_sources::{ColumnMap, Labels, Options, RecordParts};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// Small, so that no case takes long.
const BYTE_LIMIT: u64 = 1 << 20;

/// Parts of a sample that may be masks and arrays.
const MASKS: [(&str, &str); 1] = [("seg", "seg.png;png")];
const COLUMNS: [(&str, &str); 2] = [("array", "npy;emb.npy"), ("text", "txt")];
/// Columns of a dataset in MDS.
const MDS_COLUMNS: [(&str, &str); 1] = [("value", "label;value;v")];

thread_local! {
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder for the archive");
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let path: PathBuf = FOLDER.with(|folder| folder.path().join("archive"));
    let (kind, has_more) = (choice >> 1 & 3, choice & 0xf8 != 0);
    // A shard of MDS is behind an index of its own, or gets one that fits.
    let described = if kind == 2 && has_more { described(bytes) } else { None };
    let (index, bytes) = described.unwrap_or_else(|| (index(bytes).into_bytes(), bytes));
    fs::write(&path, bytes).expect("room for the archive");
    fs::write(path.with_file_name("index.json"), index).expect("room for the index");
    let labels = if choice & 1 == 0 { Labels::Auto } else { Labels::None };
    let shown = path.display();
    let (masks, columns) = match kind {
        0 if has_more => (MASKS.to_vec(), COLUMNS.to_vec()),
        2 if choice & 0x10 != 0 => (Vec::new(), MDS_COLUMNS.to_vec()),
        _ => (Vec::new(), Vec::new()),
    };
    let name = match kind {
        0 => format!("tar:{shown}?members=samples"),
        1 => format!("tar:{shown}?members=files"),
        2 => format!("mds:{}", path.parent().unwrap_or(&path).display()),
        _ => format!("zip:{shown}"),
    };
    let (masks, columns) = (ColumnMap::from_iter(masks), ColumnMap::from_iter(columns));
    let options = Options { labels, masks, columns, byte_limit: BYTE_LIMIT, ..Options::default() };
    let Ok(source) = open(&name, &options) else { return };
    for column in source.targets().columns() {
        assert_eq!(column.len() as u64, source.len(), "a value per record");
    }
    let table = RecordParts::table_len(source.masks().len());
    let mut content = Vec::new();
    for record in 0..source.len() {
        if source.read(record, u64::MAX, &mut content).is_ok() {
            assert!(content.len() as u64 <= BYTE_LIMIT + table);
            assert_eq!(content.len() as u64, source.size(record), "sizes of archives are known");
        } else {
            assert!(content.is_empty());
        }
    }
});

/// An index, behind its length in two bytes, and the shard behind it.
fn described(bytes: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (len, rest) = bytes.split_first_chunk()?;
    let (index, shard) = rest.split_at(rest.len().min(u16::from_le_bytes(*len).into()));
    Some((index.to_vec(), shard))
}

/// An index that fits the bytes as a shard of MDS.
fn index(bytes: &[u8]) -> String {
    let samples = bytes.first_chunk().map_or(0, |count| u32::from_le_bytes(*count));
    let len = bytes.len();
    let columns = r#""column_names": ["i", "l"], "column_encodings": ["jpeg", "int"], "column_sizes": [null, 8]"#;
    let file = format!(r#""raw_data": {{"basename": "archive", "bytes": {len}}}, "samples": {samples}"#);
    format!(r#"{{"shards": [{{"format": "mds", "version": 2, "compression": null, {columns}, {file}}}]}}"#)
}
