//! Tests of the ring's thread with trainers in this process: what it receives from their sockets, and in which order.

use std::time::Duration;

use crossbeam_channel as channel;
use forebay_proto::v1::{CallRequest, GroupKey, PathCall, Progress, Range, StreamInfo, ack_item, call_request};
use forebay_ring::{
    Ack, Call, Claim, ClaimSum, ConsumerId, Dtype, Geometry, Layout, Membership, Message, Offer, PROTOCOL, Peer,
    Region, Shape, SlotMut, Socket, packet,
};
use prost::Message as _;
use tokio::sync::{mpsc, oneshot};

mod deadlines;
mod groups;
mod told;
mod waits;

use super::*;
use crate::handover::Vacancies;
use crate::ledger_event::LedgerEvent;
use crate::outcomes::BatchReceipts;
use crate::settings::DeliverySettings;
use crate::step_length::StepLength;
use crate::stream_ring::StreamRing;

/// How long anything may take before the test has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A thread with one ring, and what it is given and tells.
struct Scene {
    outbox: Outbox,
    free: channel::Receiver<SlotMut>,
    outcomes: mpsc::UnboundedReceiver<DeliveryOutcome>,
    counters: Arc<Counters>,
}

/// The trainer's end.
struct Trainer(Socket);

impl Scene {
    /// Of a dynamic stream. `calls` is told of each call's number on the ring's thread.
    fn new(calls: impl Fn(u64) + Send + 'static) -> Self {
        Self::of(false, DeliverySettings::default(), calls)
    }

