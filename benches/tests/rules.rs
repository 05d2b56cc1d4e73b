//! Rules are cited by number: each citation leads to a rule of docs/semantics.md, and each rule has a test.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use forebay_benches::workspace::root;
use regex::Regex;

/// Where a rule is cited: `path:line`.
type Citations = BTreeMap<u32, Vec<String>>;

/// This page and this test cite no rule.
const SILENT: [&str; 2] = ["docs/semantics.md", "benches/tests/rules.rs"];
const ENDINGS: [&str; 6] = ["rs", "py", "md", "toml", "proto", "c"];

static CITED: LazyLock<Regex> = LazyLock::new(|| regex(r"\b[Rr]ules? (\d+(?:(?:, | and | to )\d+)*)"));
static SPAN: LazyLock<Regex> = LazyLock::new(|| regex(r"(\d+)(?: to (\d+))?"));
static NAMED: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*(?:async )?(?:fn |def test_)rule_(\d+)"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap()
}

/// The numbers of the page's headings, such as `### 14. ACK is not RELEASE`, in its order.
fn rules() -> Vec<u32> {
    let page = fs::read_to_string(root().join("docs/semantics.md")).unwrap();
    let number = |line: &str| line.strip_prefix("### ")?.split_once(". ")?.0.parse().ok();
    page.lines().filter_map(number).collect()
}

/// Text files that git knows, or would take.
fn files() -> Vec<(String, String)> {
    let listed = Command::new("git")
        .current_dir(root())
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .output()
        .expect("git lists the files");
    let text = String::from_utf8(listed.stdout).unwrap();
    let ours = |name: &&str| {
        Path::new(name).extension().is_some_and(|end| ENDINGS.iter().any(|ours| end == *ours)) && !SILENT.contains(name)
    };
    // A file that was deleted a moment ago may still be listed.
    let read = |name: &str| Some((name.to_owned(), fs::read_to_string(root().join(name)).ok()?));
    let files: Vec<_> = text.lines().filter(ours).filter_map(read).collect();
    assert!(files.len() > 100, "the files were not found");
    files
}

/// Numbers that follow `rule` or `rules` in prose: `rule 7`, `rules 1, 4 and 27`, `rules 12 to 14`.
fn in_prose(line: &str) -> Vec<u32> {
    let lists = CITED.captures_iter(line).map(|list| list.extract::<1>().1[0]);
    let spans = lists.flat_map(|list| SPAN.captures_iter(list)).map(|span| {
        let number = |group| span.get(group).map(|digits| digits.as_str().parse::<u32>().unwrap());
        let first = number(1).unwrap();
        first..=number(2).unwrap_or(first)
    });
    spans.flatten().collect()
}

/// The number of a test that is named for a rule: `fn rule_13_...` or `def test_rule_13_...`.
fn tested(line: &str) -> Vec<u32> {
    NAMED.captures(line).map(|name| name[1].parse().unwrap()).into_iter().collect()
}

fn collect(numbers: impl Fn(&str) -> Vec<u32>) -> Citations {
    let mut citations = Citations::new();
    for (name, text) in files() {
        for (index, line) in text.lines().enumerate() {
            for number in numbers(line) {
                citations.entry(number).or_default().push(format!("{name}:{}", index + 1));
            }
        }
    }
    citations
}

#[test]
fn rules_stand_in_the_order_of_their_numbers() {
    let rules = rules();
    assert!(rules.is_sorted_by(|first, second| first < second), "{rules:?}");
    assert!((1..=32).all(|rule| rules.contains(&rule)), "a rule that was built stays: {rules:?}");
}

#[test]
fn a_citation_leads_to_a_rule() {
    let rules: BTreeSet<u32> = rules().into_iter().collect();
    let mut citations = collect(in_prose);
    for (number, places) in collect(tested) {
        citations.entry(number).or_default().extend(places);
    }
    assert!(citations.values().map(Vec::len).sum::<usize>() > 100, "the citations were not found");
    let lost: Vec<_> = citations.iter().filter(|(number, _)| !rules.contains(number)).collect();
    assert!(lost.is_empty(), "docs/semantics.md has no such rules: {lost:#?}");
}

#[test]
fn each_rule_has_a_test() {
    let tests = collect(tested);
    for rule in rules() {
        println!("rule {rule}: {} tests", tests.get(&rule).map_or(0, Vec::len));
    }
    let bare: Vec<_> = rules().into_iter().filter(|rule| !tests.contains_key(rule)).collect();
    assert!(bare.is_empty(), "these rules have no test that is named for them: {bare:?}");
}

#[test]
fn citations_are_read_in_every_form() {
    assert_eq!(in_prose("// as it must (semantics rules 1, 4 and 27)."), [1, 4, 27]);
    assert_eq!(in_prose("Rules 12 to 14 and rule 3"), [12, 13, 14, 3]);
    assert_eq!(in_prose("a ruler 7 cm long, rules of 9"), [0; 0]);
    assert_eq!(tested("    fn rule_13_static_batches_are_those_of_dali() {"), [13]);
    assert_eq!(tested("def test_rule_08_draws(loader):"), [8]);
    assert_eq!(tested("    unruly_rule_4();"), [0; 0]);
}
