//! A scan of packed files: it opens them, and notes in a journal what it looked at in each. After a kill, the next scan looks
//! there instead.

use std::sync::Arc;

use forebay_sources::{Options, SourceError};

use crate::address::Address;
use crate::journal::Journal;
use crate::packed::ContainerFile;
use crate::unpacked::{Compression, Unpacked};
use crate::window::Window;

/// First bytes by which a compressed file is known.
const HEAD: u64 = 16;

/// A scan, of which several threads may have a part.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    journal: Option<Journal>,
}

impl Scan {
    /// A scan that can be restarted.
    pub(crate) fn with_journal(journal: Option<Journal>) -> Self {
        Self { journal }
    }

    /// Opens a file that is scanned, and says what it is now. Call [`done`](Self::done) behind it.
    ///
    /// # Errors
    /// It cannot be opened, or is no regular file.
    pub(crate) fn open(&self, address: &Address) -> Result<(Window<'static>, ContainerFile), SourceError> {
        let (mut window, container) = Window::open(address)?;
        if let Some(journal) = &self.journal {
            match journal.looked_at(&container) {
                Some(seen) => window.replay(seen),
                None => window.record(),
            }
        }
        Ok((window, container))
    }

    /// The same for a format whose files may be compressed as a whole. `is_compressed` tells that from the first bytes. What
    /// such a file holds is scanned.
    ///
    /// # Errors
    /// As those of [`open`](Self::open), and if the file cannot be unpacked.
    pub(crate) fn open_unpacked(
        &self,
        address: &Address,
        options: &Options,
        is_compressed: fn(&[u8]) -> Option<Compression>,
    ) -> Result<(Window<'static>, ContainerFile), SourceError> {
        let (mut window, mut container) = self.open(address)?;
        let head = usize::try_from(window.len().min(HEAD)).unwrap_or_default();
        if let Some(compression) = window.get(0, head).map_err(SourceError::Outage)?.and_then(is_compressed) {
            let unpacked = Unpacked::open(address, container.stamp, compression, options)?;
            // What it holds is on the disk, so that nothing needs to be noted for another scan.
            window = Window::of_unpacked(Arc::clone(&unpacked));
            container.unpacked = Some(unpacked);
        }
        Ok((window, container))
    }

    /// A file was scanned completely.
    pub(crate) fn done(&self, window: Window<'_>, container: &ContainerFile) {
        if let (Some(journal), Some(seen)) = (&self.journal, window.into_recorded()) {
            journal.add(container, &seen);
        }
    }

    /// The dataset was scanned completely, and what was found is kept elsewhere.
    pub(crate) fn forget(self) {
        if let Some(journal) = self.journal {
            journal.remove();
        }
    }
}
