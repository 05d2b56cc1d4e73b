//! Tests of what is told to the ledger, and in which order.

use std::sync::Arc;

use forebay_coordinator::{Coordinator, CoordinatorSettings, MemoryStore, monotonic_clock};
use forebay_ledger_client::Handle;
use forebay_plan::PERMUTATION;
use forebay_proto::RecordSum;
use forebay_proto::v1::{AuditRequest, EpochTally, GroupKey, LedgerSpec, OpenRequest, Range};
use forebay_ring::Claim;

use super::*;
use crate::consumers::{Inbox, InboxMessage, inbox};
use crate::lease_range::LeaseRange;
use crate::outcomes::OutcomeSender;
use crate::receipt::{group_receipt, receipt};

/// A ledger of twenty records in leases of ten, with the first one out.
struct Story {
    handle: Handle,
    lease: u64,
    outcomes: OutcomeSender,
    inbox: Inbox,
}

fn incarnation(number: u64) -> OpenRequest {
    let spec = LedgerSpec { fingerprint: vec![7; 32], records: 20, permutation: PERMUTATION, ..LedgerSpec::default() };
    OpenRequest {
        run: "run".into(),
        stream: "stream".into(),
        spec: Some(spec),
        lease_size: 10,
        worker: "local".into(),
        incarnation: number,
        ..OpenRequest::default()
    }
}

impl Story {
    async fn begin() -> Self {
        let handle = Coordinator::start(MemoryStore::new(), monotonic_clock(), CoordinatorSettings::default()).unwrap();
        let (outbox, inbox) = inbox().unwrap();
        let (client, outcomes, receiver) =
            LedgerClient::open(handle.clone(), incarnation(1), false, outbox).await.unwrap();
        let lease = client.acquire(1, 0).await.unwrap().leases[0].id;
        let client = Arc::new(client);
        tokio::spawn(async move { forward(&client, receiver).await });
        Self { handle, lease, outcomes, inbox }
    }

    fn ack(&self, range: std::ops::Range<u64>, urgent: bool) {
        let claim = Claim::new(self.lease, range.start, u32::try_from(range.end - range.start).unwrap());
        let items = vec![receipt(&claim, range.collect::<RecordSum>())];
        self.outcomes
            .send(DeliveryOutcome::Receipts { receipts: BatchReceipts { items, ..BatchReceipts::default() }, urgent })
            .unwrap();
    }

    async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        self.outcomes.send(DeliveryOutcome::Flush(done)).unwrap();
        flushed.await.unwrap();
    }

    fn seen(&self, lease: u64, range: std::ops::Range<u64>, batch: u64) {
        let claim = Claim::new(lease, range.start, u32::try_from(range.end - range.start).unwrap());
        self.outcomes
            .send(DeliveryOutcome::Seen { items: vec![LeaseRange::of(&claim, RecordSum::default()).seen()], batch })
            .unwrap();
    }

    /// What the ring's thread is told of what was reported until now.
    async fn answers(&self) -> Vec<LedgerEvent> {
        self.flush().await;
        let answer = |note| match note {
            InboxMessage::Ledger(word) if !matches!(word, LedgerEvent::Deadline(_)) => Some(word),
            _ => None,
        };
        self.inbox.messages().unwrap().into_iter().filter_map(answer).collect()
    }

    async fn epochs(&self) -> Vec<EpochTally> {
        self.handle.call(AuditRequest { ledger: "run/stream/all".into(), from_epoch: 0 }).await.unwrap().epochs
    }

    async fn delivered(&self) -> u64 {
        self.epochs().await.iter().map(|epoch| epoch.delivered.unwrap_or_default().count).sum()
    }

    async fn counted_as_seen(&self) -> u64 {
        self.epochs().await.iter().map(|epoch| epoch.repeats.unwrap_or_default().trainer_ended).sum()
    }
}

#[tokio::test]
async fn rule_17_a_state_that_waits_for_receipts_has_them_all() {
    let story = Story::begin().await;
    story.ack(0..3, false);
    story.ack(3..5, false);
    story.flush().await;
    assert_eq!(story.delivered().await, 5);
}

