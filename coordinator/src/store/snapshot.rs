//! A snapshot of a whole store in a file beside it, for the day on which the store is lost.
//!
//! The file has a magic number, a version, the time, the documents, and a checksum over all of that. It is read as input from
//! outside.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use forebay_ledger::{Change, split};
use forebay_printable::printable;
use forebay_proto::v1::StoredHead;
use prost::Message as _;
use thiserror::Error;

use super::parts;

const MAGIC: [u8; 8] = *b"FBLEDGER";
const VERSION: u32 = 1;
/// Bytes of the checksum, BLAKE3, behind all else.
const CHECKSUM: usize = 32;
/// Longest file that is read. A ledger of ten thousand workers has a few megabytes.
const LONGEST: u64 = 1 << 30;

/// All documents of a store at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSnapshot {
    /// When it was taken, in seconds since 1970 (UTC).
    pub taken: u64,
    /// Rising by key.
    pub documents: Vec<(String, Vec<u8>)>,
}

/// A file that is no snapshot, or could not be read or written.
#[derive(Debug, Error)]
#[error("the snapshot \"{file}\" cannot be {doing}: {reason}", file = printable(file))]
pub struct SnapshotError {
    file: PathBuf,
    doing: &'static str,
    reason: String,
}

impl StoreSnapshot {
    /// Of the documents as they are now.
    pub fn now(documents: Vec<Change>) -> Self {
        let kept = documents.into_iter().filter_map(|change| match change {
            Change::Put { key, value } => Some((key, value)),
            Change::Delete { .. } => None,
        });
        let taken = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut documents: Vec<_> = kept.collect();
        documents.sort();
        Self { taken, documents }
    }

    /// Writes the file, or nothing: it is made under another name, synced, and renamed. An earlier one is replaced.
    ///
    /// # Errors
    /// The system refuses it: the disk is full, say. What the file had before is still there.
    pub fn write(&self, file: &Path) -> Result<(), SnapshotError> {
        let mut unfinished = file.as_os_str().to_owned();
        unfinished.push(".new");
        let unfinished = PathBuf::from(unfinished);
        let written = self.put(&unfinished, file);
        if written.is_err() {
            // It takes room on a disk that may be full.
            fs::remove_file(&unfinished).ok();
        }
        written.map_err(|error| SnapshotError { file: file.into(), doing: "written", reason: error.to_string() })
    }

    fn put(&self, unfinished: &Path, file: &Path) -> io::Result<()> {
        let mut new = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(unfinished)?;
        new.write_all(&self.encode())?;
        new.sync_all()?;
        fs::rename(unfinished, file)?;
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        File::open(folder)?.sync_all()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is not what [`write`](Self::write) makes.
    pub fn read(file: &Path) -> Result<Self, SnapshotError> {
        let failed = |reason: String| SnapshotError { file: file.into(), doing: "used", reason };
        let mut bytes = Vec::new();
        let opened = File::open(file).map_err(|error| failed(error.to_string()))?;
        opened.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
        if bytes.len() as u64 > LONGEST {
            return Err(failed(format!("it has more than {LONGEST} bytes")));
        }
        Self::decode(&bytes).map_err(failed)
    }

    /// Whether a ledger of the `earlier` snapshot is missing from this one, or has gone back. A ledger only moves forward in
    /// its generation or begins a later one. So this happens only with a new run, or with a store that lost its data.
    pub fn goes_back_from(&self, earlier: &Self) -> bool {
        let now = self.places();
        earlier.places().iter().any(|(ledger, place)| now.get(ledger).is_none_or(|now| now < place))
    }

    /// Where each ledger is: its generation, and the epoch and position up to which it has leased.
    fn places(&self) -> BTreeMap<&str, (u64, u64, u64)> {
        let heads = self.documents.iter().filter_map(|(key, value)| {
            let (ledger, document) = split(key)?;
            let head = StoredHead::decode(value.as_slice()).ok().filter(|_| document == "head")?;
            Some((ledger, (head.generation, head.cursor_epoch, head.cursor)))
        });
        heads.collect()
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(self.taken.to_le_bytes());
        for (key, value) in &self.documents {
            parts::put(&mut bytes, key.as_bytes());
            parts::put(&mut bytes, value);
        }
        let checksum = blake3::hash(&bytes);
        bytes.extend(checksum.as_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self, String> {
        if !bytes.starts_with(&MAGIC) {
            return Err("it is not a snapshot of ledgers".to_owned());
        }
        let damaged = || "it is damaged or cut off; give an older one".to_owned();
        let (body, checksum) = bytes.split_last_chunk::<CHECKSUM>().ok_or_else(damaged)?;
        let after = body.get(MAGIC.len()..).ok_or_else(damaged)?;
        let (version, after) = after.split_first_chunk::<4>().ok_or_else(damaged)?;
        let version = u32::from_le_bytes(*version);
        if version != VERSION {
            return Err(format!("it has version {version}, and this build reads version {VERSION}"));
        }
        if blake3::hash(body) != *checksum {
            return Err(damaged());
        }
        let (taken, mut rest) = after.split_first_chunk::<8>().ok_or_else(damaged)?;
        let mut documents: Vec<(String, Vec<u8>)> = Vec::new();
        while !rest.is_empty() {
            let key = parts::take(&mut rest).ok_or_else(damaged)?;
            let value = parts::take(&mut rest).ok_or_else(damaged)?;
            let key = String::from_utf8(key.to_vec()).map_err(|_| damaged())?;
            if documents.last().is_some_and(|(last, _)| *last >= key) {
                return Err(damaged());
            }
            documents.push((key, value.to_vec()));
        }
        Ok(Self { taken: u64::from_le_bytes(*taken), documents })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use proptest::prelude::*;

    use super::*;

    /// Bytes before the documents: the magic number, the version, the time.
    const HEAD: usize = 8 + 4 + 8;

    fn two() -> StoreSnapshot {
        let documents = vec![("a".to_owned(), vec![]), ("b/é".to_owned(), vec![0, 255])];
        StoreSnapshot { taken: 1_795_424_000, documents }
    }

    /// With a valid checksum, as an attacker could write it.
    fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
        let checksum = blake3::hash(&bytes);
        bytes.extend(checksum.as_bytes());
        bytes
    }

    #[test]
    fn what_was_written_is_read_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ledger.snapshot");
        for snapshot in [two(), StoreSnapshot { taken: 0, documents: vec![] }] {
            snapshot.write(&file).unwrap();
            assert_eq!(StoreSnapshot::read(&file).unwrap(), snapshot);
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
        }
    }

    #[test]
    fn a_snapshot_with_any_changed_byte_or_any_lost_end_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ledger.snapshot");
        let whole = two().encode();
        let refused = |bytes: &[u8]| {
            fs::write(&file, bytes).unwrap();
            let error = StoreSnapshot::read(&file).unwrap_err().to_string();
            assert!(error.contains("ledger.snapshot\" cannot be used"), "{error}");
            error
        };
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            refused(&changed);
            refused(&whole[..at]);
        }
        assert!(refused(b"something else").contains("not a snapshot of ledgers"));
        assert!(refused(&whole[..whole.len() - 1]).contains("damaged or cut off"));
        let mut newer = whole[..whole.len() - CHECKSUM].to_vec();
        newer[8] = 2;
        assert!(refused(&sealed(newer)).contains("has version 2"));
        let missing = StoreSnapshot::read(&folder.path().join("none")).unwrap_err().to_string();
        assert!(missing.contains("/none\" cannot be used: No such file"), "{missing}");
        assert!(StoreSnapshot::read(Path::new("/dev/zero")).unwrap_err().to_string().contains("more than 1073741824"));
    }

