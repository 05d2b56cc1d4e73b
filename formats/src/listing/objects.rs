//! The files of a list, where they are objects of a store.

use forebay_objects::Object;
use forebay_sources::{Container, Locator, Part, ReadError, ReadErrorKind, Retry, Source as _, SourceError};

use super::{Listing, Looks, NO_SIZE};
use crate::address::Address;
use crate::paths::Paths;

impl Listing {
    /// Whether the versions of its objects come from an index.
    pub(super) fn is_pinned(&self) -> bool {
        !self.versions.is_empty()
    }

    /// The object of a record that is to be read.
    ///
    /// # Errors
    /// There is none, or it has no bytes, or more than the limit, or more than there is room for.
    pub(super) fn wanted(&self, record: u64, room: u64) -> Result<Object, ReadError> {
        let found = if self.is_pinned() { self.pinned(record) } else { self.address(record).stored()? };
        let object = found.ok_or_else(|| ReadError::new(ReadErrorKind::Missing, self.locator(record)))?;
        match ReadErrorKind::of_size(object.size, self.byte_limit, room) {
            Some(kind) => Err(ReadError::new(kind, self.locator(record))),
            None => Ok(object),
        }
    }

    /// The object as an index has it. No request is sent.
    fn pinned(&self, record: u64) -> Option<Object> {
        let (index, address) = (self.files.index(record), self.address(record));
        let (_, key) = address.key()?;
        let size = Some(self.files.sizes.at(index)).filter(|size| *size != NO_SIZE)?;
        Some(Object { key: key?, size, version: self.pinned_version(record) })
    }

    fn pinned_version(&self, record: u64) -> Option<String> {
        let version = String::from_utf8(self.versions.bytes(self.files.index(record)).into_owned()).ok()?;
        (!version.is_empty()).then_some(version)
    }

    /// Where an object is, with the version that an index has.
    pub(super) fn pinned_locator(&self, record: u64) -> Option<Locator> {
        let address = self.address(record);
        let tree = address.tree().filter(|_| self.is_pinned())?;
        let container = Container::Object { url: tree.shown(address.path()), version: self.pinned_version(record) };
        Some(Locator { container, part: Part::Whole })
    }

    /// The versions of all objects, as their store found them. Nothing if the files are no objects.
    ///
    /// # Errors
    /// The store fails.
    pub(super) fn found_versions(&self) -> Result<Option<Paths>, ReadError> {
        if self.files.root.tree().is_none() {
            return Ok(None);
        }
        let mut versions = Paths::default();
        for record in 0..self.len() {
            let version = match self.address(record).stored() {
                Ok(object) => object.and_then(|object| object.version),
                Err(outage) if outage.retry() == Retry::Later => return Err(outage),
                Err(_) => None,
            };
            versions.push(version.unwrap_or_default().as_bytes());
        }
        Ok(Some(versions))
    }
}

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
