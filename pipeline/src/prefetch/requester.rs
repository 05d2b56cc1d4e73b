//! The thread that makes the requests of a stream. It waits for none of them: they are noted on the threads that answer.

use std::sync::{Arc, Weak};
use std::time::Instant;

use forebay_sources::{ReadError, Request, Source, Withdrawal};

use super::loaded::Loaded;
use super::readahead::{Noted, ReadJob};
use super::shared::PrefetchShared;
use crate::cache::Cache;

/// Makes requests until the prefetch is closed, and keeps at most `most` of them under way.
pub(super) fn request_until_closed(
    shared: &Arc<PrefetchShared>,
    source: &dyn Source,
    cache: &Weak<Cache>,
    most: usize,
) {
    loop {
        let Some((job, buf)) = shared.next_job(source, cache.upgrade().as_deref(), Some(most)) else { return };
        // A request may never be answered, so it must not keep the source or the cache alive.
        let (noting, keeping) = (Arc::clone(shared), Weak::clone(cache));
        let done = move |bytes, read| answered(&noting, &keeping, &job, bytes, read, most);
        let request = Request::new(job.record(), job.reserved, buf, source.locator(job.record()), done);
        let closed = {
            let mut state = shared.state.lock();
            state.under_way.begin(job, request.withdrawal().clone());
            state.closed
        };
        if closed {
            // The prefetch is closed, so this request would never be withdrawn. Dropping it answers it.
            return;
        }
        shared.pulse(job).during(|| source.request(request));
    }
}

/// Notes an answer, and wakes the thread above if there is room for another request now.
fn answered(
    shared: &PrefetchShared,
    cache: &Weak<Cache>,
    job: &ReadJob,
    bytes: Vec<u8>,
    read: Result<(), ReadError>,
    most: usize,
) {
    let read = read.map(|()| Loaded::Read(bytes));
    if let Ok(loaded) = &read {
        shared.count(job, loaded, cache);
    }
    let mut state = shared.state.lock();
    state.under_way.end(job);
    let was_full = state.ahead.in_flight().reads >= most;
    let noted = state.ahead.done(job, read, Instant::now());
    let wanted = was_full || state.ahead.wants_readers();
    let unwanted = state.unwanted();
    drop(state);
    unwanted.iter().for_each(Withdrawal::withdraw);
    if wanted {
        shared.work.notify_one();
    }
    if noted != Noted::Behind {
        shared.announce();
    }
}
