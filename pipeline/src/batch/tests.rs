//! Tests of the stage with a real ring, readers and decode threads. The test plays source, decoder, coordinator and trainer.

mod calls;
mod failures;
mod left_out;
mod mixes;
mod shards;
mod steps;
mod way;

use std::sync::Arc;
use std::thread;

use crossbeam_channel as channel;
use forebay_delivery::{BatchReceipts, FinishedBatch};
use forebay_pixels::{Annotated, Fault, Limits, Mixing, Origin, Recipe};
use forebay_plan::{Batching, CLASS_PERMUTATION, ClassTable, LastBatchPolicy, Leftovers, OrderTable, Plan};
use forebay_proto::v1::{AckItem, LedgerSpec, Progress, Range, ReturnedRange, StaticShard};
use forebay_ring::{Dtype, Geometry, Layout, Region, Shape, SlotMut, View};
use forebay_sources::Source;
use tokio::sync::{mpsc, watch};

use super::*;
use crate::batch::batcher::Rules;
use crate::batch::finish::Finish;
use crate::batch::order::RecordOrder;
use crate::batch::outlet::Outlet;
use crate::batch::slots::Slots;
use crate::batch::stage_slots::StageSlots;
use crate::decode::budget::Budget;
use crate::decode::job::stream_pictures::StreamPictures;
use crate::decode::steps::batch_call::BatchCalls;
use crate::decode::suspect_order::SuspectOrder;
use crate::decode::{Decoding, GpuLanes, MakeDecode, ORIGIN, Picture, Pool};
use crate::follow::FollowSettings;
use crate::meter::Meter;
use crate::prefetch::memory_source::MemorySource;
use crate::prefetch::readahead::Span;
use crate::prefetch::{self, Patience, Prefetch};
use crate::record::Input;
use crate::settings::OnError;
use crate::targets::Targets;

/// Paints a picture with its record's number; some records are bad.
struct Painter {
    gates: Gates,
}

/// Pictures that are not decoded before the other end is dropped, by record.
type Gates = Arc<Vec<(u8, channel::Receiver<()>)>>;

const BAD: u8 = 66;
const PANICS: u8 = 99;

impl Painter {
    fn decode(&self, picture: Picture<'_>) -> Result<Origin, Fault> {
        let Picture { input, draw, out, .. } = picture;
        let Input::File(bytes) = input else { panic!("there is no cache") };
        let record = bytes[0];
        assert_eq!(draw.record, u64::from(record));
        if let Some((_, gate)) = self.gates.iter().find(|(gated, _)| *gated == record) {
            gate.recv().unwrap_err();
        }
        assert_ne!(record, PANICS, "no decoder for it");
        if record == BAD {
            return Err(Fault::Truncated);
        }
        out.fill(record);
        Ok(ORIGIN)
    }
}

struct Bench {
    plan: Arc<Plan>,
    prefetch: Arc<Prefetch>,
    free: channel::Sender<SlotMut>,
    gave_way: channel::Sender<u64>,
    /// What the stage has not taken of them.
    untaken: channel::Receiver<SlotMut>,
    region: Region,
    output: channel::Receiver<Handover>,
    outcomes: mpsc::UnboundedReceiver<DeliveryOutcome>,
    progress: watch::Sender<Progress>,
    stop: channel::Sender<()>,
    stage: thread::JoinHandle<u64>,
    lease: u64,
}

struct Setup {
    memory_source: Arc<MemorySource>,
    gates: Vec<(u8, channel::Receiver<()>)>,
    on_error: OnError,
    policy: LastBatchPolicy,
    shard: Option<StaticShard>,
    /// Steps of classes with 4 and with 2 places, unshuffled.
    classes: Option<Arc<ClassTable>>,
    /// One trainer reads it, and gets its batches in their order.
    in_order: bool,
    slots: u32,
    read_timeout: Duration,
    mixing: Option<Mixing>,
    /// What gets finished batches.
    calls: Option<Arc<dyn BatchCalls>>,
}

