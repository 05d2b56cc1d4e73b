//! Tests of what a trainer goes on holding: which claims are of one batch.

use bytemuck::Zeroable;
use forebay_ring::ClaimSum;

use super::*;

const KEPT: Verdict = Verdict::Accepted;

/// A claim of one position.
fn held(hold: u32, seq: u64, lease: u64) -> ResumedClaim {
    ResumedClaim { lease, start: 0, len: 1, epoch: 2, seq, held: hold, bare: 0, sum: ClaimSum::zeroed() }
}

/// Takes back a list in these parts. Tells of each batch its number here, its `seq` and the leases of its claims.
fn told(parts: &[&[ResumedClaim]]) -> Vec<(u64, u64, Vec<u64>)> {
    let mut adopted = Vec::new();
    for part in parts {
        take_back(part.iter().map(|resumed_claim| (resumed_claim, KEPT)), false, &mut adopted);
    }
    let lease =
        |claim: &HeldClaim| if let HeldClaim::Leased(claim) = claim { claim.lease } else { panic!("{claim:?}") };
    let tell = |of: ResumedBatch| (of.hold, of.batch.seq, of.claims.iter().map(lease).collect());
    adopted.into_iter().map(tell).collect()
}

#[test]
fn rule_16_batches_of_one_number_from_two_dead_daemons_are_two() {
    let list = [held(1, 0, 7), held(1, 0, 8), held(2, 0, 9)];
    assert_eq!(told(&[&list]), [(1, 0, vec![7, 8]), (2, 0, vec![9])]);
}

#[test]
fn rule_16_a_batch_whose_claims_are_read_in_two_parts_is_one() {
    let list = [held(1, 0, 7), held(2, 0, 8), held(2, 0, 9), held(3, 0, 10)];
    assert_eq!(told(&[&list[..2], &list[2..]]), [(1, 0, vec![7]), (2, 0, vec![8, 9]), (3, 0, vec![10])]);
}

#[test]
fn the_trainers_number_alone_says_which_batch_a_claim_is_of() {
    let list = [held(4, 5, 7), held(4, 6, 8), held(u32::MAX, u64::MAX, 9)];
    assert_eq!(told(&[&list]), [(4, 5, vec![7, 8]), (u64::from(u32::MAX), u64::MAX, vec![9])]);
}

#[test]
fn a_claim_that_the_ledger_keeps_from_the_trainer_is_lost_and_keeps_its_place_in_the_batch() {
    let mut adopted = Vec::new();
    let list = [held(1, 0, 7), ResumedClaim { len: 1 << 40, ..held(1, 0, 8) }, held(1, 0, 9)];
    take_back(list.iter().zip([Verdict::Lost, KEPT, KEPT]), false, &mut adopted);
    let [ResumedBatch { claims, .. }] = &adopted[..] else { panic!("{adopted:?}") };
    assert_eq!(claims[..], [HeldClaim::Lost, HeldClaim::Lost, HeldClaim::Leased(Claim::new(9, 0, 1))]);
}
