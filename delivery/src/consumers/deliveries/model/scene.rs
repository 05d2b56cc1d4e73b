//! What a walk is made of: its steps, the trainers, what their groups have had, and daemons with their ledger.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use forebay_ledger_client::Handle;
use forebay_plan::PERMUTATION;
use forebay_proto::v1::{GroupKey, LedgerSpec, OpenRequest};
use forebay_ring::{Claim, ConsumerId, HeldBatch, SlotId};
use proptest::prelude::*;

use crate::consumers::deliveries::Deliveries;
use crate::consumers::parts::{DeliveryRules, EpochTerms};
use crate::consumers::{Inbox, inbox};
use crate::ledger_client::LedgerClient;
use crate::ledger_tasks;
use crate::outcomes::OutcomeSender;
use crate::settings::{DeliverySettings, GroupPolicy};
use crate::step_length::StepLength;

/// Records, which are all of one epoch.
pub(super) const RECORDS: u64 = 40;
/// Positions of a lease.
const LEASE: u64 = 2;
/// The group of each trainer.
pub(super) const TRAINERS: [&str; 4] = ["a", "b", "b", "c"];

/// What happens next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// A batch of so many leases is ready.
    Publish(usize),
    /// A trainer consumes the oldest batch in its hands.
    Consume(usize),
    /// A trainer is killed.
    Kill(usize),
    /// A trainer closes: what it holds goes back.
    Close(usize),
    /// A trainer comes, or connects again.
    Come(usize),
    /// The ledger hears what it was told so far, durably.
    Flush,
    /// All who live have connected again, and have had time to hand in.
    TimePasses,
    /// The daemon is killed, and another one starts.
    DaemonDies,
    /// The daemon is stopped, and another one starts.
    DaemonStops,
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let who = || 0..TRAINERS.len();
    prop_oneof![
        4 => (1..3usize).prop_map(Step::Publish),
        6 => who().prop_map(Step::Consume),
        2 => who().prop_map(Step::Kill),
        1 => who().prop_map(Step::Close),
        4 => who().prop_map(Step::Come),
        3 => Just(Step::Flush),
        2 => Just(Step::TimePasses),
        2 => Just(Step::DaemonDies),
        1 => Just(Step::DaemonStops),
    ]
}

/// A batch in a trainer's hands, or one that it has consumed.
#[derive(Clone, Debug)]
pub(super) struct Hand {
    pub(super) held: HeldBatch,
    pub(super) claims: Vec<Claim>,
}

/// A trainer that lives.
#[derive(Debug, Default)]
pub(super) struct Person {
    /// Its number, while it is connected.
    pub(super) id: Option<ConsumerId>,
    pub(super) hands: VecDeque<Hand>,
    pub(super) consumed: Vec<Hand>,
    /// What it has consumed since the ledger heard of everything.
    pub(super) fresh: BTreeSet<u64>,
}

impl Person {
    /// Its daemon has died. What is in its hands gets numbers of its own, and keeps those that it has.
    pub(super) fn orphan(&mut self) {
        let taken: BTreeSet<u64> = self.hands.iter().filter_map(|hand| hand.held.hold()).collect();
        let mut free = (1..).filter(|number| !taken.contains(number));
        for hand in self.hands.iter_mut().filter(|hand| !hand.held.is_resumed()) {
            hand.held = HeldBatch::resumed(free.next().unwrap(), hand.held.seq);
        }
    }
}

/// What the groups have really had.
#[derive(Debug, Default)]
pub(super) struct Had {
    /// How often each record was consumed.
    pub(super) times: BTreeMap<u64, u32>,
    /// Records that a trainer of the group ended with.
    pub(super) ended_with: BTreeSet<u64>,
    /// How many records it was told that it missed; also by a daemon that died with the words.
    pub(super) told: u64,
}

fn request(incarnation: u64) -> OpenRequest {
    let spec =
        LedgerSpec { fingerprint: vec![7; 32], records: RECORDS, permutation: PERMUTATION, ..LedgerSpec::default() };
    let (run, stream, worker) = ("run".into(), "stream".into(), "local".into());
    let names = OpenRequest { run, stream, worker, ..OpenRequest::default() };
    OpenRequest { spec: Some(spec), lease_size: LEASE, incarnation, epochs: 1, ..names }
}

pub(super) fn key(of: usize) -> GroupKey {
    GroupKey { name: TRAINERS[of].to_owned(), ..GroupKey::default() }
}

/// A daemon of which no trainer knows yet.
pub(super) async fn daemon(
    ledgers: &Handle,
    incarnation: u64,
) -> (Arc<LedgerClient>, OutcomeSender, Inbox, Deliveries) {
    let (outbox, inbox) = inbox().unwrap();
    let opened = LedgerClient::open(ledgers.clone(), request(incarnation), false, outbox).await;
    let (client, outcomes, receiver) = opened.unwrap();
    let client = Arc::new(client);
    ledger_tasks::resumed(Arc::clone(&client), receiver);
    let settings = DeliverySettings { groups: GroupPolicy::Each, ..DeliverySettings::default() };
    let mut deliveries = Deliveries::unordered(Some(1), Duration::from_secs(600), settings);
    deliveries.add_ring(0, 8);
    (0..8).for_each(|slot| deliveries.populated(SlotId { ring: 0, slot }));
    for name in &client.opened().former_groups {
        deliveries.expect_group(name.clone(), Instant::now());
    }
    (client, outcomes, inbox, deliveries)
}

impl Deliveries {
    /// Of a stream whose batches keep no order.
    pub(in crate::consumers::deliveries) fn unordered(
        epochs: Option<u64>,
        end_timeout: Duration,
        settings: DeliverySettings,
    ) -> Self {
        Self::new(
            EpochTerms { first: 0, count: epochs, end_timeout },
            DeliveryRules { settings, in_order: false, steps: StepLength::default() },
        )
    }
}
