//! The workspace as its own tests look at it: its crates, and the text of its files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The folders of the crates, without those of the benchmarks and of the fake GPU, which is below `cuda/`.
///
/// # Panics
/// The workspace's manifest cannot be read.
pub fn crates() -> Vec<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the workspace has a manifest");
    let members = manifest.split_once("members = [").and_then(|(_, rest)| rest.split_once(']'));
    let members = members.expect("the manifest lists the members").0.split(',');
    let members = members.map(|name| name.trim().trim_matches('"').to_owned());
    members.filter(|name| !["benches", "cuda/fakes"].contains(&name.as_str())).collect()
}

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

/// What a command of cargo that asks no registry prints about the workspace.
///
/// # Panics
/// The command fails.
pub fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .args(["--offline", "--locked", "--manifest-path"])
        .arg(root().join("Cargo.toml"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("cargo prints text")
}

/// What `cargo metadata` says of the workspace, with these further arguments.
///
/// # Panics
/// The command fails.
pub fn metadata(arguments: &[&str]) -> Value {
    let printed = cargo(&[&["metadata", "--format-version", "1"], arguments].concat());
    serde_json::from_str(&printed).expect("cargo prints JSON")
}

/// Whether a file of a crate has nothing but tests, or what only tests use.
pub fn is_of_tests(name: &str) -> bool {
    let tests = ["tests", "model", "suite", "scene", "invariants"];
    name.split(['/', '.']).any(|part| tests.contains(&part))
}
