//! `[coordinator]`: where the ledgers are kept.

use std::path::PathBuf;

use super::table::Table;
use super::value::path;

pub(super) const EXAMPLE: &str = r#"[coordinator]
# The folder of the ledgers. Left out: /var/lib/forebay for a service; $XDG_STATE_HOME/forebay or ~/.local/state/forebay for
# a user.
# path = "/var/lib/forebay"
"#;

/// The section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coordinator {
    /// Folder of the ledgers; by default [`Surroundings::state_dir`](super::Surroundings::state_dir).
    pub path: Option<PathBuf>,
}

impl Coordinator {
    pub(super) fn read(table: &mut Table<'_, '_>) -> Self {
        Self { path: table.take("path", path) }
    }
}
