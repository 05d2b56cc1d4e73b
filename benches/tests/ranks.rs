//! Who may import whom: a crate imports only crates of a lower rank, and each foreign library stays behind its fence.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::collections::BTreeMap;

use forebay_benches::workspace::{self, cargo};
use serde_json::Value;

/// ARCHITECTURE.md has the same table.
const RANKS: [(&str, u32); 27] = [
    ("forebay-printable", 0),
    ("forebay-threads", 0),
    ("forebay-proto", 0),
    ("forebay-columns", 0),
    ("forebay-ring", 1),
    // Formats and pipeline have their programs on top of it.
    ("forebay-children", 1),
    ("forebay-jpeg", 0),
    ("forebay-webp", 0),
    ("forebay-avif", 0),
    ("forebay-plan", 1),
    ("forebay-ledger", 2),
    ("forebay-ledger-client", 3),
    ("forebay-coordinator", 4),
    ("forebay-pixels", 2),
    ("forebay-client", 2),
    ("forebay-sources", 2),
    ("forebay-cuda", 3),
    ("forebay-fake-gpu", 3),
    ("forebay-python", 4),
    ("forebay-c", 3),
    ("forebay-objects", 3),
    ("forebay-formats", 4),
    ("forebay-delivery", 4),
    ("forebay-pipeline", 5),
    ("forebay-daemon", 6),
    ("forebay", 7),
    ("forebay-benches", 7),
];

/// Libraries that only these crates may name, in what they build.
const FENCES: [(&str, &[&str]); 35] = [
    ("redb", &["forebay-coordinator"]),
    ("tokio-rustls", &["forebay-ledger-client", "forebay-daemon"]),
    ("pyo3", &["forebay-python"]),
    ("turbojpeg-sys", &["forebay-pixels", "forebay-fake-gpu"]),
    ("jxl", &["forebay-pixels"]),
    ("libc", &["forebay-ring"]),
    ("libloading", &["forebay-cuda", "forebay-fake-gpu"]),
    ("tonic", &["forebay-proto", "forebay-ledger-client", "forebay-coordinator", "forebay-daemon", "forebay"]),
    (
        "tokio",
        &[
            "forebay-threads",
            "forebay-ledger-client",
            "forebay-coordinator",
            "forebay-objects",
            "forebay-delivery",
            "forebay-pipeline",
            "forebay-daemon",
            "forebay",
            "forebay-benches",
        ],
    ),
    ("object_store", &["forebay-objects"]),
    ("reqwest", &["forebay-objects"]),
    ("rustls", &["forebay-ledger-client", "forebay-coordinator", "forebay-objects"]),
    ("rustls-native-certs", &["forebay-objects"]),
    ("x509-parser", &["forebay-ledger-client"]),
    ("toml", &["forebay-daemon", "forebay"]),
    ("clap", &["forebay"]),
    ("base64", &["forebay"]),
    ("minijinja", &["forebay"]),
    ("hyper", &["forebay-daemon"]),
    ("csv", &["forebay-formats"]),
    ("roxmltree", &["forebay-formats"]),
    ("flate2", &["forebay-formats", "forebay-pixels"]),
    ("crc-fast", &["forebay-formats"]),
    ("snap", &["forebay-formats"]),
    ("brotli-decompressor", &["forebay-formats"]),
    ("bzip2", &["forebay-formats"]),
    ("lz4_flex", &["forebay-formats"]),
    ("twox-hash", &["forebay-jpeg"]),
    ("zstd", &["forebay-formats"]),
    ("parquet", &["forebay-formats"]),
    ("arrow-array", &["forebay-formats"]),
    ("arrow-buffer", &["forebay-formats"]),
    ("arrow-data", &["forebay-formats"]),
    ("arrow-ipc", &["forebay-formats"]),
    ("arrow-schema", &["forebay-formats"]),
];

/// Libraries that must not be below a crate, however far. Pure state machines link neither gRPC nor a runtime nor a store, and
/// only the coordinator and what is above it link a store.
const FREE_OF: [(&str, &[&str]); 8] = [
    ("forebay-plan", &["tonic", "tokio", "redb", "rustls"]),
    ("forebay-ledger", &["tonic", "tokio", "redb", "rustls"]),
    ("forebay-sources", &["tonic", "tokio", "redb", "prost"]),
    ("forebay-children", &["tonic", "tokio", "prost"]),
    ("forebay-formats", &["tonic", "redb", "prost"]),
    ("forebay-delivery", FOREIGN_TO_DELIVERY),
    ("forebay-pipeline", &["redb"]),
    ("forebay-python", &["redb"]),
];

/// Who delivers batches does not know how they are made, nor where records come from.
const FOREIGN_TO_DELIVERY: &[&str] = &[
    "forebay-pixels",
    "forebay-cuda",
    "forebay-sources",
    "turbojpeg-sys",
    "image",
    "arrow-array",
    "parquet",
    "object_store",
    "redb",
];

/// A crate and what it depends on, tests aside.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let metadata = workspace::metadata(&["--no-deps"]);
    let packages = metadata["packages"].as_array().unwrap().iter();
    let built = |dependency: &&Value| dependency["kind"] != "dev";
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    packages
        .map(|package| {
            (name(package), package["dependencies"].as_array().unwrap().iter().filter(built).map(name).collect())
        })
        .collect()
}

#[test]
fn a_crate_imports_only_crates_of_a_lower_rank() {
    let ranks = BTreeMap::from(RANKS);
    let mut wrong = Vec::new();
    for (package, imports) in dependencies() {
        let Some(rank) = ranks.get(package.as_str()) else {
            wrong.push(format!("{package} has no rank: give it one here and in ARCHITECTURE.md"));
            continue;
        };
        let ours = imports.iter().filter_map(|import| Some((import, ranks.get(import.as_str())?)));
        let upward = ours.filter(|(_, imported)| *imported >= rank);
        wrong.extend(upward.map(|(import, imported)| format!("{package} ({rank}) imports {import} ({imported})")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_foreign_library_is_named_only_behind_its_fence() {
    let mut wrong = Vec::new();
    for (package, imports) in dependencies() {
        let outside = FENCES.iter().filter(|(library, within)| {
            imports.iter().any(|import| import == library) && !within.contains(&package.as_str())
        });
        wrong
            .extend(outside.map(|(library, within)| format!("{package} names {library}, which belongs to {within:?}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_crate_links_no_library_that_it_must_be_free_of() {
    for (package, without) in FREE_OF {
        let tree = cargo(&["tree", "-e", "normal", "--prefix", "none", "--format", "{p}", "-p", package]);
        let linked: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(linked.contains(&package), "{tree}");
        let wrong: Vec<&&str> = without.iter().filter(|library| linked.contains(library)).collect();
        assert!(wrong.is_empty(), "{package} links {wrong:?}");
    }
}
