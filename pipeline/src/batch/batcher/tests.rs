//! Tests of single batches. `invariants.rs` tests what must hold for all batches.

mod failures;
mod places;

use forebay_pixels::Fault;
use forebay_plan::PERMUTATION;
use forebay_proto::v1::{LedgerSpec, StaticShard};
use forebay_ring::Claim;

use super::*;
use crate::batch::form::Form;
use crate::batch_metadata::BatchMetadata;
use crate::decode::ORIGIN;
use crate::settings::OnError;

/// What is wrong with a bad record, and where it is.
pub(super) fn wrong() -> (Locator, Reason) {
    (Locator::file("cat.jpg"), Fault::Truncated.into())
}

fn dynamic(on_error: OnError, policy: LastBatchPolicy) -> Batcher {
    Batcher::new(Rules { batch_size: 4, on_error, max_failures: None, dynamic: Some(policy) })
}

fn fixed(on_error: OnError) -> Batcher {
    Batcher::new(Rules { batch_size: 4, on_error, max_failures: None, dynamic: None })
}

/// Record `index` of epoch 0, in leases of six.
fn position(index: u64) -> Position {
    let record = 100 + index;
    Position { epoch: 0, lease: index / 6, offset: index % 6, lease_end: 6, index, record, repeat: 0, suspect: false }
}

/// A static epoch has six records and, with `bare`, a seventh position; its last batch repeats the sixth.
fn form(index: u64) -> Form {
    if index < 4 {
        return Form { positions: 4, own: 4, copies: vec![], empty: None };
    }
    Form { positions: 3, own: 2, copies: vec![Turn::first(105); 2], empty: None }
}

fn seat(batcher: &mut Batcher, position: &Position) {
    if batcher.needs_slot(position) {
        match batcher.rules.dynamic {
            Some(_) => batcher.begin(0),
            None => batcher.begin_fixed(position, &form(position.index)),
        };
    }
}

fn place(batcher: &mut Batcher, index: u64) -> At {
    seat(batcher, &position(index));
    batcher.place(position(index), 7)
}

fn good(batcher: &mut Batcher, indices: impl IntoIterator<Item = u64>) {
    for index in indices {
        let at = place(batcher, index);
        batcher.outcome(at, Ok(ORIGIN));
    }
}

fn bad(batcher: &mut Batcher, index: u64) {
    let at = place(batcher, index);
    batcher.outcome(at, Err(wrong()));
}

fn nack(index: u64) -> Action {
    let (locator, reason) = wrong();
    Action::Nack(BadRecord { position: position(index), locator, reason })
}

fn actions(batcher: &mut Batcher) -> Vec<Action> {
    std::iter::from_fn(|| batcher.action()).collect()
}

#[test]
fn rule_36_what_fills_no_batch_is_given_up_when_all_others_are_published() {
    let mut batcher = dynamic(OnError::Skip, LastBatchPolicy::Partial);
    good(&mut batcher, 0..3);
    let waits = place(&mut batcher, 3);
    good(&mut batcher, 4..6);
    batcher.end_at_whole_batches(0);
    assert_eq!(actions(&mut batcher), [], "the first batch is not there yet");
    batcher.outcome(waits, Ok(ORIGIN));
    let told = actions(&mut batcher);
    let [Action::Publish(metadata), Action::Discard { batch: 1 }, Action::Settled { epoch: 0, tail }] = &told[..]
    else {
        panic!("{told:?}")
    };
    assert_eq!((metadata.batch, &tail[..]), (0, &[position(4), position(5)][..]));
    // Some of them come again, and fill a batch with those of others.
    good(&mut batcher, 4..8);
    batcher.end_at_whole_batches(0);
    let told = actions(&mut batcher);
    assert!(matches!(&told[..], [Action::Publish(_), Action::Settled { tail, .. }] if tail.is_empty()), "{told:?}");
    good(&mut batcher, 8..9);
    batcher.end(0);
    let (_, metadata) = published(&mut batcher);
    assert_eq!(metadata.batch, 3, "the rest is a batch that is not full");
}

#[test]
fn rule_36_a_bad_record_leaves_a_tail_of_what_is_good() {
    let mut batcher = dynamic(OnError::Skip, LastBatchPolicy::Fill);
    good(&mut batcher, 0..3);
    bad(&mut batcher, 3);
    batcher.end_at_whole_batches(0);
    let told = actions(&mut batcher);
    let [Action::Nack(_), Action::Discard { batch: 0 }, Action::Settled { tail, .. }] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!(tail[..], [position(0), position(1), position(2)]);
}