impl Setup {
    fn new(memory_source: MemorySource) -> Self {
        Self {
            memory_source: Arc::new(memory_source),
            gates: Vec::new(),
            on_error: OnError::Skip,
            policy: LastBatchPolicy::Partial,
            shard: None,
            classes: None,
            in_order: false,
            slots: 3,
            read_timeout: Duration::from_secs(60),
            mixing: None,
            calls: None,
        }
    }

    fn gate(&mut self, record: u8) -> channel::Sender<()> {
        let (opener, gate) = channel::bounded(0);
        self.gates.push((record, gate));
        opener
    }

    /// Batches of four pictures of six bytes.
    fn start(self) -> Bench {
        let shape = Shape { batch: 4, height: 1, width: 2, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
        let source = Arc::clone(&self.memory_source) as Arc<dyn Source>;
        let targets = Targets::new(Arc::clone(&source), None, (1, 1)).unwrap();
        let targets = if self.mixing.is_some() { targets.with_mixing().unwrap() } else { targets };
        let (schema, rooms) = (targets.schema().clone(), targets.rooms());
        let geometry = Geometry::with_columns(shape, self.slots, schema, &rooms).unwrap();
        let ((free, slots), (gave_way, given)) = (channel::unbounded(), channel::unbounded());
        let region = used_slots(geometry, self.slots, &free);
        let read_timeout = self.read_timeout;
        let settings = prefetch::ReadAheadSettings { threads: 2, requests: 1, budget: 1 << 20, read_timeout };
        let prefetch = Prefetch::start(Arc::clone(&source), None, None, None, settings, 0).unwrap();
        let spec = LedgerSpec {
            fingerprint: vec![0; 32],
            records: source.len(),
            permutation: if self.classes.is_some() { CLASS_PERMUTATION } else { 1 },
            shard: self.shard,
            classes: self.classes.as_ref().map(|table| table.order(&[4, 2], Leftovers::Repeat, &[], "")),
            ..LedgerSpec::default()
        };
        let plan = Arc::new(Plan::with_table(&spec, self.classes.map(OrderTable::Classes)).unwrap());
        let is_fixed = self.shard.is_some() || plan.classes().is_some();
        let gates: Gates = Arc::new(self.gates);
        let make: MakeDecode = Arc::new(move || {
            let painter = Painter { gates: Arc::clone(&gates) };
            Box::new(move |picture| painter.decode(picture))
        });
        let ((outbox, output), (outcomes, told)) = (channel::unbounded(), mpsc::unbounded_channel());
        let progress = watch::Sender::new(Progress::default());
        let batching = Batching { batch_size: 4, policy: self.policy, pad_last_batch: true };
        let dynamic = (!is_fixed).then_some(self.policy);
        let bounds = (Limits::default(), &Arc::new(Budget::new(1)));
        let pool = Arc::new(Pool::start(2, None, &make, bounds, GpuLanes::default()).unwrap());
        let recipe = Recipe::training(8).unwrap();
        let mixer = self.mixing.map(|mixing| mixes::mixer(Arc::clone(&pool), mixing));
        let pictures = StreamPictures::of(Arc::new(recipe.clone()));
        let order = Arc::<SuspectOrder>::default();
        let rules = Rules { batch_size: 4, on_error: self.on_error, max_failures: None, dynamic };
        let parts = BatchParts {
            order: RecordOrder::new(source, Arc::clone(&plan), is_fixed.then_some(batching)),
            prefetch: Arc::clone(&prefetch),
            patience: Patience::new(Duration::from_secs(60)),
            shares_tails: false,
            slots: StageSlots::new(Slots::new((slots.clone(), given), None, None), self.in_order),
            decoding: Decoding::new(pool, vec![pictures], 0, Arc::clone(&order)),
            finish: Finish::new(
                targets.writer(FollowSettings {
                    recipe: Arc::new(recipe),
                    seed: 0,
                    annotated: Annotated::AsSeen,
                    min_visible: 0.0,
                }),
                Arc::new(Meter::new("batch")),
            )
            .with_mixer(mixer)
            .with_calls(self.calls, order),
            progress: progress.subscribe(),
            outlet: Outlet::new("test".into(), hears(outbox), outcomes, plan.positions_of_step())
                .with_bad_place(rules.bad_place()),
        };
        let (stop, stopped) = channel::bounded(0);
        let stage = BatchStage::new(parts, Batcher::new(rules).numbered_from(100));
        let stage = thread::spawn(move || stage.run(&stopped));
        Bench {
            plan,
            prefetch,
            free,
            gave_way,
            untaken: slots,
            region,
            output,
            outcomes: told,
            progress,
            stop,
            stage,
            lease: 0,
        }
    }
}

/// A test that has seen enough does not listen any more, and none listens to what is said once a second.
fn hears(outbox: channel::Sender<Handover>) -> Box<dyn Fn(Handover) + Send> {
    Box::new(move |made| {
        _ = matches!(made, Handover::Waits(_) | Handover::Bad { .. }) || outbox.send(made).is_ok();
    })
}

/// Slots with other bytes than those of a batch, and the rights to them.
fn used_slots(geometry: Geometry, slots: u32, free: &channel::Sender<SlotMut>) -> Region {
    let region = Region::create(geometry, 1, 0).unwrap();
    for slot in 0..slots {
        region.populate(slot).unwrap();
        let mut right = region.slot(slot).unwrap();
        for place in 0..4 {
            right.place_mut(place).fill(0xEE);
        }
        free.send(right).unwrap();
    }
    region
}

/// What is in a published batch: pixels, records, mask.
type Seen = (Vec<u8>, Vec<i64>, Vec<u8>);

impl Bench {
    fn lease(&mut self, epoch: u64, start: u64, len: u64) {
        self.lease += 1;
        let turn = Arc::new(Turn::first);
        self.prefetch.lease(Span { lease: self.lease, epoch, start, len, bare: Vec::new(), suspect: false, turn });
    }

