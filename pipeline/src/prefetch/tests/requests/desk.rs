//! A source that answers when the test says so, from any thread.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;
use std::thread::{self, ThreadId};

use forebay_sources::{Locator, ReadError, ReadErrorKind, Reading, Request, Source};
use parking_lot::{Condvar, Mutex};

/// A source that puts requests on a desk, where the test answers them.
#[derive(Debug)]
pub(super) struct Desk {
    len: u64,
    most: usize,
    pub state: Mutex<DeskState>,
    /// A request has come, or there will be no more answers.
    changed: Condvar,
    /// The records of requests that were withdrawn.
    withdrawn: Arc<Mutex<Vec<u64>>>,
}

#[derive(Debug, Default)]
pub(super) struct DeskState {
    pub requests: Vec<Request>,
    /// How often each record was requested.
    pub tries: HashMap<u64, u32>,
    /// The threads that made requests.
    pub threads: HashSet<ThreadId>,
    /// The most requests, and the most bytes of them, that have lain here.
    pub most_requests: usize,
    pub most_bytes: u64,
    closed: bool,
}

/// Bytes of each record.
pub(super) const SIZE: u64 = 10;

impl Desk {
    pub(super) fn new(len: u64, most: usize) -> Arc<Self> {
        Arc::new(Self { len, most, state: Mutex::default(), changed: Condvar::new(), withdrawn: Arc::default() })
    }

    /// The records of requests that were withdrawn, by their numbers.
    pub(super) fn withdrawn(&self) -> Vec<u64> {
        let mut withdrawn = self.withdrawn.lock().clone();
        withdrawn.sort_unstable();
        withdrawn
    }

    /// Waits until at least so many requests lie here.
    pub(super) fn wait_for(&self, count: usize) {
        let mut state = self.state.lock();
        while state.requests.len() < count {
            self.changed.wait(&mut state);
        }
    }

    /// Takes the request that has lain here at this place.
    pub(super) fn pick(&self, place: usize) -> Request {
        self.state.lock().requests.remove(place)
    }

    pub(super) fn take_all(&self) -> Vec<Request> {
        mem::take(&mut self.state.lock().requests)
    }

    /// Answers requests in random order until the desk is closed.
    pub(super) fn serve(&self, seed: u64) {
        let mut random = seed;
        loop {
            let mut state = self.state.lock();
            while state.requests.is_empty() && !state.closed {
                self.changed.wait(&mut state);
            }
            if state.closed {
                return;
            }
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let place = usize::try_from(random >> 33).unwrap() % state.requests.len();
            let request = state.requests.swap_remove(place);
            let tries = state.tries[&request.record];
            drop(state);
            self.answer(request, tries);
        }
    }

    /// Some records fail at first, some are larger than was known, some requests are lost, and some records are bad.
    fn answer(&self, request: Request, tries: u32) {
        let error = |kind| Err(ReadError { kind, locator: self.locator(request.record), cause: "busy".into() });
        match (request.record % 10, tries) {
            (3, 1) => {
                let read = error(ReadErrorKind::Storage);
                request.answer(read);
            }
            (4, 1) => drop(request),
            (5, _) => {
                let read = error(ReadErrorKind::Missing);
                request.answer(read);
            }
            (6, 1) => {
                let read = error(ReadErrorKind::Larger { size: 2 * SIZE });
                request.answer(read);
            }
            _ => good(request),
        }
    }
}

/// Ends [`Desk::serve`], also if the test fails.
pub(super) struct Closing<'a>(pub &'a Desk);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.state.lock().closed = true;
        self.0.changed.notify_all();
    }
}

impl Source for Desk {
    fn len(&self) -> u64 {
        self.len
    }

    fn classes(&self) -> &[String] {
        &[]
    }

    fn label(&self, _record: u64) -> i64 {
        -1
    }

    fn locator(&self, record: u64) -> Locator {
        Locator::file(format!("{record}.jpg"))
    }

    fn size(&self, _record: u64) -> u64 {
        SIZE
    }

    fn read(&self, record: u64, _room: u64, _buf: &mut Vec<u8>) -> Result<(), ReadError> {
        panic!("no thread waits for record {record}");
    }

    fn reading(&self) -> Reading {
        Reading::Requests { most: self.most }
    }

    fn request(&self, request: Request) {
        let (record, withdrawn) = (request.record, Arc::clone(&self.withdrawn));
        request.withdrawal().on_withdrawal(move || withdrawn.lock().push(record));
        let mut state = self.state.lock();
        state.threads.insert(thread::current().id());
        *state.tries.entry(request.record).or_default() += 1;
        state.requests.push(request);
        state.most_requests = state.most_requests.max(state.requests.len());
        state.most_bytes = state.most_bytes.max(state.requests.iter().map(|request| request.room).sum());
        self.changed.notify_all();
    }

    fn fingerprint(&self) -> [u8; 32] {
        [0; 32]
    }

    fn shard_name(&self, _record: u64) -> &'static str {
        "desk"
    }
}

pub(super) fn good(mut request: Request) {
    request.buf.clear();
    request.buf.reserve_exact(usize::try_from(SIZE).unwrap());
    request.buf.extend_from_slice(&request.record.to_le_bytes());
    request.answer(Ok(()));
}
