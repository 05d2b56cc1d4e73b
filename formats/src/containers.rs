//! The files of a dataset that keeps many records in each: one file, all of a folder, or those that a pattern names.

mod objects;

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use forebay_sources::SourceError;

use crate::address::{Address, Sight};
use crate::basis::Basis;

/// `*` leaves hidden files out, and does not reach into folders.
const LIKE_A_SHELL: glob::MatchOptions =
    glob::MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };
/// More files than a pattern can mean.
const MOST: usize = 10_000_000;
/// Most bytes of their names, most braces of a pattern, and most digits of a number in them.
const MOST_BYTES: usize = 1 << 30;
const MOST_BRACES: usize = 16;
const MOST_DIGITS: usize = 20;

/// The files that the name means: the file itself; all files of a folder and its subfolders whose names have one of these
/// extensions, sorted by their bytes; or those that a pattern names (`train-{000..999}.tar`, `{a,b}.rec`, `*.tar`).
///
/// # Errors
/// There is no such file, or a part of the pattern names none.
pub(super) fn find(name: &Address, extensions: &[&str]) -> Result<Vec<Address>, SourceError> {
    if let Some(files) = pattern(name)? {
        return Ok(files);
    }
    if name.look()? != Sight::Folder {
        return Ok(vec![name.clone()]);
    }
    if let Some(files) = objects::below(name, extensions)? {
        return if files.is_empty() { Err(none(name, extensions)) } else { Ok(files) };
    }
    let mut files = Vec::new();
    below(name.path(), extensions, &mut Vec::new(), &mut files)?;
    files.sort_unstable_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
    if files.is_empty() {
        return Err(none(name, extensions));
    }
    Ok(files.into_iter().map(Address::file).collect())
}

/// The same for files that may be compressed as a whole. Compressed files of a folder are taken only if it has no others,
/// because a user who unpacked them may have kept them.
///
/// # Errors
/// Those of [`find`].
pub(super) fn find_compressed(
    name: &Address,
    extensions: &[&str],
    compressed: &[&str],
) -> Result<Vec<Address>, SourceError> {
    match find(name, extensions) {
        Err(SourceError::NoContainers { .. }) => find(name, compressed).map_err(|error| match error {
            SourceError::NoContainers { .. } => none(name, &[extensions, compressed].concat()),
            error => error,
        }),
        found => found,
    }
}

fn none(folder: &Address, extensions: &[&str]) -> SourceError {
    SourceError::NoContainers { path: folder.path().to_owned(), extensions: extensions.join(", ") }
}

/// The folder and all folders below it, except hidden ones, as they are now.
///
/// # Errors
/// One of them cannot be read.
pub(super) fn folders(folder: &Address) -> Result<Vec<Basis>, SourceError> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.clone()];
    while let Some(folder) = waiting.pop() {
        found.push(Basis::look(&folder)?);
        waiting.extend(folder.entries()?.into_iter().filter(|entry| entry.is_folder).map(|entry| entry.address));
    }
    Ok(found)
}

/// Whether a folder has a file with one of these extensions at its top.
pub(super) fn has(folder: &Address, extensions: &[&str]) -> bool {
    let Ok(entries) = folder.entries() else { return false };
    entries.iter().any(|entry| is_named(entry.address.path(), extensions))
}

/// Whether a file begins with what `is` accepts. A folder must have such a file, with one of these extensions, at its top,
/// and neither pictures nor folders beside it: those are a dataset of pictures, which may have other files too.
pub(super) fn begins(
    address: &Address,
    extensions: &[&str],
    is: fn(&[u8]) -> bool,
    is_picture: fn(&Path) -> bool,
) -> bool {
    let accepted = |address: &Address| is(&address.beginning(64));
    if !address.is_folder() {
        return accepted(address);
    }
    let Ok(entries) = address.entries() else { return false };
    entries.iter().any(|entry| is_named(entry.address.path(), extensions) && accepted(&entry.address))
        && !entries.iter().any(|entry| entry.is_folder || is_picture(entry.address.path()))
}

/// Whether a name is a pattern. A file of this machine may have such a name. A server need not understand the name, so it
/// is not asked about it.
pub(super) fn is_pattern(name: &Address) -> bool {
    let has_signs = name.path().to_str().is_some_and(|text| text.contains(['{', '*', '?', '[']));
    has_signs && (name.tree().is_some() || !name.exists())
}

