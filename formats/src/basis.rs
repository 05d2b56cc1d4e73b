//! A file or folder that decided which records a dataset has. As long as it is what it was, an index of the dataset fits.

use std::fs::Metadata;

use forebay_sources::SourceError;

use crate::address::Address;
use crate::stamp::Stamp;

/// What was at an address when a dataset was scanned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Basis {
    pub address: Address,
    /// Nothing was there.
    pub stamp: Option<Stamp>,
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
        Ok(Self { address: address.clone(), stamp })
    }

    /// A file or folder that is open.
    pub(crate) fn of(address: Address, metadata: &Metadata) -> Self {
        Self { address, stamp: Some(Stamp::of(metadata)) }
    }

    /// What is there is what was there.
    pub(crate) fn holds(&self) -> bool {
        Self::look(&self.address).is_ok_and(|now| now.stamp == self.stamp)
    }
}
