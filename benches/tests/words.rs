//! One word, one meaning: no type name is defined twice in a crate, and ARCHITECTURE.md's glossary is true.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::collections::BTreeMap;
use std::fs;
use std::sync::LazyLock;

use forebay_benches::workspace::{self, crates, is_of_tests, root};
use regex::Regex;

/// `pub(crate) struct Name`, but no associated type: those are indented.
static DEFINED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^(?:pub(?:\([^)]*\))? )?(?:unsafe )?(?:struct|enum|union|trait|type) (\w+)").unwrap()
});
/// Where a file's own tests begin.
static TESTS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"#\[cfg\(test\)\]\nmod \w+ \{").unwrap());
/// A row of a table of words: its first cell is plain, its last may name types.
static ROW: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^\| ([a-z-]+) \| ([^|]+) \|(?: ([^|]+) \|)?$").unwrap());
static TYPE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"`(\w+)` of ([a-z/]+)").unwrap());

/// The types of a file, without those of its tests and macros.
fn defined(text: &str) -> Vec<String> {
    let code = TESTS.split(text).next().unwrap_or_default();
    DEFINED.captures_iter(code).map(|found| found[1].to_owned()).collect()
}

/// For each type of a crate, the files that define it.
fn types(krate: &str) -> BTreeMap<String, Vec<String>> {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, text) in workspace::files(&format!("{krate}/src"), "rs") {
        if !is_of_tests(&name) {
            for defined in defined(&text) {
                types.entry(defined).or_default().push(name.clone());
            }
        }
    }
    types
}

#[test]
fn no_two_types_of_a_crate_share_a_name() {
    let mut shared = Vec::new();
    let mut count = 0;
    for krate in crates().into_iter().chain(["cuda/fakes".to_owned()]) {
        let types = types(&krate);
        count += types.len();
        let twice = types.iter().filter(|(_, files)| files.len() > 1);
        shared.extend(twice.map(|(name, files)| format!("{krate}: {name} in {}", files.join(", "))));
    }
    assert!(count > 400, "only {count} types were found");
    assert!(shared.is_empty(), "name each of these after what it is of:\n{}", shared.join("\n"));
}

#[test]
fn a_type_is_found_with_any_visibility_and_one_of_a_test_is_none() {
    let text = "#[cfg(test)]\nmod tests;\npub(super) struct One<'a> {\n}\nenum Two {}\npub trait Three {\n    type Part;\n}\n\
                #[cfg(test)]\nmod more {\n}\nstruct Four;";
    assert_eq!(defined(text), ["One", "Two", "Three"]);
    assert!(is_of_tests("lane/tests.rs") && is_of_tests("batch/tests/shards.rs") && !is_of_tests("latest.rs"));
}

/// The words of a page's section `Words`: what they mean, and their types.
fn words(page: &str) -> BTreeMap<String, (String, String)> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let section = text.split("\n## ").find(|section| section.starts_with("Words\n")).unwrap();
    let cell = |row: &regex::Captures<'_>, place| row.get(place).map_or("", |cell| cell.as_str()).trim().to_owned();
    let rows = ROW.captures_iter(section).filter(|row| &row[1] != "word");
    rows.map(|row| (cell(&row, 1), (cell(&row, 2), cell(&row, 3)))).collect()
}

#[test]
fn the_rules_and_the_code_mean_the_same_by_a_word() {
    let (code, rules) = (words("ARCHITECTURE.md"), words("docs/semantics.md"));
    assert!(rules.len() >= 15, "the words of docs/semantics.md were not found");
    for (word, (meaning, _)) in rules {
        assert_eq!(code.get(&word).map(|(meaning, _)| meaning), Some(&meaning), "{word} in ARCHITECTURE.md");
    }
}

#[test]
fn each_type_of_the_glossary_is_where_it_says() {
    let mut count = 0;
    for (word, (_, named)) in words("ARCHITECTURE.md") {
        for found in TYPE.captures_iter(&named) {
            assert!(types(&found[2]).contains_key(&found[1]), "{word}: there is no {} in {}", &found[1], &found[2]);
            count += 1;
        }
    }
    assert!(count > 10, "the glossary names only {count} types");
}
