//! The house rules that a program can see: every file says what it is for, and files are small.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::fs;
use std::path::{Path, PathBuf};

/// Files that `cargo` or `protoc` made.
const GENERATED: &str = "proto/src/gen";
const FOLDERS: [&str; 15] = [
    "proto",
    "ring",
    "jpeg",
    "coordinator",
    "pixels",
    "cuda",
    "sources",
    "formats",
    "road",
    "daemon",
    "cli",
    "clients/rust",
    "clients/python",
    "benches",
    "fuzz/targets",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every Rust file of the workspace, with its path below the root.
fn files() -> Vec<(String, String)> {
    files_in(&FOLDERS, "rs")
}

/// Every file with this extension in these folders, with its path below the root.
fn files_in(folders: &[&str], extension: &str) -> Vec<(String, String)> {
    let root = root();
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            // Python's environments and caches are hidden folders.
            let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if path.is_dir() && !is_hidden {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == extension) && !name.starts_with(GENERATED) {
                files.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(files.len() > 50, "the files were not found");
    files
}

#[test]
fn every_file_opens_by_saying_what_it_is_for() {
    let silent: Vec<_> =
        files().into_iter().filter(|(_, text)| !text.starts_with("//! ")).map(|(name, _)| name).collect();
    assert!(silent.is_empty(), "these open without a word: {silent:?}");
}

#[test]
fn the_middle_file_is_under_200_lines_and_none_above_400() {
    let mut lengths: Vec<_> = files().iter().map(|(name, text)| (text.lines().count(), name.clone())).collect();
    lengths.sort();
    let (middle, _) = lengths[lengths.len() / 2];
    let (longest, name) = lengths.last().unwrap();
    println!("{} files: the middle one has {middle} lines, the longest {longest} ({name})", lengths.len());
    assert!(middle < 200, "the middle file has {middle} lines");
    assert!(*longest <= 400, "{name} has {longest} lines: split it");
}

/// That each of them says at its top what it is for, ruff checks.
#[test]
fn no_python_file_is_above_400_lines() {
    let long: Vec<_> = files_in(&["clients/python", "benches", "scripts"], "py")
        .into_iter()
        .map(|(name, text)| (text.lines().count(), name))
        .filter(|(lines, _)| *lines > 400)
        .collect();
    assert!(long.is_empty(), "split these: {long:?}");
}

#[test]
fn no_module_is_a_mod_rs_or_a_drawer_for_anything() {
    let banned = ["mod.rs", "utils.rs", "util.rs", "helpers.rs", "common.rs", "manager.rs"];
    let drawers: Vec<_> = files()
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| banned.iter().any(|end| name.rsplit('/').next() == Some(end)))
        .collect();
    assert!(drawers.is_empty(), "name these after what they hold: {drawers:?}");
}

/// A thread that is started in another way ends the process where the system has no room for it, and has no name.
#[test]
fn every_thread_is_started_with_a_name_and_an_error() {
    let wild = ["thread::spawn(", "scope.spawn(", "spawn_blocking("];
    let mut found = Vec::new();
    for (name, text) in files() {
        let built = name.contains("/src/") && !name.starts_with("cuda/fakes");
        let tests = text.find("#[cfg(test)]\nmod tests").or_else(|| text.find("#[cfg(test)]\npub(crate) mod tests"));
        let text = &text[..tests.unwrap_or(text.len())];
        let is_test = name.ends_with("tests.rs") || name.contains("/tests/") || name.ends_with("/suite.rs");
        if built && !is_test && wild.iter().any(|start| text.contains(start)) {
            found.push(name);
        }
    }
    assert!(found.is_empty(), "these start threads as they should not: {found:?}");
}
