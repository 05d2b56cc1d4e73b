//! What the parts of a ledger have in common as documents of a store: how they are written, and whether one has changed.

use prost::Message;

use crate::change::Change;

/// Takes documents with their keys, without the prefix of the ledger.
pub(super) struct DocumentWriter<'a> {
    prefix: &'a str,
    changes: &'a mut Vec<Change>,
}

impl<'a> DocumentWriter<'a> {
    pub(super) const fn new(prefix: &'a str, changes: &'a mut Vec<Change>) -> Self {
        Self { prefix, changes }
    }

    /// Sets a document, or removes it.
    pub(super) fn put(&mut self, key: &str, document: Option<&impl Message>) {
        let key = format!("{}{key}", self.prefix);
        self.changes.push(match document {
            Some(document) => Change::Put { key, value: document.encode_to_vec() },
            None => Change::Delete { key },
        });
    }
}

/// How often a part of a ledger has changed durably, and whether it has since the last commit.
///
/// The head of a ledger has something of each part. It is written whenever one of them has changed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Revision {
    changes: u64,
    is_dirty: bool,
}

impl Revision {
    /// Something has changed.
    pub(super) const fn rise(&mut self) {
        self.changes += 1;
        self.is_dirty = true;
    }

    /// How often something has changed.
    pub(super) const fn changes(&self) -> u64 {
        self.changes
    }

    /// Whether something has changed since the last call.
    pub(super) const fn take_dirty(&mut self) -> bool {
        std::mem::replace(&mut self.is_dirty, false)
    }
}