/// The files that a pattern names, in the pattern's order; nothing if the name is none.
pub(super) fn pattern(name: &Address) -> Result<Option<Vec<Address>>, SourceError> {
    let Some(text) = name.path().to_str().filter(|_| is_pattern(name)) else { return Ok(None) };
    let expanded = braces(text).ok_or_else(|| SourceError::Pattern {
        pattern: text.to_owned(),
        problem: format!(
            "a \"{{\" in it has no \"}}\", or it means more than {MOST} files or {MOST_BYTES} bytes of names, or it has more \
             than {MOST_BRACES} braces or numbers of more than {MOST_DIGITS} digits"
        ),
    })?;
    if let Some(tree) = name.tree() {
        return objects::matching(tree, &expanded).map(Some);
    }
    let mut files = Vec::new();
    for path in expanded {
        if !path.contains(['*', '?', '[']) {
            files.push(Address::file(path));
            continue;
        }
        let paths = glob::glob_with(&path, LIKE_A_SHELL)
            .map_err(|error| SourceError::Pattern { pattern: text.to_owned(), problem: error.to_string() })?;
        let before = files.len();
        for found in paths {
            let unreadable = |error: glob::GlobError| {
                let path = error.path().to_owned();
                SourceError::of_path(&path, error.into())
            };
            files.push(Address::file(found.map_err(unreadable)?));
        }
        if files.len() == before {
            return Err(SourceError::Pattern { pattern: path, problem: "it names no file".into() });
        }
    }
    match files.iter().find(|file| !file.exists()) {
        Some(missing) => Err(SourceError::Missing { path: missing.path().to_owned() }),
        None => Ok(Some(files)),
    }
}

/// Adds the files below a folder. Links are followed. A link back to a folder in `above` is an error. `above` has each
/// folder's device and inode number.
fn below(
    folder: &Path,
    extensions: &[&str],
    above: &mut Vec<(u64, u64)>,
    files: &mut Vec<PathBuf>,
) -> Result<(), SourceError> {
    let of_folder = |error| SourceError::of_path(folder, error);
    let metadata = folder.metadata().map_err(of_folder)?;
    let own = (metadata.dev(), metadata.ino());
    if above.contains(&own) {
        return Err(SourceError::Loop { path: folder.to_owned() });
    }
    above.push(own);
    for entry in fs::read_dir(folder).map_err(of_folder)? {
        let entry = entry.map_err(of_folder)?;
        let path = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let kind = entry.file_type().map_err(of_folder)?;
        // A link that leads nowhere may have the name of a file of the dataset. Opening it reports that.
        if kind.is_dir() || kind.is_symlink() && path.is_dir() {
            below(&path, extensions, above, files)?;
        } else if is_named(&path, extensions) {
            files.push(path);
        }
    }
    above.pop();
    Ok(())
}

/// Whether a file's name ends in one of these extensions, in any case. One may have several parts, such as `tar.gz`.
pub(super) fn is_named(path: &Path, extensions: &[&str]) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    extensions.iter().any(|extension| {
        let behind = name.len().checked_sub(extension.len()).and_then(|start| name.split_at_checked(start));
        behind.is_some_and(|(before, found)| {
            before.len() > 1 && before.ends_with(b".") && found.eq_ignore_ascii_case(extension.as_bytes())
        })
    })
}

/// Expands `a{0..2}b{x,y}`, the last braces fastest, as a shell does. Nothing if a brace is not closed, or for too much.
fn braces(text: &str) -> Option<Vec<String>> {
    if text.matches('{').count() > MOST_BRACES {
        return None;
    }
    let Some((before, rest)) = text.split_once('{') else { return Some(vec![text.to_owned()]) };
    let (inside, after) = rest.split_once('}')?;
    let choices = match inside.split_once("..") {
        Some((first, last)) => numbers(first, last)?,
        None => inside.split(',').map(str::to_owned).collect(),
    };
    let ends = braces(after)?;
    let count = choices.len().checked_mul(ends.len()).filter(|&count| count <= MOST)?;
    let longest = |names: &[String]| names.iter().map(String::len).max().unwrap_or(0);
    if count.saturating_mul(before.len() + longest(&choices) + longest(&ends)) > MOST_BYTES {
        return None;
    }
    let each = choices.iter().flat_map(|choice| ends.iter().map(move |end| format!("{before}{choice}{end}")));
    Some(each.collect())
}

