//! Opening archives: whatever the bytes, an error, or records that give an error or what the file has.
#![no_main]

use std::fs;
use std::path::PathBuf;

use forebay_formats::open;
use forebay_sources::{Labels, Options};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// Small, so that no case takes long.
const BYTE_LIMIT: u64 = 1 << 20;

thread_local! {
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder for the archive");
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let path: PathBuf = FOLDER.with(|folder| folder.path().join("archive"));
    fs::write(&path, bytes).expect("room for the archive");
    let labels = if choice & 1 == 0 { Labels::Auto } else { Labels::None };
    let path = path.display();
    let name = match choice >> 1 & 3 {
        0 => format!("tar:{path}?members=samples"),
        1 => format!("tar:{path}?members=files"),
        _ => format!("zip:{path}"),
    };
    let Ok(source) = open(&name, &Options { labels, byte_limit: BYTE_LIMIT, ..Options::default() }) else { return };
    let mut content = Vec::new();
    for record in 0..source.len() {
        if source.read(record, u64::MAX, &mut content).is_ok() {
            assert!(content.len() as u64 <= BYTE_LIMIT);
        } else {
            assert!(content.is_empty());
        }
    }
});
