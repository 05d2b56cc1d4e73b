//! Inside a crate, no two modules of a folder import each other, not by way of others either: data flows one way there
//! too. What is below a module is part of it. So no two files import each other, but for a file and what is below it.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::collections::{BTreeMap, BTreeSet};
use std::slice;
use std::sync::LazyLock;

use forebay_benches::workspace::{self, crates, is_of_tests};
use regex::Regex;

/// Where in its crate a module is, such as `batch`, `draft`; nothing for the crate itself.
type ModulePath = Vec<String>;
/// For each module of a crate, the names that it has from elsewhere, with their paths.
type Modules = BTreeMap<ModulePath, BTreeMap<String, ModulePath>>;
/// For each module of a folder, the modules beside it that it imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Where a path begins that may lead out of its module.
static OUTWARD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b(?:crate|super)::").unwrap());
/// Where a path begins that gives the module a name.
static USE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)^\s*(?:pub(?:\([^)]*\))? )?use ").unwrap());
/// More often a name is handed on nowhere.
const HOPS: u32 = 8;

/// A module of tests: one in another file, or one with its code, which ends with the first brace that begins a line.
static TESTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?s)#\[cfg\(test\)\]\n(?:#\[[^\n]*\]\n)*(?:pub(?:\([^)]*\))? )?mod \w+(?:;| \{.*?\n\}(?:\n|$))")
        .unwrap()
});

