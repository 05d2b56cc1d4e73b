//! What a crate's root exports is named somewhere: by another crate, by a test, by an example, or in a signature of the crate.
//! This is a search of the text. A name that several crates use for different things may hide one that is idle.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use forebay_benches::workspace::{self, crates};
use regex::Regex;

/// `pub use a::{b, c::D, e as F};` and what is defined at the root itself.
static EXPORTED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)^pub use ([^;]+);").unwrap());
static LAST_NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(\w+)\s*(?:[,}]|$)").unwrap());
static TESTS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?s)#\[cfg\(test\)\]\nmod \w+ \{.*").unwrap());
static COMMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)//.*$").unwrap());
/// Where a type can be in what a crate promises: functions, fields, variants, rows of a table, aliases, and implementations.
static SIGNATURE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?m)\bfn [^{;]*[{;]|^\s+(?:pub )?\w+: .*$|^    \w+\(.*\),|^\s+"\w+" => .*$|^pub (?:type|trait) [^;{]*[;{]|^\s+type [^;]*;|^(?:unsafe )?impl[^{]*\{"#,
    )
    .unwrap()
});

/// The names that a crate's root exports from its modules, and not from other crates.
fn exported(root: &str) -> BTreeSet<String> {
    let root = COMMENT.replace_all(root, "");
    let lists = EXPORTED.captures_iter(&root).map(|found| found[1].to_owned());
    let own = lists.filter(|list| !list.starts_with("forebay_"));
    let names = |list: String| LAST_NAME.captures_iter(&list).map(|found| found[1].to_owned()).collect::<Vec<_>>();
    own.flat_map(names).collect()
}

/// The code of a file without its tests and comments.
fn code(text: &str) -> String {
    COMMENT.replace_all(&TESTS.replace(text, ""), "").into_owned()
}

fn words(text: &str) -> HashSet<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').collect()
}

/// What a crate exports that nothing names. `others` are the words of the files outside of its sources.
fn idle<'a>(
    own: &[(String, String)],
    package: &str,
    others: impl IntoIterator<Item = &'a HashSet<&'a str>>,
) -> Vec<String> {
    let root = own.iter().find(|(name, _)| name == "lib.rs").map_or("", |(_, text)| text);
    let mut left = exported(root);
    let named = |left: &mut BTreeSet<String>, named: &HashSet<&str>| left.retain(|name| !named.contains(&**name));
    for words in others.into_iter().filter(|words| words.contains(package)) {
        named(&mut left, words);
    }
    for (_, text) in own {
        if !left.iter().any(|name| text.contains(&**name)) {
            continue;
        }
        // A documented example is a promise too.
        for line in text.lines().filter(|line| line.contains("//") && line.contains(package)) {
            named(&mut left, &words(line));
        }
        for signature in SIGNATURE.find_iter(&code(text)) {
            // A function's own name is none of its signature.
            let signature = signature.as_str();
            let own_name = signature.strip_prefix("fn ").and_then(|rest| rest.split_once('('));
            named(&mut left, &words(own_name.map_or(signature, |(_, rest)| rest)));
        }
    }
    left.into_iter().collect()
}

#[test]
fn what_a_crate_exports_at_its_root_is_named_elsewhere_or_in_its_signatures() {
    let folders = crates().into_iter().chain(["benches", "fuzz", "cuda/fakes"].map(str::to_owned));
    let mut all = Vec::new();
    for folder in folders {
        let files = workspace::files(&folder, "rs").into_iter();
        all.extend(files.map(|(name, text)| (format!("{folder}/{name}"), text)));
    }
    let all: Vec<(&str, HashSet<&str>)> = all.iter().map(|(name, text)| (&**name, words(text))).collect();
    let mut wrong = Vec::new();
    let mut count = 0;
    // What the clients export is for the programs of others.
    for krate in crates().iter().filter(|krate| !krate.starts_with("clients/")) {
        let sources = format!("{krate}/src/");
        let own: Vec<(String, String)> = workspace::files(&format!("{krate}/src"), "rs");
        let others = all.iter().filter(|(name, _)| !name.starts_with(&sources)).map(|(_, named)| named);
        let package = format!("forebay_{}", krate.replace(['-', '/'], "_"));
        count += own.iter().find(|(name, _)| name == "lib.rs").map_or(0, |(_, root)| exported(root).len());
        wrong.extend(idle(&own, &package, others).into_iter().map(|name| format!("{krate}: {name}")));
    }
    assert!(count > 300, "only {count} exports were found");
    assert!(wrong.is_empty(), "nothing names these: make them pub(crate), or private:\n{}", wrong.join("\n"));
}

#[test]
fn an_export_is_idle_unless_something_else_names_it() {
    let root = "//! A crate.\npub use a::{One, b::Two, c as Three};\npub use forebay_ring::Ring;\npub use d::four;\n";
    assert_eq!(exported(root), ["Four", "One", "Three", "Two"].map(|name| name.replace('F', "f")).into());
    let own = |signature: &str| {
        let module =
            format!("pub struct One;\n{signature}\n#[cfg(test)]\nmod tests {{\n    fn a() -> Three {{}}\n}}\n");
        [("lib.rs".to_owned(), root.to_owned()), ("a.rs".to_owned(), module)]
    };
    let user = words("use forebay_x::Two;");
    assert_eq!(idle(&own("pub fn four() -> One {"), "forebay_x", [&user]), ["Three", "four"]);
    let stranger = words("use forebay_y::Two;");
    let example = "/// use forebay_x::four;\npub struct Five {\n    pub three: Three,\n}";
    assert_eq!(idle(&own(example), "forebay_x", [&stranger]), ["One", "Two"]);
}
