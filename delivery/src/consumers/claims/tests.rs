//! Tests of the ack table: receipts in parts, of several trainers and groups, and what is given back.

use forebay_proto::v1::ack_item::Kind;
use forebay_ring::{BatchId, NO_RING};

use super::*;

mod steps;

const CLAIMS: [Claim; 2] = [Claim::new(7, 0, 3), Claim::new(9, 4, 1)];
const ONE: ConsumerId = ConsumerId(1);
const TWO: ConsumerId = ConsumerId(2);

fn ack(first: u32, count: u32, last: u32) -> Ack {
    Ack { kind: 0, slot: 0, seq: 5, generation: 1, first, count, last, ring: 0, freed: 0, more: 0 }
}

/// Of a batch that was handed in, in one packet. Whatever dead daemon it is of, it was its batch 5.
fn ack_of(hold: u64, count: u32) -> Ack {
    Ack { ring: NO_RING, generation: hold, ..ack(0, count, 1) }
}

fn resumed_batch(hold: u64, epoch: u64, claims: Vec<HeldClaim>) -> ResumedBatch {
    ResumedBatch { hold, batch: BatchId { seq: 5, epoch }, claims }
}

fn adopted(consumer: ConsumerId, hold: u64, epoch: u64) -> Adopted {
    Adopted { consumer, hold, batch: BatchId { seq: 5, epoch } }
}

fn sum(low: u64) -> ClaimSum {
    ClaimSum { high: 0, low }
}

fn table() -> Claims {
    let mut claims = Claims::default();
    claims.published(5, entry(2, &CLAIMS));
    claims
}

fn entry(epoch: u64, claims: &[Claim]) -> BatchClaims {
    BatchClaims { shown: 4, valid: 4, ..BatchClaims::of(epoch, claims) }
}

#[test]
fn a_receipt_in_two_parts_counts_when_both_are_there() {
    let mut claims = table();
    assert_eq!(claims.sums(ONE, None, &ack(0, 1, 0), &[sum(10)]), Receipts::Partial);
    assert_eq!(claims.sums(ONE, None, &ack(1, 1, 1), &[sum(20)]), Receipts::Whole);
    let items = claims.acked(5).items;
    let told: Vec<_> = items.iter().map(|item| (item.lease, item.count, item.sum_low)).collect();
    assert_eq!(told, [(7, 3, 10), (9, 1, 20)]);
    assert_eq!(claims.undelivered(2), 0);
}

#[test]
fn half_a_receipt_of_a_dead_trainer_does_not_count_for_the_next_one() {
    let mut claims = table();
    assert_eq!(claims.sums(ONE, None, &ack(0, 1, 0), &[sum(10)]), Receipts::Partial);
    assert_eq!(claims.sums(TWO, None, &ack(1, 1, 1), &[sum(20)]), Receipts::Wrong);
    assert_eq!(claims.sums(TWO, None, &ack(0, 2, 1), &[sum(1), sum(2)]), Receipts::Whole);
}

#[test]
fn rule_44_receipts_of_two_groups_may_come_in_turns() {
    let mut claims = table();
    assert_eq!(claims.sums(ONE, None, &ack(0, 1, 0), &[sum(10)]), Receipts::Partial);
    assert_eq!(claims.sums(TWO, None, &ack(0, 1, 0), &[sum(10)]), Receipts::Partial);
    assert_eq!(claims.sums(ONE, None, &ack(1, 1, 1), &[sum(20)]), Receipts::Whole);
    assert_eq!(claims.sums(TWO, None, &ack(1, 1, 1), &[sum(20)]), Receipts::Whole);
    let sums: Vec<_> = claims.acked(5).items.iter().map(|item| item.sum_low).collect();
    assert_eq!(sums, [10, 20], "the ledger counts a record once");
}

#[test]
fn rule_44_each_group_s_own_sums_go_with_the_receipt_of_the_batch() {
    let mut claims = table();
    let [small, large] = ["small", "large"].map(|name| GroupKey { name: name.into(), ..GroupKey::default() });
    assert_eq!(claims.sums(ONE, Some(&small), &ack(0, 2, 1), &[sum(10), sum(20)]), Receipts::Whole);
    assert_eq!(claims.sums(TWO, Some(&large), &ack(0, 2, 1), &[sum(11), sum(20)]), Receipts::Differ);
    let told = claims.acked(5).groups.into_iter().map(|receipt| {
        let item = receipt.item.unwrap();
        (receipt.group.unwrap().name, receipt.batch, item.lease, item.count, item.sum_low)
    });
    let of = |name: &str, low| [(name.to_owned(), 5, 7, 3, low), (name.to_owned(), 5, 9, 1, 20)];
    assert_eq!(told.collect::<Vec<_>>(), [of("small", 10), of("large", 11)].concat());
}

