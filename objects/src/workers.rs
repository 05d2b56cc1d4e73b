//! Threads that do short work from a queue, until the process ends.

use std::{io, thread};

use crossbeam_channel::Sender;

type Work = Box<dyn FnOnce() + Send>;

/// Some threads, with one queue of work.
#[derive(Debug)]
pub struct Workers {
    queue: Sender<Work>,
}

impl Workers {
    /// Starts threads with this name. If the system has no room for all of them, fewer are enough.
    ///
    /// # Errors
    /// It has no room for one.
    pub fn start(name: &str, count: usize) -> io::Result<Self> {
        let (queue, waiting) = crossbeam_channel::unbounded::<Work>();
        for number in 0..count.max(1) {
            let waiting = waiting.clone();
            let work = move || waiting.iter().for_each(|work| work());
            match thread::Builder::new().name(name.to_owned()).spawn(work) {
                Ok(_) => {}
                Err(error) if number == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok(Self { queue })
    }

    /// Does the work on one of the threads.
    pub fn bring(&self, work: impl FnOnce() + Send + 'static) {
        // A thread ends only if its work panics. If all have, what is brought is dropped.
        drop(self.queue.send(Box::new(work)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn work_is_done_on_threads_of_this_name() {
        let workers = Workers::start("a-worker", 3).unwrap();
        let (sender, done) = mpsc::channel();
        for _ in 0..100 {
            let sender = sender.clone();
            workers.bring(move || sender.send(thread::current().name().map(str::to_owned)).unwrap());
        }
        drop(sender);
        assert_eq!(done.iter().collect::<Vec<_>>(), vec![Some("a-worker".to_owned()); 100]);
    }
}
