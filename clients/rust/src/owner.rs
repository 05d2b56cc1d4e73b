//! The process that made a thing. A forked child has a copy of everything, sockets included, but may use none of it.

use crate::error::Broken;

/// Compared at each use; a drop in another process sends nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pid: u32,
}

impl Owner {
    pub(crate) fn this_process() -> Self {
        Self { pid: std::process::id() }
    }

    pub(crate) fn is_here(self) -> bool {
        std::process::id() == self.pid
    }

    pub(crate) fn check(self) -> Result<(), Broken> {
        if self.is_here() {
            return Ok(());
        }
        Err(Broken::Forked { made_in: self.pid, used_in: std::process::id() })
    }
}
