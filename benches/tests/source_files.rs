//! The rules for source files that a program can see: every file says what it is for, and files are small.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_benches::workspace::{self, crates};

/// Every Rust file of the project, with its path below the root.
fn files() -> Vec<(String, String)> {
    let crates = crates();
    files_in(crates.iter().map(String::as_str).chain(["benches", "fuzz/targets"]), "rs")
}

/// Every file with this extension in these folders, with its path below the root.
fn files_in<'a>(folders: impl IntoIterator<Item = &'a str>, extension: &str) -> Vec<(String, String)> {
    let below = |folder: &str| {
        let files = workspace::files(folder, extension).into_iter();
        files.map(|(name, text)| (format!("{folder}/{name}"), text)).collect::<Vec<_>>()
    };
    let files: Vec<_> = folders.into_iter().flat_map(below).collect();
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
    let long: Vec<_> = files_in(["clients/python", "benches", "scripts"], "py")
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
