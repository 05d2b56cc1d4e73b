//! Files of a server that has no ranges. Each is read once, from its first byte to its last, and kept in memory, up to a limit
//! for all of them. Otherwise each read of a range would begin the file again and break it off.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, stream};
use parking_lot::Mutex;
use reqwest::Response;
use tokio::sync::{Mutex as WaitingMutex, OwnedMutexGuard};

use crate::Object;
use crate::backend::{Body, ranged};
use crate::fault::{Fault, FaultKind};

/// The files that are kept.
#[derive(Debug)]
pub(super) struct WholeFiles {
    limit: u64,
    /// Bytes of all that are kept or under way.
    used: AtomicU64,
    files: Mutex<HashMap<String, Arc<WaitingMutex<WholeFile>>>>,
}

/// What is kept of one file.
#[derive(Debug, Default)]
pub(super) enum WholeFile {
    #[default]
    Nothing,
    Kept(Object, Bytes),
    /// It is larger than what is left of the limit.
    Refused(Object),
}

/// The place of one file. Only one read at a time has it.
pub(super) type WholePlace = OwnedMutexGuard<WholeFile>;

impl WholeFiles {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, used: AtomicU64::new(0), files: Mutex::default() }
    }

    /// The place of a file that the server has sent as a whole before, as soon as nothing reads it.
    pub(super) async fn known(&self, object: &Object) -> Option<WholePlace> {
        let place = self.files.lock().get(&object.key).map(Arc::clone)?;
        Some(place.lock_owned().await)
    }

    /// The place of a file.
    pub(super) async fn place(&self, object: &Object) -> WholePlace {
        let place = Arc::clone(self.files.lock().entry(object.key.clone()).or_default());
        place.lock_owned().await
    }

    /// A range of a file that an answer has as a whole. The file is read to its end, even if nothing waits for it any more.
    ///
    /// # Errors
    /// It is not the pinned object, it is too large, or the answer breaks off.
    pub(super) async fn read(
        &self,
        answer: Response,
        object: &Object,
        version: Option<&str>,
        mut place: WholePlace,
    ) -> Result<Bytes, Fault> {
        if !object.is(ranged::length(answer.headers()), version) {
            return Err(Fault::new(FaultKind::Changed, ""));
        }
        if let WholeFile::Kept(earlier, _) = std::mem::take(&mut *place) {
            self.used.fetch_sub(earlier.size, Ordering::Relaxed);
        }
        let used = self.used.fetch_add(object.size, Ordering::Relaxed);
        if used.saturating_add(object.size) > self.limit {
            self.used.fetch_sub(object.size, Ordering::Relaxed);
            *place = WholeFile::Refused(object.clone());
            return Err(self.refusal(object));
        }
        let reading = tokio::spawn(to_end(answer, object.clone(), place));
        let read = reading.await.map_err(|error| Fault::new(FaultKind::Unavailable, error)).flatten();
        if read.is_err() {
            self.used.fetch_sub(object.size, Ordering::Relaxed);
        }
        read
    }

    /// What is wrong with a file that the server sends only as a whole.
    pub(super) fn refusal(&self, object: &Object) -> Fault {
        let problem = format!(
            "the server sends whole files and no ranges of them, and this file of {} bytes does not fit into the {} bytes that are \
             kept of such files; copy the dataset to a server or a disk that has ranges",
            object.size, self.limit
        );
        Fault::new(FaultKind::Unreadable, problem)
    }
}

impl WholeFile {
    /// The bytes of this object, if they are kept.
    pub(super) fn of(&self, object: &Object) -> Option<&Bytes> {
        match self {
            Self::Kept(own, bytes) if own == object => Some(bytes),
            _ => None,
        }
    }

    /// Whether this object was found to be too large.
    pub(super) fn is_refused(&self, object: &Object) -> bool {
        matches!(self, Self::Refused(own) if own == object)
    }
}

/// Reads an answer to its end and keeps it.
async fn to_end(answer: Response, object: Object, mut place: WholePlace) -> Result<Bytes, Fault> {
    let size = usize::try_from(object.size).unwrap_or(usize::MAX);
    let mut bytes = BytesMut::new();
    let mut body = answer.bytes_stream();
    while let Some(chunk) = body.next().await {
        bytes.extend_from_slice(&chunk.map_err(|error| Fault::of_transport(&error.without_url()))?);
        if bytes.len() > size {
            break;
        }
    }
    if bytes.len() != size {
        return Err(Fault::new(FaultKind::Unavailable, "the server sends another number of bytes than it says"));
    }
    let bytes = bytes.freeze();
    *place = WholeFile::Kept(object, bytes.clone());
    Ok(bytes)
}

/// The range of a file's bytes as an answer.
pub(super) fn body(bytes: &Bytes, range: &Range<u64>) -> Result<Body, Fault> {
    let place = |at: u64| usize::try_from(at).ok().filter(|at| *at <= bytes.len());
    let (Some(start), Some(end)) = (place(range.start), place(range.end)) else {
        return Err(Fault::new(FaultKind::Changed, ""));
    };
    let part = if start < end { bytes.slice(start..end) } else { Bytes::new() };
    Ok(Body { skip: 0, bytes: stream::iter([Ok(part)]).boxed() })
}