/// The batch that is published last, and what was to be done before it.
fn published(batcher: &mut Batcher) -> (Vec<Action>, BatchMetadata) {
    let mut actions = actions(batcher);
    match actions.pop() {
        Some(Action::Publish(metadata)) => (actions, metadata),
        other => panic!("{other:?} after {actions:?}"),
    }
}

fn copy(from: At, to: At) -> Action {
    Action::Copy { from, to }
}

#[test]
fn rule_5_a_batch_has_claims_of_several_leases_and_a_lease_feeds_several_batches() {
    let mut batcher = dynamic(OnError::Skip, LastBatchPolicy::Partial);
    good(&mut batcher, 0..12);
    let claims: Vec<Vec<Claim>> = actions(&mut batcher)
        .into_iter()
        .map(|action| match action {
            Action::Publish(metadata) => metadata.claims,
            other => panic!("{other:?}"),
        })
        .collect();
    let claim = Claim::new;
    assert_eq!(claims, [vec![claim(0, 0, 4)], vec![claim(0, 4, 2), claim(1, 0, 2)], vec![claim(1, 2, 4)]]);
    assert_eq!(batcher.close(), []);
}

#[test]
fn rule_5_closing_gives_back_what_is_not_published() {
    let mut batcher = dynamic(OnError::Skip, LastBatchPolicy::Partial);
    good(&mut batcher, 0..5);
    bad(&mut batcher, 5);
    place(&mut batcher, 6);
    actions(&mut batcher);
    assert_eq!(batcher.close(), [position(4), position(6)]);
}

