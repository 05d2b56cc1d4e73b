//! Receipts that were under way when another rank of a lockstep run ended the epoch (semantics rule 40).

use forebay_proto::v1::{AbandonRequest, AckItem, AckRequest, Verdict};

use crate::lockstep::{Job, Rank};
use crate::scene::{Scene, TTL};
use crate::segments::{RECORDS, RUN, lines, scene};

/// Each rank has acknowledged a step and has the next one in its hands. Then the first rank acknowledges that as well, and ends
/// the epoch. Gives the receipts that the others have not sent yet.
fn reset_by_the_first_rank(job: &mut Job<'_>) -> Vec<Vec<AckItem>> {
    job.step();
    let mut receipts: Vec<_> = job.ranks.iter_mut().map(|rank| rank.take(job.scene, 16).unwrap().2).collect();
    let own = receipts.remove(0);
    job.ranks[0].acknowledge(job.scene, own);
    let caller = Some(job.ranks[0].next());
    assert_eq!(
        job.scene.call(AbandonRequest { caller, epoch: 0, ..AbandonRequest::default() }).unwrap().abandoned,
        75 - 32
    );
    receipts
}

fn told(delivered: u64) -> String {
    let abandoned = RECORDS - delivered;
    format!("epoch 0: 300 of 300 records accounted for ({delivered} delivered, {abandoned} abandoned), checksum equal")
}

fn verdict(scene: &Scene, rank: &mut Rank, items: &[AckItem], resumed: bool) -> Verdict {
    let request = AckRequest { caller: Some(rank.next()), items: items.to_vec(), resumed, ..AckRequest::default() };
    scene.call(request).unwrap().verdicts().next().unwrap()
}

#[test]
fn rule_40_receipts_that_were_under_way_at_a_reset_of_another_rank_count_once() {
    let mut scene = scene();
    let mut job = Job::start(&scene, RUN, RECORDS, 4);
    let state = job.state();
    let late = reset_by_the_first_rank(&mut job);
    assert_eq!(lines(&job), [told(80)]);
    assert_eq!(verdict(&scene, &mut job.ranks[1], &late[0], false), Verdict::Accepted);
    assert_eq!(lines(&job), [told(96)]);
    // The coordinator dies meanwhile, and the daemon of the last rank: its trainer hands in what it had.
    let ranks = job.ranks;
    scene.restart();
    let mut job = Job { scene: &scene, ranks };
    assert_eq!(verdict(&scene, &mut job.ranks[2], &late[1], false), Verdict::Accepted);
    assert_eq!(verdict(&scene, &mut job.ranks[3], &late[2], true), Verdict::Accepted);
    assert_eq!(lines(&job), [told(128)]);
    for (rank, receipts) in (1..4).zip(&late) {
        assert_eq!(verdict(&scene, &mut job.ranks[rank], receipts, false), Verdict::Lost, "each counts once");
    }
    // The ranks go on, or back.
    for rank in &mut job.ranks {
        rank.leased.clear();
    }
    assert_eq!(job.step().unwrap().0, 1);
    job.restore(&state);
    while job.step().is_some() {}
    let whole = |epoch| format!("epoch {epoch}: 300 of 300 records accounted for (300 delivered), checksum equal");
    assert_eq!(lines(&job), [whole(0), whole(1), whole(2)]);
}

#[test]
fn rule_40_a_second_reset_does_not_take_the_late_receipts_of_the_first() {
    let scene = scene();
    let mut job = Job::start(&scene, RUN, RECORDS, 4);
    let late = reset_by_the_first_rank(&mut job);
    let first = &mut job.ranks[0];
    first.leased.clear();
    first.take(&scene, 16).unwrap();
    let caller = Some(first.next());
    assert_eq!(scene.call(AbandonRequest { caller, epoch: 1, ..AbandonRequest::default() }).unwrap().abandoned, 75);
    for (rank, receipts) in (1..4).zip(&late) {
        assert_eq!(verdict(&scene, &mut job.ranks[rank], receipts, false), Verdict::Accepted);
    }
    assert_eq!(lines(&job)[0], told(128));
}

#[test]
fn rule_40_a_receipt_that_comes_when_its_lease_would_have_expired_is_refused_and_its_records_stay_abandoned() {
    let scene = scene();
    let mut job = Job::start(&scene, RUN, RECORDS, 4);
    let late = reset_by_the_first_rank(&mut job);
    scene.pass(TTL);
    assert_eq!(verdict(&scene, &mut job.ranks[1], &late[0], false), Verdict::Lost);
    assert_eq!(lines(&job), [told(80)]);
}

#[test]
fn rule_40_after_a_load_no_receipt_of_before_the_reset_counts() {
    let scene = scene();
    let mut job = Job::start(&scene, RUN, RECORDS, 4);
    let late = reset_by_the_first_rank(&mut job);
    let state = job.state();
    job.restore(&state);
    assert_eq!(verdict(&scene, &mut job.ranks[1], &late[0], false), Verdict::Lost);
    assert_eq!(lines(&job), [told(80)]);
}
