//! A watch over threads that wait for a GPU: one whose driver never came back would hold its slots for ever, and say nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The threads, and since when each waits.
#[derive(Debug, Default)]
pub(crate) struct Watch(Mutex<Vec<Entry>>);

#[derive(Debug)]
struct Entry {
    name: String,
    since: Option<Instant>,
}

/// One thread's line in the watch.
#[derive(Debug)]
pub(crate) struct Watched {
    watch: Arc<Watch>,
    number: usize,
}

impl Watch {
    /// A further thread.
    pub(crate) fn add(self: &Arc<Self>, name: &str) -> Watched {
        let mut entries = self.0.lock();
        entries.push(Entry { name: name.into(), since: None });
        Watched { watch: Arc::clone(self), number: entries.len() - 1 }
    }

    /// A thread that has waited for longer than this.
    pub(crate) fn late(&self, now: Instant, limit: Duration) -> Option<String> {
        let entries = self.0.lock();
        let late = |entry: &&Entry| entry.since.is_some_and(|since| now.saturating_duration_since(since) > limit);
        entries.iter().find(late).map(|entry| entry.name.clone())
    }
}

impl Watched {
    /// The thread waits for a GPU from now on.
    pub(crate) fn begin(&self, now: Instant) {
        self.watch.0.lock()[self.number].since = Some(now);
    }

    /// It waits no more.
    pub(crate) fn end(&self) {
        self.watch.0.lock()[self.number].since = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_waits_for_longer_than_the_limit_is_named_and_one_that_came_back_is_not() {
        let watch = Arc::new(Watch::default());
        let [quick, slow] = ["quick", "slow"].map(|name| watch.add(name));
        let (start, limit) = (Instant::now(), Duration::from_secs(60));
        assert_eq!(watch.late(start + 9 * limit, limit), None, "none has begun");
        slow.begin(start);
        quick.begin(start);
        quick.end();
        quick.begin(start + limit);
        assert_eq!(watch.late(start + limit, limit), None);
        assert_eq!(watch.late(start + limit + Duration::from_secs(1), limit).as_deref(), Some("slow"));
        slow.end();
        assert_eq!(watch.late(start + 2 * limit, limit), None);
        assert_eq!(watch.late(start + 2 * limit + Duration::from_secs(1), limit).as_deref(), Some("quick"));
    }
}