    /// A lease of the position behind a shard's last record.
    fn lease_bare(&mut self, epoch: u64, start: u64) {
        self.lease += 1;
        let turn = Arc::new(|_| Turn::first(200));
        let bare = std::iter::once(0..1).collect();
        self.prefetch.lease(Span { lease: self.lease, epoch, start, len: 1, bare, suspect: false, turn });
    }

    fn ready(&self) -> FinishedBatch {
        match self.output.recv().unwrap() {
            Handover::Ready(ready) => ready,
            other => panic!("{other:?}"),
        }
    }

    /// Looks at a batch as a trainer does, and gives its slot back.
    fn consume(&self, mut ready: FinishedBatch) -> Seen {
        let mut pixels = Vec::new();
        for place in 0..4 {
            let bytes = ready.slot.place(place);
            assert!(bytes.iter().all(|byte| *byte == bytes[0]), "a torn picture: {bytes:?}");
            pixels.push(bytes[0]);
        }
        let view = View::map(self.region.fd(), 1, 0).unwrap();
        let (index, frame) = (ready.slot.index(), ready.slot.frame());
        let tally = view.column(index, 0);
        for (place, &record) in frame.records().iter().enumerate() {
            let expected = u64::try_from(record).map_or((0, Vec::new()), |record| (1, MemorySource::tally(record)));
            assert_eq!((tally.validity()[place], tally.place(place)), (expected.0, &*expected.1), "place {place}");
        }
        let seen = (pixels, frame.records().to_vec(), frame.mask().to_vec());
        assert_eq!(frame.claims()[..ready.claims.len()], ready.claims);
        self.give(ready);
        seen
    }

    fn give(&self, ready: FinishedBatch) {
        let index = ready.slot.index();
        drop(ready);
        self.free.send(self.region.slot(index).unwrap()).unwrap();
    }

