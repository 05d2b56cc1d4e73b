//! Walks through deaths of daemons and trainers at any point, with a real ledger: at the end each group has consumed each record,
//! or the ledger has counted the record as missed and the group was told so (semantics rule 44).

mod scene;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use forebay_coordinator::{Coordinator, CoordinatorSettings, MemoryStore, monotonic_clock};
use forebay_ledger_client::Handle;
use forebay_proto::RecordSum;
use forebay_proto::v1::{AckItem, AckRequest, AuditRequest, LeasedRange, Range, ReclaimRequest, ack_item::Kind};
use forebay_ring::{Ack, BatchId, Claim, ClaimSum, ConsumerId, HeldBatch, Join, Membership, NO_RING, SlotId};
use proptest::prelude::*;
use tokio::sync::oneshot;

use super::{BatchClaims, Deliveries, Effect, Receipts};
use crate::consumers::{HeldClaim, Inbox, InboxMessage, ResumedBatch};
use crate::ledger_client::LedgerClient;
use crate::ledger_event::LedgerEvent;
use crate::outcomes::{DeliveryOutcome, OutcomeSender};
use crate::receipt::{group_receipt, receipt};
use scene::{Had, Hand, Person, RECORDS, Step, TRAINERS, daemon, key, step};

/// Everything that there is.
struct Walk {
    ledgers: Handle,
    client: Arc<LedgerClient>,
    incarnation: u64,
    outcomes: OutcomeSender,
    inbox: Inbox,
    deliveries: Deliveries,
    /// What the daemon has to tell and the ledger has not heard.
    pending: Vec<DeliveryOutcome>,
    now: Instant,
    people: [Option<Person>; TRAINERS.len()],
    had: BTreeMap<&'static str, Had>,
    batches: HashMap<u64, Vec<Claim>>,
    /// First positions of leases.
    starts: HashMap<u64, u64>,
    numbers: u64,
    /// Batches of this daemon. The next one counts from the start again.
    published: u64,
}

impl Walk {
    async fn begin() -> Self {
        let settings =
            CoordinatorSettings { lease_ttl: Duration::from_secs(86_400), grace: Duration::ZERO, ..Default::default() };
        let ledgers = Coordinator::start(MemoryStore::new(), monotonic_clock(), settings).unwrap();
        let (client, outcomes, inbox, deliveries) = daemon(&ledgers, 1).await;
        let people = [const { None }; TRAINERS.len()];
        let had = TRAINERS.map(|group| (group, Had::default())).into();
        let (pending, batches, starts) = (Vec::new(), HashMap::new(), HashMap::new());
        let now = Instant::now();
        let state = Self {
            ledgers,
            client,
            incarnation: 1,
            outcomes,
            inbox,
            deliveries,
            pending,
            now,
            people,
            had,
            batches,
            starts,
            numbers: 0,
            published: 0,
        };
        state.with_all().await
    }

