//! Threads that wait for GPUs: those of the lanes, and those of a ring's uploads. They are started, watched, and joined
//! at the end. The join has a time limit.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{self as channel, Receiver, RecvTimeoutError, Sender};

use crate::watch::{LateThread, Watch, Watched};
use crate::{last_resort, threads};

/// How often the watch looks.
const TICK: Duration = Duration::from_secs(1);
/// How many looks of the watch a GPU may take for a group of pictures, or for a batch's copies. Normally, they take
/// milliseconds, or a few seconds if a trainer keeps the GPU busy or a debugger holds it. A GPU that takes a minute has
/// hung.
const HANG: u32 = 60;
/// The same limit at the daemon's end. A service manager gives half a minute for the whole end.
const LEAVE: u32 = 10;

/// The threads. Dropping this joins them. Their work must be ending by then: the work queue is closed, or the upload's sink is
/// dropped.
#[derive(Debug)]
pub(crate) struct GpuThreads {
    watch: Arc<Watch>,
    handles: Vec<JoinHandle<()>>,
    /// Each thread has a clone until it ends.
    running: Option<Sender<Infallible>>,
    ended: Receiver<Infallible>,
    tick: Duration,
    /// How many more threads the system can start.
    #[cfg(test)]
    room: usize,
}

impl Default for GpuThreads {
    fn default() -> Self {
        let (running, ended) = channel::bounded(0);
        Self {
            watch: Arc::new(Watch::new(HANG)),
            handles: Vec::new(),
            running: Some(running),
            ended,
            tick: tick(),
            #[cfg(test)]
            room: usize::MAX,
        }
    }
}

/// The time between two looks. Tests that wait for a hang set it by the time that a hang takes.
fn tick() -> Duration {
    let milliseconds = std::env::var("FOREBAY_GPU_HANG_MS").ok().and_then(|text| text.parse().ok());
    milliseconds.map_or(TICK, |all| Duration::from_millis(all) / HANG)
}

impl GpuThreads {
    /// As on a system that can start only so many threads.
    #[cfg(test)]
    pub(crate) fn with_room_for(room: usize) -> Self {
        let mut threads = Self::default();
        threads.room = room;
        threads
    }

    /// Starts a thread. The watch checks it while the thread says that it waits.
    pub(crate) fn start(&mut self, name: &str, work: impl FnOnce(Watched) + Send + 'static) -> io::Result<()> {
        let (watched, running) = (self.watched(name), self.running.clone());
        self.spawn(name, move || {
            work(watched);
            drop(running);
        })
    }

    /// Watches a thread that was started elsewhere. That thread must end before the last of these threads.
    pub(crate) fn watched(&self, name: &str) -> Watched {
        self.watch.add(name)
    }

    /// Starts the watch. All threads must have been started. If one hangs, the process ends.
    pub(crate) fn watch(&mut self) -> io::Result<()> {
        self.watch_for(|thread, time| last_resort::hung(thread, time))
    }

    fn watch_for(&mut self, hung: impl Fn(&str, Duration) + Send + 'static) -> io::Result<()> {
        self.running = None;
        if self.handles.is_empty() {
            return Ok(());
        }
        let (watch, ended, tick) = (Arc::clone(&self.watch), self.ended.clone(), self.tick);
        self.spawn("forebay-gpu-watch", move || {
            while ended.recv_timeout(tick) == Err(RecvTimeoutError::Timeout) {
                if let Some(LateThread { thread, looks }) = watch.look() {
                    hung(&thread, tick * looks);
                }
            }
        })
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        #[cfg(test)]
        {
            self.room = self.room.checked_sub(1).ok_or(io::ErrorKind::WouldBlock)?;
        }
        self.handles.push(threads::start(name, work)?);
        Ok(())
    }

    /// Prepares for the daemon's end. From now on, a hung thread is waited for no longer than that end may take.
    pub(crate) fn leave(&self) {
        self.watch.limit(LEAVE);
    }
}

impl Drop for GpuThreads {
    /// The watch continues during the drop. If it could not be started, no thread has any work.
    fn drop(&mut self) {
        self.running = None;
        for thread in self.handles.drain(..) {
            // A panic of theirs has ended the process.
            let _ended = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_does_not_come_back_is_named_sooner_when_the_daemon_ends_and_one_that_does_is_waited_for() {
        for (leaves, looks) in [(false, HANG), (true, LEAVE)] {
            let mut threads = GpuThreads::default();
            threads.tick = Duration::from_millis(1);
            let (hold, held) = channel::bounded::<()>(0);
            threads.start("quick", |_| ()).unwrap();
            let wait = move |watched: Watched| {
                let _let_go = watched.during(|| held.recv());
            };
            threads.start("hybrid on GPU 0", wait).unwrap();
            if leaves {
                threads.leave();
            }
            let (tell, told) = channel::unbounded();
            threads.watch_for(move |thread, time| tell.send((thread.to_owned(), time)).unwrap()).unwrap();
            assert_eq!(told.recv(), Ok(("hybrid on GPU 0".into(), Duration::from_millis(looks.into()))));
            drop(hold);
            drop(threads);
            // The watch has ended too.
            assert_eq!(told.iter().find(|(thread, _)| thread != "hybrid on GPU 0"), None);
        }
    }

    #[test]
    fn threads_end_where_a_later_one_cannot_be_started() {
        let mut threads = GpuThreads::with_room_for(1);
        let (work, given) = channel::bounded::<()>(0);
        let (tell, told) = channel::bounded(1);
        let first = move |_| {
            let _ended = given.recv();
            tell.send(()).unwrap();
        };
        threads.start("first", first).unwrap();
        assert!(threads.start("second", |_| ()).is_err() && threads.watch().is_err());
        drop(work);
        drop(threads);
        assert_eq!(told.try_recv(), Ok(()));
    }
}
