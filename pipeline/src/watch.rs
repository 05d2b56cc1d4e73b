//! A watch over threads that wait for a GPU. Without it, a thread whose driver call never returns would hold its slots
//! forever, silently.
//!
//! The watch counts its own checks instead of time. So if the whole process was stopped or frozen, no thread counts as
//! waiting meanwhile.

use std::sync::Arc;

use parking_lot::Mutex;

/// The threads, and since which look each one waits.
#[derive(Debug)]
pub(crate) struct Watch(Mutex<WatchState>);

#[derive(Debug)]
struct WatchState {
    looks: u64,
    /// Looks that a thread may wait for.
    limit: u32,
    entries: Vec<WatchedThread>,
}

#[derive(Debug)]
struct WatchedThread {
    name: String,
    since: Option<u64>,
}

/// One thread's line in the watch.
#[derive(Debug)]
pub(crate) struct Watched {
    watch: Arc<Watch>,
    number: usize,
}

/// A thread that has waited for longer than so many looks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LateThread {
    pub(crate) thread: String,
    pub(crate) looks: u32,
}

impl Watch {
    /// No thread is watched yet. A thread may wait for this number of looks.
    pub(crate) fn new(limit: u32) -> Self {
        Self(Mutex::new(WatchState { looks: 0, limit, entries: Vec::new() }))
    }

    /// A further thread.
    pub(crate) fn add(self: &Arc<Self>, name: &str) -> Watched {
        let entries = &mut self.0.lock().entries;
        entries.push(WatchedThread { name: name.into(), since: None });
        Watched { watch: Arc::clone(self), number: entries.len() - 1 }
    }

    /// From now on a thread may wait for no more looks than this.
    pub(crate) fn limit(&self, limit: u32) {
        let mut state = self.0.lock();
        state.limit = state.limit.min(limit);
    }

    /// Makes a look, which is due at every tick. Returns a thread that has waited for too many looks.
    pub(crate) fn look(&self) -> Option<LateThread> {
        let mut state = self.0.lock();
        state.looks += 1;
        let WatchState { looks, limit, entries } = &*state;
        let late = |entry: &&WatchedThread| entry.since.is_some_and(|since| looks - since > u64::from(*limit));
        entries.iter().find(late).map(|entry| LateThread { thread: entry.name.clone(), looks: *limit })
    }
}

impl Watched {
    /// Does work that waits for a GPU.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.waits(true);
        let done = work();
        self.waits(false);
        done
    }

    fn waits(&self, waits: bool) {
        let mut state = self.watch.0.lock();
        state.entries[self.number].since = waits.then_some(state.looks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn late(thread: &str, looks: u32) -> LateThread {
        LateThread { thread: thread.into(), looks }
    }

    #[test]
    fn a_thread_that_waits_for_more_looks_than_the_limit_is_named_and_one_that_came_back_is_not() {
        let watch = Arc::new(Watch::new(3));
        let [quick, slow] = ["quick", "slow"].map(|name| watch.add(name));
        let looks = |number: usize| (0..number).map(|_| watch.look()).collect::<Vec<_>>();
        assert_eq!(looks(9), [const { None }; 9], "none has begun");
        slow.during(|| {
            quick.during(|| assert_eq!(watch.look(), None));
            assert_eq!(looks(2), [None, None]);
            // `quick` begins another wait, while `slow` is still in its first.
            quick.during(|| assert_eq!(looks(2), [Some(late("slow", 3)), Some(late("slow", 3))]));
        });
        assert_eq!(looks(9), [const { None }; 9], "both came back");
    }

    #[test]
    fn a_limit_is_only_ever_made_lower() {
        let watch = Arc::new(Watch::new(9));
        let thread = watch.add("thread");
        thread.during(|| {
            assert_eq!((watch.look(), watch.look()), (None, None));
            watch.limit(2);
            watch.limit(9);
            assert_eq!(watch.look(), Some(late("thread", 2)));
        });
    }
}
