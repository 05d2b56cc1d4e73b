//! Threads that finish what a store has answered: they compare checksums and decompress. The threads of the stores only move
//! bytes, so that no record holds up the requests of other streams.

use std::sync::LazyLock;
use std::thread;

use crossbeam_channel::Sender;

type Work = Box<dyn FnOnce() + Send>;

/// They begin with the first answer that has work, and stay until the process ends. Nothing if the system has no threads.
static FINISHERS: LazyLock<Option<Sender<Work>>> = LazyLock::new(start);

/// Does the work on one of the threads. No more work waits than there are requests under way.
pub(crate) fn finish(work: impl FnOnce() + Send + 'static) {
    let work: Work = Box::new(work);
    match &*FINISHERS {
        // The threads never end, so the work is taken.
        Some(queue) => drop(queue.send(work)),
        None => work(),
    }
}

fn start() -> Option<Sender<Work>> {
    let (queue, waiting) = crossbeam_channel::unbounded::<Work>();
    let one = |_| {
        let waiting = waiting.clone();
        let work = move || waiting.iter().for_each(|work| work());
        thread::Builder::new().name("forebay-finish".into()).spawn(work).ok()
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let started = (0..cores).map_while(one).count();
    (started > 0).then_some(queue)
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
