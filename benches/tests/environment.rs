//! docs/environment.md has each environment variable that the product reads, and no other.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::collections::BTreeSet;
use std::fs;
use std::sync::LazyLock;

use forebay_benches::workspace::{self, crates, is_of_tests, root};
use regex::Regex;

/// A text that is nothing but the name of a variable, as code has it.
static NAMED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)""#).unwrap());
/// A call that reads variables: the texts around it are names.
static READS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"env::vars?(?:_os)?\(|var_os\(|environ\b|environment\b|\bvariables?\(").unwrap());
/// Beginnings that nothing else has: such a text is always the name of a variable.
const OURS: [&str; 12] = [
    "FOREBAY_",
    "XDG_",
    "AWS_",
    "AZURE_",
    "AZURITE_",
    "GOOGLE_",
    "HF_",
    "HUGGING_",
    "MAXCOMPUTE_",
    "SLURM_",
    "NOTIFY_",
    "STORAGE_",
];
/// Names that are no variables of the product: those of tests, of the fake GPU, and the ways in which texts begin.
const OTHERS: [&str; 2] = ["FOREBAY_TEST_PANICS", "FOREBAY_FAKE_KNOBS"];

/// The variables in these files.
fn variables(files: &[(String, String)]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (_, text) in files.iter().filter(|(name, _)| !is_of_tests(name)) {
        let reads = READS.is_match(text);
        for name in NAMED.captures_iter(text).map(|name| name[1].to_owned()) {
            let is_ours = OURS.iter().any(|start| name.starts_with(start) && name.len() > start.len());
            // A call of its own, such as `env::var("PATH")`, or a line of the table that such a call takes.
            let is_read = reads && is_read(text, &name);
            if (is_ours || is_read) && !OTHERS.contains(&name.as_str()) {
                found.insert(name);
            }
        }
    }
    found
}

/// Whether the text reads a variable of this name, or passes its name to what does.
fn is_read(text: &str, name: &str) -> bool {
    let name = regex::escape(name);
    let call = format!(
        r#"(?:env::var(?:_os)?|folder|first|path|environ\.get|environment\.get)\(\s*"{name}"|environ\["{name}"\]|\("{name}", "\w+"\)|\("\w+", "{name}"\)"#
    );
    Regex::new(&call).unwrap().is_match(text)
}

/// The variables of the page's tables.
fn documented() -> BTreeSet<String> {
    let page = fs::read_to_string(root().join("docs/environment.md")).unwrap();
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next().map(str::to_owned));
    cells.flat_map(|cell| cell.replace('`', "").split(", ").map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn the_page_of_environment_variables_has_those_that_are_read_and_no_others() {
    let mut read = BTreeSet::new();
    for name in crates() {
        read.extend(variables(&workspace::files(&format!("{name}/src"), "rs")));
        read.extend(variables(&workspace::files(&format!("{name}/src"), "py")));
    }
    read.extend(variables(&workspace::files("clients/python/python", "py")));
    let documented = documented();
    assert!(documented.len() > 40, "the page's tables were not found");
    let lacking: Vec<_> = read.difference(&documented).collect();
    let stale: Vec<_> = documented.difference(&read).collect();
    assert!(lacking.is_empty() && stale.is_empty(), "not on the page: {lacking:?}; not read any more: {stale:?}");
}

#[test]
fn a_variable_is_found_however_it_is_read() {
    let read = |text: &str| variables(&[("a.rs".to_owned(), text.to_owned())]);
    assert_eq!(read(r#"env::var_os("PATH")"#).len(), 1);
    assert_eq!(read(r#"const NAME: &str = "FOREBAY_X";"#).len(), 1);
    assert_eq!(read(r#"os.environ["RANK"]"#).len(), 1);
    assert_eq!(read(r#"let mode = "RGB"; env::var("HOME")"#), ["HOME".to_owned()].into());
    assert!(read(r#"println!("RGBA")"#).is_empty() && read(r#"let start = "AWS_";"#).is_empty());
}
