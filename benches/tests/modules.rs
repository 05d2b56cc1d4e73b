//! Inside a crate, no two modules import each other, not by way of others either: data flows one way there too.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::collections::{BTreeMap, BTreeSet};

use forebay_benches::workspace::{self, CRATES, is_of_tests};
use regex::Regex;

/// For each module of a crate, the modules that it imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// What a file's code, without its tests and comments, imports by `crate::NAME` and `crate::{NAME, ...}`.
fn imported(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let path = Regex::new(r"\bcrate::(\w+|\{)").unwrap();
    let mut names = BTreeSet::new();
    for found in path.captures_iter(&code) {
        if &found[1] == "{" {
            names.extend(first_names(&code[found.get(0).unwrap().end()..]));
        } else {
            names.insert(found[1].to_owned());
        }
    }
    names
}

/// The first name of each path of a list, which goes on to its closing brace.
fn first_names(list: &str) -> BTreeSet<String> {
    let (mut names, mut depth, mut path) = (BTreeSet::new(), 0, String::new());
    for letter in list.chars() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.insert(path.split("::").next().unwrap_or_default().trim().to_owned());
                if letter == '}' {
                    break;
                }
                path.clear();
            }
            other => path.push(other),
        }
    }
    names
}

fn imports(krate: &str) -> Imports {
    let mut imports = Imports::new();
    for (name, text) in workspace::files(&format!("{krate}/src"), "rs") {
        let module = name.split('/').next().unwrap_or_default().trim_end_matches(".rs").to_owned();
        if !is_of_tests(&name) && !["lib", "main"].contains(&module.as_str()) {
            imports.entry(module).or_default().extend(imported(&text));
        }
    }
    let modules: BTreeSet<String> = imports.keys().cloned().collect();
    for (module, imported) in &mut imports {
        imported.retain(|name| name != module && modules.contains(name));
    }
    imports
}

/// The modules that are left when those are taken away, one after the other, that import nothing of what is left.
fn circles(mut imports: Imports) -> Imports {
    loop {
        let free: BTreeSet<String> =
            imports.iter().filter(|(_, imported)| imported.is_empty()).map(|(module, _)| module.clone()).collect();
        if free.is_empty() {
            return imports;
        }
        imports.retain(|module, _| !free.contains(module));
        for imported in imports.values_mut() {
            imported.retain(|name| !free.contains(name));
        }
    }
}

#[test]
fn no_module_imports_one_that_imports_it() {
    let mut wrong = Vec::new();
    for name in CRATES {
        let imports = imports(name);
        assert!(!imports.is_empty(), "{name} has no modules");
        let left = circles(imports);
        if !left.is_empty() {
            wrong.push(format!("{name}: {left:?}"));
        }
    }
    assert!(wrong.is_empty(), "these import each other, or import what does:\n{}", wrong.join("\n"));
}

#[test]
fn a_circle_is_found_however_long_and_a_comment_or_a_test_is_none() {
    let imports = |files: &[(&str, &str)]| -> Imports {
        files.iter().map(|(module, text)| ((*module).to_owned(), imported(text))).collect()
    };
    let circle = [("a", "use crate::b::B;"), ("b", "use crate::{c, d};"), ("c", "crate::a::f();"), ("d", "")];
    assert_eq!(circles(imports(&circle)).keys().collect::<Vec<_>>(), ["a", "b", "c"]);
    let nested = [("a", "use crate::{\n    b::{self, c},\n    d::E,\n};"), ("b", ""), ("c", ""), ("d", "crate::{a}")];
    assert_eq!(circles(imports(&nested)).keys().collect::<Vec<_>>(), ["a", "d"]);
    let none = [("a", "use crate::b;"), ("b", "// crate::a\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}")];
    assert!(circles(imports(&none)).is_empty());
}
