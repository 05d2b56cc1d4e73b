//! Finds data that the project did not make.

use std::env;
use std::path::{Path, PathBuf};

/// The folder of a set of the shared data: below `FOREBAY_TEST_DATA`, or beside the checkout. Without it, it says so.
pub(crate) fn shared(set: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = env::var_os("FOREBAY_TEST_DATA").map_or_else(beside, PathBuf::from).join(set);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: {} is absent; set FOREBAY_TEST_DATA to a folder that holds {set}", folder.display());
    None
}
