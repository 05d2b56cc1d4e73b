//! Threads that wait for GPUs, those of the lanes and of a ring's uploads: started, watched, and waited for at the end, though not
//! for ever.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{self as channel, Receiver, RecvTimeoutError, Sender};

use crate::last_resort;
use crate::watch::{Watch, Watched};

/// How long a GPU may take for a group of pictures, or a batch's copies. It takes milliseconds, and a few seconds where a trainer keeps the GPU busy or a
/// debugger holds it; what takes a minute has hung.
const HANG: Duration = Duration::from_secs(60);
/// The same at the daemon's end, where a service manager waits half a minute for all of it.
const LEAVE: Duration = Duration::from_secs(10);
/// How often the watch looks.
const TICK: Duration = Duration::from_secs(1);

/// The threads.
#[derive(Debug)]
pub struct GpuThreads {
    watch: Arc<Watch>,
    handles: Vec<JoinHandle<()>>,
    /// Threads have a clone each until they end.
    running: Option<Sender<Infallible>>,
    ended: Receiver<Infallible>,
    hang: Duration,
}

/// A thread whose GPU does not come back.
#[derive(Debug, PartialEq, Eq)]
struct Stuck(String);

impl Default for GpuThreads {
    fn default() -> Self {
        let (running, ended) = channel::bounded(0);
        Self { watch: Arc::default(), handles: Vec::new(), running: Some(running), ended, hang: hang() }
    }
}

/// The limit; tests, which wait for a hang, name a shorter one.
fn hang() -> Duration {
    let milliseconds = std::env::var("FOREBAY_GPU_HANG_MS").ok().and_then(|text| text.parse().ok());
    milliseconds.map_or(HANG, Duration::from_millis)
}

impl GpuThreads {
    /// Starts a thread, which is watched while it says that it waits.
    pub(crate) fn start(&mut self, name: &str, work: impl FnOnce(Watched) + Send + 'static) -> io::Result<()> {
        let (watched, running) = (self.watch.add(name), self.running.clone());
        let thread = Builder::new().name(name.into()).spawn(move || {
            work(watched);
            drop(running);
        })?;
        self.handles.push(thread);
        Ok(())
    }

    /// Begins to watch: all threads are started. One that hangs ends the process.
    pub(crate) fn watch(&mut self) -> io::Result<()> {
        self.running = None;
        if self.handles.is_empty() {
            return Ok(());
        }
        let (watch, ended, limit) = (Arc::clone(&self.watch), self.ended.clone(), self.hang);
        let look = move || {
            while ended.recv_timeout(TICK.min(limit)) == Err(RecvTimeoutError::Timeout) {
                if let Some(thread) = watch.late(Instant::now(), limit) {
                    last_resort::hung(&thread, limit);
                }
            }
        };
        self.handles.push(Builder::new().name("forebay-gpu-watch".into()).spawn(look)?);
        Ok(())
    }

    /// Waits until all have ended, as long as the GPU comes back from each single thing that they have given it.
    fn wait(&mut self, limit: Duration) -> Result<(), Stuck> {
        while self.ended.recv_timeout(TICK.min(limit)) == Err(RecvTimeoutError::Timeout) {
            if let Some(thread) = self.watch.late(Instant::now(), limit) {
                return Err(Stuck(thread));
            }
        }
        for thread in self.handles.drain(..) {
            // A panic of theirs has ended the process.
            let _ended = thread.join();
        }
        Ok(())
    }
}

impl Drop for GpuThreads {
    fn drop(&mut self) {
        self.running = None;
        let limit = LEAVE.min(self.hang);
        if let Err(Stuck(thread)) = self.wait(limit) {
            last_resort::hung(&thread, limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_waits_for_threads_and_names_one_that_does_not_come_back() {
        let mut threads = GpuThreads::default();
        let (hold, held) = channel::bounded::<()>(0);
        let (begin, begun) = channel::bounded(1);
        threads.start("quick", |_| ()).unwrap();
        let wait = move |watched: Watched| {
            watched.begin(Instant::now());
            begin.send(()).unwrap();
            let _let_go = held.recv();
        };
        threads.start("hybrid on GPU 0", wait).unwrap();
        threads.watch().unwrap();
        begun.recv().unwrap();
        assert_eq!(threads.wait(Duration::from_millis(1)), Err(Stuck("hybrid on GPU 0".into())));
        drop(hold);
        assert_eq!(threads.wait(Duration::from_secs(60)), Ok(()));
    }
}
