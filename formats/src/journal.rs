//! The progress of a scan, in a file. When a killed scan is started again, it finds there what it had read of the files
//! that were scanned completely, as long as these files are unchanged.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::fs::{FlockOperation, flock};

use crate::basis;
use crate::checksum::{Crc32c, crc32c};
use crate::folder_owner;
use crate::packed::ContainerFile;
use crate::seen::Seen;

/// How a journal begins.
const MAGIC: &[u8] = b"forebay journal 1\n";
/// Bytes of an entry before its path: a checksum over the rest, and four numbers.
const HEAD: usize = 4 + 4 * 8;
/// Most bytes of a path, and of what was seen of a file.
const MOST_PATH: u64 = 1 << 16;
const MOST_SEEN: u64 = 1 << 30;
/// Most bytes that wait in memory until the scan has taken long enough for a file.
const MOST_WAITING: usize = 16 << 20;

/// The notes of a scan.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    /// Where the entry of each file is, with the file's size and time.
    known: HashMap<PathBuf, ScannedFile>,
    notes: Mutex<JournalFile>,
    /// How long a scan must take before a file is made.
    patience: Duration,
    start: Instant,
}

#[derive(Clone, Copy, Debug)]
struct ScannedFile {
    stamp: (u64, i64),
    /// Of what was seen: the first byte, and how many.
    place: (u64, u64),
}

#[derive(Debug)]
struct JournalFile {
    file: Option<File>,
    waiting: Vec<u8>,
}

impl Journal {
    /// Opens the journal of a scan, with the entries of an earlier one. Nothing if another process has it.
    ///
    /// # Errors
    /// The file cannot be read, or is not this user's.
    pub(crate) fn open(path: &Path, patience: Duration) -> io::Result<Option<Self>> {
        let mut journal = Self {
            path: path.to_owned(),
            known: HashMap::new(),
            notes: Mutex::new(JournalFile { file: None, waiting: Vec::new() }),
            patience,
            start: Instant::now(),
        };
        let file = match OpenOptions::new().read(true).write(true).custom_flags(no_follow()).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(journal)),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() || !folder_owner::is_own(&metadata, folder_owner::above(path)) {
            return Err(io::Error::other("it is not a file of this user"));
        }
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(None);
        }
        let end = entries(&file, metadata.len(), &mut journal.known)?;
        // An entry that a kill cut short is written again.
        file.set_len(end)?;
        (&file).seek(SeekFrom::Start(end))?;
        if end == 0 {
            (&file).write_all(MAGIC)?;
        }
        journal.notes.get_mut().file = Some(file);
        Ok(Some(journal))
    }

    /// Files that were scanned before.
    pub(crate) fn files(&self) -> usize {
        self.known.len()
    }

    /// What an earlier scan read of a file, if the file is unchanged.
    pub(crate) fn looked_at(&self, container: &ContainerFile) -> Option<Seen> {
        let known = self.known.get(container.path())?;
        if known.stamp != stamp(container)? {
            return None;
        }
        let (offset, len) = known.place;
        let mut bytes = vec![0; usize::try_from(len).ok()?];
        self.notes.lock().file.as_ref()?.read_exact_at(&mut bytes, offset).ok()?;
        Seen::decompress(&bytes)
    }

    /// Notes what was read of a file that was scanned completely. If that is not possible, the file will be scanned
    /// again.
    pub(crate) fn add(&self, container: &ContainerFile, seen: &[u8]) {
        let Some(entry) = entry(container, seen) else { return };
        let mut notes = self.notes.lock();
        if let Err(error) = self.write(&mut notes, &entry) {
            tracing::debug!(journal = %self.path.display(), %error, "the scan cannot be restarted from here");
            *notes = JournalFile { file: None, waiting: Vec::new() };
        }
    }

    fn write(&self, notes: &mut JournalFile, entry: &[u8]) -> io::Result<()> {
        if let Some(file) = &mut notes.file {
            return file.write_all(entry);
        }
        if notes.waiting.len() + entry.len() <= MOST_WAITING {
            notes.waiting.extend_from_slice(entry);
        }
        if self.start.elapsed() < self.patience {
            return Ok(());
        }
        let folder = folder_owner::above(&self.path);
        folder_owner::make_folder(folder)?;
        let mut file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&self.path)?;
        folder_owner::give_away(&file, folder);
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        file.write_all(MAGIC)?;
        file.write_all(&std::mem::take(&mut notes.waiting))?;
        notes.file = Some(file);
        Ok(())
    }

    /// Removes the file, because the result of the scan is kept elsewhere.
    pub(crate) fn remove(self) {
        if self.notes.into_inner().file.is_some()
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::debug!(journal = %self.path.display(), %error, "the notes of a scan stay");
        }
    }
}

