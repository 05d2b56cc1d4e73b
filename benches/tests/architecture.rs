//! ARCHITECTURE.md names functions and files that are there.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::fs;
use std::sync::LazyLock;

use forebay_benches::workspace::root;
use regex::Regex;

/// A link to a function, such as [`Ledger::ack`](ledger/src/ledger/receipts.rs).
static FUNCTION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[`(?:\w+::)?(\w+)`\]\(([\w/-]+\.rs)\)").unwrap());
/// A file by its path below the root.
static FILE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"`((?:[\w-]+/)+src/[\w/-]+\.\w+)`").unwrap());

#[test]
fn the_functions_that_a_batch_passes_are_where_the_page_says() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let links: Vec<_> = FUNCTION.captures_iter(&page).map(|link| (link[1].to_owned(), link[2].to_owned())).collect();
    assert!(links.len() >= 10, "the links were not found: {links:?}");
    let has = |(function, file): &&(String, String)| {
        fs::read_to_string(root().join(file)).is_ok_and(|code| code.contains(&format!("fn {function}(")))
    };
    let missing: Vec<_> = links.iter().filter(|link| !has(link)).collect();
    assert!(missing.is_empty(), "these have moved: {missing:?}");
}

#[test]
fn the_files_that_the_page_names_are_there() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let named: Vec<_> = FILE.captures_iter(&page).map(|file| file[1].to_owned()).collect();
    assert!(named.len() > 50, "the files were not found: {}", named.len());
    let missing: Vec<_> = named.into_iter().filter(|file| !root().join(file).exists()).collect();
    assert!(missing.is_empty(), "there is no {missing:?}");
}
