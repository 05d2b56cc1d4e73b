//! The files of a dataset among the objects of a store.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use forebay_sources::SourceError;

use super::{LIKE_A_SHELL, is_named};
use crate::address::Address;
use crate::paths::is_hidden;
use crate::tree::Tree;

/// The objects below a folder whose name has one of these extensions, in the order of their keys. Nothing if the folder is
/// one of this machine.
///
/// # Errors
/// The store cannot list them.
pub(super) fn below(folder: &Address, extensions: &[&str]) -> Result<Option<Vec<Address>>, SourceError> {
    let Some((tree, Some(key))) = folder.key() else { return Ok(None) };
    let listed = tree.listed(&key)?;
    let names = listed.names_below(&key).map(|name| Path::new(OsStr::from_bytes(name)));
    let shown = names.filter(|name| !is_hidden(name.as_os_str().as_bytes()) && is_named(name, extensions));
    Ok(Some(shown.map(|name| folder.join(name)).collect()))
}

/// The objects that URLs with wildcards name. Those of one URL are in the order of their folders and names.
///
/// # Errors
/// One of the URLs names no object, or the store cannot list.
pub(super) fn matching(tree: &Arc<Tree>, urls: &[String]) -> Result<Vec<Address>, SourceError> {
    let mut found = Vec::new();
    for url in urls {
        match url.find(['*', '?', '[']) {
            None => found.push(Address::object(url, Arc::clone(tree))),
            Some(wildcard) => found.extend(of_pattern(tree, url, wildcard)?),
        }
    }
    let keys: Vec<String> = found.iter().filter_map(|address| tree.key(address.path())).collect();
    tree.learn(&keys)?;
    for address in &found {
        address.look()?;
    }
    Ok(found)
}

/// What a URL with a wildcard at this place names.
fn of_pattern(tree: &Arc<Tree>, url: &str, wildcard: usize) -> Result<Vec<Address>, SourceError> {
    let wrong = |problem: &str| SourceError::Pattern { pattern: url.to_owned(), problem: problem.to_owned() };
    if !tree.can_list() {
        return Err(wrong("an HTTP server cannot list its files, so give their names, with braces if there are many"));
    }
    let pattern = glob::Pattern::new(url).map_err(|error| wrong(&error.to_string()))?;
    let folder = url[..wildcard].rsplit_once('/').map_or("", |(folder, _)| folder);
    let folder = Address::object(folder, Arc::clone(tree));
    let key = tree.key(folder.path()).ok_or_else(|| wrong("a bucket must be named without wildcards"))?;
    let listed = tree.listed(&key)?;
    let names = listed.names_below(&key).filter_map(|name| str::from_utf8(name).ok());
    let addresses = names.map(|name| folder.join(name));
    let matches =
        |address: &Address| address.path().to_str().is_some_and(|url| pattern.matches_with(url, LIKE_A_SHELL));
    let mut found: Vec<Address> = addresses.filter(matches).collect();
    if found.is_empty() {
        return Err(wrong("it names no object"));
    }
    let parts = |address: &Address| -> Vec<Vec<u8>> {
        address.path().as_os_str().as_bytes().split(|&byte| byte == b'/').map(<[u8]>::to_vec).collect()
    };
    found.sort_by_cached_key(parts);
    Ok(found)
}
