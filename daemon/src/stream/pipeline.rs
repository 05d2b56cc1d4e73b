//! The wiring of the road: makes the stages of a stream and starts them. The only place that knows all of them.

use std::sync::Arc;
use std::thread;

use crossbeam_channel as channel;
use forebay_coordinator::CallError;
use tokio::sync::oneshot;

use crate::batch::batcher::{Batcher, Rules};
use crate::batch::{Parts, Stage};
use crate::config::stream::MaxFailures;
use crate::consumers::Note;
use crate::gpu_threads::GpuThreads;
use crate::lease;
use crate::prefetch::{Prefetch, Settings};
use crate::stream::Stream;
use crate::upload::{self, Sink};

const BATCH_THREAD: &str = "forebay-batch";

/// The stages that run.
#[derive(Debug)]
pub(super) struct Pipeline {
    /// Dropped to stop the batch thread.
    stop: channel::Sender<()>,
    /// Dropped to stop the lease task.
    stop_leases: oneshot::Sender<()>,
    batch: thread::JoinHandle<u64>,
    /// Where pixels stand in a GPU.
    upload: Option<GpuThreads>,
    lease: tokio::task::JoinHandle<()>,
    /// Kept for its meter.
    pub(super) prefetch: Arc<Prefetch>,
}

impl Stream {
    /// Starts the stages; batches are numbered from `next`.
    pub(super) fn start(&self, next: u64) -> Result<Pipeline, CallError> {
        let first = self.worker.progress().borrow().floor;
        let settings = Settings {
            threads: self.prefetch.threads,
            budget: self.prefetch.budget.0,
            read_timeout: self.settings.read_timeout,
        };
        let prefetch = Prefetch::start(Arc::clone(&self.source), self.cache.clone(), settings, first);
        let outbox = self.outbox.clone();
        let ring: Sink = Box::new(move |made| outbox.post(Note::Batch(made)));
        let (output, upload) = match &self.gpu {
            None => (ring, None),
            Some(rings) => {
                let (output, upload) = upload::start(Arc::clone(rings), ring).map_err(|error| {
                    CallError::Unavailable(format!("Copies to the GPU cannot be started: {error}."))
                })?;
                (output, Some(upload))
            }
        };
        let fixed = self.identity.shard.is_some().then(|| self.batching());
        let parts = Parts {
            source: Arc::clone(&self.source),
            plan: Arc::clone(&self.plan),
            recipe: Arc::clone(&self.recipe),
            seed: self.settings.seed,
            fixed,
            prefetch: Arc::clone(&prefetch),
            cache: self.cache.clone(),
            gpu: self.gpu.clone(),
            free: self.free.clone(),
            pool: Arc::clone(&self.pool),
            decode_gpu: self.settings.decode_gpu,
            progress: self.worker.progress(),
            fates: self.fates.clone(),
            output,
            meter: Arc::clone(&self.batch_meter),
        };
        let rules = Rules {
            batch_size: self.settings.batch_size,
            on_error: self.settings.on_error,
            max_failures: self.settings.max_failures.map(|limit| count(limit, self.source.len())),
            dynamic: fixed.is_none().then_some(self.settings.last_batch_policy),
        };
        let (stop, stopped) = channel::bounded(0);
        // It gives the upload its work, and so ends before it.
        let watched = upload.as_ref().map(|upload| upload.watched(BATCH_THREAD));
        let stage = Stage::new(parts, Batcher::new(rules).numbered_from(next), watched);
        let batch = thread::Builder::new()
            .name(BATCH_THREAD.into())
            .spawn(move || stage.run(&stopped))
            .map_err(|error| CallError::Unavailable(format!("The batch thread cannot be started: {error}.")))?;
        let outbox = self.outbox.clone();
        let ahead = lease::Settings { ahead: self.prefetch.leases_ahead, ..lease::Settings::default() };
        let (stop_leases, stopped_leases) = oneshot::channel();
        let leases = lease::keep(
            Arc::clone(&self.worker),
            Arc::clone(&prefetch),
            Arc::clone(&self.plan),
            Arc::clone(&self.source),
            ahead,
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
        let joined = tokio::task::spawn_blocking(move || {
            let next = batch.join();
            // What the batch thread handed on is with the ring's thread before anything else is done.
            drop(upload);
            next
        });
        let joined = joined.await;
        // A panic of the batch thread ends the process.
        joined.ok().and_then(Result::ok).unwrap_or_default()
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
