//! The workspace as its own tests see it: its crates, and the text of its files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The folders of the crates, as the workspace lists them. `benches/` is not among them, and the fake GPU is below `cuda/`.
pub static CRATES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let members = include_str!("../../Cargo.toml").split_once("members = [").and_then(|(_, rest)| rest.split_once(']'));
    let (members, _) = members.expect("the workspace lists its members");
    let folders = members.split(',').map(|folder| folder.trim().trim_matches('"')).filter(|folder| !folder.is_empty());
    folders.filter(|folder| !["benches", "cuda/fakes"].contains(folder)).collect()
});

/// The folder of the whole project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every file with this extension below a folder of the project: its path below that folder, and its text. Hidden folders,
/// which Python's environments and caches are, and generated code are left out.
///
/// # Panics
/// The folder cannot be read.
pub fn files(folder: &str, extension: &str) -> Vec<(String, String)> {
    let top = root().join(folder);
    let (mut files, mut folders) = (Vec::new(), vec![top.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("its entries can be listed").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && name != "gen" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|end| end == extension) {
                let below = path.strip_prefix(&top).expect("it is below").to_string_lossy().into_owned();
                files.push((below, fs::read_to_string(&path).expect("source files are text")));
            }
        }
    }
    files
}

/// Whether a file of a crate has nothing but tests, or what only tests use.
pub fn is_of_tests(name: &str) -> bool {
    let tests = ["tests", "model", "suite", "scene", "invariants"];
    name.split(['/', '.']).any(|part| tests.contains(&part))
}
