//! The version of a ledger's documents. It rises when all who have the ledger read the next one, and never falls.

use forebay_proto::LEDGER_VERSION;
use forebay_proto::v1::StoredHead;

use super::damage::Damage;
use super::documents::Revision;

/// The oldest version that is written. Older documents are read as well, and become this version with their next change.
/// Version 3 added tails: a build of version 1 or 2 would count their positions as delivered, so it must refuse our documents.
/// Version 3 has marks in the head.
pub(crate) const OLDEST: u32 = 4;

const _: () = assert!(OLDEST <= LEDGER_VERSION, "what is written can be read");

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredVersion {
    written: u32,
    pub(super) revision: Revision,
}

impl StoredVersion {
    /// That of a fresh ledger.
    pub(super) fn new() -> Self {
        Self { written: OLDEST, revision: Revision::default() }
    }

    /// From the head of a stored ledger, for a build that reads up to version `newest`.
    ///
    /// # Errors
    /// This build does not read it.
    pub(super) fn load(head: &StoredHead, newest: u32) -> Result<Self, Damage> {
        match head.version {
            0 => Err(Damage::Number),
            found if found > newest => Err(Damage::Version { found, newest }),
            found => Ok(Self { written: found.max(OLDEST), ..Self::new() }),
        }
    }

    /// The version that is written.
    pub(super) const fn written(&self) -> u32 {
        self.written
    }

    /// Everybody reads up to this version. The next commit writes the head with it, and whatever else is laid out in another way.
    pub(super) fn rise(&mut self, read_by_all: u32) {
        if read_by_all > self.written {
            self.written = read_by_all;
            self.revision.rise();
        }
    }
}

/// The newest version that a worker reads that has announced this.
pub(super) fn said(version: u32) -> u32 {
    version.max(OLDEST)
}
