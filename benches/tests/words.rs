//! One word, one meaning: no type name is defined twice in a crate, and ARCHITECTURE.md's glossary is true. No name has a
//! word that is ours alone.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::collections::{BTreeMap, BTreeSet};
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

/// A word that is ours alone, in one or several parts of a name, and the field's word for it.
struct OwnTerm {
    word: &'static str,
    instead: &'static str,
    names: Names,
}

/// The names that must not have a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// All identifiers, and files.
    All,
    /// The same but for tests, whose names are sentences.
    Code,
    /// Types: for the name of a variable, the word is plain English.
    Types,
}

const fn own(word: &'static str, instead: &'static str, names: Names) -> OwnTerm {
    OwnTerm { word, instead, names }
}

/// A word counts with its plural, except for verbs and phrases.
const OWN_WORDS: [OwnTerm; 26] = [
    own("road", "pipeline", Names::All),
    own("standing", "leadership, or a client of the ledger", Names::All),
    own("news", "updates", Names::All),
    own("fate", "outcome", Names::All),
    own("deed", "effect", Names::All),
    own("sheet", "metadata", Names::All),
    own("outline", "summary", Names::All),
    own("board", "work queue", Names::All),
    own("shelf", "registry", Names::All),
    own("shelve", "registry", Names::All),
    own("guest", "connection", Names::All),
    own("visitor", "connection", Names::All),
    own("crew", "thread pool", Names::All),
    own("witness", "sentinel, or observer", Names::All),
    own("witnesse", "sentinel, or observer", Names::All),
    own("surroundings", "environment", Names::All),
    own("put_out", "evict", Names::All),
    own("hand_in", "resume", Names::All),
    own("handed_in", "resume", Names::All),
    own("go_on", "continue", Names::All),
    own("goes_on", "continue", Names::All),
    own("anew", "again", Names::All),
    own("stands", "is", Names::Code),
    own("nobody", "name the actor", Names::Code),
    own("somebody", "name the actor", Names::Code),
    own("whoever", "name the actor", Names::Code),
];
/// Of types only.
const TYPE_WORDS: [OwnTerm; 3] = [
    own("note", "message, or event", Names::Types),
    own("word", "event, or keyword", Names::Types),
    own("said", "message, or reply", Names::Types),
];
/// Words that others have given to something: the word, the beginning of the path, and whose it is.
const GIVEN: [(&str, &str, &str); 10] = [
    ("sheet", "cli/src/", "a contact sheet is the word of photography"),
    ("sheet", "cli/tests/", "a contact sheet is the word of photography"),
    ("sheet", "clients/python/python/forebay/parity/", "a contact sheet is the word of photography"),
    ("visitor", "formats/src/coco/", "serde's trait"),
    ("news", "coordinator/src/service.rs", "the rpc's name on the wire"),
    ("news", "ledger-client/src/", "the rpc's name on the wire"),
    ("nobody", "cli/tests/index.rs", "the user of Unix"),
    ("nobody", "cli/tests/service/permission.rs", "the user of Unix"),
    ("nobody", "formats/src/folder_owner.rs", "the user of Unix"),
    ("nobody", "formats/src/tests.rs", "the user of Unix"),
];

/// Comments, texts, letters and identifiers; only the latter have a name.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    let texts = r###"b?r##".*?"##|b?r#".*?"#|b?r"[^"]*"|[bc]?"(?:\\.|[^"\\])*"|b?'(?:\\[^\n]*?'|[^\\'\n]')"###;
    Regex::new(&format!(r"(?s)//[^\n]*|/\*.*?\*/|{texts}|'?\b(?:r#)?([A-Za-z_]\w*)")).unwrap()
});
/// The name of a test.
static TEST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"#\[(?:tokio::)?test\b[^\]]*\](?:\s*(?:#\[[^\]]*\]|//[^\n]*))*\s*(?:async )?fn (\w+)").unwrap()
});
/// A part of a name: between underscores, or from a capital.
static PART: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[A-Z]+[a-z0-9]*|[a-z0-9]+").unwrap());

