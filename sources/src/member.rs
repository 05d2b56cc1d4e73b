//! A source among the several that a dataset is made of.

/// One of the sources that a dataset is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its path or URL, as the user gave it.
    pub name: String,
    /// How many records it has. They follow those of the members before it.
    pub records: u64,
}
