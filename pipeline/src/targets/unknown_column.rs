//! Why a column cannot be had.

use thiserror::Error;

/// A column that is not there.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the {owner} has no column \"{name}\"; its columns are: {known}")]
pub struct UnknownColumn {
    /// Whose column it would be: "dataset" or "stream".
    pub owner: &'static str,
    /// The column.
    pub name: String,
    /// Those that it has.
    pub known: String,
}
