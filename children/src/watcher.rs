//! The one thread that watches the children of this process. It passes on what they write, and reaps those that were let go.
//!
//! A child is not reaped before it was let go, however it has ended. Until then, its number and that of its group are its own.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;

use crate::lines::ChildOutput;

/// How long the thread waits where the system lacks memory for the descriptors that it watches.
const PAUSE: Duration = Duration::from_millis(100);

/// Started with the first child.
static WATCHER: Mutex<Option<Arc<Watcher>>> = Mutex::new(None);

/// What the thread shares with those that start children and let them go.
#[derive(Debug)]
pub(crate) struct Watcher {
    /// Wakes the thread.
    wake: OwnedFd,
    state: Mutex<WatcherState>,
    reaped: Condvar,
}

#[derive(Debug, Default)]
struct WatcherState {
    /// Children that the thread does not know yet.
    new: Vec<WatchedChild>,
    counts: ChildCounts,
}

/// The children of this process so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChildCounts {
    /// Those that were started.
    pub started: u64,
    /// Those of them that were reaped, and have left nothing.
    pub reaped: u64,
}

impl ChildCounts {
    /// The counts, once all children that were started are reaped. Waits no longer than this.
    pub fn settled(within: Duration) -> Self {
        let Some(watcher) = WATCHER.lock().clone() else { return Self::default() };
        let deadline = Instant::now() + within;
        let mut state = watcher.state.lock();
        while state.counts.started != state.counts.reaped {
            if watcher.reaped.wait_until(&mut state, deadline).timed_out() {
                break;
            }
        }
        state.counts
    }
}

/// A child, as the thread sees it.
#[derive(Debug)]
pub(crate) struct WatchedChild {
    child: Child,
    /// It can be read once the child has ended.
    process: Arc<OwnedFd>,
    /// None, once nothing more is passed on.
    output: Option<ChildOutput>,
    has_ended: bool,
    is_let_go: Arc<AtomicBool>,
}

/// The child's place with the thread. Dropping it lets the child go.
#[derive(Debug)]
pub(crate) struct ChildWatch {
    watcher: Arc<Watcher>,
    is_let_go: Arc<AtomicBool>,
}

impl Watcher {
    /// The one of this process.
    ///
    /// # Errors
    /// Its thread cannot be started.
    pub(crate) fn shared() -> io::Result<Arc<Self>> {
        let mut shared = WATCHER.lock();
        if let Some(watcher) = &*shared {
            return Ok(Arc::clone(watcher));
        }
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let watcher = Arc::new(Self { wake, state: Mutex::default(), reaped: Condvar::new() });
        let watched = Arc::clone(&watcher);
        thread::Builder::new().name("forebay-children".into()).spawn(move || watched.run())?;
        *shared = Some(Arc::clone(&watcher));
        Ok(watcher)
    }

    /// Begins to watch a child.
    pub(crate) fn watch(self: &Arc<Self>, child: Child, process: Arc<OwnedFd>, output: ChildOutput) -> ChildWatch {
        let is_let_go = Arc::<AtomicBool>::default();
        let watch = ChildWatch { watcher: Arc::clone(self), is_let_go: Arc::clone(&is_let_go) };
        {
            let mut state = self.state.lock();
            state.new.push(WatchedChild { child, process, output: Some(output), has_ended: false, is_let_go });
            state.counts.started += 1;
        }
        self.wake();
        watch
    }

    fn wake(&self) {
        // It fails only if the thread was told so often and has not looked yet.
        let _told = rustix::io::write(&self.wake, &[1; 8]);
    }

    fn run(&self) {
        let mut children: Vec<WatchedChild> = Vec::new();
        loop {
            let (ready, is_woken) = self.wait(&children);
            if is_woken {
                let _read = rustix::io::read(&self.wake, &mut [0; 8]);
            }
            for (child, [has_bytes, has_ended]) in children.iter_mut().zip(ready) {
                child.follow(has_bytes, has_ended);
            }
            let before = children.len();
            children.retain_mut(|child| !child.is_reaped());
            let reaped = before - children.len();
            let mut state = self.state.lock();
            children.append(&mut state.new);
            if reaped > 0 {
                state.counts.reaped += reaped as u64;
                self.reaped.notify_all();
            }
        }
    }

    /// Waits until something happens: for each child, whether it has written something and whether it has ended; and whether the
    /// thread was woken.
    fn wait(&self, children: &[WatchedChild]) -> (Vec<[bool; 2]>, bool) {
        let fds = children.iter().flat_map(WatchedChild::awaited);
        let mut polled: Vec<PollFd<'_>> =
            fds.flatten().chain([self.wake.as_fd()]).map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        while let Err(error) = poll(&mut polled, None) {
            if error != Errno::INTR {
                let mut state = self.state.lock();
                self.reaped.wait_for(&mut state, PAUSE);
            }
        }
        let mut ready = polled.iter().map(|polled| !polled.revents().is_empty());
        let each = children.iter().map(|child| child.awaited().map(|fd| fd.is_some() && ready.next() == Some(true)));
        (each.collect(), ready.next() == Some(true))
    }
}

impl WatchedChild {
    /// The descriptors that are waited for: its output, and its end.
    fn awaited(&self) -> [Option<BorrowedFd<'_>>; 2] {
        let output = self.output.as_ref().map(|output| output.as_fd());
        [output, (!self.has_ended).then(|| self.process.as_fd())]
    }

    fn follow(&mut self, has_bytes: bool, has_ended: bool) {
        if has_ended {
            self.has_ended = true;
            self.output.take().into_iter().for_each(ChildOutput::finish);
        } else if has_bytes {
            let is_over = self.output.as_mut().is_some_and(|output| !output.pass_on());
            self.output.take_if(|_| is_over).into_iter().for_each(ChildOutput::finish);
        }
    }

    /// Reaps it if it has ended and was let go.
    fn is_reaped(&mut self) -> bool {
        if !self.has_ended || !self.is_let_go.load(Ordering::SeqCst) {
            return false;
        }
        match self.child.try_wait() {
            Ok(Some(status)) => tracing::debug!(%status, child = self.child.id(), "a child process has ended"),
            Ok(None) => return false,
            Err(error) => tracing::debug!(%error, child = self.child.id(), "a child process is not reaped"),
        }
        true
    }
}

impl Drop for ChildWatch {
    fn drop(&mut self) {
        self.is_let_go.store(true, Ordering::SeqCst);
        self.watcher.wake();
    }
}