fn no_follow() -> i32 {
    (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed()
}

/// What identifies a version of a file: its size and time. An object has no time, so a number of its version replaces it.
fn stamp(container: &ContainerFile) -> Option<(u64, i64)> {
    let of_version = || {
        let version = basis::version(&container.address).ok()??;
        Some(i64::from_le_bytes(*blake3::hash(version.as_bytes()).as_bytes().first_chunk()?))
    };
    let time = container.stamp.nanoseconds().or_else(of_version)?;
    Some((container.stamp.len, time))
}

fn entry(container: &ContainerFile, seen: &[u8]) -> Option<Vec<u8>> {
    let (path, (len, modified)) = (container.path().as_os_str().as_bytes(), stamp(container)?);
    if path.len() as u64 > MOST_PATH || seen.len() as u64 > MOST_SEEN {
        return None;
    }
    let mut entry = vec![0; 4];
    for number in [path.len() as u64, seen.len() as u64, len, modified.cast_unsigned()] {
        entry.extend_from_slice(&number.to_le_bytes());
    }
    entry.extend_from_slice(path);
    entry.extend_from_slice(seen);
    let sum = crc32c(&entry[4..]);
    entry[..4].copy_from_slice(&sum.to_le_bytes());
    Some(entry)
}

/// Reads the entries of a file. Returns where the last complete one ends.
fn entries(file: &File, len: u64, known: &mut HashMap<PathBuf, ScannedFile>) -> io::Result<u64> {
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut magic = [0; MAGIC.len()];
    if read_whole(&mut reader, &mut magic)?.is_none() || magic != *MAGIC {
        return Ok(0);
    }
    let mut at = MAGIC.len() as u64;
    loop {
        let mut head = [0; HEAD];
        if read_whole(&mut reader, &mut head)?.is_none() {
            return Ok(at);
        }
        let (sum, numbers) = head.split_at(4);
        let number = |place: usize| {
            numbers.get(place * 8..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let (path_len, seen_len) = (number(0), number(1));
        let start = at + HEAD as u64;
        let fits = path_len <= MOST_PATH && seen_len <= MOST_SEEN && path_len + seen_len <= len.saturating_sub(start);
        if !fits {
            return Ok(at);
        }
        let mut rest = vec![0; usize::try_from(path_len + seen_len).unwrap_or(0)];
        if read_whole(&mut reader, &mut rest)?.is_none()
            || Crc32c::new().with(numbers).with(&rest).sum().to_le_bytes() != *sum
        {
            return Ok(at);
        }
        let path = rest.get(..usize::try_from(path_len).unwrap_or(0)).unwrap_or_default();
        let stamp = (number(2), number(3).cast_signed());
        let place = (start + path_len, seen_len);
        known.insert(PathBuf::from(OsStr::from_bytes(path)), ScannedFile { stamp, place });
        at = start + path_len + seen_len;
    }
}

/// Nothing if the file ends too early.
fn read_whole(reader: &mut impl Read, bytes: &mut [u8]) -> io::Result<Option<()>> {
    match reader.read_exact(bytes) {
        Ok(()) => Ok(Some(())),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Address;
    use crate::seen::SeenWriter;

    fn seen(byte: u8) -> Vec<u8> {
        let mut writer = SeenWriter::new();
        writer.add(10, &[byte; 512]);
        writer.finish().unwrap()
    }

    #[test]
    fn rule_53_a_journal_that_was_cut_keeps_its_whole_entries_and_only_for_files_that_are_what_they_were() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let container = |name: &str| {
            fs::write(at(name), name).unwrap();
            ContainerFile::look(&Address::file(at(name))).unwrap()
        };
        let (a, b) = (container("a"), container("b"));
        let open = || Journal::open(&at("x.partial"), Duration::ZERO).unwrap();
        let journal = open().unwrap();
        journal.add(&a, &seen(1));
        assert!(open().is_none(), "another process has it");
        journal.add(&b, &seen(2));
        drop(journal);
        let look = |journal: &Journal, file: &ContainerFile| {
            journal.looked_at(file).map(|seen| seen.get(10, 512).unwrap().to_vec())
        };
        let journal = open().unwrap();
        assert_eq!((look(&journal, &a), look(&journal, &b)), (Some(vec![1; 512]), Some(vec![2; 512])));
        drop(journal);
        let len = fs::metadata(at("x.partial")).unwrap().len();
        File::options().write(true).open(at("x.partial")).unwrap().set_len(len - 1).unwrap();
        let journal = open().unwrap();
        assert_eq!((look(&journal, &a), look(&journal, &b)), (Some(vec![1; 512]), None));
        fs::write(at("a"), "longer").unwrap();
        assert_eq!(look(&journal, &ContainerFile::look(&Address::file(at("a"))).unwrap()), None);
        journal.add(&b, &seen(3));
        drop(journal);
        let journal = open().unwrap();
        assert_eq!(look(&journal, &b), Some(vec![3; 512]));
        journal.remove();
        assert!(!at("x.partial").exists());
    }
}
