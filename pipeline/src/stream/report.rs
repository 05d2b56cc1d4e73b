//! What a stream reports about itself: to a trainer that attaches, to the status page, and to the audit.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use forebay_delivery::{LedgerCounts, RingStatus};
use forebay_pixels::Layout;
use forebay_proto::v1::{
    CacheStatus, RemoteDecoder, RingPlace, SeekStatus, SourceRequests, StageStatus, StepFill, StreamInfo, StreamStatus,
};

use super::rings::Site;
use super::{Stream, batching};
use crate::cache::{Cache, Figures};
use crate::fill::BatchFill;
use crate::meter::Meter;
use crate::metric::Metric;
use crate::placement::PixelPlace;
use crate::prefetch::RequestFigures;
use crate::remote::roster::{DecoderFigures, DecoderState};
use crate::samples::Samples;
use crate::seek::{SeekFigures, SeekStore};

/// What a stream tells a trainer about itself.
pub(super) fn info(stream: &Stream, epoch: u64) -> StreamInfo {
    let Stream { identity, settings, dataset, .. } = stream;
    let (height, width, _) = settings.recipe.shape();
    let output = settings.recipe.output();
    StreamInfo {
        stream: identity.stream.clone(),
        run: identity.run.clone(),
        records: dataset.selected(),
        batch_size: settings.batch_size.into(),
        batches_per_epoch: batching(settings).batches_per_epoch(dataset.plan(), epoch),
        epochs: settings.epochs.unwrap_or(0),
        epoch,
        classes: dataset.source().classes().to_vec(),
        height,
        width,
        dtype: output.dtype.name().into(),
        layout: match output.layout {
            Layout::Nhwc => "NHWC",
            Layout::Nchw => "NCHW",
        }
        .into(),
        spec_hash: stream.delivery.ledger().opened().spec_hash.clone(),
        daemon_pid: std::process::id(),
    }
}

/// The stream's status, with the counts of its ledger.
pub(super) async fn status(stream: &Stream) -> StreamStatus {
    let ledger = stream.delivery.ledger();
    let mut ring = stream.delivery.status().await.unwrap_or_default();
    let counted = match ledger.counted(ring.epoch).await {
        Ok(counted) => counted,
        Err(refusal) => {
            ring.failure.get_or_insert_with(|| refusal.to_string());
            ledger.last_counted()
        }
    };
    told(stream, ring, counted)
}

/// The stream's status, with the last known counts of its ledger.
pub(super) async fn reading(stream: &Stream) -> StreamStatus {
    let ring = stream.delivery.status().await.unwrap_or_default();
    let counted = stream.delivery.ledger().last_counted();
    // The ledger may not have been asked for its counts yet. All of its daemons agree on the number of epochs.
    told(stream, ring, LedgerCounts { epochs: stream.settings.epochs.unwrap_or(0), ..counted })
}

fn told(stream: &Stream, ring: RingStatus, counted: LedgerCounts) -> StreamStatus {
    let Stream { identity, dataset, delivery, pipeline, .. } = stream;
    let LedgerCounts { delivered, bad, done, epochs } = counted;
    let mut stages: Vec<_> = pipeline.meters().map(|(meter, items)| stage(meter, items)).into();
    let reading = pipeline.look_at_prefetch(|prefetch| {
        (
            stage(prefetch.meter(), prefetch.meter().waits().items),
            prefetch.storage_wait(Instant::now()),
            prefetch.requests(),
        )
    });
    let (functions, python_workers) = pipeline.functions();
    let (mut storage, mut requests) = (None, None);
    if let Some((prefetch, wait, figures)) = reading {
        stages.insert(0, prefetch);
        (storage, requests) = (wait, figures);
    }
    StreamStatus {
        name: identity.to_string(),
        run: identity.run.clone(),
        source: dataset.name().into(),
        records: dataset.selected(),
        epoch: ring.epoch,
        delivered,
        batches: delivery.counters().published.load(Ordering::Relaxed),
        bad,
        slots_free: ring.slots.free + ring.slots.unpopulated,
        slots_filling: ring.slots.filling,
        slots_ready: ring.slots.ready,
        slots_held: ring.slots.held,
        slots_quarantined: ring.slots.quarantined,
        consumers: ring.consumers,
        groups: ring.groups,
        stages,
        failure: ring.failure.unwrap_or_default(),
        cache: dataset.cache().map(|kept| cache(kept)),
        seek: dataset.seek().map(|kept| seek(kept)),
        ring: Some(ring_place(&stream.site)),
        storage_wait_ms: storage.as_ref().map_or(0, |wait| millis(wait.since.elapsed())),
        storage: storage.map_or_else(String::new, |wait| wait.reason),
        requests: requests.map(|RequestFigures { in_flight, most, given_up }| SourceRequests {
            in_flight,
            most,
            given_up,
        }),
        open_ms: millis(stream.opened.elapsed()),
        readers: threads(pipeline.readers()),
        decode_threads: threads(pipeline.decode_threads()),
        epochs,
        epoch_len: dataset.plan().epoch_len(ring.epoch),
        epoch_done: done,
        functions,
        python_workers: threads(python_workers),
        remote: pipeline.roster().into_iter().map(remote_decoder).collect(),
        fill: pipeline.fill().map(|(unit, BatchFill { filled, room })| StepFill { unit: unit.into(), filled, room }),
    }
}

