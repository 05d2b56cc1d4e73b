//! The stages of a stream while they run, and their end.

use std::sync::Arc;

use crossbeam_channel as channel;
use tokio::sync::oneshot;

use crate::gpu_threads::GpuThreads;
use crate::prefetch::Prefetch;
use crate::threads;

/// The stages that run.
#[derive(Debug)]
pub(super) struct Running {
    /// Dropped to stop the batch thread.
    pub(super) stop: channel::Sender<()>,
    /// Dropped to stop the lease task.
    pub(super) stop_leases: oneshot::Sender<()>,
    /// Where the batch thread leaves the number of the next batch as it ends.
    pub(super) batch: oneshot::Receiver<u64>,
    /// Copies pixels to a GPU, if the stream's pixels are in one.
    pub(super) upload: Option<GpuThreads>,
    pub(super) lease: tokio::task::JoinHandle<()>,
    /// Kept for its meter.
    pub(super) prefetch: Arc<Prefetch>,
}

impl Running {
    /// Stops the stages as [`Running::stop`] does. It waits for a GPU no longer than the daemon's end may take.
    pub(super) async fn leave(self) -> u64 {
        if let Some(upload) = &self.upload {
            upload.leave();
        }
        self.stop().await
    }

    /// Stops the stages, and gives back what was not handed on. Returns the number of the next batch.
    pub(super) async fn stop(self) -> u64 {
        let Self { stop, stop_leases, batch, upload, lease, prefetch: _ } = self;
        drop(stop_leases);
        // This waits for the last reply to the lease task, so that every lease in it is given back with the rest.
        let _ended = lease.await;
        drop(stop);
        // A panic of the batch thread ends the process.
        let next = batch.await.unwrap_or_default();
        // The batches that the batch thread handed on must reach the ring's thread before anything else is done. If there
        // is no room for a thread, this waits here.
        let _ended = threads::beside("forebay-join", move || drop(upload)).await;
        next
    }
}
