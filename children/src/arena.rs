//! Memory of a fixed size that a child and the daemon both write to. The child maps it: its seals keep the size as it is, so that no
//! access of the child ends it. The daemon reads and writes it as a file, and looks only at copies.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, memfd_create};

use crate::channel::Channel;

/// The arena of one child.
#[derive(Debug)]
pub struct Arena {
    file: File,
    len: u64,
}

impl Arena {
    /// An arena of so many bytes, which no child has yet. Memory is taken as it is written.
    ///
    /// # Errors
    /// The system lacks memory or descriptors.
    pub fn new(len: u64) -> io::Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(memfd_create("forebay-arena", flags)?);
        file.set_len(len)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok(Self { file, len })
    }

    /// Sends its descriptor to the child, before any request.
    ///
    /// # Errors
    /// The system lacks what that takes.
    pub fn lend(&self, channel: &Channel) -> io::Result<()> {
        channel.send_descriptor(self.file.as_fd())
    }

    /// Writes bytes from this place on.
    ///
    /// # Errors
    /// They are not all inside of the arena, or the system lacks memory.
    pub fn write(&self, place: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, place)
    }

    /// Copies the bytes from this place on. The child may change them at the same time: only the copy may be believed.
    ///
    /// # Errors
    /// They are not all inside of the arena.
    pub fn read(&self, place: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(into, place)
    }

    /// Gives the memory behind the first bytes back to the system. All of it is zero then, and is taken again as it is written.
    ///
    /// # Errors
    /// The system refuses.
    pub fn give_back(&self, behind: u64) -> io::Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match self.len.checked_sub(behind) {
            None | Some(0) => Ok(()),
            Some(len) => Ok(fallocate(&self.file, flags, behind, len)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_is_outside_of_it() {
        let arena = Arena::new(8).unwrap();
        arena.write(2, b"abc").unwrap();
        let mut read = [7; 8];
        arena.read(0, &mut read).unwrap();
        assert_eq!(&read, b"\0\0abc\0\0\0");
        arena.write(6, b"abc").unwrap_err();
        arena.read(1, &mut read).unwrap_err();
    }

    #[test]
    fn memory_that_is_given_back_is_zero_and_is_taken_again() {
        use std::os::unix::fs::MetadataExt as _;

        let (arena, page) = (Arena::new(1 << 40).unwrap(), 1 << 16);
        let taken = || arena.file.metadata().unwrap().blocks();
        let pages = |bytes: u8| {
            arena.write(0, &vec![bytes; page]).unwrap();
            arena.write(1 << 30, &vec![bytes; page]).unwrap();
        };
        pages(1);
        let before = taken();
        arena.give_back(page as u64).unwrap();
        assert_eq!(taken() * 2, before);
        let mut read = vec![7; page];
        arena.read(1 << 30, &mut read).unwrap();
        assert!(read.iter().all(|byte| *byte == 0));
        arena.read(0, &mut read).unwrap();
        assert!(read.iter().all(|byte| *byte == 1), "the first bytes stay");
        pages(2);
        assert_eq!(taken(), before);
        arena.give_back(1 << 40).unwrap();
        arena.give_back(1 << 41).unwrap();
        assert_eq!(taken(), before);
    }

    #[test]
    fn nobody_changes_its_size_or_seals_it() {
        let arena = Arena::new(8).unwrap();
        for len in [0, 7, 9] {
            assert!(arena.file.set_len(len).is_err(), "{len}");
        }
        assert_eq!(fcntl_add_seals(&arena.file, SealFlags::WRITE).unwrap_err(), rustix::io::Errno::PERM);
        assert_eq!(arena.file.metadata().unwrap().len(), 8);
    }
}
