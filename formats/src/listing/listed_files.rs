//! The files of a list, and what it means if one cannot be read: the file is to blame, or the whole dataset is gone.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use forebay_objects::Object;
use forebay_sources::{Container, Locator, Part, ReadError, ReadErrorKind, Request, Retry};
use parking_lot::Mutex;

use super::NO_SIZE;
use crate::address::Address;
use crate::index_blocks::{BadIndex, IndexBlocks};
use crate::paths::{Paths, RecordPaths, escapes};
use crate::sentinels::Sentinels;
use crate::values::Values;

/// Files below a root, in order.
#[derive(Debug)]
pub(super) struct ListedFiles {
    pub(super) root: Address,
    pub(super) paths: RecordPaths,
    /// One per path, in bytes; [`NO_SIZE`] where there is no file.
    pub(super) sizes: Values<u64>,
    /// The versions of objects, if they come from an index. Otherwise their store knows them.
    pub(super) versions: RecordPaths,
    /// The index that they come from.
    pub(super) index: Option<IndexedPaths>,
    sentinels: Sentinels,
    /// Failures that wait for the thread that judges. Nothing if there is no such thread.
    waiting: Mutex<Option<Vec<FailedRequest>>>,
}

/// The index of a list, and where its paths may lead.
#[derive(Debug)]
pub(super) struct IndexedPaths {
    pub blocks: Arc<IndexBlocks>,
    pub may_leave: bool,
    /// The root that the user has given.
    pub given: Option<PathBuf>,
}

/// A request whose file may be gone alone, or with all others.
#[derive(Debug)]
struct FailedRequest {
    request: Request,
    error: ReadError,
}

impl ListedFiles {
    pub(super) fn new(root: Address, paths: RecordPaths, sizes: Values<u64>) -> Self {
        Self {
            root,
            paths,
            sizes,
            versions: RecordPaths::default(),
            index: None,
            sentinels: Sentinels::default(),
            waiting: Mutex::default(),
        }
    }

    /// Where the record's file is. No path of an index leads out of the dataset.
    pub(super) fn address(&self, record: u64) -> Address {
        let path = self.paths.get(self.index(record));
        if let Some(index) = &self.index
            && !index.may_leave
            && escapes(path.as_os_str().as_encoded_bytes(), index.given.as_deref())
        {
            index.blocks.fail(&BadIndex(format!("the path of record {record} leads out of the dataset")));
            return self.root.clone();
        }
        self.root.join(path)
    }

    /// What a read is worth: nothing, if the index may have said something wrong of the record.
    pub(super) fn believed(&self, record: u64, read: Result<(), ReadError>) -> Result<(), ReadError> {
        let Some(cause) = self.index.as_ref().and_then(|index| index.blocks.failure()) else { return read };
        let error = ReadError::new(ReadErrorKind::Index, self.address(record).locator());
        Err(ReadError { cause: cause.to_owned(), ..error })
    }

    /// Whether the record's file was there when the dataset was opened.
    pub(super) fn is_there(&self, record: u64) -> bool {
        self.sizes.at(self.index(record)) != NO_SIZE
    }

    /// Whether the versions of its objects come from an index.
    pub(super) fn is_pinned(&self) -> bool {
        !self.versions.is_empty()
    }

    /// The object of a record that is to be read.
    ///
    /// # Errors
    /// There is none, or it has no bytes, or more than the limit, or more than there is room for.
    pub(super) fn wanted(&self, record: u64, room: u64, byte_limit: u64) -> Result<Object, ReadError> {
        let found = if self.is_pinned() { self.pinned(record) } else { self.address(record).stored()? };
        let object = found.ok_or_else(|| ReadError::new(ReadErrorKind::Missing, self.locator(record)))?;
        match ReadErrorKind::of_size(object.size, byte_limit, room) {
            Some(kind) => Err(ReadError::new(kind, self.locator(record))),
            None => Ok(object),
        }
    }

    /// The object as an index has it. No request is sent.
    fn pinned(&self, record: u64) -> Option<Object> {
        let (index, address) = (self.index(record), self.address(record));
        let (_, key) = address.key()?;
        let size = Some(self.sizes.at(index)).filter(|size| *size != NO_SIZE)?;
        Some(Object { key: key?, size, version: self.pinned_version(record) })
    }

    fn pinned_version(&self, record: u64) -> Option<String> {
        let version = String::from_utf8(self.versions.bytes(self.index(record)).into_owned()).ok()?;
        (!version.is_empty()).then_some(version)
    }

    /// Where the record's file is, for people. An object has the version that an index has.
    pub(super) fn locator(&self, record: u64) -> Locator {
        self.pinned_locator(record).unwrap_or_else(|| self.address(record).locator())
    }

