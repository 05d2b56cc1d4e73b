//! Memory that a child writes large answers into, so that they do not pass through the socket. The daemon reads it as a file
//! and never maps it: the child may change it or cut it off at any time.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;

use rustix::fs::{MemfdFlags, memfd_create};

use crate::channel::{Channel, Silence};
use crate::refill::Refill;

/// Memory with more bytes than this is freed before the next request. With fewer, it is used again.
const MOST_KEPT: u64 = 32 << 20;

/// The memory of one child. The parts of an answer follow each other in it, from its first byte on.
#[derive(Debug)]
pub struct LentMemory {
    file: File,
    /// Where the next part begins.
    next: u64,
}

impl LentMemory {
    /// Memory that no child has yet. It takes no further seals, so no child can keep the daemon from freeing it.
    ///
    /// # Errors
    /// The system lacks memory or descriptors.
    pub fn new() -> io::Result<Self> {
        Ok(Self { file: memfd_create("forebay-child", MemfdFlags::CLOEXEC)?.into(), next: 0 })
    }

    /// Sends the descriptor to the child, before any request.
    ///
    /// # Errors
    /// The system lacks what that takes.
    pub fn lend(&self, channel: &Channel) -> io::Result<()> {
        channel.send_descriptor(self.file.as_fd())
    }

    /// A request begins, so the child writes from the first byte on again.
    ///
    /// # Errors
    /// The system does not free what is too much.
    pub fn begin(&mut self) -> Result<(), Silence> {
        self.next = 0;
        if self.written()? > MOST_KEPT {
            self.file.set_len(0).map_err(|_| Silence::Memory)?;
        }
        Ok(())
    }

    /// Adds the next part to `into`. Of one that is not there as a whole, nothing is read, and no room is made for it.
    ///
    /// # Errors
    /// It is not there, or there is no memory for it.
    pub fn take(&mut self, len: u64, into: &mut Refill) -> Result<(), Silence> {
        let end = self.next.checked_add(len).ok_or(Silence::Garbage)?;
        if end > self.written()? {
            return Err(Silence::Garbage);
        }
        let len = usize::try_from(len).map_err(|_| Silence::Memory)?;
        let room = into.add(len).map_err(|_| Silence::Memory)?;
        // It may have been cut off since.
        self.file.read_exact_at(room, self.next).map_err(|_| Silence::Garbage)?;
        self.next = end;
        Ok(())
    }

    /// Bytes of memory, as far as the child has written.
    ///
    /// # Errors
    /// The system does not say it.
    pub fn written(&self) -> Result<u64, Silence> {
        Ok(self.file.metadata().map_err(|_| Silence::Memory)?.len())
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{SealFlags, fcntl_add_seals};

    use super::*;

    #[test]
    fn parts_follow_each_other_and_each_request_begins_again() {
        let mut memory = LentMemory::new().unwrap();
        memory.file.write_all_at(b"abcdefg", 0).unwrap();
        let mut into = Refill::new(b"of another answer".to_vec());
        memory.take(3, &mut into).unwrap();
        memory.take(4, &mut into).unwrap();
        assert_eq!(into.finish(), b"abcdefg");
        memory.file.write_all_at(b"xy", 0).unwrap();
        memory.begin().unwrap();
        let mut into = Refill::new(Vec::new());
        memory.take(2, &mut into).unwrap();
        assert_eq!(into.finish(), b"xy");
    }

    #[test]
    fn no_room_is_made_for_what_is_not_there() {
        let mut memory = LentMemory::new().unwrap();
        memory.file.write_all_at(b"abc", 0).unwrap();
        for len in [4, 1 << 40, u64::MAX] {
            let mut into = Refill::new(Vec::new());
            assert_eq!(memory.take(len, &mut into), Err(Silence::Garbage));
            assert_eq!(into.finish().capacity(), 0);
        }
        memory.take(2, &mut Refill::new(Vec::new())).unwrap();
        assert_eq!(memory.take(u64::MAX, &mut Refill::new(Vec::new())), Err(Silence::Garbage));
    }

    #[test]
    fn memory_of_large_parts_is_freed_with_the_next_request() {
        let mut memory = LentMemory::new().unwrap();
        for (len, left) in [(MOST_KEPT, MOST_KEPT), (MOST_KEPT + 1, 0)] {
            memory.file.write_all_at(b"x", len - 1).unwrap();
            memory.begin().unwrap();
            assert_eq!(memory.written(), Ok(left));
        }
    }

    #[test]
    fn a_child_cannot_seal_it() {
        let memory = LentMemory::new().unwrap();
        let sealed = fcntl_add_seals(&memory.file, SealFlags::SHRINK);
        assert_eq!(sealed.unwrap_err(), rustix::io::Errno::PERM);
    }
}