#[test]
fn batches_are_published_in_the_order_of_their_numbers() {
    let mut batcher = dynamic(OnError::Skip, LastBatchPolicy::Partial);
    let slow = place(&mut batcher, 0);
    good(&mut batcher, 1..8);
    assert_eq!(actions(&mut batcher), [], "the second batch is complete, and waits for the first");
    batcher.outcome(slow, Ok(ORIGIN));
    let numbers: Vec<u64> = actions(&mut batcher)
        .iter()
        .map(|action| match action {
            Action::Publish(metadata) => metadata.batch,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(numbers, [0, 1]);
}

#[test]
fn rule_7_fail_quarantines_the_record_and_says_which_it_was_once() {
    let mut batcher = dynamic(OnError::Fail, LastBatchPolicy::Partial);
    bad(&mut batcher, 0);
    bad(&mut batcher, 1);
    let actions = actions(&mut batcher);
    let Action::Fail(text) = &actions[0] else { panic!("{actions:?}") };
    let reason = "The picture is truncated: its data ends before the picture does";
    assert!(text.starts_with(&format!("record 100 (cat.jpg): {reason}. The stream stops")), "{text}");
    assert_eq!(actions[1..], [nack(0), nack(1)], "the ledger may end the epoch at them, and the failure is told first");
}

#[test]
fn rule_7_skip_fills_the_place_with_the_next_record_of_the_order() {
    let mut batcher = dynamic(OnError::Skip, LastBatchPolicy::Partial);
    good(&mut batcher, 0..2);
    bad(&mut batcher, 2);
    good(&mut batcher, 3..5);
    let (before, metadata) = published(&mut batcher);
    assert_eq!(before, [nack(2)]);
    assert_eq!((metadata.places.records, metadata.places.mask), (vec![100, 101, 103, 104], vec![1; 4]));
    assert_eq!(metadata.claims, [Claim::new(0, 0, 2), Claim::new(0, 3, 2)]);
}

#[test]
fn rule_7_skip_leaves_holes_only_at_the_end_of_the_last_batch() {
    let mut batcher = dynamic(OnError::Skip, LastBatchPolicy::Partial);
    let first = place(&mut batcher, 0);
    good(&mut batcher, 1..6);
    batcher.end(0);
    batcher.outcome(first, Err(wrong()));
    let mut actions = actions(&mut batcher);
    let Some(Action::Publish(last)) = actions.pop() else { panic!("{actions:?}") };
    assert_eq!(last.places.records, [104]);
    let clears = actions.split_off(actions.len() - 3);
    assert_eq!(clears[0], Action::Clear { at: (1, 1) });
    let Some(Action::Publish(metadata)) = actions.pop() else { panic!("{actions:?}") };
    assert_eq!(metadata.places.records, [105, 101, 102, 103]);
    assert_eq!(actions, [nack(0), copy((1, 1), (0, 0))]);
}

#[test]
fn rule_7_replace_shows_the_nearest_earlier_good_record_of_the_batch_or_else_the_next_one() {
    let mut batcher = dynamic(OnError::Replace, LastBatchPolicy::Partial);
    good(&mut batcher, 0..2);
    bad(&mut batcher, 2);
    bad(&mut batcher, 3);
    let (before, metadata) = published(&mut batcher);
    assert_eq!(before, [nack(2), nack(3), copy((0, 1), (0, 2)), copy((0, 2), (0, 3))]);
    assert_eq!((metadata.places.records, metadata.places.mask), (vec![100, 101, 101, 101], vec![1, 1, 0, 0]));
    assert_eq!(metadata.claims, [Claim::new(0, 0, 2)]);
    // What is in other batches of the lease does not matter: after a load, the lease is another one.
    bad(&mut batcher, 4);
    bad(&mut batcher, 5);
    good(&mut batcher, 6..8);
    let (before, metadata) = published(&mut batcher);
    assert_eq!(before, [nack(4), nack(5), copy((1, 2), (1, 0)), copy((1, 0), (1, 1))]);
    assert_eq!((metadata.places.records, metadata.places.mask), (vec![106, 106, 106, 107], vec![0, 0, 1, 1]));
    assert_eq!(metadata.claims, [Claim::new(1, 0, 2)]);
}

#[test]
fn rule_7_a_dynamic_batch_without_one_good_record_takes_the_next_ones_also_with_replace() {
    for on_error in [OnError::Skip, OnError::Replace] {
        let mut batcher = dynamic(on_error, LastBatchPolicy::Fill);
        (0..4).for_each(|index| bad(&mut batcher, index));
        assert_eq!(actions(&mut batcher), (0..4).map(nack).collect::<Vec<_>>(), "{on_error:?}");
        good(&mut batcher, 4..8);
        let (_, metadata) = published(&mut batcher);
        assert_eq!(
            (metadata.places.records, metadata.places.mask),
            (vec![104, 105, 106, 107], vec![1; 4]),
            "{on_error:?}"
        );
        (8..13).for_each(|index| bad(&mut batcher, index));
        batcher.end(0);
        let published = actions(&mut batcher).into_iter().any(|action| matches!(action, Action::Publish(_)));
        assert!(!published && batcher.drafts.is_empty(), "{on_error:?}");
    }
}

#[test]
fn rule_12_partial_is_short_fill_repeats_the_last_record_and_drop_acks_them_as_dropped() {
    let end = |policy| {
        let mut batcher = dynamic(OnError::Skip, policy);
        good(&mut batcher, 0..2);
        assert_eq!(actions(&mut batcher), []);
        batcher.end(0);
        assert!(batcher.drafts.is_empty());
        batcher
    };
    let (before, metadata) = published(&mut end(LastBatchPolicy::Partial));
    assert_eq!((metadata.shown, metadata.valid, metadata.places.records), (2, 2, vec![100, 101]));
    assert_eq!(before, [Action::Clear { at: (0, 2) }, Action::Clear { at: (0, 3) }]);
    let (before, metadata) = published(&mut end(LastBatchPolicy::Fill));
    assert_eq!((metadata.shown, metadata.valid, metadata.places.records), (4, 2, vec![100, 101, 101, 101]));
    assert_eq!((metadata.places.mask, metadata.claims), (vec![1, 1, 0, 0], vec![Claim::new(0, 0, 2)]));
    assert_eq!(before, [copy((0, 1), (0, 2)), copy((0, 1), (0, 3))]);
    let dropped = Action::Dropped(vec![position(0), position(1)]);
    assert_eq!(actions(&mut end(LastBatchPolicy::Drop)), [dropped, Action::Discard { batch: 0 }]);
}

#[test]
fn rule_36_what_is_left_out_unread_goes_with_the_tail() {
    let mut batcher = dynamic(OnError::Skip, LastBatchPolicy::Drop);
    assert_eq!(batcher.spare(0), 3);
    let slow = place(&mut batcher, 0);
    good(&mut batcher, 1..4);
    assert_eq!(batcher.spare(0), 0, "a bad record among them needs another one");
    batcher.outcome(slow, Ok(ORIGIN));
    published(&mut batcher);
    good(&mut batcher, 4..5);
    assert_eq!(batcher.spare(0), 2);
    batcher.drop_position(position(5));
    assert_eq!((batcher.spare(0), batcher.spare(1)), (1, 3));
    batcher.end_at_whole_batches(0);
    let tail = vec![position(4), position(5)];
    assert_eq!(actions(&mut batcher), [Action::Discard { batch: 1 }, Action::Settled { epoch: 0, tail }]);
    // The last daemon drops it.
    batcher.drop_position(position(5));
    batcher.end(0);
    assert_eq!(actions(&mut batcher), [Action::Dropped(vec![position(5)])]);
    assert_eq!(dynamic(OnError::Skip, LastBatchPolicy::Partial).spare(0), 0);
}

#[test]
fn rule_12_records_that_come_back_after_the_end_make_one_further_batch() {
    let mut batcher = dynamic(OnError::Skip, LastBatchPolicy::Partial);
    good(&mut batcher, 0..2);
    batcher.end(0);
    published(&mut batcher);
    good(&mut batcher, 2..5);
    assert_eq!(actions(&mut batcher), [], "others may come back as well");
    batcher.end(0);
    assert_eq!(published(&mut batcher).1.places.records, [102, 103, 104]);
}

#[test]
fn rule_12_a_record_that_comes_back_before_the_last_batch_is_settled_joins_it() {
    let mut batcher = dynamic(OnError::Skip, LastBatchPolicy::Partial);
    let slow = place(&mut batcher, 0);
    batcher.end(0);
    good(&mut batcher, 1..2);
    batcher.outcome(slow, Ok(ORIGIN));
    assert_eq!(actions(&mut batcher), [], "its lease has more");
    good(&mut batcher, 2..3);
    batcher.end(0);
    assert_eq!(published(&mut batcher).1.places.records, [100, 101, 102]);
}

fn plan(records: u64, shard: Option<StaticShard>) -> Arc<Plan> {
    let (fingerprint, permutation) = (vec![0; 32], PERMUTATION);
    Arc::new(Plan::new(&LedgerSpec { fingerprint, records, permutation, shard, ..LedgerSpec::default() }).unwrap())
}

fn fails(batcher: &mut Batcher) -> bool {
    actions(batcher).iter().any(|action| matches!(action, Action::Fail(_)))
}

#[test]
fn rule_7_a_shard_whose_records_are_all_bad_gives_black_batches_and_does_not_fail() {
    // One of its size and one that is larger than a batch; a single shard is the whole dataset.
    for (records, num_shards, fails_at) in [(13, 3, None), (24, 3, None), (9, 1, Some(9))] {
        let shard = StaticShard { shard_id: num_shards - 1, num_shards, stick_to_shard: true };
        let plan = plan(records, Some(shard));
        let own = plan.epoch_records(0);
        let mut batcher = fixed(OnError::Skip).failing_without_one_of(plan);
        for index in 0..own {
            let position = position(index);
            if batcher.needs_slot(&position) {
                let left = u32::try_from(own - index / 4 * 4).unwrap().min(4);
                batcher.begin_fixed(&position, &Form { positions: left, own: left, copies: vec![], empty: None });
            }
            let at = batcher.place(position, 7);
            batcher.outcome(at, Err(wrong()));
            let has_failed = fails(&mut batcher);
            assert_eq!(has_failed, fails_at == Some(index + 1), "record {index} of {records} in {num_shards}");
        }
    }
}

#[test]
fn a_bad_record_that_is_read_again_is_one_bad_record() {
    let mut batcher = dynamic(OnError::Skip, LastBatchPolicy::Partial).failing_without_one_of(plan(6, None));
    (0..8).for_each(|_| bad(&mut batcher, 0));
    assert!(!fails(&mut batcher));
    (1..6).for_each(|index| bad(&mut batcher, index));
    assert!(fails(&mut batcher));
}

#[test]
fn an_epoch_without_one_good_record_fails_the_stream_and_one_with_a_good_record_does_not() {
    for on_error in [OnError::Skip, OnError::Replace] {
        for good_ones in 0..2 {
            let mut batcher = dynamic(on_error, LastBatchPolicy::Partial).failing_without_one_of(plan(6, None));
            good(&mut batcher, 0..good_ones);
            (good_ones..6).for_each(|index| bad(&mut batcher, index));
            let failed = actions(&mut batcher).into_iter().find_map(|action| match action {
                Action::Fail(text) => Some(text),
                _ => None,
            });
            match failed {
                Some(text) => assert!(text.starts_with("Every record of epoch 0 is bad, 6 in all"), "{text}"),
                None => assert_eq!(good_ones, 1),
            }
        }
    }
}
