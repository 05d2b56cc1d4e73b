//! A file in a tar, as the walk over its headers found it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::header::BLOCK;
use super::sparse::SparseMap;
use crate::containers;
use crate::masks::MASK_HEAD;

/// A file in a tar.
#[derive(Debug)]
pub(super) struct TarMember {
    pub name: Vec<u8>,
    /// Where its contents begin, and how many bytes of them are stored.
    pub offset: u64,
    pub len: u64,
    /// Where these bytes belong in the file, if it has holes.
    pub sparse: Option<Box<SparseMap>>,
    /// Why its contents cannot be read.
    pub fault: Option<&'static str>,
    /// What was asked for of its contents.
    pub content: Option<Vec<u8>>,
}

/// How much of a member's contents a scan keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeptPart {
    Nothing,
    /// The first bytes.
    Head,
    /// All of them, up to a limit.
    All,
}

/// Most bytes of a member whose contents are kept.
pub(super) const MOST_KEPT: u64 = 16 << 20;
/// Bytes of a head: those of a mask that say what kind of numbers it has.
pub(super) const HEAD: u64 = MASK_HEAD as u64;

impl TarMember {
    /// Bytes of the file.
    pub(super) fn file_len(&self) -> u64 {
        self.sparse.as_ref().map_or(self.len, |map| map.len())
    }

    /// Most bytes of the file whose contents are kept. Holes take no room in a tar, so a small tar could have members that
    /// take all memory with their holes.
    pub(super) fn most_kept(&self) -> u64 {
        let header = BLOCK as u64;
        self.sparse.as_ref().map_or(MOST_KEPT, |_| self.len.saturating_add(header).saturating_mul(16).min(MOST_KEPT))
    }
}

/// Whether a member is a tar, by its name.
pub(super) fn is_tar(name: &[u8]) -> bool {
    containers::is_named(Path::new(OsStr::from_bytes(name)), &["tar"])
}
