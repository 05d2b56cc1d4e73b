//! The bytes of an index. They are read in blocks, each of which has a checksum, and few blocks are kept in memory. So a file
//! that is damaged, cut or overwritten while it is open gives an error, and never a wrong value.
//!
//! An index is an Arrow file. [`Sums`] says where the checksums are in it.

mod kept;
mod sums;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use forebay_printable::printable;
use parking_lot::Mutex;

use crate::regular_file::open_regular;
use kept::KeptBlocks;
pub use sums::seal;
use sums::{BLOCK, Footer, Sums, sum};

/// What is wrong with an index, as the rest of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadIndex(pub String);

/// The blocks of all indexes that were read last: at most 64 MiB of the process.
static KEPT: LazyLock<Mutex<KeptBlocks>> = LazyLock::new(|| Mutex::new(KeptBlocks::new(1024)));
/// Tells the blocks of one index from those of another.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// An index that is open.
#[derive(Debug)]
pub(crate) struct IndexBlocks {
    number: u64,
    path: PathBuf,
    file: File,
    sums: Sums,
    /// What was found to be wrong after the opening.
    failure: OnceLock<String>,
}

/// Why an index cannot be opened.
#[derive(Debug)]
pub(crate) enum NoBlocks {
    Absent,
    /// An earlier version made it, without checksums.
    Earlier,
    Bad(BadIndex),
}

impl IndexBlocks {
    /// Opens an index. The second value is the footer of the Arrow file. Nothing else is read.
    ///
    /// # Errors
    /// There is no such file, or it is no complete index.
    pub(crate) fn open(path: &Path) -> Result<(Self, Vec<u8>), NoBlocks> {
        let of_system = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => NoBlocks::Absent,
            _ => NoBlocks::Bad(BadIndex(error.to_string())),
        };
        let (file, metadata) = open_regular(path).map_err(of_system)?;
        let Footer { start, bytes } = Footer::read(&file, metadata.len()).map_err(of_system)?;
        let sums = Sums::read(&file, start, &bytes).map_err(of_system)?.ok_or(NoBlocks::Earlier)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let blocks = Self { number, path: path.to_owned(), file, sums, failure: OnceLock::new() };
        Ok((blocks, bytes))
    }

    /// Bytes of the index before its checksums and its footer.
    pub(crate) fn len(&self) -> u64 {
        self.sums.len()
    }

    /// Reads the bytes from `start` on.
    ///
    /// # Errors
    /// They are beyond the end, cannot be read, or are not what was written.
    pub(crate) fn read(&self, start: u64, bytes: &mut [u8]) -> Result<(), BadIndex> {
        let (mut at, mut rest) = (start, bytes);
        while !rest.is_empty() {
            let block = self.block(at / BLOCK)?;
            let from = usize::try_from(at % BLOCK).unwrap_or(usize::MAX);
            let there = block.get(from..).filter(|there| !there.is_empty());
            let there = there.ok_or_else(|| BadIndex("a column leads out of it".into()))?;
            let (now, later) = rest.split_at_mut(there.len().min(rest.len()));
            now.copy_from_slice(&there[..now.len()]);
            at += now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    /// Reads bytes of an index that is in use. If that fails, they are zeros, and [`failure`](Self::failure) says why from then
    /// on. The caller asks it after it has used the bytes.
    pub(crate) fn read_or_fail(&self, start: u64, bytes: &mut [u8]) {
        if let Err(bad) = self.read(start, bytes) {
            bytes.fill(0);
            self.fail(&bad);
        }
    }

    /// Notes that the index cannot be used any more.
    pub(crate) fn fail(&self, BadIndex(problem): &BadIndex) {
        let text = || {
            format!(
                "The index \"{}\" cannot be used any more: {problem}. Make it again with \"forebay index SOURCE --rebuild\", \
                 and with --output if the stream names this file, and start the stream again.",
                printable(&self.path)
            )
        };
        self.failure.get_or_init(text);
    }

    /// What is wrong with the index, once something was found. What it said of any record since then may be wrong.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Forgets all blocks, so that they are read again.
    #[cfg(test)]
    pub(crate) fn forget_all() {
        *KEPT.lock() = KeptBlocks::new(1024);
    }

    fn block(&self, number: u64) -> Result<Arc<[u8]>, BadIndex> {
        let key = (self.number, number);
        if let Some(block) = KEPT.lock().get(key) {
            return Ok(block);
        }
        let (len, expected) = self.sums.of(number).ok_or_else(|| BadIndex("a column leads out of it".into()))?;
        let mut bytes = vec![0; len];
        self.file.read_exact_at(&mut bytes, number * BLOCK).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => BadIndex("it was cut while it was open".into()),
            _ => BadIndex(format!("it cannot be read ({error})")),
        })?;
        if sum(&bytes) != expected {
            let (start, end) = (number * BLOCK, number * BLOCK + len as u64);
            return Err(BadIndex(format!("its bytes {start} to {end} are not what was written")));
        }
        let block: Arc<[u8]> = bytes.into();
        KEPT.lock().put(key, Arc::clone(&block));
        Ok(block)
    }
}

#[cfg(test)]
mod tests;
