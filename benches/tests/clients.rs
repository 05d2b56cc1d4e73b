//! An error that trainers of any language may see names no argument that only one of them has, unless it says whose it is.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::sync::LazyLock;

use forebay_benches::workspace::{self, is_of_tests};
use regex::Regex;

/// What makes the errors of trainers: the daemon's side of an attachment, and the client that all languages are built on.
const FOLDERS: [&str; 9] = [
    "clients/c/src",
    "clients/rust/src",
    "coordinator/src",
    "daemon/src/daemon",
    "delivery/src",
    "ledger/src",
    "ledger-client/src",
    "pipeline/src/stream",
    "ring/src",
];
/// A text of the code, with the lines that it is continued on.
static TEXT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"(?s)"(?:[^"\\]|\\.)*""#).unwrap());
/// An argument as Python's callers write it, or the class that only Python has.
static PYTHON: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:socket|wait|run|sharding|placement|group|timeout|columns|transform|seed)=|\bLoaders?\b|\.torch\(")
        .unwrap()
});

/// The texts of a file that name what only Python has, without its comments and tests.
fn of_python(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = lines.join("\n");
    let texts = TEXT.find_iter(&code).map(|found| found.as_str());
    texts.filter(|text| !text.contains("(in Python: ") && PYTHON.is_match(text)).map(str::to_owned).collect()
}

#[test]
fn an_error_of_all_clients_names_no_argument_of_python_alone() {
    let mut found = Vec::new();
    let mut files = 0;
    for folder in FOLDERS {
        for (name, text) in workspace::files(folder, "rs").into_iter().filter(|(name, _)| !is_of_tests(name)) {
            files += 1;
            found.extend(of_python(&text).into_iter().map(|text| format!("{folder}/{name}: {text}")));
        }
    }
    assert!(files > 100, "only {files} files were found");
    assert!(found.is_empty(), "say these in words of any client, or add \"(in Python: ...)\":\n{}", found.join("\n"));
}

#[test]
fn an_argument_of_python_is_found_in_texts_alone() {
    let code = "// wait=\nlet wait=1;\nlet one = \"wait for it \\\n   with wait=\";\nlet two = \"say \\\"so\\\" (in Python: wait=1)\";\n\
                let three = \"close your Loader\";\nlet four = \"await=\";\n#[cfg(test)]\nmod tests { let five = \"wait=\"; }";
    let found = of_python(code);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("with wait=") && found[1].contains("close your Loader"), "{found:?}");
}
