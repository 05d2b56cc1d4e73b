//! `[control]`: where the daemon's sockets are, and who may use them.

use std::path::PathBuf;

use super::table::Table;
use super::value::{group, path};

pub(super) const EXAMPLE: &str = r#"[control]
# The folder of the sockets. If it exists, it must belong to the daemon's user and be closed to other users.
# Left out: /run/forebay for a service; $XDG_RUNTIME_DIR/forebay or /tmp/forebay-UID for a user.
# dir = "/run/forebay"
# A group that may reach the sockets, by name or number. A stream must name its group as well. Left out: only the daemon's own
# user.
# group = "trainers"
"#;

/// The section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// Folder of the sockets; by default [`Surroundings::socket_dir`](super::Surroundings::socket_dir).
    pub dir: Option<PathBuf>,
    /// Group that may reach the sockets: its name, or its number as text.
    pub group: Option<String>,
}

impl Control {
    pub(super) fn read(table: &mut Table<'_, '_>) -> Self {
        Self { dir: table.take("dir", path), group: table.take("group", group) }
    }
}
