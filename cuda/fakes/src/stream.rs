//! Streams as threads: what is queued runs in order, behind the caller's back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use parking_lot::{Condvar, Mutex};

type Work = Box<dyn FnOnce() + Send>;

/// A queue and the thread that empties it.
pub(crate) struct Stream {
    queue: Option<Sender<Work>>,
    /// How often its end was marked.
    marks: Arc<(Mutex<u64>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

/// How often it was recorded, and how many of these were reached.
#[derive(Default)]
pub(crate) struct Event {
    state: Mutex<(u64, u64)>,
    reached: Condvar,
    /// It is a part of a graph, and nothing can be asked of it.
    captured: AtomicBool,
}

impl Stream {
    pub(crate) fn new() -> Self {
        let (queue, work) = channel::<Work>();
        let thread = thread::spawn(move || work.into_iter().for_each(|work| work()));
        Self { queue: Some(queue), marks: Arc::default(), thread: Some(thread) }
    }

    pub(crate) fn queue(&self, work: impl FnOnce() + Send + 'static) {
        let queue = self.queue.as_ref().expect("a stream has its queue until it is dropped");
        queue.send(Box::new(work)).expect("the thread runs until the queue is closed");
    }

    /// Waits, in its work, until its end is marked once more than now.
    pub(crate) fn next_mark(&self) -> impl FnOnce() + Send + 'static {
        let marks = Arc::clone(&self.marks);
        let now = *marks.0.lock();
        move || {
            let (count, marked) = &*marks;
            marked.wait_while(&mut count.lock(), |count| *count == now);
        }
    }

    pub(crate) fn record(&self, event: &Arc<Event>) {
        *self.marks.0.lock() += 1;
        self.marks.1.notify_all();
        event.state.lock().0 += 1;
        let event = Arc::clone(event);
        self.queue(move || {
            event.state.lock().1 += 1;
            event.reached.notify_all();
        });
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            thread.join().expect("work of the fake does not panic");
        }
    }
}

impl Event {
    /// A mark on a stream without work.
    pub(crate) fn record_done(&self) {
        let mut state = self.state.lock();
        state.0 += 1;
        state.1 += 1;
    }

    /// A mark on a stream whose work is captured into a graph.
    pub(crate) fn capture(&self) {
        self.captured.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_captured(&self) -> bool {
        self.captured.load(Ordering::Relaxed)
    }

    pub(crate) fn is_reached(&self) -> bool {
        let state = self.state.lock();
        state.1 >= state.0
    }

    pub(crate) fn wait(&self) {
        let mut state = self.state.lock();
        while state.1 < state.0 {
            self.reached.wait(&mut state);
        }
    }
}