/// A file's code, without its tests and comments.
fn code(text: &str) -> String {
    let code = TESTS.replace_all(text, "");
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The paths that begin at these places of the code. Lists in braces are taken apart.
fn paths(code: &str, places: impl Iterator<Item = usize>) -> Vec<ModulePath> {
    let (mut paths, mut end) = (Vec::new(), 0);
    for place in places {
        // The second `super` of a path begins none.
        if place >= end {
            let mut rest = &code[place..];
            take_path(&mut rest, &[], &mut paths);
            end = code.len() - rest.len();
        }
    }
    paths
}

/// Takes the path, or the paths in braces, that the text begins with. They go on from the stem.
fn take_path(text: &mut &str, stem: &[String], paths: &mut Vec<ModulePath>) {
    let mut path = stem.to_vec();
    loop {
        *text = text.trim_start();
        if let Some(mut list) = text.strip_prefix('{') {
            loop {
                take_path(&mut list, &path, paths);
                let end = list.find([',', '}']).unwrap();
                let is_last = list[end..].starts_with('}');
                list = &list[end + 1..];
                if is_last {
                    *text = list;
                    return;
                }
            }
        }
        let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
        path.push(text[..end].to_owned());
        *text = &text[end..];
        match text.strip_prefix("::") {
            Some(rest) => *text = rest,
            None => break,
        }
    }
    // `module::{self}` is the module.
    path.pop_if(|last| last == "self");
    paths.push(path);
}

/// The module that has what a path names that stands in this module. A name that a module has from another one is followed,
/// at most so often.
fn target(path: &[String], within: &[String], modules: &Modules, hops: u32) -> ModulePath {
    let mut at = within.to_vec();
    for (number, name) in path.iter().enumerate() {
        match name.as_str() {
            "crate" => at.clear(),
            "super" => drop(at.pop()),
            "self" => {}
            _ => {
                let below = [&at, slice::from_ref(name)].concat();
                if !modules.contains_key(&below) {
                    return match modules.get(&at).and_then(|names| names.get(name)) {
                        Some(from) if hops > 0 => target(&[from, &path[number + 1..]].concat(), &at, modules, hops - 1),
                        _ => at,
                    };
                }
                at = below;
            }
        }
    }
    at
}

/// The module that a file is.
fn module(file: &str) -> ModulePath {
    let path = file.trim_end_matches(".rs").split('/').map(str::to_owned);
    path.filter(|name| !["lib", "main"].contains(&name.as_str())).collect()
}

/// For each folder of a crate, what its modules import of each other.
fn imports(files: &[(String, String)]) -> BTreeMap<ModulePath, Imports> {
    let files: Vec<_> = files.iter().map(|(name, text)| (name, module(name), code(text))).collect();
    let names = |code: &str| {
        let used = paths(code, USE.find_iter(code).map(|found| found.end()));
        used.into_iter().filter_map(|path| Some((path.last()?.clone(), path))).collect()
    };
    let modules: Modules = files.iter().map(|(_, module, code)| (module.clone(), names(code))).collect();
    let mut imports: BTreeMap<ModulePath, Imports> = BTreeMap::new();
    for (_, from, code) in files.iter().filter(|(name, ..)| !is_of_tests(name)) {
        for path in paths(code, OUTWARD.find_iter(code).map(|found| found.start())) {
            let to = target(&path, from, &modules, HOPS);
            let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
            // A module may know what is below it, and what it is below.
            if let (Some(one), Some(other)) = (from.get(shared), to.get(shared)) {
                let folder = imports.entry(from[..shared].to_vec()).or_default();
                folder.entry(one.clone()).or_default().insert(other.clone());
                folder.entry(other.clone()).or_default();
            }
        }
    }
    imports
}

/// The modules that are left when those are taken away, one after the other, that import nothing of what is left.
fn circle(mut imports: Imports) -> Imports {
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

/// The folders whose modules import each other, and these modules.
fn circles(files: &[(String, String)]) -> Vec<(String, Imports)> {
    let left = imports(files).into_iter().map(|(folder, imports)| (folder.join("/"), circle(imports)));
    left.filter(|(_, circle)| !circle.is_empty()).collect()
}

#[test]
fn no_module_imports_one_that_imports_it() {
    let mut wrong = Vec::new();
    for name in crates() {
        let files = workspace::files(&format!("{name}/src"), "rs");
        assert!(!files.is_empty(), "{name} has no files");
        let circles = circles(&files).into_iter();
        wrong.extend(circles.map(|(folder, circle)| format!("{name}/src/{folder}: {circle:?}")));
    }
    assert!(wrong.is_empty(), "these import each other, or import what does:\n{}", wrong.join("\n"));
}

/// The circles of a crate with these files: the folder, and the modules in it.
fn found(files: &[(&str, &str)]) -> Vec<(String, Vec<String>)> {
    let files: Vec<_> = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    circles(&files).into_iter().map(|(folder, circle)| (folder, circle.into_keys().collect())).collect()
}

/// One folder with a circle of these modules.
fn one(folder: &str, modules: &[&str]) -> Vec<(String, Vec<String>)> {
    vec![(folder.to_owned(), modules.iter().map(|module| (*module).to_owned()).collect())]
}

#[test]
fn a_circle_is_found_however_long_and_a_comment_or_a_test_is_none() {
    let long = [("a.rs", "use crate::b::B;"), ("b.rs", "use crate::{c, d};"), ("c.rs", "crate::a::f();"), ("d.rs", "")];
    assert_eq!(found(&long), one("", &["a", "b", "c"]));
    let list = "use crate::{\n    b::{self, c},\n    d::E,\n};";
    let nested = [("a.rs", list), ("b.rs", ""), ("c.rs", ""), ("d.rs", "use crate::{a};")];
    assert_eq!(found(&nested), one("", &["a", "d"]));
    let tests = "// crate::a\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}";
    assert!(found(&[("a.rs", "use crate::b;"), ("b.rs", tests)]).is_empty());
    assert!(found(&[("a.rs", "use crate::b;"), ("b.rs", ""), ("b/tests.rs", "use crate::a;")]).is_empty());
    // What follows the tests is code.
    let below = [("a.rs", "use crate::b;"), ("b.rs", &format!("{tests}\nuse crate::a;"))];
    assert_eq!(found(&below), one("", &["a", "b"]));
    let beside = "#[cfg(test)]\npub(crate) mod tests;\n\nuse crate::a;";
    assert_eq!(found(&[("a.rs", "use crate::b;"), ("b.rs", beside)]), one("", &["a", "b"]));
}

#[test]
fn a_circle_is_found_below_the_top_however_its_modules_are_named() {
    let top = ("lib.rs", "mod a;");
    let beside = [top, ("a.rs", ""), ("a/b.rs", "use super::c::C;"), ("a/c.rs", "use crate::a::{b::B, D};")];
    assert_eq!(found(&beside), one("a", &["b", "c"]));
    let handed_on = [top, ("a.rs", "mod b;\npub use c::D;"), ("a/b.rs", "use super::D;"), ("a/c.rs", "super::b::f()")];
    assert_eq!(found(&handed_on), one("a", &["b", "c"]));
    let deeper = [top, ("a.rs", ""), ("a/b.rs", ""), ("a/b/d.rs", "super::super::c::f()"), ("a/c.rs", "super::b::f()")];
    assert_eq!(found(&deeper), one("a", &["b", "c"]));
}

#[test]
fn a_file_and_what_is_below_it_may_know_each_other() {
    let below = [("a.rs", "use self::b::{B, c::C};"), ("a/b.rs", "use super::A;"), ("a/b/c.rs", "use crate::a::A;")];
    assert!(found(&below).is_empty());
    let one_way = [("a.rs", ""), ("a/b.rs", "use super::{A, c::C};"), ("a/c.rs", "use super::super::d;"), ("d.rs", "")];
    assert!(found(&one_way).is_empty());
}
