//! The bytes of an index. They are mapped if the file belongs to this process's user and nobody else may write it, and
//! read otherwise.
#![allow(unsafe_code, reason = "maps a file")]

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::ptr::NonNull;

use arrow_buffer::Buffer;
use rustix::mm::{MapFlags, ProtFlags};

use crate::regular_file::open_regular;

/// Permissions that let others than the owner write.
const OTHERS_WRITE: u32 = 0o022;

/// A file that is mapped for reading.
#[derive(Debug)]
struct IndexMapping {
    start: NonNull<u8>,
    len: usize,
}

/// The bytes of the file, and whether they are mapped.
///
/// # Errors
/// It cannot be read, or is no regular file.
pub(super) fn bytes(path: &Path) -> io::Result<(Buffer, bool)> {
    let (mut file, metadata) = open_regular(path)?;
    let len = usize::try_from(metadata.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & OTHERS_WRITE == 0;
    if is_own && len > 0 {
        let mapping = IndexMapping::new(&file, len)?;
        return Ok((Buffer::from(bytes::Bytes::from_owner(mapping)), true));
    }
    Ok((Buffer::from(read(&mut file, len)?), false))
}

fn read(file: &mut File, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len)?;
    file.take(len as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl IndexMapping {
    fn new(file: impl AsFd, len: usize) -> io::Result<Self> {
        // SAFETY: the kernel chooses the place, so no memory of this process is replaced. The pages are only read. Only this
        // process's user can write the file, and Forebay never writes an index in place: it renames a new file over it, and
        // the mapping keeps the old one. Reading the file instead would cost each process a copy of it.
        let start = unsafe { rustix::mm::mmap(std::ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, file, 0) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, len })
    }
}

impl AsRef<[u8]> for IndexMapping {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the mapping has `len` bytes, which are readable until it is dropped, and are not written: see `new`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl Drop for IndexMapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this length, and nothing borrows from it any more.
        let unmapped = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
        debug_assert!(unmapped.is_ok(), "the mapping is as it was made");
    }
}

// SAFETY: the mapping is only read, and belongs to no thread.
unsafe impl Send for IndexMapping {}
// SAFETY: as above.
unsafe impl Sync for IndexMapping {}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn rule_53_only_a_file_that_nobody_else_may_write_is_mapped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.arrow");
        std::fs::write(&path, [7; 5000]).unwrap();
        let look = |mode| {
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let (buffer, is_mapped) = bytes(&path).unwrap();
            assert_eq!(buffer.as_slice(), [7; 5000]);
            is_mapped
        };
        assert_eq!([0o600, 0o644, 0o664, 0o646].map(look), [true, true, false, false]);
        let (kept, _) = bytes(&path).unwrap();
        std::fs::write(dir.path().join("new"), [8; 10]).unwrap();
        std::fs::rename(dir.path().join("new"), &path).unwrap();
        assert_eq!(kept.as_slice(), [7; 5000], "a new file in its place changes nothing");
        std::fs::write(&path, "").unwrap();
        assert!(bytes(&path).unwrap().0.is_empty());
        assert!(bytes(dir.path()).is_err());
    }
}
