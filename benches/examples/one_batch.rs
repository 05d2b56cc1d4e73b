//! One batch's way in one process: the plan says which records it has, the ledger leases them and takes the receipt, and the
//! ring carries it. `cargo run -p forebay-benches --example one_batch`.
#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::error::Error;

use forebay_coordinator::{Coordinator, CoordinatorSettings, MemoryStore, monotonic_clock};
use forebay_plan::Plan;
use forebay_proto::RecordSum;
use forebay_proto::v1::{
    AckItem, AckRequest, AcquireRequest, AuditRequest, Caller, LedgerSpec, OpenRequest, Range, ack_item::Kind,
};
use forebay_ring::{
    Action, BatchId, ConsumerId, Dtype, Exchange, Geometry, HeldBatch, Layout, Membership, Region, Shape, SlotId, View,
};

/// Pictures of a batch, which is the whole dataset here.
const BATCH: u32 = 4;

fn main() -> Result<(), Box<dyn Error>> {
    // A lease: which positions of the epoch this worker reads. The plan says which records these are.
    let spec = LedgerSpec { fingerprint: vec![7; 32], records: 4, shuffle: true, permutation: 1, ..Default::default() };
    let ledger = Coordinator::start(MemoryStore::new(), monotonic_clock(), CoordinatorSettings::default())?;
    let open = OpenRequest {
        run: "example".into(),
        stream: "train".into(),
        worker: "here".into(),
        spec: Some(spec.clone()),
        lease_size: BATCH.into(),
        incarnation: 1,
        epochs: 1,
        ..Default::default()
    };
    let name = ledger.wait(open)?.ledger;
    let caller = |sequence| {
        Some(Caller { ledger: name.clone(), worker: "here".into(), incarnation: 1, sequence, ..Default::default() })
    };
    let granted = ledger.wait(AcquireRequest { caller: caller(1), leases: 1, ..Default::default() })?;
    let lease = granted.leases.first().ok_or("no lease")?;
    let plan = Plan::new(&spec)?.epoch(lease.epoch);
    let records: Vec<u64> = (lease.start..lease.end).map(|position| plan.record(position)).collect();

    // The batch: one pixel a picture, written where the trainer reads it.
    let shape = Shape { batch: BATCH, height: 1, width: 1, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
    let region = Region::create(Geometry::try_new(shape, 3)?, 1, 0)?;
    let mut exchange = Exchange::new(0);
    exchange.add_ring(0, 3);
    exchange.populated(SlotId { ring: 0, slot: 0 });
    let at = exchange.claim().ok_or("no free slot")?;
    let mut slot = region.slot(at.slot)?;
    for (place, record) in (0..BATCH).zip(&records) {
        slot.place_mut(place).fill(u8::try_from(*record)?);
        slot.frame().records()[place as usize] = i64::try_from(*record)?;
    }
    drop(slot);
    exchange.publish(at, BatchId { seq: 1, epoch: lease.epoch });

    // A trainer maps the ring read-only, is offered the batch, and acks it.
    let trainer = ConsumerId(1);
    exchange.attach(trainer, 1, Membership::default())?;
    let view = View::map(region.share()?, 1, 0)?;
    let offered = exchange.drain().find_map(|action| match action {
        Action::Offer { batch, slot, generation, .. } => Some(HeldBatch { seq: batch.seq, slot, generation }),
        _ => None,
    });
    let held = offered.ok_or("no offer")?;
    println!("records {:?}, pixels {:?}", view.records(held.slot.slot), view.images(held.slot.slot));
    exchange.ack(trainer, held);
    exchange.release(trainer, held, false);

    // The receipt: from now on, these records are delivered.
    let sum: RecordSum = records.into_iter().collect();
    let range = Some(Range { start: 0, end: BATCH.into() });
    let (count, (sum_high, sum_low)) = (BATCH.into(), sum.halves());
    let item = AckItem { lease: lease.id, range, kind: Kind::Delivered.into(), count, sum_high, sum_low };
    ledger.wait(AckRequest { caller: caller(2), items: vec![item], ..Default::default() })?;
    let audit = ledger.wait(AuditRequest { ledger: name, ..Default::default() })?;
    println!("{}", forebay_plan::audit(&audit, |_done| {})?[0]);
    Ok(())
}