    /// Of a shard if `in_order`.
    fn of(in_order: bool, delivery: DeliverySettings, calls: impl Fn(u64) + Send + 'static) -> Self {
        let shape = Shape { batch: 1, height: 1, width: 1, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
        let region = Region::create(Geometry::try_new(shape, 4).unwrap(), 1, 0).unwrap();
        let (outbox, inbox) = inbox().unwrap();
        let (free_sender, free) = channel::unbounded();
        let (outcome_sender, outcomes) = mpsc::unbounded_channel();
        let counters = Arc::<Counters>::default();
        let parts = RingParts {
            stream: "train".into(),
            run: "default".into(),
            node: LastHolder::default(),
            rings: RingSupply {
                first: StreamRing::new(region),
                further: Arc::new(|_| Err("no".into())),
                vacancies: Vacancies { free: free_sender, gave_way: channel::unbounded().0 },
            },
            ledger: LedgerReports { outcomes: outcome_sender, blamed: Arc::default(), waiting: Arc::default() },
            hooks: TrainerHooks { calls: Box::new(move |_, number, _| calls(number)), left: Box::new(|_, _| ()) },
            epochs: EpochTerms { first: 0, count: None, end_timeout: Duration::from_secs(600) },
            rules: DeliveryRules { settings: delivery, in_order, steps: StepLength::default() },
            groups: Vec::new(),
            untaken: Duration::ZERO,
            counters: Arc::clone(&counters),
        };
        RingThread::start(parts, inbox, &outbox).unwrap();
        Self { outbox, free, outcomes, counters }
    }

    fn attach(&self, id: u64) -> Trainer {
        let trainer = self.join(id, Membership::default());
        trainer.hears(|message| matches!(message, Message::Welcome { .. }).then_some(()));
        trainer
    }

    /// A trainer of a group, which has not read its welcome yet.
    fn join(&self, id: u64, membership: Membership) -> Trainer {
        self.join_with(id, membership, Vec::new())
    }

    /// A trainer that has batches of an earlier incarnation in its hands.
    fn join_with(&self, id: u64, membership: Membership, adopted: Vec<ResumedBatch>) -> Trainer {
        let (socket, theirs) = Socket::pair().unwrap();
        let peer = Peer::of(&socket).unwrap();
        let (id, info, notice) = (ConsumerId(id), StreamInfo::default(), None);
        let key = membership.group.clone().map(|name| GroupKey { name, ..GroupKey::default() });
        let protocol = PROTOCOL;
        let arrival =
            Arrival { id, socket, peer, protocol, credits: 1, membership, key, incarnation: 1, info, adopted, notice };
        self.outbox.post(InboxMessage::Attach(Box::new(arrival)));
        Trainer(theirs)
    }

    /// Returns when the thread has seen all trainers leave.
    fn wait_until_no_trainer_is_there(&self) {
        loop {
            let (reply, status) = oneshot::channel();
            self.outbox.post(InboxMessage::Status(reply));
            if status.blocking_recv().unwrap().consumers.is_empty() {
                return;
            }
        }
    }

    /// The stream goes on at epoch 0, after a restore if `fenced`.
    fn restart(&self, fenced: bool) {
        let (done, restarted) = oneshot::channel();
        let progress = Progress { floor: 0, drained: 0, generation: 1, failed: false };
        // The ledger's news may come before it.
        self.outbox.post(InboxMessage::Progress(progress));
        self.outbox.post(InboxMessage::DropReady { progress, fenced, done });
        restarted.blocking_recv().unwrap();
    }

    /// The batch that the trainer is offered for what the thread was told until now.
    fn offered_so_far(&self, trainer: &Trainer) -> Option<u64> {
        // What it was told is done before it takes the next notes.
        let (reply, taken) = oneshot::channel();
        self.outbox.post(InboxMessage::Status(reply));
        taken.blocking_recv().unwrap();
        self.outbox.post(InboxMessage::Tell { words: "so far".into(), lasting: false });
        trainer.hears(|message| match message {
            Message::Offer(offer) => Some(Some(offer.seq)),
            Message::Notice(..) => Some(None),
            _ => None,
        })
    }

    fn publish(&self, seq: u64) {
        let slot = self.free.recv().unwrap();
        let claims = vec![Claim::new(7, 0, 1)];
        let ready = FinishedBatch {
            slot,
            in_gpu: Vec::new(),
            seq,
            epoch: 0,
            shown: 1,
            valid: 1,
            claims,
            bad: Vec::new(),
            time: 0,
        };
        self.outbox.post(InboxMessage::Batch(Handover::Ready(ready)));
    }
}

impl Trainer {
    /// Waits for a message of which `wanted` makes something.
    fn hears<T>(&self, wanted: impl Fn(&Message<'_>) -> Option<T>) -> T {
        let mut buffer = vec![0; PACKET_LEN];
        loop {
            match self.0.recv(&mut buffer).unwrap() {
                forebay_ring::Received::Packet { len, fds } => {
                    let message = Message::parse(&buffer[..len], fds).unwrap();
                    if let Some(found) = wanted(&message) {
                        return found;
                    }
                }
                forebay_ring::Received::WouldBlock => drop(self.0.wait(Some(Duration::from_secs(60))).unwrap()),
                forebay_ring::Received::Closed => panic!("it hung up"),
            }
        }
    }

    fn offer(&self) -> Offer {
        self.hears(|message| if let Message::Offer(offer) = message { Some(*offer) } else { None })
    }

    fn says(&self, packet: &[u8]) {
        assert_eq!(self.0.send(packet, &[]).unwrap(), forebay_ring::Sent::Done);
    }

    fn ack(&self, offer: &Offer) {
        self.ack_with(offer, 5);
    }

    /// Acknowledges a batch, with this sum of the records that it saw.
    fn ack_with(&self, offer: &Offer, low: u64) {
        self.says(&packet(&ack_of(offer), bytemuck::bytes_of(&ClaimSum { high: 0, low })));
    }

    fn call(&self, number: u64) {
        let body = CallRequest { call: Some(call_request::Call::Path(PathCall { record: 0 })) }.encode_to_vec();
        let len = u32::try_from(body.len()).unwrap();
        self.says(&packet(&Call { kind: MessageKind::Call as u32, len, id: number }, &body));
    }
}

/// A receipt of a batch with one claim.
fn ack_of(offer: &Offer) -> Ack {
    let Offer { slot, seq, generation, ring, .. } = *offer;
    let kind = MessageKind::Ack as u32;
    Ack { kind, slot, seq, generation, first: 0, count: 1, last: 1, ring, freed: 0, more: 0 }
}

#[test]
fn rule_14_an_ack_may_give_its_slot_back_and_ask_for_the_next_batch() {
    let scene = Scene::new(|_| ());
    let trainer = scene.attach(1);
    scene.publish(1);
    scene.publish(2);
    let first = trainer.offer();
    assert_eq!(scene.offered_so_far(&trainer), None, "it has one credit");
    trainer
        .says(&packet(&Ack { freed: 1, more: 1, ..ack_of(&first) }, bytemuck::bytes_of(&ClaimSum { high: 0, low: 5 })));
    let second = trainer.offer();
    assert_eq!(second.seq, 2);
    trainer.ack(&second);
    assert_eq!(scene.offered_so_far(&trainer), None, "this one keeps its slot");
}

#[test]
fn rule_14_a_stream_that_ends_fills_no_slot_of_which_a_living_trainer_may_have_views() {
    for is_consumed in [true, false] {
        let scene = Scene::new(|_| ());
        let trainer = scene.attach(1);
        scene.publish(1);
        let offer = trainer.offer();
        if is_consumed {
            trainer.ack(&offer);
        }
        let _others: Vec<SlotMut> = scene.free.iter().take(3).collect();
        let (done, ended) = oneshot::channel();
        scene.outbox.post(InboxMessage::Close(done));
        ended.blocking_recv().unwrap();
        assert!(scene.free.try_recv().is_err(), "consumed: {is_consumed}");
    }
}

#[test]
fn rule_22_an_ack_that_waits_in_another_trainer_s_socket_counts_before_the_call() {
    let (came, calls) = channel::unbounded();
    let (proceed, gate) = channel::bounded(0);
    let mut scene = Scene::new(move |number| {
        came.send(number).unwrap();
        gate.recv().unwrap();
    });
    // The thread looks at sockets in the order of the trainers' numbers: the one that calls is looked at first.
    let acks = scene.attach(2);
    scene.publish(1);
    let offer = acks.offer();
    let asks = scene.attach(1);
    asks.call(1);
    assert_eq!(calls.recv_timeout(PATIENCE), Ok(1));
    // The thread stands in that call while an ACK, and behind it a further call, come into its sockets.
    acks.ack(&offer);
    asks.call(2);
    proceed.send(()).unwrap();
    assert_eq!(calls.recv_timeout(PATIENCE), Ok(2));
    let Ok(DeliveryOutcome::Receipts { receipts: BatchReceipts { items, .. }, .. }) = scene.outcomes.try_recv() else {
        panic!("the receipt is with the ledger's task")
    };
    assert_eq!((items[0].lease, items[0].sum_low), (7, 5));
    proceed.send(()).unwrap();
}

#[test]
fn rule_11_an_epoch_that_ends_while_a_trainer_comes_is_told_to_it_before_the_next_one_s_batches() {
    let scene = Scene::new(|_| ());
    let trainer = scene.attach(1);
    scene.outbox.post(InboxMessage::Progress(Progress { floor: 1, drained: 1, generation: 1, failed: false }));
    let end = |message: &Message<'_>| if let Message::EpochEnd(epoch) = message { Some(*epoch) } else { None };
    assert_eq!(trainer.hears(end), 0);
    // It is welcomed to epoch 0, which is over by now.
    let late = scene.attach(2);
    assert_eq!(late.hears(end), 0);
}

#[test]
fn rule_7_trainers_get_the_failure_and_not_the_end_of_the_epoch_that_the_bad_record_completed() {
    let failed = |message: &Message<'_>| match message {
        Message::Failed(_, words) => Some((*words).to_owned()),
        Message::EpochEnd(_) | Message::Done(_) => panic!("the failure has not ended: {message:?}"),
        _ => None,
    };
    let progress = Progress { floor: 1, drained: 1, generation: 1, failed: false };
    for is_here in [true, false] {
        let scene = Scene::new(|_| ());
        let trainer = scene.attach(1);
        if is_here {
            scene.outbox.post(InboxMessage::Batch(Handover::Failed("bad".into())));
            scene.outbox.post(InboxMessage::Progress(progress));
        } else {
            // The words come later, from another task.
            scene.outbox.post(InboxMessage::Progress(Progress { failed: true, ..progress }));
            assert_eq!(scene.offered_so_far(&trainer), None);
            scene.outbox.post(InboxMessage::RunFailed("bad".into()));
        }
        assert_eq!(trainer.hears(failed), "bad");
        assert_eq!(scene.attach(2).hears(failed), "bad");
        // A reset ends the failure, and the end of the epoch comes at last.
        let (done, restarted) = oneshot::channel();
        scene.outbox.post(InboxMessage::DropReady { progress, fenced: false, done });
        restarted.blocking_recv().unwrap();
        scene.outbox.post(InboxMessage::Progress(progress));
        assert_eq!(scene.offered_so_far(&trainer), None);
    }
}

#[test]
fn who_comes_during_an_outage_hears_of_the_storage_and_of_the_ledger_and_of_no_storage_from_before_a_restore() {
    let scene = Scene::new(|_| ());
    let stall = || InboxMessage::Batch(Handover::Stalled { words: "storage".into(), expired: false });
    let ledger = |lasting| InboxMessage::Tell { words: "ledger".into(), lasting };
    let notice = |message: &Message<'_>| {
        if let Message::Notice(_, words) = message { Some((*words).to_owned()) } else { None }
    };
    scene.outbox.post(stall());
    scene.outbox.post(ledger(true));
    scene.restart(true);
    assert_eq!(scene.attach(1).hears(notice), "ledger");
    scene.outbox.post(stall());
    scene.outbox.post(ledger(false));
    assert_eq!(scene.attach(2).hears(notice), "storage");
}

