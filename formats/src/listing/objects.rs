//! The files of a list, where they are objects of a store.

use forebay_sources::{ReadError, ReadErrorKind, Retry, SourceError};

use super::{Looks, NO_SIZE};
use crate::address::Address;
use crate::paths::Paths;

/// The size of every object, without times: each object is pinned to its version. Nothing if the files are no objects.
///
/// # Errors
/// The store fails.
pub(super) fn looks(root: &Address, paths: &Paths) -> Result<Option<Looks>, SourceError> {
    let Some(tree) = root.tree() else { return Ok(None) };
    let keys = (0..paths.len()).map(|index| tree.key(root.join(paths.get(index)).path()));
    let keys: Vec<Option<String>> = keys.collect();
    let known: Vec<String> = keys.iter().flatten().cloned().collect();
    tree.learn(&known)?;
    drop(known);
    let size = |key: Option<String>| match key.map(|key| tree.object(&key)) {
        Some(Ok(Some(object))) => Ok(object.size),
        Some(Err(outage)) if outage.retry() == Retry::Later => Err(SourceError::Outage(outage)),
        _ => Ok(NO_SIZE),
    };
    let sizes = keys.into_iter().map(size).collect::<Result<_, _>>()?;
    Ok(Some(Looks { sizes, ..Looks::none(paths.len()) }))
}

/// An error that says what to do about an index, if the version of the object came from one.
pub(super) fn of_index(error: ReadError, is_pinned: bool) -> ReadError {
    if !is_pinned || error.kind != ReadErrorKind::Changed {
        return error;
    }
    let cause = "its version is not what the index has. Run \"forebay index SOURCE --rebuild\"".into();
    ReadError { cause, ..error }
}
