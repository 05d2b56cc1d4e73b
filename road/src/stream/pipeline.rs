//! The wiring of the road: makes the stages of a stream and starts them. The only place that knows all of them.

use std::io;
use std::sync::Arc;

use crossbeam_channel as channel;
use tokio::sync::oneshot;

use crate::batch::batcher::{Batcher, Rules};
use crate::batch::order::Order;
use crate::batch::slots::Slots;
use crate::batch::{BatchParts, BatchStage};
use crate::consumers::Note;
use crate::decode::Decoding;
use crate::gpu_threads::GpuThreads;
use crate::lease::{self, LeaseSettings};
use crate::prefetch::{Prefetch, ReadAheadSettings};
use crate::settings::MaxFailures;
use crate::stream::Stream;
use crate::threads;
use crate::upload::{self, Sink};

const BATCH_THREAD: &str = "forebay-batch";

/// The stages that run.
#[derive(Debug)]
pub(super) struct Pipeline {
    /// Dropped to stop the batch thread.
    stop: channel::Sender<()>,
    /// Dropped to stop the lease task.
    stop_leases: oneshot::Sender<()>,
    /// Where the batch thread leaves the number of the next batch as it ends.
    batch: oneshot::Receiver<u64>,
    /// Where pixels stand in a GPU.
    upload: Option<GpuThreads>,
    lease: tokio::task::JoinHandle<()>,
    /// Kept for its meter.
    pub(super) prefetch: Arc<Prefetch>,
}

impl Stream {
    /// Starts the stages for the first time. Where that fails, the ring, its threads and its descriptors go, as if the stream
    /// had never been opened.
    pub(super) async fn begin(&self) -> io::Result<()> {
        match self.start(0) {
            Ok(pipeline) => {
                *self.pipeline.lock().await = Some(pipeline);
                Ok(())
            }
            Err(error) => {
                self.close().await;
                Err(error)
            }
        }
    }

    /// Starts the stages; batches are numbered from `next`.
    ///
    /// # Errors
    /// The system has no room for a thread, or the GPU none for copies; nothing is left of what was started.
    pub(super) fn start(&self, next: u64) -> io::Result<Pipeline> {
        let first = self.worker.progress().borrow().floor;
        let settings = ReadAheadSettings {
            threads: self.prefetch.threads,
            budget: self.prefetch.budget.0,
            read_timeout: self.settings.read_timeout,
        };
        let prefetch =
            Prefetch::start(Arc::clone(self.dataset.source()), self.dataset.cache().cloned(), settings, first)?;
        let outbox = self.outbox.clone();
        let ring: Sink = Box::new(move |made| outbox.post(Note::Batch(made)));
        let (output, upload) = match &self.gpu {
            None => (ring, None),
            Some(rings) => {
                let (output, upload) = upload::start(Arc::clone(rings), ring).map_err(|error| {
                    io::Error::new(error.kind(), format!("copies to the GPU cannot be started: {error}"))
                })?;
                (output, Some(upload))
            }
        };
        let fixed = self.identity.shard.is_some().then(|| self.batching());
        // It gives the upload its work, and so ends before it.
        let watched = upload.as_ref().map(|upload| upload.watched(BATCH_THREAD));
        let parts = BatchParts {
            stream: self.identity.to_string(),
            storage_timeout: self.settings.storage_timeout,
            order: Order::new(Arc::clone(self.dataset.source()), Arc::clone(self.dataset.plan()), fixed),
            prefetch: Arc::clone(&prefetch),
            slots: Slots::new(self.free.clone(), self.gpu.clone(), watched),
            decoding: Decoding::new(
                Arc::clone(&self.pool),
                Arc::clone(&self.recipe),
                self.settings.seed,
                self.dataset.cache().cloned(),
                self.settings.decode_gpu,
            ),
            progress: self.worker.progress(),
            fates: self.fates.clone(),
            output,
            meter: Arc::clone(&self.batch_meter),
        };
        let rules = Rules {
            batch_size: self.settings.batch_size,
            on_error: self.settings.on_error,
            max_failures: self.settings.max_failures.map(|limit| count(limit, self.dataset.records())),
            dynamic: fixed.is_none().then_some(self.settings.last_batch_policy),
        };
        let (stop, stopped) = channel::bounded(0);
        let batcher = Batcher::new(rules).numbered_from(next).failing_without_one_of(Arc::clone(self.dataset.plan()));
        let stage = BatchStage::new(parts, batcher);
        let (ended, batch) = oneshot::channel();
        let run = move || {
            // Whoever stops it waits for this, unless the daemon ends at once.
            let _gone = ended.send(stage.run(&stopped));
        };
        threads::start(BATCH_THREAD, run)?;
        let outbox = self.outbox.clone();
        let ahead = LeaseSettings { ahead: self.prefetch.leases_ahead, ..LeaseSettings::default() };
        let (stop_leases, stopped_leases) = oneshot::channel();
        let leases = lease::keep(
            Arc::clone(&self.worker),
            Arc::clone(&prefetch),
            Arc::clone(self.dataset.plan()),
            Arc::clone(self.dataset.source()),
            ahead,
            self.heard.subscribe(),
            stopped_leases,
        );
        let lease = tokio::spawn(async move {
            if let Err(error) = leases.await {
                outbox.post(Note::Failed(error.to_string()));
            }
        });
        Ok(Pipeline { stop, stop_leases, batch, upload, lease, prefetch })
    }
}

impl Pipeline {
    /// Stops the stages as [`Pipeline::stop`] does, and waits for a GPU no longer than the daemon's end may take.
    pub(super) async fn leave(self) {
        if let Some(upload) = &self.upload {
            upload.leave();
        }
        self.stop().await;
    }

    /// Stops the stages; what was not handed on is given back. Answers the number of the next batch.
    pub(super) async fn stop(self) -> u64 {
        let Self { stop, stop_leases, batch, upload, lease, prefetch: _ } = self;
        drop(stop_leases);
        // Its last reply is waited for, so that every lease in it is given back with the rest.
        let _ended = lease.await;
        drop(stop);
        // A panic of the batch thread ends the process.
        let next = batch.await.unwrap_or_default();
        // What the batch thread handed on is with the ring's thread before anything else is done. Without room for a thread
        // it is waited for here.
        let _ended = threads::beside("forebay-join", move || drop(upload)).await;
        next
    }
}

/// A limit of bad records as a number of them.
fn count(limit: MaxFailures, records: u64) -> u64 {
    match limit {
        MaxFailures::Count(count) => count,
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a fraction of the dataset, 0 to 1, rounded down; exact to 2^53 records"
        )]
        MaxFailures::Fraction(fraction) => (records as f64 * fraction) as u64,
    }
}
