//! What a stream tells of itself: to a trainer that attaches, to the status page, to the audit.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use forebay_coordinator::{CallError, Outage};
use forebay_pixels::{Dtype, Layout};
use forebay_proto::v1::{
    AuditReply, CacheStatus, ListQuarantineReply, QuarantineKey, RingPlace, StageStatus, StreamInfo, StreamStatus,
};
use prost::Message as _;
use tokio::sync::{oneshot, watch};

use crate::cache::{Cache, Figures};
use crate::consumers::{Note, RingStatus};
use crate::meter::Meter;
use crate::metric::Metric;
use crate::placement::PixelPlace;
use crate::samples::Samples;
use crate::stream::Stream;

/// What the ledger has counted of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    delivered: u64,
    bad: u64,
}

/// How long the ledger may be unwritable before those who ask for an audit are told so.
const MOMENT: Duration = Duration::from_secs(1);

impl Stream {
    /// Protobuf [`StreamInfo`].
    pub(super) fn info(&self, epoch: u64) -> Vec<u8> {
        let (height, width, _) = self.recipe.shape();
        let output = self.recipe.output();
        let info = StreamInfo {
            stream: self.identity.stream.clone(),
            run: self.identity.run.clone(),
            records: self.dataset.records(),
            batch_size: self.settings.batch_size.into(),
            batches_per_epoch: self.batching().batches_per_epoch(self.dataset.plan(), epoch),
            epochs: self.settings.epochs.unwrap_or(0),
            epoch,
            classes: self.dataset.source().classes().to_vec(),
            height,
            width,
            dtype: match output.dtype {
                Dtype::Uint8 => "uint8",
                Dtype::Float16 => "float16",
                Dtype::Bfloat16 => "bfloat16",
                Dtype::Float32 => "float32",
            }
            .into(),
            layout: match output.layout {
                Layout::Nhwc => "NHWC",
                Layout::Nchw => "NCHW",
            }
            .into(),
            spec_hash: self.spec_hash.clone(),
        };
        info.encode_to_vec()
    }

    /// How its ring is; nothing once the ring's thread has ended.
    pub async fn ring_status(&self) -> Option<RingStatus> {
        let (reply, status) = oneshot::channel();
        self.outbox.post(Note::Status(reply));
        status.await.ok()
    }

    /// How it is.
    ///
    /// # Errors
    /// The ledger cannot be asked.
    pub async fn status(&self) -> Result<StreamStatus, CallError> {
        let ring = self.ring_status().await.unwrap_or_default();
        let Counted { delivered, bad } = self.counted().await?;
        let mut storage = None;
        let mut stages = vec![stage(self.pool.meter()), stage(&self.batch_meter)];
        // A stream that begins anew has no such stage.
        if let Ok(pipeline) = self.pipeline.try_lock()
            && let Some(pipeline) = pipeline.as_ref()
        {
            stages.insert(0, stage(pipeline.prefetch.meter()));
            storage = pipeline.prefetch.storage_wait(Instant::now());
        }
        Ok(StreamStatus {
            name: self.identity.to_string(),
            run: self.identity.run.clone(),
            source: self.dataset.name().into(),
            records: self.dataset.records(),
            epoch: ring.epoch,
            delivered,
            batches: self.counters.published.load(Ordering::Relaxed),
            bad,
            slots_free: ring.slots.free + ring.slots.unpopulated,
            slots_filling: ring.slots.filling,
            slots_ready: ring.slots.ready,
            slots_held: ring.slots.held,
            slots_quarantined: ring.slots.quarantined,
            consumers: ring.consumers,
            stages,
            failure: ring.failure.unwrap_or_default(),
            cache: self.dataset.cache().map(|kept| cache(kept)),
            ring: Some(self.ring_place()),
            storage_wait_ms: storage.as_ref().map_or(0, |wait| millis(wait.since.elapsed())),
            storage: storage.map_or_else(String::new, |wait| wait.reason),
        })
    }

    /// The ledger's counts; the last known ones while it cannot be written, which the status says beside them.
    async fn counted(&self) -> Result<Counted, CallError> {
        match self.totals().await {
            Ok(counted) => {
                *self.counted.lock() = counted;
                Ok(counted)
            }
            Err(CallError::Unavailable(_)) => Ok(*self.counted.lock()),
            Err(error) => Err(error),
        }
    }

    fn ring_place(&self) -> RingPlace {
        let (gpu, page_locked) = (&self.taken.gpu, &self.taken.page_locked);
        RingPlace {
            placement: match self.place() {
                PixelPlace::Host => "host".into(),
                PixelPlace::Gpu { ordinal, .. } => format!("gpu:{ordinal}"),
            },
            gpu_bytes: gpu.load(Ordering::Relaxed),
            page_locked: page_locked.load(Ordering::Relaxed),
            copied: self.taken.copied.load(Ordering::Relaxed),
        }
    }

