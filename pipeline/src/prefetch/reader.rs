//! A reader thread: it waits for each record that it reads.

use std::sync::{Arc, Weak};
use std::time::Instant;

use forebay_sources::Source;

use super::readahead::Noted;
use super::shared::PrefetchShared;
use crate::cache::Cache;

/// Reads until the prefetch is closed, or this thread was given up.
pub(super) fn read_until_closed(shared: &Arc<PrefetchShared>, source: &dyn Source, cache: &Weak<Cache>) {
    loop {
        // The cache is held until there is something to read, and not while it is read.
        let Some((job, buffer)) = shared.next_job(source, cache.upgrade().as_deref(), None) else { return };
        let read = shared.pulse(job).during(|| shared.read(source, &job, buffer));
        if let Ok(loaded) = &read {
            shared.count(&job, loaded, cache);
        }
        let noted = shared.state.lock().ahead.ended(&job, read, Instant::now());
        match noted {
            Noted::Next => shared.announce(),
            Noted::Behind => {}
            // This thread was given up, and another one has its place.
            Noted::Late => return shared.announce(),
        }
    }
}
