//! Reads chunks: finds out whether one is spoiled, reads its payload and decodes it.

use forebay_sources::ReadError;
use parking_lot::Mutex;

use super::records;
use super::scan::FoundChunks;
use super::spoiled::{SETTLED, SpoiledChunks};
use crate::grain_cache::Grain;
use crate::packed::ContainerFile;
use crate::packed::open_files::OpenFiles;
use crate::used_memory::UsedMemory;

/// Bytes of memory that are kept for payloads.
const USED: usize = 64 << 20;

/// See the module. Threads share it.
#[derive(Debug)]
pub(super) struct ChunkReader {
    open: OpenFiles,
    /// Memory for payloads, and for chunks that are not kept.
    used: Mutex<UsedMemory>,
    pub(super) spoiled: SpoiledChunks,
    /// The most bytes of a chunk, stored and decompressed.
    chunk_limit: u64,
}

impl ChunkReader {
    /// Of the chunks in these files.
    pub(super) fn new(files: &[ContainerFile], chunk_limit: u64) -> Self {
        let used = Mutex::new(UsedMemory::new(USED));
        Self { open: OpenFiles::new(files.len()), used, spoiled: SpoiledChunks::new(files, SETTLED), chunk_limit }
    }

    /// The records of a chunk, in memory that was used before.
    pub(super) fn read(&self, found: &FoundChunks, chunk: usize, used: Vec<u8>) -> Result<Grain, ReadError> {
        let span = found.parts.spans.at(chunk);
        let container = &found.parts.files[span.file as usize];
        let damaged = |cause| ReadError::damaged(container.address.locator(), cause);
        if let Some(cause) = self.spoiled.cause(chunk, span.file, &container.address) {
            return Err(damaged(cause));
        }
        let mut payload = self.used_memory();
        let len = usize::try_from(span.len).unwrap_or(usize::MAX);
        self.open.get(span.file, container)?.read(span.offset, len, &mut payload)?;
        let grain = records(found.chunks[chunk], &mut payload, used, self.chunk_limit).map_err(|cause| {
            self.spoiled.keep(chunk, span.file, &cause);
            damaged(cause)
        });
        self.keep(payload);
        grain
    }

    /// Memory that was used before, if there is some.
    pub(super) fn used_memory(&self) -> Vec<u8> {
        self.used.lock().take()
    }

    /// Keeps memory for later.
    pub(super) fn keep(&self, memory: Vec<u8>) {
        let surplus = self.used.lock().keep(memory);
        // It is freed while the lock is free.
        drop(surplus);
    }
}
