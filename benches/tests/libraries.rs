//! What is linked of others: its licences, its versions, and the oldest Rust that compiles it. Nothing is compiled for this.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use forebay_benches::workspace::{self, root};
use serde_json::Value;
use spdx::{Expression, ParseMode};

/// The licences that a library may have. They ask for no more than their text beside a copy.
const LICENCES: [&str; 11] = [
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
    // That of libbz2-rs-sys, which asks for its notice as BSD's do.
    "bzip2-1.0.6",
    // Of tests alone: no build that is given to others has it.
    "MPL-2.0",
];
const OF_TESTS: &str = "MPL-2.0";

/// Libraries that are there in an older version too, and a library that asks for the older one. Remove a row when its library no
/// longer does.
const OLDER: [(&str, &str, &str); 20] = [
    ("base64", "0.22", "tonic"),
    ("bit-vec", "0.9", "yasna"),
    ("block-buffer", "0.10", "digest"),
    ("cpufeatures", "0.2", "sha2"),
    ("crypto-common", "0.1", "digest"),
    ("digest", "0.10", "crc-fast"),
    ("foldhash", "0.1", "hashbrown"),
    ("getrandom", "0.2", "ring"),
    ("getrandom", "0.3", "ahash"),
    ("hashbrown", "0.15", "petgraph"),
    ("itertools", "0.14", "prost-derive"),
    ("miniz_oxide", "0.8", "png"),
    ("num-bigint", "0.4", "der-parser"),
    ("quick-error", "1", "rusty-fork"),
    ("quick-xml", "0.37", "s3s"),
    ("syn", "2", "prost-derive"),
    ("synstructure", "0.13", "asn1-rs-derive"),
    ("toml", "0.9", "cbindgen"),
    ("toml_datetime", "0.7", "toml"),
    ("winnow", "0.7", "toml"),
];

/// What is built on Linux, tests included.
struct Graph {
    metadata: Value,
}

impl Graph {
    fn new() -> Self {
        Self { metadata: workspace::metadata(&["--filter-platform", "x86_64-unknown-linux-gnu"]) }
    }

    /// The packages by their ids.
    fn packages(&self) -> BTreeMap<&str, &Value> {
        let packages = self.metadata["packages"].as_array().unwrap().iter();
        packages.map(|package| (package["id"].as_str().unwrap(), package)).collect()
    }

    /// The ids of our own crates.
    fn ours(&self) -> BTreeSet<&str> {
        self.metadata["workspace_members"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect()
    }

    /// The ids of what a package depends on. Without `tests`, what only its tests need is left out.
    fn imports(&self, tests: bool) -> BTreeMap<&str, Vec<&str>> {
        let needed = |import: &&Value| {
            let kinds = import["dep_kinds"].as_array().unwrap();
            tests || kinds.iter().any(|kind| kind["kind"] != "dev")
        };
        let mut all = BTreeMap::new();
        for node in self.metadata["resolve"]["nodes"].as_array().unwrap() {
            let imports = node["deps"].as_array().unwrap().iter().filter(needed);
            let ids = imports.map(|import| import["pkg"].as_str().unwrap()).collect();
            all.insert(node["id"].as_str().unwrap(), ids);
        }
        all
    }

    /// All that our crates need, however far below them.
    fn needed(&self, tests: bool) -> BTreeSet<&str> {
        let imports = self.imports(tests);
        let (mut found, mut open) = (BTreeSet::new(), Vec::from_iter(self.ours()));
        while let Some(id) = open.pop() {
            if found.insert(id) {
                open.extend(&imports[id]);
            }
        }
        found
    }
}

fn text<'a>(package: &'a Value, key: &str) -> &'a str {
    package[key].as_str().unwrap_or_default()
}

/// The part of a version that says what it is compatible with: `0.22` of 0.22.1, and `2` of 2.0.119.
fn compatible(version: &str) -> String {
    let parts = version.split('.').take(if version.starts_with("0.") { 2 } else { 1 });
    parts.collect::<Vec<_>>().join(".")
}

/// A version as numbers, for comparisons.
fn numbers(version: &str) -> Vec<u64> {
    let plain = version.split(['-', '+']).next().unwrap();
    plain.split('.').map(|number| number.parse().unwrap()).collect()
}

