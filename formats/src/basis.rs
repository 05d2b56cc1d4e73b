//! A file or folder that decided which records a dataset has. While it is unchanged, an index of the dataset fits.

use std::fs::Metadata;

use forebay_sources::SourceError;

use crate::address::{Address, of_dataset};
use crate::paths::is_hidden;
use crate::stamp::Stamp;

/// What was at an address when a dataset was scanned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Basis {
    pub address: Address,
    /// Nothing was there.
    pub stamp: Option<Stamp>,
    /// In a store, this tells more than the stamp.
    pub version: Option<String>,
}

impl Basis {
    /// What is there now.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub(crate) fn look(address: &Address) -> Result<Self, SourceError> {
        let stamp = match address.stamp() {
            Ok(stamp) => Some(stamp),
            Err(SourceError::Missing { .. } | SourceError::NotAFolder { .. }) => None,
            Err(error) => return Err(error),
        };
        let version = if stamp.is_some() { version(address)? } else { None };
        Ok(Self { address: address.clone(), stamp, version })
    }

    /// A file or folder that is open.
    pub(crate) fn of(address: Address, metadata: &Metadata) -> Self {
        Self { address, stamp: Some(Stamp::of(metadata)), version: None }
    }

    /// The file or folder is unchanged since the scan.
    ///
    /// # Errors
    /// The storage fails, so this is unknown.
    pub(crate) fn holds(&self) -> Result<bool, SourceError> {
        match Self::look(&self.address) {
            Ok(now) => Ok(now == *self),
            Err(outage @ SourceError::Outage(_)) => Err(outage),
            Err(_) => Ok(false),
        }
    }
}

/// What identifies a change in a store: the version of an object, or the names of all objects below a folder, except
/// hidden ones. Nothing for files of this machine, and for objects without a version.
///
/// # Errors
/// The store fails.
pub(crate) fn version(address: &Address) -> Result<Option<String>, SourceError> {
    let Some((tree, Some(key))) = address.key() else { return Ok(None) };
    if let Some(object) = address.stored().map_err(|error| of_dataset(address, error))? {
        return Ok(object.version);
    }
    let listed = tree.listed(&key)?;
    let mut hasher = blake3::Hasher::new();
    for name in listed.names_below(&key).filter(|name| !is_hidden(name)) {
        hasher.update(name);
        // No key has a zero byte.
        hasher.update(&[0]);
    }
    Ok(Some(format!("names {}", hasher.finalize().to_hex())))
}
