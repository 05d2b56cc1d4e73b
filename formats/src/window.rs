//! Looks at bytes of a file at any place, for scanners that pass over most of it. Bytes in memory are looked at in the
//! same way.

mod stride;

use std::sync::Arc;

use forebay_sources::{ReadError, ReadErrorKind, SourceError};

use crate::address::{Address, of_dataset};
use crate::contents::Contents;
use crate::packed::{ContainerFile, NO_FILE};
use crate::seen::{Seen, SeenWriter};
use crate::unpacked::Unpacked;
use stride::Stride;

/// Bytes at any place of a file, or of memory.
#[derive(Debug)]
pub(crate) struct Window<'a> {
    of: Backing<'a>,
    len: u64,
    stride: Stride,
    /// What was read last, and where it begins.
    held: Vec<u8>,
    start: u64,
    /// What an earlier scan has read.
    seen: Option<Seen>,
    /// What this one reads, if that is kept.
    recorded: Option<SeenWriter>,
}

#[derive(Debug)]
enum Backing<'a> {
    Stored(Contents),
    Unpacked(Arc<Unpacked>),
    Memory(&'a [u8]),
}

impl Window<'static> {
    /// Opens a file, and says what it is now.
    ///
    /// # Errors
    /// It cannot be opened, or is no regular file.
    pub(crate) fn open(address: &Address) -> Result<(Self, ContainerFile), SourceError> {
        let container = ContainerFile::look(address)?;
        let contents = address.open().map_err(|error| match error.kind {
            ReadErrorKind::NotAFile => SourceError::malformed_at(address.path(), 0, NO_FILE),
            _ => of_dataset(address, error),
        })?;
        let len = container.stamp.len;
        let stride = if contents.is_remote() { Stride::of_requests() } else { Stride::of_files() };
        Ok((Self::new(Backing::Stored(contents), len, stride), container))
    }

    /// Looks at what a compressed file holds.
    pub(crate) fn of_unpacked(unpacked: Arc<Unpacked>) -> Self {
        let len = unpacked.len();
        Self::new(Backing::Unpacked(unpacked), len, Stride::of_files())
    }
}

impl<'a> Window<'a> {
    /// Looks at bytes in memory.
    pub(crate) fn of_bytes(bytes: &'a [u8]) -> Self {
        Self::new(Backing::Memory(bytes), bytes.len() as u64, Stride::of_files())
    }

    fn new(of: Backing<'a>, len: u64, stride: Stride) -> Self {
        Self { of, len, stride, held: Vec::new(), start: 0, seen: None, recorded: None }
    }

    /// Shows what an earlier scan has read, where it has.
    pub(crate) fn replay(&mut self, seen: Seen) {
        self.seen = Some(seen);
    }

    /// Keeps what is read from now on.
    pub(crate) fn record(&mut self) {
        self.recorded = Some(SeenWriter::new());
    }

    /// What was kept. Nothing if nothing was to be kept, or if it was too much.
    pub(crate) fn into_recorded(self) -> Option<Vec<u8>> {
        self.recorded?.finish()
    }

    /// All bytes that there are.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The bytes of a range; nothing if it leads out of the file. The caller knows that `len` is small.
    ///
    /// # Errors
    /// The storage fails, or the file is shorter than it was.
    pub(crate) fn get(&mut self, offset: u64, len: usize) -> Result<Option<&[u8]>, ReadError> {
        let Some(end) = offset.checked_add(len as u64).filter(|&end| end <= self.len) else { return Ok(None) };
        if let Backing::Memory(bytes) = &self.of {
            return Ok(slice(bytes, offset, len));
        }
        if self.seen.as_ref().is_some_and(|seen| seen.get(offset, len).is_some()) {
            return Ok(self.seen.as_ref().and_then(|seen| seen.get(offset, len)));
        }
        self.stride.look(offset, len);
        if offset < self.start || end > self.start + self.held.len() as u64 {
            let rest = usize::try_from(self.len - offset).unwrap_or(usize::MAX);
            self.held.clear();
            self.start = offset;
            let step = len.max(self.stride.step()).min(rest);
            let read = match &self.of {
                Backing::Stored(contents) => contents.read(offset, step, &mut self.held),
                Backing::Unpacked(unpacked) => unpacked.read_behind(offset, step, &mut self.held),
                Backing::Memory(_) => Ok(()),
            };
            read.inspect_err(|_| self.held.clear())?;
        }
        let bytes = slice(&self.held, offset - self.start, len);
        if let (Some(recorded), Some(bytes)) = (&mut self.recorded, bytes) {
            recorded.add(offset, bytes);
        }
        Ok(bytes)
    }

    /// A part of the file with a fixed size; nothing if it leads out of the file.
    ///
    /// # Errors
    /// As those of [`get`](Self::get).
    pub(crate) fn array<const N: usize>(&mut self, offset: u64) -> Result<Option<[u8; N]>, ReadError> {
        Ok(self.get(offset, N)?.and_then(|bytes| bytes.try_into().ok()))
    }
}

fn slice(bytes: &[u8], offset: u64, len: usize) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    bytes.get(start..start.checked_add(len)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_shows_any_place_of_a_file_and_nothing_beyond_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        std::fs::write(&path, &bytes).unwrap();
        let (of_file, container) = Window::open(&Address::file(&path)).unwrap();
        assert_eq!(container.stamp.len, 400_000);
        for mut window in [of_file, Window::of_bytes(&bytes)] {
            for number in [0_u32, 99_999, 1, 4095, 4096, 50_000, 49_999] {
                assert_eq!(window.array(u64::from(number) * 4).unwrap(), Some(number.to_le_bytes()));
            }
            assert_eq!(window.get(1000, 300_000).unwrap(), Some(&bytes[1000..301_000]));
            assert_eq!(window.get(399_999, 1).unwrap(), Some(&bytes[399_999..]));
            assert_eq!(window.get(400_000, 0).unwrap(), Some(&[][..]));
            for (offset, len) in [(399_999, 2), (400_001, 0), (u64::MAX, 8), (0, usize::MAX)] {
                assert_eq!(window.get(offset, len).unwrap(), None);
            }
        }
    }

    #[test]
    fn a_file_that_shrinks_while_it_is_scanned_is_no_end_of_the_data() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, vec![0; 100_000]).unwrap();
        let (mut window, _) = Window::open(&Address::file(&path)).unwrap();
        std::fs::write(&path, [0; 10]).unwrap();
        assert_eq!(window.get(90_000, 4).unwrap_err().kind, ReadErrorKind::Changed);
    }
}
