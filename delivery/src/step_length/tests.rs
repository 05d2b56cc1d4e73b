//! Tests of what is put together: by a plain model, whatever order the ranges come in.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use forebay_plan::{ClassTable, Leftovers};
use forebay_proto::RecordSum;
use forebay_proto::v1::{ClassOrder, LockstepRank, ack_item::Kind};
use forebay_ring::Claim;
use proptest::prelude::*;

use super::*;

const STEP: u64 = 6;

fn steps() -> StepLength {
    let table = ClassTable::new(vec![0; 30], 2, &[]).unwrap();
    let classes = Some(table.order(&[4, 12], Leftovers::Repeat, &[], ""));
    let lockstep = Some(LockstepRank { global_batch: 12, rank: 1, world_size: 2 });
    StepLength::of(Some(&LedgerSpec { classes, lockstep, ..LedgerSpec::default() }))
}

/// What is at a position of a step: a record that was seen, or none.
type Place = Option<u64>;

/// The claims of a step as a batch has them: a run of positions each, first those that it shows and then the others.
fn claims(lease: u64, step: u64, places: &[Place]) -> Vec<(Claim, RecordSum)> {
    let (mut shown, mut bare) = (Vec::new(), Vec::new());
    let mut offset = step * STEP;
    for run in places.chunk_by(|one, next| one.is_some() == next.is_some()) {
        let len = u32::try_from(run.len()).unwrap();
        match run[0] {
            Some(_) => shown.push((Claim::new(lease, offset, len), run.iter().flatten().copied().collect())),
            None => bare.push((Claim::bare(lease, offset, len), RecordSum::default())),
        }
        offset += u64::from(len);
    }
    shown.into_iter().chain(bare).collect()
}

fn step() -> impl Strategy<Value = Vec<Place>> {
    prop::collection::vec(prop::option::weighted(0.7, 0..1000_u64), usize::try_from(STEP).unwrap())
}

proptest! {
    #[test]
    fn rule_62_the_claims_of_each_step_make_one_range_in_whatever_order_they_come(
        all in prop::collection::btree_map((0..3_u64, 0..4_u64), step(), 1..6),
        order in any::<prop::sample::Index>(),
    ) {
        let mut claims: Vec<_> = all.iter().flat_map(|((lease, step), places)| claims(*lease, *step, places)).collect();
        let middle = order.index(claims.len());
        claims.rotate_left(middle);
        let told = steps().put_together(claims.iter().map(|(claim, sum)| LeaseRange::of(claim, *sum)));
        let by_step: BTreeMap<_, _> = told.iter().map(|range| ((range.lease, range.start / STEP), range)).collect();
        prop_assert_eq!(told.len(), all.len());
        prop_assert_eq!(by_step.keys().collect::<Vec<_>>(), all.keys().collect::<Vec<_>>());
        for ((lease, step), places) in &all {
            let item = by_step[&(*lease, *step)].receipt();
            let seen: RecordSum = places.iter().flatten().copied().collect();
            let range = item.range.unwrap();
            prop_assert_eq!((range.start, range.end), (step * STEP, (step + 1) * STEP));
            prop_assert_eq!(RecordSum::from_halves(item.count, item.sum_high, item.sum_low), seen);
            prop_assert_eq!(item.kind() == Kind::Bare, places.iter().all(Option::is_none));
            let unseen = by_step[&(*lease, *step)].unseen().map(|unseen| {
                assert_eq!(unseen.lease, *lease);
                unseen.range.map(|range| range.start..range.end).unwrap()
            });
            let offsets: BTreeSet<u64> = unseen.flatten().collect();
            let bare = (step * STEP..).zip(places).filter(|(_, place)| place.is_none()).map(|(offset, _)| offset);
            prop_assert_eq!(offsets, bare.collect::<BTreeSet<_>>());
        }
    }
}

#[test]
fn rule_62_what_is_not_next_to_each_other_stays_apart_and_so_do_the_steps_of_a_lease() {
    let apart = |ranges: &[Range<u64>]| {
        let claim = |range: &Range<u64>| {
            let len = u32::try_from(range.end - range.start).unwrap();
            LeaseRange::of(&Claim::new(7, range.start, len), RecordSum::default())
        };
        let told = steps().put_together(ranges.iter().map(claim));
        told.into_iter().map(|range| range.start..range.end).collect::<Vec<_>>()
    };
    assert_eq!(apart(&[0..6, 6..9, 9..12]), [0..6, 6..12], "two steps are two receipts");
    assert_eq!(apart(&[0..2, 3..6]), [0..2, 3..6], "a hole");
    assert_eq!(apart(&[0..4, 2..6]), [0..4, 2..6], "a place that is claimed twice");
}

#[test]
fn without_classes_each_claim_is_told_by_itself_and_names_nothing_beside() {
    let none = StepLength::of(Some(&LedgerSpec { classes: None, ..LedgerSpec::default() }));
    assert_eq!(none, StepLength::default());
    let claims = [Claim::bare(5, 3, 1), Claim::new(5, 0, 3), Claim::new(5, 4, 1)];
    let told = none.put_together(claims.iter().map(|claim| LeaseRange::of(claim, RecordSum::default())));
    assert_eq!(told.iter().map(|range| range.start).collect::<Vec<_>>(), [3, 0, 4]);
    assert_eq!(told.iter().flat_map(LeaseRange::unseen).count(), 0);
}

#[test]
fn a_spec_whose_steps_have_no_place_has_no_length() {
    for places in [vec![], vec![0], vec![1]] {
        let classes = Some(ClassOrder { places, ..ClassOrder::default() });
        let lockstep = Some(LockstepRank { global_batch: 1, rank: 0, world_size: 2 });
        let spec = LedgerSpec { classes, lockstep, ..LedgerSpec::default() };
        assert_eq!(StepLength::of(Some(&spec)), StepLength::default());
    }
}

#[test]
fn rule_62_a_state_counts_whole_steps_that_a_trainer_has_in_hand_and_names_what_they_do_not_show() {
    let item = |claim: &Claim, sum: &RecordSum| LeaseRange::of(claim, *sum).receipt();
    let of_steps = [claims(5, 1, &[Some(3), None, Some(4), None, None, None]), claims(5, 0, &[Some(1); 6])].concat();
    let items: Vec<AckItem> = of_steps.iter().map(|(claim, sum)| item(claim, sum)).collect();
    let request = steps().consumed(items.clone());
    let told = request.consumed.iter().map(|item| (item.range.unwrap().start, item.range.unwrap().end, item.count));
    assert_eq!(told.collect::<Vec<_>>(), [(0, 6, 6), (6, 12, 2)]);
    let bare = request.bare.iter().map(|bare| (bare.lease, bare.range.unwrap().start, bare.range.unwrap().end));
    assert_eq!(bare.collect::<Vec<_>>(), [(5, 7, 8), (5, 9, 12)]);
    assert_eq!(StepLength::default().consumed(items.clone()).consumed, items, "where steps have no classes");
}

#[test]
fn rule_64_a_trainer_whose_protocol_has_no_sizes_is_refused_with_the_version_that_has_them() {
    let said = steps().refusal("train", FIRST_WITH_SIZES - 1).unwrap();
    assert!(said.contains("stream \"train\"") && said.contains("version 14") && said.contains("version 15"), "{said}");
    assert_eq!(steps().refusal("train", FIRST_WITH_SIZES), None);
    assert_eq!(StepLength::default().refusal("train", FIRST_WITH_SIZES - 1), None, "its batches have one size");
}
