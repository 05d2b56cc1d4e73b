//! The bytes of an index. They are mapped if Forebay wrote the file for itself: it is in the folder of indexes, belongs to this
//! process's user, and nobody else may write it. Otherwise they are read.
#![allow(unsafe_code, reason = "maps a file")]

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::ptr::NonNull;

use arrow_buffer::Buffer;
use rustix::mm::{MapFlags, ProtFlags};

use crate::regular_file::open_regular;

/// Permissions that let others than the owner write.
pub(super) const OTHERS_WRITE: u32 = 0o022;
/// Most bytes of an index that is read into memory: those of 100 million records.
const MOST_READ: u64 = 8 << 30;
/// How an Arrow file ends.
const END: &[u8; 6] = b"ARROW1";

/// A file that is mapped for reading.
#[derive(Debug)]
struct IndexMapping {
    start: NonNull<u8>,
    len: usize,
}

/// The bytes of the file, and whether they are mapped. `is_kept`: it is in the folder of indexes, where Forebay replaces files
/// and never writes into them. A file elsewhere may be overwritten in place (`cp`), and a mapped one would then kill the process.
///
/// # Errors
/// It cannot be read, is no regular file, or is far larger than an index that is read can be.
pub(super) fn bytes(path: &Path, is_kept: bool) -> io::Result<(Buffer, bool)> {
    let (mut file, metadata) = open_regular(path)?;
    let len = usize::try_from(metadata.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & OTHERS_WRITE == 0;
    if is_kept && is_own && len > 0 {
        let mapping = IndexMapping::new(&file, len)?;
        return Ok((Buffer::from(bytes::Bytes::from_owner(mapping)), true));
    }
    Ok((Buffer::from(read(&mut file, len)?), false))
}

/// An index in memory, up to a limit. A file without the end of an index, such as one with a hole, is not read at all.
fn read(file: &mut File, len: usize) -> io::Result<Vec<u8>> {
    let mut end = [0; END.len()];
    let before = (len as u64).checked_sub(END.len() as u64);
    before.map(|offset| file.read_exact_at(&mut end, offset)).transpose()?;
    if end != *END {
        return Err(io::Error::other("it is not a complete Arrow file"));
    }
    if len as u64 > MOST_READ {
        let problem =
            format!("it has {len} bytes, and at most {MOST_READ} are read. Use the folder of indexes instead");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len)?;
    file.take(len as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl IndexMapping {
    fn new(file: impl AsFd, len: usize) -> io::Result<Self> {
        // SAFETY: the kernel chooses the place, so no memory of this process is replaced. The pages are only read. Only this
        // process's user can write the file, and Forebay never writes an index in its folder in place: it renames a new file
        // over it, and the mapping keeps the old one. Reading the file instead would cost each process a copy of it.
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
    fn rule_53_only_a_file_of_the_folder_of_indexes_that_nobody_else_may_write_is_mapped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.arrow");
        let index = [&[7; 5000][..], END].concat();
        std::fs::write(&path, &index).unwrap();
        let look = |(mode, is_kept)| {
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let (buffer, is_mapped) = bytes(&path, is_kept).unwrap();
            assert_eq!(buffer.as_slice(), index);
            is_mapped
        };
        assert_eq!([(0o600, true), (0o644, true), (0o664, true), (0o646, true)].map(look), [true, true, false, false]);
        assert!(!look((0o600, false)), "the user may copy another file over it");
        let (kept, _) = bytes(&path, true).unwrap();
        std::fs::write(dir.path().join("new"), [8; 10]).unwrap();
        std::fs::rename(dir.path().join("new"), &path).unwrap();
        assert_eq!(kept.as_slice(), index, "a new file in its place changes nothing");
        assert!(bytes(dir.path(), true).is_err());
    }

    #[test]
    fn a_file_that_is_no_index_or_too_large_for_one_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.arrow");
        let file = File::create(&path).unwrap();
        for (len, words) in
            [(0, "not a complete Arrow file"), (3, "not a complete Arrow file"), (1 << 40, "not a complete Arrow file")]
        {
            file.set_len(len).unwrap();
            assert!(bytes(&path, false).unwrap_err().to_string().contains(words), "{len}");
        }
        file.write_all_at(END, (1 << 40) - END.len() as u64).unwrap();
        assert_eq!(bytes(&path, false).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
