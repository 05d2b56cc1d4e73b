//! What a store is asked to do with one document.

/// One change of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Sets the document.
    Put {
        /// Its key.
        key: String,
        /// Its new bytes.
        value: Vec<u8>,
    },
    /// Removes the document; nothing happens if there is none.
    Delete {
        /// Its key.
        key: String,
    },
}

impl Change {
    /// The removal of the same document.
    pub(crate) fn into_delete(self) -> Self {
        match self {
            Self::Put { key, .. } | Self::Delete { key } => Self::Delete { key },
        }
    }
}
