//! A scan of packed files: it opens them, and notes in a journal what it looked at in each. After a kill, the next scan looks
//! there instead.

use forebay_sources::SourceError;

use crate::address::Address;
use crate::journal::Journal;
use crate::packed::ContainerFile;
use crate::window::Window;

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
