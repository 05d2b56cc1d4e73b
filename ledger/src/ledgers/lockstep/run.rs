//! The segments of a lockstep run as a document beside its ledgers.

use forebay_plan::Segments;
use forebay_proto::v1::StoredSegments;
use prost::Message as _;

use crate::change::Change;
use crate::error::LedgerError;
use crate::ledgers::PREFIX;

/// What is stored of a run beside its ledgers has a name as theirs, which ends so.
pub(in crate::ledgers) const RUN: &str = "lockstep";
/// The document with its segments.
pub(in crate::ledgers) const SEGMENTS: &str = "segments";

/// The segments of a run, as they are stored.
#[derive(Debug)]
pub(super) struct LockstepRun {
    pub(super) segments: Segments,
    /// They have changed since the last commit.
    is_dirty: bool,
    /// There is a document of them.
    is_stored: bool,
}

impl LockstepRun {
    /// From its document.
    pub(super) fn load(stream: &str, bytes: &[u8]) -> Result<Self, LedgerError> {
        let stored = StoredSegments::decode(bytes).ok().and_then(|stored| Segments::from_stored(&stored));
        let segments = stored.ok_or_else(|| {
            let why = "Restore it from a backup, or begin a new run.";
            LedgerError::Corrupt(format!("The stored segments of {stream:?} are damaged. {why}"))
        })?;
        Ok(Self { segments, is_dirty: false, is_stored: true })
    }

    /// Of a run that has no document yet. `world_size` is the number of its ranks.
    pub(super) fn of(world_size: u32) -> Self {
        Self { segments: Segments::of(world_size), is_dirty: false, is_stored: false }
    }

    pub(super) fn take_change(&mut self, stream: &str) -> Option<Change> {
        std::mem::take(&mut self.is_dirty).then(|| self.document(stream))
    }

    /// Its document, unless that follows from the ledgers.
    pub(super) fn stored(&self, stream: &str) -> Option<Change> {
        self.is_stored.then(|| self.document(stream))
    }

    fn document(&self, stream: &str) -> Change {
        Change::Put { key: key(stream), value: self.segments.stored().encode_to_vec() }
    }

    /// Deletes its document, if there is one.
    pub(super) fn forget(&self, stream: &str) -> Option<Change> {
        self.is_stored.then(|| Change::Delete { key: key(stream) })
    }

    /// Its segments have changed.
    pub(super) const fn change(&mut self) {
        (self.is_dirty, self.is_stored) = (true, true);
    }
}

/// The key of the document with a stream's segments.
fn key(stream: &str) -> String {
    format!("{PREFIX}{stream}{RUN}/{SEGMENTS}")
}
