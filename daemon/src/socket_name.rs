//! The name of a bound Unix socket in the file system, which goes when the socket does.

use std::path::PathBuf;

/// See the module.
#[derive(Debug)]
pub(crate) struct SocketName(pub(crate) PathBuf);

impl Drop for SocketName {
    fn drop(&mut self) {
        // The process ends; the next one replaces what is left.
        let _removed = std::fs::remove_file(&self.0);
    }
}