    /// Its metrics.
    pub async fn show(&self, samples: &mut Samples) {
        let name = self.identity.to_string();
        let labels = [("stream", name.as_str())];
        let counters = [
            (Metric::RecordsDelivered, &self.counters.delivered),
            (Metric::Batches, &self.counters.published),
            (Metric::BatchesRedelivered, &self.counters.redelivered),
            (Metric::RecordsBad, &self.counts.bad),
        ];
        for (metric, value) in counters {
            samples.counter(metric, &labels, value.load(Ordering::Relaxed));
        }
        samples.stage(&name, self.pool.meter());
        samples.stage(&name, &self.batch_meter);
        if let Ok(pipeline) = self.pipeline.try_lock()
            && let Some(pipeline) = pipeline.as_ref()
        {
            let prefetch = &pipeline.prefetch;
            samples.stage(&name, prefetch.meter());
            samples.counter(Metric::BytesRead, &labels, prefetch.bytes_read());
            samples.counter(Metric::ReadersReplaced, &labels, prefetch.replaced());
            samples.level(Metric::Leases, &labels, prefetch.leases() as u64);
            let wait = prefetch.storage_wait(Instant::now());
            samples.gauge(Metric::StorageWait, &labels, wait.map_or(0.0, |wait| wait.since.elapsed().as_secs_f64()));
        }
        if let Some(cache) = self.dataset.cache() {
            let figures = cache.figures();
            samples.counter(Metric::CacheHits, &labels, figures.hits);
            samples.counter(Metric::CacheMisses, &labels, figures.misses);
            samples.level(Metric::CacheRecords, &labels, figures.records);
            samples.level(Metric::CacheBytes, &labels, figures.bytes);
            samples.level(Metric::CacheBudget, &labels, figures.budget);
        }
        let place = self.ring_place();
        samples.level(Metric::RingGpu, &labels, place.gpu_bytes);
        samples.level(Metric::RingPageLocked, &labels, place.page_locked);
        let Some(ring) = self.ring_status().await else { return };
        let slots = [
            ("free", ring.slots.free),
            ("filling", ring.slots.filling),
            ("ready", ring.slots.ready),
            ("held", ring.slots.held),
            ("quarantined", ring.slots.quarantined),
        ];
        for (state, count) in slots {
            samples.level(Metric::RingSlots, &[labels[0], ("state", state)], count.into());
        }
        samples.level(Metric::Consumers, &labels, ring.consumers.len() as u64);
        samples.level(Metric::Epoch, &labels, ring.epoch);
    }

    /// The ledger's tallies from an epoch on, a page of them, with all that was handed in.
    ///
    /// # Errors
    /// The ledger cannot be asked; or it cannot be written, and something waits for that.
    pub async fn audit(&self, from_epoch: u64) -> Result<AuditReply, CallError> {
        self.flush_or_outage().await?;
        self.worker.audit(from_epoch).await
    }

    /// The quarantine's list behind an entry, a page of it, with all that was handed in.
    ///
    /// # Errors
    /// As those of [`audit`](Self::audit).
    pub async fn quarantine(&self, after: Option<QuarantineKey>) -> Result<ListQuarantineReply, CallError> {
        self.flush_or_outage().await?;
        self.worker.quarantine(after).await
    }

    /// Waits until all that was handed in is durable, but not for the end of an outage.
    async fn flush_or_outage(&self) -> Result<(), CallError> {
        let outage = self.worker.outage();
        tokio::select! {
            biased;
            () = self.flush() => Ok(()),
            outage = lasting(outage) => Err(CallError::Unavailable(format!("{outage}. Receipts wait until it can be written."))),
        }
    }

    /// Records that were delivered in the run, and bad ones.
    async fn totals(&self) -> Result<Counted, CallError> {
        let mut counted = Counted::default();
        let mut from_epoch = Some(0);
        while let Some(epoch) = from_epoch {
            let page = self.audit(epoch).await?;
            for tally in &page.epochs {
                counted.delivered += tally.delivered.unwrap_or_default().count;
                counted.bad += tally.quarantined.unwrap_or_default().count;
            }
            from_epoch = page.next_epoch();
        }
        Ok(counted)
    }
}

/// Returns when an outage has lasted for a moment; never without one.
async fn lasting(mut outage: watch::Receiver<Option<Outage>>) -> Outage {
    loop {
        let Ok(begun) = outage.wait_for(Option::is_some).await.map(|begun| begun.clone()) else {
            return std::future::pending().await;
        };
        let over = outage.wait_for(Option::is_none);
        if let (Some(begun), Err(_elapsed)) = (begun, tokio::time::timeout(MOMENT, over).await) {
            return begun;
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn stage(meter: &Meter) -> StageStatus {
    let waits = meter.waits();
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    StageStatus {
        name: meter.name().into(),
        items: waits.items,
        writer_wait_us: micros(waits.writer),
        reader_wait_us: micros(waits.reader),
    }
}

fn cache(cache: &Cache) -> CacheStatus {
    let Figures { hits, misses, records, bytes, budget } = cache.figures();
    CacheStatus { keep: cache.keep().to_string(), records, bytes, budget, hits, misses }
}
