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
