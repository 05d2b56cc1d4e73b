//! Tables: a file of any bytes is refused in words, or its records are read or refused one by one. A panic of the library
//! that reads it is contained, and no case takes more memory than its file and its limits allow.
#![no_main]

use std::io::Write as _;

use forebay_sources::{ColumnMap, Options};
use libfuzzer_sys::fuzz_target;

/// Records that are read of a file.
const MOST: u64 = 64;

fuzz_target!(|bytes: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().expect("there is room for a small file");
    file.write_all(bytes).expect("there is room for a small file");
    let columns = ColumnMap::from_iter([("extra", "label;text;scores")]);
    let masks = ColumnMap::from_iter([("seg", "seg;image")]);
    for scheme in ["parquet", "arrow"] {
        let name = format!("{scheme}:{}", file.path().display());
        let with_columns = Options { columns: columns.clone(), ..Options::default() };
        let with_masks = Options { masks: masks.clone(), ..Options::default() };
        for options in [Options::default(), with_columns, with_masks] {
            let Ok(source) = forebay_formats::open(&name, &options) else { continue };
            let mut buf = Vec::new();
            for record in 0..source.len().min(MOST) {
                if source.read(record, 1 << 20, &mut buf).is_err() {
                    assert!(buf.is_empty(), "an error leaves nothing");
                }
                assert!(!source.locator(record).to_string().is_empty());
            }
        }
    }
});