#[test]
fn every_library_has_a_licence_of_the_list_and_no_licence_is_listed_for_nothing() {
    let graph = Graph::new();
    let (packages, built, all) = (graph.packages(), graph.needed(false), graph.needed(true));
    let may_be_used = |package: &Value, without: Option<&str>| {
        let allowed = |name: &str| LICENCES.contains(&name) && Some(name) != without;
        Expression::parse_mode(text(package, "license"), ParseMode::LAX)
            .is_ok_and(|terms| terms.evaluate(|licence| allowed(&licence.to_string())))
    };
    let refused = all.iter().filter(|id| {
        let without = built.contains(*id).then_some(OF_TESTS);
        !may_be_used(packages[*id], without)
    });
    let refused: Vec<_> = refused.map(|id| (text(packages[id], "name"), text(packages[id], "license"))).collect();
    assert!(refused.is_empty(), "the licences of these are not in the list: {refused:?}");
    let asked_for = |licence: &&&str| all.iter().any(|id| !may_be_used(packages[id], Some(licence)));
    let idle: Vec<_> = LICENCES.iter().filter(|licence| !asked_for(licence)).collect();
    assert!(idle.is_empty(), "no library needs these licences: take them out of the list: {idle:?}");
}

#[test]
fn no_library_is_there_twice_unless_a_library_asks_for_its_older_version() {
    let graph = Graph::new();
    let (packages, ours, imports) = (graph.packages(), graph.ours(), graph.imports(true));
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for id in graph.needed(true) {
        versions.entry(text(packages[id], "name")).or_default().push(id);
    }
    let mut older = BTreeSet::new();
    for (name, mut ids) in versions {
        ids.sort_by_key(|id| numbers(text(packages[id], "version")));
        ids.pop();
        older.extend(ids.into_iter().map(|id| (name, compatible(text(packages[id], "version")), id)));
    }
    let mut wrong = Vec::new();
    for (name, version, id) in &older {
        let asking = imports.iter().filter(|(_, imported)| imported.contains(id)).map(|(asking, _)| *asking);
        let (own, asking): (BTreeSet<_>, BTreeSet<_>) = asking.partition(|asking| ours.contains(asking));
        let asking: BTreeSet<_> = asking.into_iter().map(|asking| text(packages[asking], "name")).collect();
        let reasons = OLDER.iter().filter(|(listed, of, _)| listed == name && of == version);
        if !own.is_empty() {
            wrong.push(format!("{name} {version}: Cargo.toml can ask for the newer version"));
        } else if !reasons.into_iter().any(|(_, _, reason)| asking.contains(reason)) {
            wrong.push(format!("{name} {version}: {asking:?} ask for it, and OLDER lists none of them"));
        }
    }
    let stale = OLDER.iter().filter(|(name, version, _)| !older.iter().any(|(n, v, _)| n == name && v == version));
    wrong.extend(stale.map(|row| format!("{row:?}: is there no more; take it out of OLDER")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_library_needs_a_newer_rust_than_the_workspace_and_the_documents_name_its_version() {
    let graph = Graph::new();
    let packages = graph.packages();
    let of = |name: &str| packages.values().find(|package| text(package, "name") == name).unwrap();
    let oldest = text(of("forebay"), "rust_version");
    let newer = packages.values().filter(|package| {
        let needed = text(package, "rust_version");
        !needed.is_empty() && numbers(needed) > numbers(oldest)
    });
    let newer: Vec<_> =
        newer.map(|package| format!("{} needs {}", text(package, "name"), text(package, "rust_version"))).collect();
    assert!(newer.is_empty(), "Cargo.toml says rust-version = {oldest:?}, but {}", newer.join(", "));
    for file in ["README.md", "scripts/deps.sh"] {
        let words = fs::read_to_string(root().join(file)).unwrap();
        assert!(words.contains(&format!("{oldest} or later")), "{file} names another version of Rust than {oldest}");
    }
}

#[test]
fn versions_are_compared_as_numbers() {
    assert_eq!(
        (compatible("0.22.1"), compatible("2.0.119"), compatible("1.2.1+spec-1.1.0")),
        ("0.22".into(), "2".into(), "1".into())
    );
    assert!(
        numbers("0.10.7") > numbers("0.9.12")
            && numbers("1.90") < numbers("1.90.1")
            && numbers("1.2.1+spec") > numbers("1.2")
    );
}

/// The crates that cargo compiles for these packages, each with its features.
fn compiled(packages: &[&str]) -> BTreeSet<String> {
    let tree = [&["tree", "--prefix", "none", "--format", "{p} {f}", "--edges", "normal,build"], packages].concat();
    // What was shown before is marked.
    workspace::cargo(&tree).lines().map(|line| line.trim_end_matches(" (*)").trim_end().to_owned()).collect()
}

// Cargo compiles a library again for other features.
#[test]
fn libraries_have_the_same_features_in_the_wheel_as_in_the_daemon() {
    let (wheel, both) = (compiled(&["-p", "forebay-python"]), compiled(&["-p", "forebay-python", "-p", "forebay"]));
    let again: Vec<&String> = wheel.difference(&both).collect();
    assert!(again.is_empty(), "These have more features there: give clients/python/Cargo.toml the same. {again:#?}");
}
