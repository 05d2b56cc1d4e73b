//! The shared test data, which is not part of the project: found by `FOREBAY_TEST_DATA`, or beside the checkout.

use std::path::{Path, PathBuf};

/// A line of a set's `pillow_verdict.tsv`.
#[derive(Debug)]
#[allow(dead_code, reason = "each test file takes what it needs")]
pub(crate) struct Verdict {
    /// Path below the data folder.
    pub(crate) name: String,
    /// `ok`, `error` or `skipped_large`.
    pub(crate) verdict: String,
}

/// A folder of the shared data; none, with the reason printed, where it is absent.
pub(crate) fn folder(set: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let root = std::env::var_os("FOREBAY_TEST_DATA").map_or_else(beside, PathBuf::from);
    let folder = root.join(set);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: {} is absent; set FOREBAY_TEST_DATA to a folder that holds {set}", folder.display());
    None
}

/// Files of a folder, by name.
#[allow(dead_code, reason = "each test file takes what it needs")]
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// What Pillow says of a set's files.
#[allow(dead_code, reason = "each test file takes what it needs")]
pub(crate) fn verdicts(folder: &Path) -> Vec<Verdict> {
    let table = std::fs::read_to_string(folder.join("pillow_verdict.tsv")).unwrap();
    let lines = table.lines().skip(1).map(|line| {
        let mut fields = line.split('\t').map(str::to_owned);
        Verdict { name: fields.next().unwrap(), verdict: fields.next().unwrap() }
    });
    lines.collect()
}
