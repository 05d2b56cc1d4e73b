//! Threads that finish what a store has answered: they compare checksums and decompress. The threads of the stores only move
//! bytes, so that no record holds up the requests of other streams.

use std::sync::LazyLock;
use std::thread;

use forebay_objects::Workers;

/// They begin with the first answer that has work. Nothing if the system has no threads.
static FINISHERS: LazyLock<Option<Workers>> = LazyLock::new(|| {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    Workers::start("forebay-finish", cores).ok()
});

/// Does the work on one of the threads. No more work waits than there are requests under way.
pub(crate) fn finish(work: impl FnOnce() + Send + 'static) {
    match &*FINISHERS {
        Some(threads) => threads.bring(work),
        None => work(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn work_is_done_on_other_threads_than_the_one_that_brings_it() {
        let (sender, done) = mpsc::channel();
        for _ in 0..100 {
            let sender = sender.clone();
            finish(move || sender.send(thread::current().id()).unwrap());
        }
        drop(sender);
        let threads: Vec<_> = done.iter().collect();
        assert_eq!(threads.len(), 100);
        assert!(!threads.contains(&thread::current().id()));
    }
}