#[test]
fn rule_44_groups_that_saw_different_records_make_a_receipt_that_is_neither_ones() {
    for (one, two) in [(10, 11), (11, 10)] {
        let mut claims = table();
        assert_eq!(claims.sums(ONE, None, &ack(0, 2, 1), &[sum(one), sum(20)]), Receipts::Whole);
        assert_eq!(claims.sums(TWO, None, &ack(0, 2, 1), &[sum(two), sum(20)]), Receipts::Differ);
        let sums: Vec<_> = claims.acked(5).items.iter().map(|item| item.sum_low).collect();
        assert_eq!((sums[1], sums[0] == one, sums[0] == two), (20, false, false));
    }
}

#[test]
fn a_trainer_that_left_in_the_middle_of_a_receipt_leaves_nothing() {
    let mut claims = table();
    assert_eq!(claims.sums(ONE, None, &ack(0, 1, 0), &[sum(10)]), Receipts::Partial);
    claims.left(ONE);
    assert!(claims.published[&5].parts.is_empty());
}

#[test]
fn more_or_fewer_sums_than_claims_are_wrong() {
    assert_eq!(table().sums(ONE, None, &ack(0, 1, 1), &[sum(1)]), Receipts::Wrong);
    assert_eq!(table().sums(ONE, None, &ack(0, 3, 1), &[sum(1), sum(2), sum(3)]), Receipts::Wrong);
}

#[test]
fn rule_16_an_adopted_batch_in_two_parts_has_the_claims_of_both() {
    let mut claims = Claims::default();
    claims.adopted(ONE, resumed_batch(1, 2, vec![HeldClaim::Leased(CLAIMS[0])]));
    claims.adopted(ONE, resumed_batch(1, 2, vec![HeldClaim::Leased(CLAIMS[1])]));
    let back = claims.orphaned(adopted(ONE, 1, 2), Cause::TrainerEnded);
    assert_eq!(back.iter().map(|range| range.lease).collect::<Vec<_>>(), [7, 9]);
}

#[test]
fn rule_16_an_adopted_batch_and_a_published_one_of_its_number_are_two() {
    let mut claims = table();
    claims.adopted(ONE, resumed_batch(1, 1, vec![HeldClaim::Leased(Claim::new(3, 0, 1))]));
    assert_eq!(claims.sums(ONE, None, &ack(0, 2, 1), &[sum(1), sum(2)]), Receipts::Whole);
    assert_eq!(claims.acked(5).items.iter().map(|item| item.lease).collect::<Vec<_>>(), [7, 9]);
    assert_eq!(claims.sums(ONE, None, &ack_of(1, 1), &[sum(3)]), Receipts::Whole);
    let BatchReceipts { items, .. } = claims.adopted_acked(adopted(ONE, 1, 1));
    assert_eq!(items.iter().map(|item| item.lease).collect::<Vec<_>>(), [3]);
}

#[test]
fn rule_16_batches_of_one_number_from_two_dead_daemons_are_acked_and_orphaned_each_by_itself() {
    let mut claims = Claims::default();
    let one_of = |lease| vec![HeldClaim::Leased(Claim::new(lease, 0, 1))];
    for (hold, lease) in [(1, 3), (2, 4), (3, 6)] {
        claims.adopted(ONE, resumed_batch(hold, 2, one_of(lease)));
    }
    assert_eq!(claims.undelivered(2), 3);
    assert_eq!(claims.sums(ONE, None, &ack_of(2, 1), &[sum(40)]), Receipts::Whole);
    let BatchReceipts { items, .. } = claims.adopted_acked(adopted(ONE, 2, 2));
    assert_eq!(items.iter().map(|item| (item.lease, item.sum_low)).collect::<Vec<_>>(), [(4, 40)]);
    assert_eq!(claims.undelivered(2), 2, "the others are still in its hands");
    let back = claims.orphaned(adopted(ONE, 3, 2), Cause::Unseen);
    assert_eq!(back.iter().map(|range| range.lease).collect::<Vec<_>>(), [6]);
    assert_eq!(claims.sums(ONE, None, &ack_of(1, 1), &[sum(30)]), Receipts::Whole);
    let BatchReceipts { items, .. } = claims.adopted_acked(adopted(ONE, 1, 2));
    assert_eq!(items.iter().map(|item| (item.lease, item.sum_low)).collect::<Vec<_>>(), [(3, 30)]);
    assert_eq!(claims.undelivered(2), 0);
}