#[tokio::test]
async fn rule_17_receipts_reach_the_ledger_without_being_asked_for() {
    let story = Story::begin().await;
    story.ack(0..3, false);
    while story.delivered().await < 3 {
        tokio::task::yield_now().await;
    }
    story.ack(3..10, true);
    while story.delivered().await < 10 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn rule_15_a_receipt_that_came_twice_counts_once() {
    let story = Story::begin().await;
    story.ack(0..3, false);
    story.ack(0..3, false);
    story.flush().await;
    assert_eq!(story.delivered().await, 3);
}

#[tokio::test]
async fn rule_05_a_lease_that_is_not_this_workers_is_told() {
    let story = Story::begin().await;
    let range = Some(Range { start: 0, end: 1 });
    story
        .outcomes
        .send(DeliveryOutcome::Returned(vec![ReturnedRange { lease: 999, range, ..ReturnedRange::default() }]))
        .unwrap();
    assert_eq!(story.answers().await, [LedgerEvent::Lost(vec![999])]);
}

#[tokio::test]
async fn rule_15_a_batch_is_noted_when_the_ledger_counts_it_and_behind_what_is_lost() {
    let story = Story::begin().await;
    story.seen(story.lease, 0..3, 5);
    assert_eq!(story.answers().await, [LedgerEvent::Noted(5)]);
    assert_eq!(story.counted_as_seen().await, 3);
    story.seen(999, 0..3, 6);
    assert_eq!(story.answers().await, [LedgerEvent::Lost(vec![999]), LedgerEvent::Noted(6)]);
}

#[tokio::test]
async fn rule_15_a_batch_does_not_wait_for_a_receipt_that_fits_no_lease() {
    let story = Story::begin().await;
    story.seen(story.lease, 0..3, 5);
    story.seen(story.lease, 8..11, 6);
    let noted = [LedgerEvent::Noted(5), LedgerEvent::Noted(6)];
    assert_eq!(story.answers().await, noted, "the lease is this worker's still");
    assert_eq!(story.counted_as_seen().await, 3, "the lease has ten positions");
}

#[tokio::test]
async fn rule_17_what_came_first_is_resumed_first() {
    let story = Story::begin().await;
    story.ack(0..3, false);
    let range = Some(Range { start: 3, end: 10 });
    story
        .outcomes
        .send(DeliveryOutcome::Returned(vec![ReturnedRange { lease: story.lease, range, ..ReturnedRange::default() }]))
        .unwrap();
    assert_eq!(story.answers().await, [], "what is given back is still this worker's");
    assert_eq!(story.delivered().await, 3);
}

#[tokio::test]
async fn rule_44_a_group_that_ends_and_begins_again_waits_for_what_it_gets_then_alone() {
    let story = Story::begin().await;
    let share = |batch: u64| {
        let claim = Claim::new(story.lease, batch, 1);
        let fast = GroupKey { name: "fast".into(), ..GroupKey::default() };
        let receipt = Some(group_receipt(&fast, batch, receipt(&claim, [batch].into_iter().collect())));
        DeliveryOutcome::Shared(vec![GroupShare { receipt, waiting: vec!["slow".into()] }])
    };
    let [ended, began] = [DeliveryOutcome::GroupEnded("slow".into()), DeliveryOutcome::GroupBegan("slow".into())];
    for outcome in [share(1), ended, began, share(2)] {
        story.outcomes.send(outcome).unwrap();
    }
    story.flush().await;
    let (outbox, _inbox) = inbox().unwrap();
    let (client, ..) = LedgerClient::open(story.handle.clone(), incarnation(2), false, outbox).await.unwrap();
    assert_eq!(client.opened().former_groups, ["slow"]);
    let missing = AckRequest { missing: vec!["slow".into()], ..AckRequest::default() };
    let missed = client.ack(missing).await.unwrap().missed;
    assert_eq!(missed.iter().map(|missed| (missed.from, missed.to, missed.records)).collect::<Vec<_>>(), [(2, 2, 1)]);
}