/// The parts of a name in small letters, with underscores around each.
fn parts(name: &str) -> String {
    let parts: Vec<String> = PART.find_iter(name).map(|part| part.as_str().to_lowercase()).collect();
    format!("_{}_", parts.join("_"))
}

/// Whether the parts of a name have a word or its plural.
fn has(parts: &str, word: &str) -> bool {
    let ends = |behind: &str| behind.starts_with('_') || behind.starts_with("s_");
    parts.match_indices(word).any(|(at, _)| parts[..at].ends_with('_') && ends(&parts[at + word.len()..]))
}

/// The names in a file that have one of our words, each with the word to use.
fn own_words(path: &str, text: &str) -> BTreeSet<String> {
    let tests: BTreeSet<&str> = TEST.captures_iter(text).map(|found| found.get(1).unwrap().as_str()).collect();
    let types: BTreeSet<&str> = DEFINED.captures_iter(text).map(|found| found.get(1).unwrap().as_str()).collect();
    let names = TOKEN.captures_iter(text).filter_map(|found| found.get(1)).map(|name| name.as_str());
    let mut found = BTreeSet::new();
    for name in names.chain(path.split(['/', '.', '-'])).collect::<BTreeSet<&str>>() {
        let parts = parts(name);
        for OwnTerm { word, instead, names } in OWN_WORDS.iter().chain(&TYPE_WORDS).filter(|own| has(&parts, own.word))
        {
            let counts = match names {
                Names::All => true,
                Names::Code => !tests.contains(name),
                Names::Types => types.contains(name),
            };
            if counts && !GIVEN.iter().any(|(given, start, _)| given == word && path.starts_with(start)) {
                found.insert(format!("{path}: {name} (instead of {word}: {instead})"));
            }
        }
    }
    found
}

#[test]
fn no_name_has_a_word_that_is_ours_alone() {
    let (mut found, mut count) = (BTreeSet::new(), 0);
    for folder in crates().iter().map(String::as_str).chain(["benches", "fuzz/targets"]) {
        for (name, text) in workspace::files(folder, "rs") {
            found.extend(own_words(&format!("{folder}/{name}"), &text));
            count += 1;
        }
    }
    for folder in ["clients/python/python", "clients/python/tests", "benches", "scripts"] {
        let files = workspace::files(folder, "py");
        found.extend(files.into_iter().flat_map(|(name, _)| own_words(&format!("{folder}/{name}"), "")));
    }
    assert!(count > 1000, "only {count} files were found");
    assert!(found.is_empty(), "use the field's words:\n{}", Vec::from_iter(found).join("\n"));
}

#[test]
fn words_that_are_ours_alone_are_found_in_names_and_not_in_comments_and_texts() {
    let text = "// The road, and nobody.\nstruct RoadMap;\nenum Noted { Guest }\nstruct LastNote;\nlet note = \"a road\";\n\
                let keyboard = r#\"fn deed()\"#;\n#[tokio::test]\nasync fn nobody_sees_the_shelf() {}\nlet nobody = 'a';\n\
                fn put_outs(handed_in: u8) {}\nconst ALL_SHEETS: u8 = b'\\'';\nlet outstanding = input_output;";
    let names: Vec<String> = own_words("ring/src/lib.rs", text)
        .iter()
        .map(|found| found.split_whitespace().nth(1).unwrap().to_owned())
        .collect();
    let expected = "ALL_SHEETS Guest LastNote RoadMap handed_in nobody nobody_sees_the_shelf put_outs";
    assert_eq!(names.join(" "), expected);
    assert_eq!(own_words("ring/src/worker/crew.rs", "").len(), 1, "files have names too");
    assert!(
        own_words("cli/src/contact.rs", "fn sheet() {}").is_empty() && GIVEN.iter().all(|given| !given.2.is_empty())
    );
}
