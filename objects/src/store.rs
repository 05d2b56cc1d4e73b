//! A store: it lists objects and reads ranges of them.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, mpsc};

use forebay_sources::{Container, Locator, Part, Pulse, ReadError, ReadErrorKind, SourceError};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use crate::address::shown;
use crate::backend::Backend;
use crate::blocks::Blocks;
use crate::fault::{Fault, FaultKind};
use crate::fetch::{Fetch, retried};
use crate::listing;
use crate::permits::RequestPermits;
use crate::{Address, CacheKey, Object, Retries, Scheme, Settings, runtime};

/// A read that is under way.
#[derive(Debug)]
pub struct PendingRead {
    task: AbortHandle,
}

/// A bucket, a container, a dataset of the Hugging Face Hub or an HTTP server. Threads share it; its requests run on threads of its own.
///
/// The calls that block must not come from asynchronous code.
pub struct Store {
    scheme: Scheme,
    root: String,
    /// What tells it from all others: the same bucket's name may be at several servers. It may have secrets.
    identity: String,
    backend: Backend,
    retries: Retries,
    /// None without a cache.
    blocks: Option<Blocks>,
    /// Of requests for bytes.
    permits: RequestPermits,
    runtime: Handle,
}

impl Store {
    /// Opens the store that the URL names. What follows the bucket or the host is ignored. No request is sent yet.
    pub fn open(url: &str, settings: &Settings) -> Result<Arc<Self>, SourceError> {
        let address = Address::parse(url)?;
        let backend = Backend::open(&address, settings).map_err(|problem| SourceError::Store {
            url: shown(&address.root),
            problem: format!("The store cannot be used: {problem}."),
        })?;
        let identity = format!("{} at {}", address.root, backend.server());
        let blocks = match &settings.cache {
            None => None,
            Some(cache) => Some(Blocks::new(Arc::clone(cache), runtime::disk(&address.root)?, identity.clone())),
        };
        Ok(Arc::new(Self {
            scheme: address.scheme,
            blocks,
            runtime: runtime::handle(&address.root)?,
            root: address.root,
            identity,
            backend,
            retries: settings.retries,
            permits: RequestPermits::new(settings.requests),
        }))
    }