    fn pinned_locator(&self, record: u64) -> Option<Locator> {
        let address = self.address(record);
        let tree = address.tree().filter(|_| self.is_pinned())?;
        let container = Container::Object { url: tree.shown(address.path()), version: self.pinned_version(record) };
        Some(Locator { container, part: Part::Whole })
    }

    /// The versions of all objects, as their store found them. Nothing if the files are no objects.
    ///
    /// # Errors
    /// The store fails.
    pub(super) fn found_versions(&self) -> Result<Option<Paths>, ReadError> {
        if self.root.tree().is_none() {
            return Ok(None);
        }
        let mut versions = Paths::default();
        for record in 0..self.paths.len() as u64 {
            let version = match self.address(record).stored() {
                Ok(object) => object.and_then(|object| object.version),
                Err(outage) if outage.retry() == Retry::Later => return Err(outage),
                Err(_) => None,
            };
            versions.push(version.unwrap_or_default().as_bytes());
        }
        Ok(Some(versions))
    }

    /// The index in the list. The plan never asks for one beyond the end.
    pub(super) fn index(&self, record: u64) -> usize {
        let index = usize::try_from(record).expect("a list in memory is no longer than usize::MAX");
        assert!(index < self.paths.len(), "record {record} of {}", self.paths.len());
        index
    }

    /// Judges the result of a read. A file that is gone or not readable for this user is not to blame if all sentinels
    /// are gone too. Blocks.
    pub(super) fn judged(&self, record: u64, read: Result<(), ReadError>) -> Result<(), ReadError> {
        match self.believed(record, read) {
            Ok(()) => {
                self.sentinels.saw(record);
                Ok(())
            }
            Err(error) if self.suspicion(record, &error).is_some() && self.lost_alone(&[record]).is_empty() => {
                Err(self.gone(record, error))
            }
            error => error,
        }
    }

    /// Answers a request with the result of its read. This does not block: if other files must be checked, a separate
    /// thread does that.
    pub(super) fn answer(self: &Arc<Self>, request: Request, read: Result<(), ReadError>) {
        let record = request.record;
        let error = match self.believed(record, read) {
            Err(error) if self.suspicion(record, &error).is_some() => error,
            read => {
                if read.is_ok() {
                    self.sentinels.saw(record);
                }
                return request.answer(read);
            }
        };
        let mut waiting = self.waiting.lock();
        if let Some(waiting) = &mut *waiting {
            return waiting.push(FailedRequest { request, error });
        }
        *waiting = Some(vec![FailedRequest { request, error }]);
        drop(waiting);
        let files = Arc::clone(self);
        if let Err(system) = thread::Builder::new().name("forebay-judge".into()).spawn(move || files.judge()) {
            // No thread can check the other files, so no file is to blame yet.
            for FailedRequest { request, error } in self.waiting.lock().take().unwrap_or_default() {
                let (kind, cause) = (ReadErrorKind::Resources, system.to_string());
                request.answer(Err(ReadError { kind, cause, ..error }));
            }
        }
    }

    /// Judges failures until none waits. A check of the other files judges all failures before it.
    fn judge(&self) {
        loop {
            let failed = {
                let mut waiting = self.waiting.lock();
                match waiting.as_mut().map(std::mem::take) {
                    Some(failed) if !failed.is_empty() => failed,
                    _ => {
                        *waiting = None;
                        return;
                    }
                }
            };
            let mut records: Vec<u64> = failed.iter().map(|failed| failed.request.record).collect();
            records.sort_unstable();
            records.dedup();
            let lost_alone = self.lost_alone(&records);
            for FailedRequest { request, error } in failed {
                let record = request.record;
                request.answer(Err(if lost_alone.contains(&record) { error } else { self.gone(record, error) }));
            }
        }
    }

    /// What all other files would have lost too, if the dataset is gone. Nothing if the file alone is to blame.
    fn suspicion(&self, record: u64, error: &ReadError) -> Option<&'static str> {
        match error.kind {
            // A file that did not exist when the dataset was opened has not vanished.
            ReadErrorKind::Missing if self.is_there(record) => Some("exists"),
            // A dataset that this user could never read has not changed.
            ReadErrorKind::Denied if self.sentinels.any_read() => Some("may be read"),
            _ => None,
        }
    }

    /// Which of these files are lost while others remain.
    fn lost_alone(&self, failed: &[u64]) -> BTreeSet<u64> {
        let len = self.paths.len() as u64;
        let present = |other| self.is_there(other);
        self.sentinels.lost_alone(failed, len, present, |other| self.address(other), &self.root)
    }

    fn gone(&self, record: u64, error: ReadError) -> ReadError {
        let others = self.suspicion(record, &error).unwrap_or("can be read");
        let cause = format!("no other file that was checked {others} any more. Check that the storage is mounted");
        ReadError { kind: ReadErrorKind::Gone, cause, ..error }
    }
}