#[test]
fn rule_05_a_void_batch_gives_back_what_is_not_lost() {
    let mut claims = table();
    assert_eq!((claims.of_leases(&[8]), claims.of_leases(&[8, 7])), (vec![], vec![5]));
    claims.lose(5, &[7]);
    assert_eq!(claims.dropped(5, Cause::Unseen).iter().map(|range| range.lease).collect::<Vec<_>>(), [9]);
}

#[test]
fn rule_10_of_batches_that_an_ended_epoch_takes_along_the_next_one_s_records_are_given_back() {
    let mut claims = table();
    claims.published(6, entry(3, &[Claim::new(11, 0, 4)]));
    assert_eq!(claims.clear(3).iter().map(|range| range.lease).collect::<Vec<_>>(), [11]);
    assert_eq!((claims.undelivered(2), claims.undelivered(3)), (0, 0));
}

#[test]
fn rule_07_a_batch_s_receipt_has_what_it_was_delivered_without() {
    let mut claims = Claims::default();
    let bad = BadRecord { lease: 7, position: 3, record: 40, ..BadRecord::default() };
    let of_batch = [Claim::new(7, 0, 3), Claim::bare(7, 3, 1), Claim::bare(9, 0, 1)];
    claims.published(5, BatchClaims { bad: vec![bad.clone()], ..entry(2, &of_batch) });
    assert_eq!(claims.sums(ONE, None, &ack(0, 3, 1), &[sum(10), sum(77), sum(0)]), Receipts::Whole);
    let BatchReceipts { items, bad: told, .. } = claims.acked(5);
    let items: Vec<_> = items.iter().map(|item| (item.lease, item.kind(), item.count, item.sum_low)).collect();
    assert_eq!(items, [(7, Kind::Delivered, 3, 10), (7, Kind::Bare, 0, 0), (9, Kind::Bare, 0, 0)]);
    assert_eq!(told, [bad]);
}

#[test]
fn rule_16_a_claim_that_went_to_others_is_left_out_of_an_adopted_batch() {
    let mut claims = Claims::default();
    claims.adopted(ONE, resumed_batch(1, 2, vec![HeldClaim::Lost, HeldClaim::Leased(CLAIMS[1])]));
    assert_eq!(claims.sums(ONE, None, &ack_of(1, 2), &[sum(1), sum(2)]), Receipts::Whole);
    let BatchReceipts { items, .. } = claims.adopted_acked(adopted(ONE, 1, 2));
    assert_eq!(items.iter().map(|item| item.lease).collect::<Vec<_>>(), [9]);
}

#[test]
fn rule_44_what_another_group_holds_is_told_of_the_group_alone_that_has_consumed_it() {
    let mut claims = Claims::default();
    let shared = vec![HeldClaim::Shared(CLAIMS[0]), HeldClaim::Leased(CLAIMS[1])];
    claims.adopted(TWO, resumed_batch(1, 2, shared));
    assert!(claims.has_shared(TWO) && !claims.has_shared(ONE));
    let slow = GroupKey { name: "slow".into(), ..GroupKey::default() };
    assert_eq!(claims.sums(TWO, Some(&slow), &ack_of(1, 2), &[sum(1), sum(2)]), Receipts::Whole);
    let BatchReceipts { items, groups, shared, .. } = claims.adopted_acked(adopted(TWO, 1, 2));
    let lease = |receipt: &GroupReceipt| receipt.item.map(|item| (item.lease, item.sum_low));
    assert_eq!(items.iter().map(|item| item.lease).collect::<Vec<_>>(), [9]);
    assert_eq!(groups.iter().filter_map(lease).collect::<Vec<_>>(), [(9, 2)]);
    assert_eq!(shared.iter().filter_map(lease).collect::<Vec<_>>(), [(7, 1)]);
}

#[test]
fn rule_44_what_a_trainer_ends_with_stays_with_the_trainer_of_another_group_that_has_it_too() {
    let mut claims = Claims::default();
    claims.adopted(ONE, resumed_batch(1, 2, CLAIMS.map(HeldClaim::Leased).to_vec()));
    claims.adopted(TWO, resumed_batch(1, 2, vec![HeldClaim::Shared(CLAIMS[0]), HeldClaim::Lost]));
    let back = |claims: &mut Claims, of| -> Vec<u64> {
        claims.orphaned(adopted(of, 1, 2), Cause::TrainerEnded).iter().map(|range| range.lease).collect()
    };
    assert_eq!(back(&mut claims, ONE), [9], "nobody else has this part");
    assert!(!claims.has_shared(TWO), "it holds it now");
    assert_eq!(back(&mut claims, TWO), [7]);
}