    /// The protocol.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The URL of the store, with a slash at its end. Keys follow it.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// What tells the store from others: buckets at several endpoints may have the same name.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// The key of an object of this store, or none if the URL is of another store.
    pub fn key<'a>(&self, url: &'a str) -> Option<&'a str> {
        url.strip_prefix(self.root.as_str())
    }

    /// The URL of an object, as it may be shown: without the query of a signed URL.
    pub fn url(&self, key: &str) -> String {
        shown(&format!("{}{key}", self.root))
    }

    /// The key of what is made of an object in the cache, such as the bytes that a compressed one holds. None if the object's
    /// version does not say enough to know its bytes again.
    pub fn cache_key(&self, kind: &str, object: &Object) -> Option<CacheKey> {
        let version = object.version.as_deref().filter(|_| Blocks::keeps(object))?;
        let size = object.size.to_le_bytes();
        Some(CacheKey::new(kind, [self.identity.as_bytes(), object.key.as_bytes(), version.as_bytes(), &size]))
    }

    /// Where a range of an object is, as an error or the quarantine names it.
    pub fn locator(&self, object: &Object, range: &Range<u64>) -> Locator {
        object.locator(self.url(&object.key), range)
    }

    /// All objects whose key begins with `prefix`, sorted by the bytes of their keys. Empty objects that are folder markers
    /// are left out. `progress` gets the number found so far, from time to time. Blocks.
    ///
    /// A prefix is not a folder: `train` also lists `training/a.jpg`. End it with a slash to list a folder.
    pub fn list(self: &Arc<Self>, prefix: &str, progress: &mut dyn FnMut(u64)) -> Result<Vec<Object>, SourceError> {
        let listed = self.list_within(prefix, u64::MAX, progress)?;
        listed.ok_or_else(|| self.of_store(prefix, Fault::late("the list ended without a result")))
    }

    /// The same, but gives `None` as soon as more than `most` objects were found, and stops there.
    pub fn list_within(
        self: &Arc<Self>,
        prefix: &str,
        most: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Option<Vec<Object>>, SourceError> {
        self.needs_lists(prefix)?;
        let (store, wanted) = (Arc::clone(self), prefix.to_owned());
        let (send, messages) = mpsc::channel();
        let listing = self.runtime.spawn(async move {
            let counts = parking_lot::Mutex::new(send.clone());
            // If the caller is gone, the count is dropped.
            let tell = |count| drop(counts.lock().send(Message::Count(count)));
            let listed = listing::list(&store.backend, &store.retries, &wanted, &tell).await;
            drop(send.send(Message::Done(listed)));
        });
        for message in messages {
            match message {
                Message::Count(count) if count > most => {
                    listing.abort();
                    return Ok(None);
                }
                Message::Count(count) => progress(count),
                Message::Done(Ok(objects)) if objects.len() as u64 > most => return Ok(None),
                Message::Done(listed) => return listed.map(Some).map_err(|fault| self.of_store(prefix, fault)),
            }
        }
        Err(self.of_store(prefix, Fault::late("the list ended without a result")))
    }

    /// What the object is now: its size and version. Blocks.
    pub fn head(self: &Arc<Self>, key: &str) -> Result<Object, ReadError> {
        let (store, wanted) = (Arc::clone(self), key.to_owned());
        let found = self.wait(async move { retried(&store.retries, || store.backend.head(&wanted)).await });
        found.map_err(|fault| {
            let container = Container::Object { url: self.url(key), version: None };
            fault.at(Locator { container, part: Part::Whole })
        })
    }

    /// Replaces the contents of `buf` with a range of the object. If the range has more bytes than there is `room`
    /// for, the error is [`ReadErrorKind::Larger`]. Blocks. After an error, `buf` is empty.
    pub fn read(
        self: &Arc<Self>,
        object: &Object,
        range: Range<u64>,
        room: u64,
        buf: &mut Vec<u8>,
    ) -> Result<(), ReadError> {
        buf.clear();
        self.read_behind(object, range, room, buf)
    }

    /// Appends a range of the object to `buf`. Otherwise like [`read`](Self::read): after an error, `buf` is as it was
    /// before.
    pub fn read_behind(
        self: &Arc<Self>,
        object: &Object,
        range: Range<u64>,
        room: u64,
        buf: &mut Vec<u8>,
    ) -> Result<(), ReadError> {
        let size = range.end.saturating_sub(range.start);
        if size > room {
            return Err(ReadError::new(ReadErrorKind::Larger { size }, self.locator(object, &range)));
        }
        let (send, result) = mpsc::sync_channel(1);
        let locator = || self.locator(object, &range);
        self.append(object, range.clone(), std::mem::take(buf), move |buf, read| drop(send.send((buf, read))));
        let lost =
            || ReadError { kind: ReadErrorKind::Storage, locator: locator(), cause: "the read ended".to_owned() };
        let (bytes, read) = result.recv().map_err(|_| lost())?;
        *buf = bytes;
        read
    }

    /// Reads a range of the object into `buf` and gives both to `done`, which runs on a thread of the store and must
    /// not block. After an error, `buf` is empty. Does not block, however many requests there are.
    ///
    /// If the read is cancelled before it has ended, `done` is dropped. As long as enough bytes arrive, it beats the
    /// [`Pulse`] of the thread that calls this.
    pub fn request(
        self: &Arc<Self>,
        object: &Object,
        range: Range<u64>,
        mut buf: Vec<u8>,
        done: impl FnOnce(Vec<u8>, Result<(), ReadError>) + Send + 'static,
    ) -> PendingRead {
        buf.clear();
        self.append(object, range, buf, done)
    }

    /// The same, but what is in `buf` stays before the range.
    fn append(
        self: &Arc<Self>,
        object: &Object,
        range: Range<u64>,
        mut buf: Vec<u8>,
        done: impl FnOnce(Vec<u8>, Result<(), ReadError>) + Send + 'static,
    ) -> PendingRead {
        let (store, object, pulse) = (Arc::clone(self), object.clone(), Pulse::current());
        let task = self.runtime.spawn(async move {
            let before = buf.len();
            let read = store.fill(&object, range.clone(), &mut buf, &pulse).await;
            if read.is_err() {
                buf.truncate(before);
            }
            done(buf, read.map_err(|fault| fault.at(store.locator(&object, &range))));
        });
        PendingRead { task: task.abort_handle() }
    }

    async fn fill(&self, object: &Object, range: Range<u64>, buf: &mut Vec<u8>, pulse: &Pulse) -> Result<(), Fault> {
        within(object, &range)?;
        match &self.blocks {
            Some(blocks) if Blocks::keeps(object) => {
                let fetch = |range, pulse| async move {
                    let mut bytes = Vec::new();
                    self.fetch(object, range, &mut bytes, &pulse).await?;
                    Ok(bytes)
                };
                blocks.fill(object, &range, buf, pulse, fetch).await
            }
            _ => self.fetch(object, range, buf, pulse).await,
        }
    }

    async fn fetch(&self, object: &Object, range: Range<u64>, buf: &mut Vec<u8>, pulse: &Pulse) -> Result<(), Fault> {
        let Self { backend, retries, permits, .. } = self;
        Fetch { backend, retries, permits, pulse }.read(object, range, buf).await
    }

    /// Refuses what a plain server of files cannot do.
    fn needs_lists(&self, prefix: &str) -> Result<(), SourceError> {
        let Backend::Web(_) = self.backend else { return Ok(()) };
        Err(SourceError::Store {
            url: self.url(prefix),
            problem: "An HTTP server cannot list its files. Give their names, with braces if there are many, such as \
                      https://HOST/train-{000..127}.tar."
                .to_owned(),
        })
    }

    /// Runs on the store's threads, and waits here.
    fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Fault>> + Send + 'static,
    ) -> Result<T, Fault> {
        let (send, result) = mpsc::sync_channel(1);
        self.runtime.spawn(async move { drop(send.send(work.await)) });
        result.recv().unwrap_or_else(|_| Err(Fault::late("the request ended without a result")))
    }

    /// The fault as the error of the dataset under this prefix.
    fn of_store(&self, prefix: &str, fault: Fault) -> SourceError {
        let url = self.url(prefix);
        // A user without the right to list a store may still read it. With stale credentials, it is unknown what is there.
        let passes = fault.passes() || matches!(fault.kind, FaultKind::Resources | FaultKind::Settings);
        let problem = match fault.kind {
            FaultKind::Missing | FaultKind::Gone if self.scheme != Scheme::Hub => {
                "The bucket does not exist. Check its name.".to_owned()
            }
            FaultKind::Denied => format!(
                "The store refuses to list it: {}. Check that the credentials may list the bucket.",
                fault.cause
            ),
            _ => format!("The list cannot be read: {}.", fault.cause),
        };
        let locator = Locator { container: Container::Object { url: url.clone(), version: None }, part: Part::Whole };
        if passes { SourceError::Outage(fault.at(locator)) } else { SourceError::Store { url, problem } }
    }
}

impl PendingRead {
    /// Ends the read, and frees its memory, its connection and its place among the requests. Nothing happens if it has ended.
    pub fn cancel(&self) {
        self.task.abort();
    }
}

/// Whether the object has this range.
fn within(object: &Object, range: &Range<u64>) -> Result<(), Fault> {
    if range.start <= range.end && range.end <= object.size {
        return Ok(());
    }
    let problem = format!("bytes {} to {} are not in an object of {}", range.start, range.end, object.size);
    Err(Fault::new(FaultKind::Unreadable, problem))
}

/// From the threads of the store to the thread that waits for a list.
enum Message {
    Count(u64),
    Done(Result<Vec<Object>, Fault>),
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("root", &shown(&self.root)).finish_non_exhaustive()
    }
}