    #[test]
    fn lengths_that_lie_and_keys_out_of_order_are_refused() {
        let head = two().encode()[..HEAD].to_vec();
        let with = |rest: &[u8]| StoreSnapshot::decode(&sealed([head.as_slice(), rest].concat()));
        assert_eq!(with(&[]).unwrap().documents, []);
        with(&u64::MAX.to_le_bytes()).unwrap_err();
        with(&[1, 0, 0, 0, 0, 0, 0, 0, b'a']).unwrap_err();
        let one = [&[1, 0, 0, 0, 0, 0, 0, 0, b'a'][..], &[0; 8]].concat();
        assert_eq!(with(&one).unwrap().documents, [("a".to_owned(), vec![])]);
        with(&[one.clone(), one].concat()).unwrap_err();
    }

    #[test]
    fn a_snapshot_that_cannot_be_written_leaves_the_earlier_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ledger.snapshot");
        two().write(&file).unwrap();
        // Something that cannot be opened for writing has the name that it is made under.
        fs::create_dir(folder.path().join("ledger.snapshot.new")).unwrap();
        let error = StoreSnapshot { taken: 9, documents: vec![] }.write(&file).unwrap_err().to_string();
        assert!(error.contains("cannot be written"), "{error}");
        assert_eq!(StoreSnapshot::read(&file).unwrap(), two());
    }

    /// A snapshot of ledgers that are at these places.
    fn snapshot(ledgers: &[(&str, u64, u64, u64)]) -> StoreSnapshot {
        let document = |&(name, generation, cursor_epoch, cursor): &(&str, u64, u64, u64)| {
            let head = StoredHead { version: 1, generation, cursor_epoch, cursor, ..StoredHead::default() };
            (format!("ledger/run/{name}/all/head"), head.encode_to_vec())
        };
        StoreSnapshot { taken: 1, documents: ledgers.iter().map(document).collect() }
    }

    #[test]
    fn ledgers_that_are_gone_or_begin_again_are_told_from_those_that_continue() {
        let earlier = snapshot(&[("eval", 0, 0, 7), ("train", 2, 5, 640)]);
        for on in [
            snapshot(&[("eval", 0, 0, 7), ("train", 2, 5, 640)]),
            snapshot(&[("eval", 0, 1, 0), ("new", 0, 0, 0), ("train", 2, 5, 641)]),
            // A state of the run was loaded, and began a generation.
            snapshot(&[("eval", 0, 0, 7), ("train", 3, 0, 0)]),
        ] {
            assert!(!on.goes_back_from(&earlier), "{on:?}");
        }
        for back in [
            snapshot(&[]),
            snapshot(&[("eval", 0, 0, 7)]),
            snapshot(&[("eval", 0, 0, 7), ("train", 0, 0, 64)]),
            snapshot(&[("eval", 0, 0, 6), ("train", 2, 5, 640)]),
        ] {
            assert!(back.goes_back_from(&earlier), "{back:?}");
        }
    }

    proptest! {
        #[test]
        fn bytes_of_anybody_give_an_error_or_a_snapshot(rest in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = two().encode()[..HEAD].to_vec();
            bytes.extend(rest);
            if let Ok(snapshot) = StoreSnapshot::decode(&sealed(bytes.clone())) {
                prop_assert_eq!(snapshot.encode(), sealed(bytes));
            }
        }
    }
}