    async fn with_all(mut self) -> Self {
        for who in 0..TRAINERS.len() {
            self.come(who).await;
        }
        self
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    async fn take(&mut self, step: Step) {
        match step {
            Step::Publish(leases) => self.publish(leases).await,
            Step::Consume(who) => self.consume(who),
            Step::Kill(who) => self.end(who, true),
            Step::Close(who) => self.end(who, false),
            Step::Come(who) => self.come(who).await,
            Step::Flush => self.flush().await,
            Step::TimePasses => self.time_passes().await,
            Step::DaemonDies => self.restart(false).await,
            Step::DaemonStops => self.restart(true).await,
        }
        self.act();
    }

    /// Does what the daemon has decided.
    fn act(&mut self) {
        loop {
            let effects = self.deliveries.effects();
            if effects.is_empty() {
                break;
            }
            for effect in effects {
                match effect {
                    Effect::Offer(to, offer) => {
                        let slot = SlotId { ring: offer.ring, slot: offer.slot };
                        let held = HeldBatch { seq: offer.seq, slot, generation: offer.generation };
                        let claims = self.batches[&offer.seq].clone();
                        let person = self.people.iter_mut().flatten().find(|person| person.id == Some(to));
                        // One that was told that its daemon stops takes no more.
                        if let Some(person) = person {
                            person.hands.push_back(Hand { held, claims });
                        }
                    }
                    Effect::Tell(outcome) => self.pending.push(outcome),
                    Effect::Claim | Effect::EpochEnd(..) | Effect::Gone(_) | Effect::RingEmpty(_) => {}
                }
            }
        }
        let asked = self.deliveries.ask_what_is_missed(self.now);
        if !asked.is_empty() {
            self.pending.push(DeliveryOutcome::Missing(asked));
        }
        for (missed, trainers) in self.deliveries.groups.take_untold() {
            assert!(!trainers.is_empty());
            self.had.get_mut(missed.group.as_str()).unwrap().told += missed.records;
        }
    }

    /// Whether all trainers are back. Before that, no worker is granted positions that trainers may still hand in.
    fn all_are_back(&self) -> bool {
        self.people.iter().flatten().all(|person| person.id.is_some())
    }

    async fn publish(&mut self, leases: usize) {
        if !self.all_are_back() {
            return;
        }
        let Some(slot) = self.deliveries.claim() else { return };
        let mut claims = Vec::new();
        for _ in 0..leases {
            for lease in self.client.acquire(1, 0).await.unwrap().leases {
                self.starts.insert(lease.id, lease.start);
                claims.push(Claim::new(lease.id, 0, u32::try_from(lease.end - lease.start).unwrap()));
            }
        }
        if claims.is_empty() {
            return self.deliveries.exchange.give_up(slot);
        }
        self.published += 1;
        let seq = self.published;
        self.deliveries.claims.published(seq, BatchClaims::of(0, &claims));
        self.batches.insert(seq, claims);
        self.deliveries.exchange.publish(slot, BatchId { seq, epoch: 0 });
    }

    fn positions(&self, claim: &Claim) -> std::ops::Range<u64> {
        let start = self.starts[&claim.lease] + claim.start;
        start..start + u64::from(claim.len)
    }

    fn records(&self, hand: &Hand) -> Vec<u64> {
        hand.claims.iter().flat_map(|claim| self.positions(claim)).collect()
    }

    fn sums(&self, hand: &Hand) -> Vec<RecordSum> {
        hand.claims.iter().map(|claim| self.positions(claim).collect()).collect()
    }

    fn consume(&mut self, who: usize) {
        let Some(hand) = self.people[who].as_mut().and_then(|person| person.hands.pop_front()) else { return };
        let records = self.records(&hand);
        for record in &records {
            *self.had.get_mut(TRAINERS[who]).unwrap().times.entry(*record).or_default() += 1;
        }
        let sums: Vec<ClaimSum> =
            self.sums(&hand).iter().map(|sum| sum.halves()).map(|(high, low)| ClaimSum { high, low }).collect();
        let person = self.people[who].as_mut().unwrap();
        person.fresh.extend(&records);
        person.consumed.push(hand.clone());
        let Some(id) = person.id else { return };
        let HeldBatch { seq, slot, generation } = hand.held;
        let count = u32::try_from(sums.len()).unwrap();
        let (place, ring) = (slot.slot, slot.ring);
        let ack = Ack { kind: 0, slot: place, seq, generation, first: 0, count, last: 1, ring, freed: 0, more: 0 };
        assert_eq!(self.deliveries.ack(id, &ack, &sums), Receipts::Whole);
        if slot.ring != NO_RING {
            self.deliveries.release(id, hand.held, false);
            self.deliveries.credit(id, 1);
        }
    }

    fn end(&mut self, who: usize, killed: bool) {
        let Some(person) = self.people[who].take() else { return };
        let held: Vec<u64> = person.hands.iter().flat_map(|hand| self.records(hand)).collect();
        let had = self.had.get_mut(TRAINERS[who]).unwrap();
        // Its receipts end with it, if its daemon dies before the ledger has heard them.
        had.ended_with.extend(&person.fresh);
        had.ended_with.extend(held);
        let Some(id) = person.id else { return };
        if killed {
            return self.deliveries.gone(id);
        }
        person.hands.iter().for_each(|hand| self.deliveries.release(id, hand.held, true));
        self.deliveries.bye(id);
    }

    async fn come(&mut self, who: usize) {
        let number = self.number();
        let mut person = self.people[who].take().unwrap_or_default();
        if person.id.is_none() {
            let began = vec![TRAINERS[who].to_owned()];
            self.client.ack(AckRequest { began, ..AckRequest::default() }).await.unwrap();
            let resumed = self.resumed(who, &person).await;
            let id = ConsumerId(number);
            let membership = Membership { group: Some(TRAINERS[who].into()), join: Join::Next };
            person.id = Some(id);
            self.people[who] = Some(person);
            self.deliveries.attach(id, 2, membership).unwrap();
            self.deliveries.belongs_to(id, Some(key(who)));
            for resumed in resumed {
                self.deliveries.adopt(id, resumed);
            }
        } else {
            self.people[who] = Some(person);
        }
        self.act();
    }

    /// Tells the ledger what a trainer has consumed, and takes back what it holds.
    async fn resumed(&self, who: usize, person: &Person) -> Vec<ResumedBatch> {
        let mut groups = Vec::new();
        for hand in &person.consumed {
            let receipts = hand.claims.iter().zip(self.sums(hand)).map(|(claim, sum)| receipt(claim, sum));
            groups.extend(receipts.map(|item| group_receipt(&key(who), hand.held.seq, item)));
        }
        let items = groups.iter().filter_map(|receipt| receipt.item).collect();
        self.client.ack(AckRequest { items, groups, resumed: true, ..AckRequest::default() }).await.unwrap();
        let mut resumed = Vec::new();
        for hand in &person.hands {
            let range = |claim: &Claim| Some(Range { start: claim.start, end: claim.end() });
            let items =
                hand.claims.iter().map(|claim| LeasedRange { lease: claim.lease, range: range(claim) }).collect();
            let of_group = hand.claims.iter().map(|claim| {
                let item = AckItem { kind: Kind::Unspecified.into(), ..receipt(claim, RecordSum::default()) };
                group_receipt(&key(who), hand.held.seq, AckItem { count: claim.len.into(), ..item })
            });
            let request = ReclaimRequest { items, groups: of_group.collect(), ..ReclaimRequest::default() };
            let reply = self.client.reclaim(request).await.unwrap();
            let held = hand.claims.iter().zip(reply.verdicts());
            let claims = held.map(|(claim, verdict)| HeldClaim::reclaimed(*claim, verdict, true)).collect();
            let (hold, batch) = (hand.held.hold().unwrap(), BatchId { seq: hand.held.seq, epoch: 0 });
            resumed.push(ResumedBatch { hold, batch, claims });
        }
        resumed
    }

    async fn flush(&mut self) {
        self.act();
        for outcome in self.pending.drain(..) {
            self.outcomes.send(outcome).unwrap();
        }
        let (done, flushed) = oneshot::channel();
        self.outcomes.send(DeliveryOutcome::Flush(done)).unwrap();
        flushed.await.unwrap();
        for note in self.inbox.messages().unwrap() {
            let InboxMessage::Ledger(word) = note else { continue };
            match word {
                LedgerEvent::Lost(leases) => panic!("{leases:?} are this daemon's"),
                LedgerEvent::Noted(batch) => self.deliveries.noted(batch),
                LedgerEvent::Missed { asked, missed } => self.deliveries.groups.answered(&asked, missed),
                // It has no end, and was told when the ledger was opened.
                LedgerEvent::Deadline(deadline) => assert_eq!(deadline, u64::MAX),
                LedgerEvent::Others(_) => panic!("that is no answer"),
            }
        }
        for person in self.people.iter_mut().flatten().filter(|person| person.id.is_some()) {
            person.fresh.clear();
        }
        self.act();
    }

    async fn time_passes(&mut self) {
        for who in 0..TRAINERS.len() {
            if self.people[who].is_some() {
                self.come(who).await;
            }
        }
        self.now += Duration::from_secs(3);
    }

    async fn restart(&mut self, stops: bool) {
        if stops {
            self.deliveries.drop_unread();
            self.act();
            self.deliveries.end();
            self.deliveries.drop_unacked();
            for id in self.people.iter_mut().flatten().filter_map(|person| person.id.take()) {
                self.deliveries.gone(id);
            }
            self.flush().await;
        }
        // What trainers have consumed they hand in again, whatever the ledger has heard.
        self.pending.clear();
        for missed in std::mem::take(&mut self.deliveries.groups.missing.untold) {
            self.had.get_mut(missed.group.as_str()).unwrap().told += missed.records;
        }
        self.incarnation += 1;
        self.published = 0;
        self.batches.clear();
        (self.client, self.outcomes, self.inbox, self.deliveries) = daemon(&self.ledgers, self.incarnation).await;
        self.now = Instant::now();
        for person in self.people.iter_mut().flatten() {
            person.id = None;
            person.orphan();
        }
    }

    /// Everybody reads to the end.
    async fn finish(mut self) {
        self = self.with_all().await;
        for _ in 0..RECORDS * 4 {
            self.time_passes().await;
            self.flush().await;
            for who in 0..TRAINERS.len() {
                self.consume(who);
                self.act();
            }
            self.publish(1).await;
        }
        self.flush().await;
        self.flush().await;
        let ledger = "run/stream/all".to_owned();
        let audit = self.ledgers.call(AuditRequest { ledger, from_epoch: 0 }).await.unwrap();
        let tally = &audit.epochs[0];
        assert_eq!(tally.delivered.unwrap_or_default().count, RECORDS);
        for (name, had) in &self.had {
            let account = tally.groups.iter().find(|tally| tally.group.as_ref().is_some_and(|key| key.name == **name));
            let account = account.expect("it has an account");
            let consumed = account.consumed.unwrap_or_default().count;
            let missed = account.missed.as_ref().map_or(0, |missed| missed.records);
            assert_eq!(consumed + missed, RECORDS, "{name}: each record is one or the other");
            assert_eq!(had.told, missed, "{name}: it is told of all that it missed");
            let distinct = had.times.len() as u64;
            assert!(consumed <= distinct, "{name}: {consumed} count, and it has had {distinct}");
            let unsure = had.ended_with.len() as u64;
            assert!(missed <= RECORDS - distinct + unsure, "{name}: {missed} missed, {distinct} consumed");
            for (record, times) in &had.times {
                // Also if it was another group's, which ended before this one's trainer had connected again.
                let is_repeatable = self.had.values().any(|had| had.ended_with.contains(record));
                assert!(*times == 1 || is_repeatable, "{name}: {record} came {times} times");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn rule_44_whoever_dies_each_group_has_consumed_each_record_or_is_told_that_it_missed_it(
        steps in proptest::collection::vec(step(), 0..80),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut walk = Walk::begin().await;
            for step in steps {
                walk.take(step).await;
            }
            walk.finish().await;
        });
    }
}
