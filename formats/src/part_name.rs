//! The name under which a file or folder is made before it gets its own name.

use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// How such names end.
const END: &str = ".part";

/// Tells what the threads of this process make from each other.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A name beside this one that neither another thread nor another process of this machine uses.
pub(crate) fn part_name(path: &Path) -> PathBuf {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!("{}{}-{number}{END}", beginning(path), process::id()))
}

/// Whether a file of this name may be one that is made for this path, or for a path that begins with it.
pub(crate) fn is_part_of(path: &Path, name: &str) -> bool {
    name.strip_prefix(beginning(path).as_str()).is_some_and(|rest| rest.ends_with(END))
}

fn beginning(path: &Path) -> String {
    format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy())
}
