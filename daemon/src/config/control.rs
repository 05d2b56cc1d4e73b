//! `[control]`: where the daemon's sockets are, and who may use them.

use std::path::PathBuf;

use super::table::Table;
use super::value::{path, unix_group};

pub(super) const EXAMPLE: &str = r#"[control]
# The folder of the sockets. If it exists, it must belong to the daemon's user and be closed to other users.
# Left out: /run/forebay for a service; $XDG_RUNTIME_DIR/forebay or /tmp/forebay-UID for a user.
# dir = "/run/forebay"
# A Unix group that may reach the sockets, by name or number. A stream must name its `unix_group` as well. Left out: only the
# daemon's own user.
# unix_group = "trainers"
"#;

/// The section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// Folder of the sockets; by default [`Environment::socket_dir`](super::Environment::socket_dir).
    pub dir: Option<PathBuf>,
    /// Unix group that may reach the sockets: its name, or its number as text.
    pub unix_group: Option<String>,
}

impl Control {
    pub(super) fn read(table: &mut Table<'_, '_>) -> Self {
        Self { dir: table.take("dir", path), unix_group: table.take("unix_group", unix_group) }
    }
}