    /// Stops the stage: the number of the next batch, what came out at last, and what became of the rest.
    fn stop(mut self) -> (u64, Vec<Handover>, Vec<DeliveryOutcome>) {
        drop(self.stop);
        let next = self.stage.join().unwrap();
        let outcomes = std::iter::from_fn(|| self.outcomes.blocking_recv()).collect();
        (next, self.output.try_iter().collect(), outcomes)
    }
}

fn returned(lease: u64, start: u64, end: u64) -> ReturnedRange {
    ReturnedRange { lease, range: Some(Range { start, end }), ..ReturnedRange::default() }
}

#[test]
fn pictures_stand_in_their_places_whatever_the_order_in_which_they_were_decoded() {
    let mut setup = Setup::new(MemorySource::new(8));
    let slow = setup.gate(1);
    let mut bench = setup.start();
    bench.lease(0, 0, 8);
    // With the second picture in its hands, one thread is left for all the others.
    bench.prefetch.drained(1);
    drop(slow);
    let (first, second) = (bench.ready(), bench.ready());
    assert_eq!((first.seq, second.seq, second.epoch, second.valid), (100, 101, 0, 4));
    assert_eq!(bench.consume(first), (vec![0, 1, 2, 3], vec![0, 1, 2, 3], vec![1; 4]));
    assert_eq!(bench.consume(second), (vec![4, 5, 6, 7], vec![4, 5, 6, 7], vec![1; 4]));
    let (next, _, outcomes) = bench.stop();
    assert_eq!(next, 102);
    assert!(outcomes.is_empty(), "{outcomes:?}");
}

#[test]
fn rule_5_stopping_gives_every_claim_and_every_slot_back() {
    let mut setup = Setup::new(MemorySource::new(40));
    let slow = setup.gate(6);
    let mut bench = setup.start();
    bench.lease(0, 0, 10);
    bench.lease(0, 10, 30);
    let held = bench.ready();
    assert_eq!(held.claims.iter().map(|claim| claim.len).sum::<u32>(), 4);
    // A picture is in decoding: the stage waits for the right to its place, as long as it takes.
    let stop = std::mem::replace(&mut bench.stop, channel::bounded(0).0);
    drop(stop);
    drop(slow);
    let untaken = bench.untaken.clone();
    let (_, outputs, outcomes) = bench.stop();
    let unused = outputs.iter().filter(|output| matches!(output, Handover::Unused(_))).count();
    let ready = outputs.iter().filter_map(|output| match output {
        Handover::Ready(ready) => Some(ready),
        _ => None,
    });
    let mut published: Vec<u64> = Vec::new();
    for ready in ready.chain([&held]) {
        for claim in &ready.claims {
            let first = if claim.lease == 1 { 0 } else { 10 };
            published.extend(first + claim.start..first + claim.end());
        }
    }
    // It may have been stopped before it took them all.
    assert_eq!(unused + published.len() / 4 + untaken.len(), 3, "slots");
    for outcome in &outcomes {
        let DeliveryOutcome::Returned(items) = outcome else { panic!("{outcome:?}") };
        for ReturnedRange { lease, range, .. } in items {
            let first = if *lease == 1 { 0 } else { 10 };
            let range = range.unwrap();
            published.extend(first + range.start..first + range.end);
        }
    }
    published.sort_unstable();
    assert_eq!(published, (0..40).collect::<Vec<_>>(), "published or returned, each once");
}

#[test]
fn rule_11_the_next_epoch_leaves_a_slot_for_records_that_come_back() {
    let mut setup = Setup::new(MemorySource::new(8));
    setup.slots = 2;
    let mut bench = setup.start();
    bench.lease(0, 0, 4);
    bench.prefetch.drained(1);
    let held = bench.ready();
    bench.lease(1, 0, 8);
    while bench.prefetch.bytes_read() < 12 {
        thread::yield_now();
    }
    // Its trainer dies: the records come again, in a new lease.
    bench.lease(0, 0, 4);
    assert_eq!(bench.ready().epoch, 0);
    bench.give(held);
    bench.progress.send_modify(|progress| progress.floor = 1);
    assert_eq!(bench.ready().epoch, 1);
}