/// Numbers with the leading zeros of the first: `000..999`.
fn numbers(first: &str, last: &str) -> Option<Vec<String>> {
    let width = first.len();
    if width > MOST_DIGITS {
        return None;
    }
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    let count = usize::try_from(last.checked_sub(first)?).ok()?;
    (count < MOST).then(|| (first..=last).map(|number| format!("{number:0width$}")).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_with_pictures_or_folders_is_a_dataset_of_pictures_whatever_else_it_has() {
        let dir = tempfile::tempdir().unwrap();
        let recognised = || {
            begins(
                &Address::file(dir.path()),
                &["rec"],
                |bytes| bytes.starts_with(b"rec"),
                |path| is_named(path, &["jpg"]),
            )
        };
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        write("a.rec", "other");
        write("b.tar", "rec");
        assert!(!recognised());
        write("c.REC", "record");
        write("README.md", "about");
        fs::create_dir(dir.path().join(".hidden")).unwrap();
        assert!(recognised());
        write("1.jpg", "picture");
        assert!(!recognised());
        fs::remove_file(dir.path().join("1.jpg")).unwrap();
        fs::create_dir(dir.path().join("class")).unwrap();
        assert!(!recognised());
    }

    #[test]
    fn a_name_ends_in_an_extension_of_one_part_or_several() {
        let named = |name: &str| is_named(Path::new(name), &["tar", "tar.gz"]);
        for name in ["a.tar", "d/a.b.TAR", "a.tar.gz", "a.Tar.GZ", "..tar"] {
            assert!(named(name), "{name}");
        }
        for name in ["tar", ".tar", "atar", "a.gz", ".tar.gz", "a.tar.gz.part", "a.tar/b", "", "/"] {
            assert!(!named(name), "{name}");
        }
    }

    #[test]
    fn compressed_files_of_a_folder_count_only_without_others() {
        let dir = tempfile::tempdir().unwrap();
        let found = || {
            let files = find_compressed(&Address::file(dir.path()), &["tar"], &["tar.gz", "tgz"])?;
            let name = |file: &Address| file.path().file_name().unwrap().to_str().unwrap().to_owned();
            Ok::<_, SourceError>(files.iter().map(name).collect::<Vec<_>>())
        };
        let none = found().unwrap_err().to_string();
        assert!(none.contains("tar, tar.gz, tgz"), "{none}");
        for name in ["b.tar.gz", "a.tgz", "c.gz"] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        assert_eq!(found().unwrap(), ["a.tgz", "b.tar.gz"]);
        fs::write(dir.path().join("b.tar"), "x").unwrap();
        assert_eq!(found().unwrap(), ["b.tar"]);
    }

    fn expanded(text: &str) -> Vec<String> {
        braces(text).unwrap()
    }

    #[test]
    fn a_pattern_takes_neither_all_memory_nor_the_stack() {
        let zeros = |count| "0".repeat(count);
        for hostile in [
            format!("{{{}..1}}", zeros(70_000)),
            format!("{{{}..9999998}}", zeros(1000)),
            format!("{}{{0..9999998}}", "a".repeat(1000)),
            format!("{}{{0..9999998}}{{a,b}}", "a".repeat(60)),
            "{a}".repeat(100_000),
            "{a,b}".repeat(17),
        ] {
            assert_eq!(braces(&hostile), None);
        }
        assert_eq!(braces(&"{a}".repeat(MOST_BRACES)), Some(vec!["a".repeat(MOST_BRACES)]));
        assert_eq!(braces(&format!("{{{}..1}}", zeros(20))), Some(vec![zeros(20), format!("{}1", zeros(19))]));
    }

    #[test]
    fn braces_are_expanded_as_a_shell_does() {
        assert_eq!(expanded("a-{08..11}.tar"), ["a-08.tar", "a-09.tar", "a-10.tar", "a-11.tar"]);
        assert_eq!(expanded("{a,b}{1..2}"), ["a1", "a2", "b1", "b2"]);
        assert_eq!(expanded("plain"), ["plain"]);
        for wrong in ["a{1..2", "a{2..1}", "a{x..y}", "{0..99999999}", "{0..9999999}{0..9}"] {
            assert_eq!(braces(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_folder_a_pattern_and_a_file_give_their_files_in_order() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.tar", "a.TAR", "sub/c.tar", ".hidden.tar", "notes.txt"] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let found = |name: &str| {
            let files = find(&Address::file(dir.path()).join(name), &["tar"])?;
            let below = |file: Address| file.path().strip_prefix(dir.path()).unwrap().to_str().unwrap().to_owned();
            Ok::<_, SourceError>(files.into_iter().map(below).collect::<Vec<_>>())
        };
        assert_eq!(found("").unwrap(), ["a.TAR", "b.tar", "sub/c.tar"]);
        assert_eq!(found("{b,sub/c}.tar").unwrap(), ["b.tar", "sub/c.tar"]);
        assert_eq!(found("*.tar").unwrap(), ["b.tar"]);
        assert_eq!(found("notes.txt").unwrap(), ["notes.txt"]);
        assert!(matches!(found("{a,b}.tar"), Err(SourceError::Missing { path }) if path.ends_with("a.tar")));
        assert!(matches!(found("*.rec"), Err(SourceError::Pattern { .. })));
        assert!(matches!(find(&Address::file(dir.path()), &["rec"]), Err(SourceError::NoContainers { .. })));
    }

    #[test]
    fn linked_folders_are_followed_and_a_link_that_leads_back_is_refused() {
        let (dir, shards) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(shards.path().join("1.tar"), "x").unwrap();
        for name in ["train", "val"] {
            symlink(shards.path(), dir.path().join(name)).unwrap();
        }
        symlink("nowhere", dir.path().join("other")).unwrap();
        let files = find(&Address::file(dir.path()), &["tar"]).unwrap();
        assert_eq!(files, ["train/1.tar", "val/1.tar"].map(|name| Address::file(dir.path()).join(name)));
        let back = shards.path().join("back");
        symlink(dir.path(), &back).unwrap();
        let looped = find(&Address::file(&back), &["tar"]).unwrap_err();
        assert!(matches!(looped, SourceError::Loop { path } if path.starts_with(&back)));
    }
}