fn remote_decoder((name, figures): (String, DecoderFigures)) -> RemoteDecoder {
    let DecoderFigures { state, reason, under_way, expected, pictures, taken_back } = figures;
    let expected_us = expected.map(|time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    RemoteDecoder { name, state: state.name().into(), reason, under_way, expected_us, pictures, taken_back }
}

fn threads(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A stream's metrics.
pub(super) async fn show(stream: &Stream, samples: &mut Samples) {
    let Stream { dataset, delivery, pipeline, .. } = stream;
    let name = stream.identity.to_string();
    let labels = [("stream", name.as_str())];
    let counters = delivery.counters();
    for (metric, value) in [
        (Metric::RecordsDelivered, counters.delivered.load(Ordering::Relaxed)),
        (Metric::Batches, counters.published.load(Ordering::Relaxed)),
        (Metric::BatchesRedelivered, counters.redelivered.load(Ordering::Relaxed)),
        (Metric::RecordsBad, stream.delivery.ledger().bad()),
    ] {
        samples.counter(metric, &labels, value);
    }
    if let Some((unit, BatchFill { filled, room })) = pipeline.fill() {
        let labels = [labels[0], ("unit", unit)];
        samples.counter(Metric::StepFilled, &labels, filled);
        samples.counter(Metric::StepRoom, &labels, room);
    }
    for (decoder, figures) in pipeline.roster() {
        let labels = [labels[0], ("decoder", decoder.as_str())];
        samples.level(Metric::RemoteUp, &labels, u64::from(figures.state == DecoderState::Asked));
        samples.level(Metric::RemoteUnderWay, &labels, figures.under_way);
        samples.counter(Metric::RemotePictures, &labels, figures.pictures);
        samples.counter(Metric::RemoteTakenBack, &labels, figures.taken_back);
    }
    let waited = Duration::from_nanos(counters.waited.load(Ordering::Relaxed));
    samples.seconds(Metric::TrainerWait, &labels, waited);
    for (meter, items) in pipeline.meters() {
        samples.stage(&name, meter, items);
    }
    pipeline.look_at_prefetch(|prefetch| {
        samples.stage(&name, prefetch.meter(), prefetch.meter().waits().items);
        samples.counter(Metric::BytesRead, &labels, prefetch.bytes_read());
        samples.counter(Metric::ReadersReplaced, &labels, prefetch.replaced());
        if let Some(requests) = prefetch.requests() {
            samples.level(Metric::Requests, &labels, requests.in_flight);
            samples.counter(Metric::RequestsGivenUp, &labels, requests.given_up);
        }
        samples.level(Metric::Leases, &labels, prefetch.leases() as u64);
        let wait = prefetch.storage_wait(Instant::now());
        samples.gauge(Metric::StorageWait, &labels, wait.map_or(0.0, |wait| wait.since.elapsed().as_secs_f64()));
    });
    if let Some(cache) = dataset.cache() {
        let figures = cache.figures();
        samples.counter(Metric::CacheHits, &labels, figures.hits);
        samples.counter(Metric::CacheMisses, &labels, figures.misses);
        samples.level(Metric::CacheRecords, &labels, figures.records);
        samples.level(Metric::CacheBytes, &labels, figures.bytes);
        samples.level(Metric::CacheBudget, &labels, figures.budget);
    }
    if let Some(seek) = dataset.seek() {
        let SeekFigures { pictures, bytes, budget } = seek.figures();
        for (metric, value) in
            [(Metric::SeekPictures, pictures), (Metric::SeekBytes, bytes), (Metric::SeekBudget, budget)]
        {
            samples.level(metric, &labels, value);
        }
    }
    let place = ring_place(&stream.site);
    samples.level(Metric::RingGpu, &labels, place.gpu_bytes);
    samples.level(Metric::RingPageLocked, &labels, place.page_locked);
    let Some(ring) = delivery.status().await else { return };
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
    samples.level(Metric::RingBytes, &labels, ring.bytes);
    samples.level(Metric::Consumers, &labels, ring.consumers.len() as u64);
    samples.level(Metric::Epoch, &labels, ring.epoch);
}

fn ring_place(site: &Site) -> RingPlace {
    let taken = site.taken();
    RingPlace {
        placement: match site.place() {
            PixelPlace::Host => "host".into(),
            PixelPlace::Gpu { ordinal, .. } => format!("gpu:{ordinal}"),
        },
        gpu_bytes: taken.gpu.load(Ordering::Relaxed),
        page_locked: taken.page_locked.load(Ordering::Relaxed),
        copied: taken.copied.load(Ordering::Relaxed),
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn stage(meter: &Meter, items: u64) -> StageStatus {
    let waits = meter.waits();
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    StageStatus {
        name: meter.name().into(),
        items,
        writer_wait_us: micros(waits.writer),
        reader_wait_us: micros(waits.reader),
    }
}

fn cache(cache: &Cache) -> CacheStatus {
    let Figures { hits, misses, records, bytes, budget } = cache.figures();
    CacheStatus { keep: cache.keep().to_string(), records, bytes, budget, hits, misses }
}

fn seek(store: &SeekStore) -> SeekStatus {
    let SeekFigures { pictures, bytes, budget } = store.figures();
    SeekStatus { pictures, bytes, budget }
}