#[test]
fn rule_23_a_restore_gives_nothing_of_the_fenced_leases_back() {
    let mut scene = Scene::new(|_| ());
    let trainer = scene.attach(1);
    scene.publish(1);
    trainer.offer();
    scene.publish(2);
    scene.restart(true);
    assert!(scene.outcomes.try_recv().is_err(), "one batch was held, the other one ready");
}

#[test]
fn rule_15_a_batch_that_somebody_may_have_seen_is_offered_again_when_the_ledger_knows() {
    let mut scene = Scene::new(|_| ());
    let ended = scene.attach(1);
    scene.publish(1);
    ended.offer();
    drop(ended);
    let Some(DeliveryOutcome::Seen { items, batch: 1 }) = scene.outcomes.blocking_recv() else {
        panic!("the ledger is told first")
    };
    assert_eq!(
        items.iter().map(|item| (item.lease, item.range, item.kind())).collect::<Vec<_>>(),
        [(7, Some(Range { start: 0, end: 1 }), ack_item::Kind::Seen)]
    );
    let next = scene.attach(2);
    assert_eq!(scene.offered_so_far(&next), None, "it is not offered before");
    scene.outbox.post(InboxMessage::Ledger(LedgerEvent::Noted(1)));
    assert_eq!(next.offer().seq, 1);
}

#[test]
fn rule_19_a_ledger_that_does_not_answer_holds_up_what_a_dead_trainer_saw_and_of_a_shard_what_comes_behind_it() {
    for in_order in [false, true] {
        let mut scene = Scene::of(in_order, DeliverySettings::default(), |_| ());
        let ended = scene.attach(1);
        scene.publish(1);
        ended.offer();
        drop(ended);
        assert!(matches!(scene.outcomes.blocking_recv(), Some(DeliveryOutcome::Seen { batch: 1, .. })));
        // The ledger has no answer to that.
        let next = scene.attach(2);
        scene.publish(2);
        let passes = (!in_order).then_some(2);
        assert_eq!(scene.offered_so_far(&next), passes);
        scene.outbox.post(InboxMessage::Ledger(LedgerEvent::Noted(1)));
        let heir = if passes.is_some() { scene.attach(3) } else { next };
        assert_eq!(heir.offer().seq, 1);
    }
}
