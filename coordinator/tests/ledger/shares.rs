//! What some groups of trainers have consumed and others have not, when their daemon dies (semantics rule 44).

use forebay_plan::{GroupAudit, GroupVerdict, Verdict as Judgement};
use forebay_proto::v1::{
    AbandonRequest, AckItem, AckReply, AckRequest, GroupKey, GroupReceipt, GroupShare, HeartbeatRequest, Lease,
    LeasedRange, MissedBatches, Range, ReclaimRequest, Verdict, acquire_reply::Answer,
};

use crate::scene::{Daemon, GRACE, Scene, TTL, spec};

fn receipt(group: &str, batch: u64, item: AckItem) -> GroupReceipt {
    let group = Some(GroupKey { name: group.to_owned(), ..GroupKey::default() });
    GroupReceipt { group, batch, item: Some(item) }
}

/// What a trainer of a group holds.
fn held(group: &str, batch: u64, lease: &Lease) -> ReclaimRequest {
    let count = lease.end - lease.start;
    let range = Some(Range { start: 0, end: count });
    let item = AckItem { lease: lease.id, range, count, ..AckItem::default() };
    let items = vec![LeasedRange { lease: lease.id, range }];
    ReclaimRequest { caller: None, items, groups: vec![receipt(group, batch, item)] }
}

fn tell(scene: &Scene, daemon: &mut Daemon, request: AckRequest) -> AckReply {
    scene.call(AckRequest { caller: Some(daemon.next()), ..request }).unwrap()
}

/// A group has consumed a batch that others wait for.
fn share(scene: &Scene, daemon: &mut Daemon, by: &str, batch: u64, item: AckItem, waiting: &[&str]) {
    let waiting = waiting.iter().map(|name| (*name).to_owned()).collect();
    let shares = vec![GroupShare { receipt: Some(receipt(by, batch, item)), waiting }];
    tell(scene, daemon, AckRequest { shares, ..AckRequest::default() });
}

fn missed(scene: &Scene, daemon: &mut Daemon, group: &str) -> Vec<MissedBatches> {
    tell(scene, daemon, AckRequest { missing: vec![group.to_owned()], ..AckRequest::default() }).missed
}

/// A trainer of a group hands in that it has consumed a batch of a dead incarnation.
fn resume(scene: &Scene, daemon: &mut Daemon, group: &str, batch: u64, item: AckItem) -> Verdict {
    let groups = vec![receipt(group, batch, item)];
    let request = AckRequest { items: vec![item], groups, resumed: true, ..AckRequest::default() };
    tell(scene, daemon, request).verdicts().next().unwrap()
}

/// A trainer of a group goes on holding a batch of a dead incarnation. True if nobody else does.
fn reclaim(scene: &Scene, daemon: &mut Daemon, group: &str, batch: u64, lease: &Lease) -> bool {
    let request = ReclaimRequest { caller: Some(daemon.next()), ..held(group, batch, lease) };
    daemon.knows(std::slice::from_ref(lease));
    scene.call(request).unwrap().verdicts().next() == Some(Verdict::Accepted)
}

/// The batch's own receipt, with that of one group.
fn ack(scene: &Scene, daemon: &mut Daemon, group: &str, batch: u64, item: AckItem) -> Verdict {
    let groups = vec![receipt(group, batch, item)];
    tell(scene, daemon, AckRequest { items: vec![item], groups, ..AckRequest::default() }).verdicts().next().unwrap()
}

/// What each group is counted for: its name, its records, and those that it has missed.
fn accounts(scene: &Scene) -> Vec<(String, u64, u64)> {
    let groups = scene.audit().remove(0).groups;
    let account = |group: GroupAudit| {
        (group.name.unwrap(), group.consumed.count, group.missed.map_or(0, |(_, _, records)| records))
    };
    let mut accounts: Vec<_> = groups.into_iter().map(account).collect();
    accounts.sort();
    accounts
}

/// Two groups, and a lease for each of two batches.
fn begin() -> (Scene, Daemon, [Lease; 2]) {
    let scene = Scene::new(spec(10), 5, 1);
    let mut daemon = scene.daemon("node", 1);
    for group in ["fast", "slow"] {
        tell(&scene, &mut daemon, AckRequest { began: vec![group.to_owned()], ..AckRequest::default() });
    }
    let leases = [daemon.lease(&scene), daemon.lease(&scene)];
    (scene, daemon, leases)
}

fn slow_missed(from: u64, to: u64, records: u64) -> Vec<MissedBatches> {
    vec![MissedBatches { group: "slow".to_owned(), epoch: 0, from, to, records }]
}

#[test]
fn rule_44_what_one_group_has_consumed_is_delivered_after_a_death_and_the_other_has_missed_it_once() {
    let (mut scene, mut daemon, leases) = begin();
    for (batch, lease) in (7..).zip(&leases) {
        share(&scene, &mut daemon, "fast", batch, scene.delivered(lease), &["slow"]);
    }
    assert_eq!(scene.audit().len(), 0, "it waits for the other group");
    scene.restart();
    let mut daemon = scene.daemon("node", 2);
    assert_eq!(daemon.acquire(&scene, 1).answer(), Answer::DatasetDone, "nothing of it is delivered again");
    assert_eq!(missed(&scene, &mut daemon, "fast"), []);
    scene.restart();
    assert_eq!(missed(&scene, &mut daemon, "slow"), slow_missed(7, 8, 10));
    assert_eq!(missed(&scene, &mut daemon, "slow"), [], "once");
    let audit = &scene.audit()[0];
    assert_eq!(audit.verdict, Judgement::AddsUp);
    let [fast, slow] = &audit.groups[..] else { panic!("{audit:?}") };
    assert_eq!((fast.verdict, slow.verdict), (GroupVerdict::Whole, GroupVerdict::Part));
    assert!(slow.to_string().ends_with("; missed 10 records of batches 7 to 8"), "{slow}");
}

#[test]
fn rule_44_what_a_trainer_hands_in_is_not_missed() {
    let (scene, mut daemon, [first, second]) = begin();
    let [one, two] = [scene.delivered(&first), scene.delivered(&second)];
    share(&scene, &mut daemon, "fast", 1, one, &["slow"]);
    share(&scene, &mut daemon, "fast", 2, two, &["slow"]);
    let mut daemon = scene.daemon("node", 2);
    assert_eq!(resume(&scene, &mut daemon, "slow", 1, one), Verdict::Accepted, "its receipt had not come");
    assert_ne!(resume(&scene, &mut daemon, "slow", 1, one), Verdict::Accepted, "it came twice");
    assert!(!reclaim(&scene, &mut daemon, "slow", 2, &second), "it is delivered already");
    assert_eq!(resume(&scene, &mut daemon, "slow", 2, two), Verdict::Accepted, "its trainer has consumed it now");
    assert_eq!(missed(&scene, &mut daemon, "slow"), []);
    let groups = scene.audit().remove(0).groups;
    assert!(groups.iter().all(|group| group.verdict == GroupVerdict::Whole), "{groups:?}");
}

#[test]
fn rule_44_a_batch_that_every_group_has_consumed_is_owed_to_nobody() {
    let (scene, mut daemon, [first, _]) = begin();
    let one = scene.delivered(&first);
    share(&scene, &mut daemon, "fast", 1, one, &["slow"]);
    let groups = ["fast", "slow"].map(|group| receipt(group, 1, one)).to_vec();
    tell(&scene, &mut daemon, AckRequest { items: vec![one], groups, ..AckRequest::default() });
    let mut daemon = scene.daemon("node", 2);
    assert_eq!(missed(&scene, &mut daemon, "slow"), []);
    assert_eq!(scene.audit()[0].sums.delivered.count, 5, "it counts once");
}

#[test]
fn rule_44_what_only_one_group_had_of_a_dead_daemon_is_owed_to_the_others_that_were_there() {
    let (scene, _, [first, second]) = begin();
    let mut daemon = scene.daemon("node", 2);
    assert_eq!(resume(&scene, &mut daemon, "fast", 1, scene.delivered(&first)), Verdict::Accepted);
    assert!(reclaim(&scene, &mut daemon, "fast", 2, &second));
    assert_eq!(missed(&scene, &mut daemon, "slow"), slow_missed(1, 1, 5), "nobody has consumed the other one yet");
    assert_eq!(ack(&scene, &mut daemon, "fast", 2, scene.delivered(&second)), Verdict::Accepted);
    assert_eq!(missed(&scene, &mut daemon, "slow"), slow_missed(2, 2, 5));
    assert_eq!(accounts(&scene), [("fast".to_owned(), 10, 0), ("slow".to_owned(), 0, 10)]);
}

#[test]
fn rule_44_what_no_receipt_was_told_of_is_delivered_again() {
    let (scene, mut daemon, [first, _]) = begin();
    share(&scene, &mut daemon, "fast", 1, scene.delivered(&first), &["slow"]);
    let mut daemon = scene.daemon("node", 2);
    scene.pass(GRACE);
    let again = daemon.lease(&scene);
    assert_eq!((again.start, again.end), (5, 10));
    assert_eq!(daemon.ack(&scene, scene.delivered(&again)), Verdict::Accepted);
    assert_eq!(scene.audit()[0].verdict, Judgement::AddsUp);
}

#[test]
fn rule_44_what_two_groups_hold_of_a_dead_daemon_counts_for_each_that_has_consumed_it() {
    let (scene, _, [first, _]) = begin();
    let mut daemon = scene.daemon("node", 2);
    assert!(reclaim(&scene, &mut daemon, "fast", 1, &first));
    assert!(!reclaim(&scene, &mut daemon, "slow", 1, &first), "the other one goes on holding it");
    assert_eq!(missed(&scene, &mut daemon, "slow"), []);
    assert_eq!(resume(&scene, &mut daemon, "slow", 1, scene.delivered(&first)), Verdict::Accepted);
    assert_eq!(scene.audit().len(), 0, "it counts with the other one's");
    assert_eq!(ack(&scene, &mut daemon, "fast", 1, scene.delivered(&first)), Verdict::Accepted);
    assert_eq!(accounts(&scene), [("fast".to_owned(), 5, 0), ("slow".to_owned(), 5, 0)]);
}

#[test]
fn rule_44_a_trainer_that_ends_with_what_another_group_holds_leaves_it_to_be_missed() {
    let (scene, _, [first, _]) = begin();
    let mut daemon = scene.daemon("node", 2);
    assert!(reclaim(&scene, &mut daemon, "fast", 1, &first));
    assert!(!reclaim(&scene, &mut daemon, "slow", 1, &first));
    assert_eq!(ack(&scene, &mut daemon, "fast", 1, scene.delivered(&first)), Verdict::Accepted);
    assert_eq!(missed(&scene, &mut daemon, "slow"), slow_missed(1, 1, 5));
    assert_eq!(accounts(&scene), [("fast".to_owned(), 5, 0), ("slow".to_owned(), 0, 5)]);
}

#[test]
fn rule_44_a_trainer_that_ends_with_what_is_delivered_in_its_hands_leaves_it_to_be_missed() {
    let (scene, mut daemon, [first, _]) = begin();
    share(&scene, &mut daemon, "fast", 7, scene.delivered(&first), &["slow"]);
    let mut daemon = scene.daemon("node", 2);
    assert!(!reclaim(&scene, &mut daemon, "slow", 7, &first));
    let mut daemon = scene.daemon("node", 3);
    assert_eq!(missed(&scene, &mut daemon, "slow"), slow_missed(7, 7, 5), "it has ended without a receipt");
    assert_eq!(accounts(&scene), [("fast".to_owned(), 5, 0), ("slow".to_owned(), 0, 5)]);
}

#[test]
fn rule_44_what_a_trainer_without_a_group_has_consumed_is_not_delivered_again_when_the_holder_ends() {
    let scene = Scene::new(spec(5), 5, 1);
    let lease = scene.daemon("node", 1).lease(&scene);
    let mut daemon = scene.daemon("node", 2);
    assert!(reclaim(&scene, &mut daemon, "", 1, &lease), "nobody else was there");
    assert_eq!(resume(&scene, &mut daemon, "", 1, scene.delivered(&lease)), Verdict::Accepted);
    assert_eq!(daemon.give_back(&scene, &lease, 0, 5), Verdict::Accepted);
    assert_eq!(daemon.acquire(&scene, 1).answer(), Answer::DatasetDone);
    assert_eq!(scene.audit()[0].verdict, Judgement::AddsUp);
}

#[test]
fn rule_44_a_group_waits_for_the_part_of_a_batch_whose_lease_has_not_ended_too() {
    let (scene, mut daemon, [first, second]) = begin();
    let [one, two] = [scene.delivered(&first), scene.delivered(&second)];
    share(&scene, &mut daemon, "fast", 1, one, &["slow"]);
    share(&scene, &mut daemon, "fast", 1, two, &["slow"]);
    scene.pass(TTL / 2);
    let beat =
        HeartbeatRequest { caller: Some(daemon.caller()), leases: vec![second.id], ..HeartbeatRequest::default() };
    scene.call(beat).unwrap();
    scene.pass(TTL / 2);
    assert_eq!(ack(&scene, &mut daemon, "fast", 1, two), Verdict::Accepted, "the other group does not get it");
    assert_eq!(missed(&scene, &mut daemon, "slow"), slow_missed(1, 1, 10));
}

#[test]
fn rule_44_a_receipt_that_was_under_way_when_the_lease_ended_counts_for_its_group() {
    let (scene, mut daemon, [first, _]) = begin();
    let one = scene.delivered(&first);
    share(&scene, &mut daemon, "fast", 1, one, &["slow"]);
    scene.pass(TTL);
    let groups = ["fast", "slow"].map(|group| receipt(group, 1, one)).to_vec();
    let reply = tell(&scene, &mut daemon, AckRequest { items: vec![one], groups, ..AckRequest::default() });
    assert_eq!(reply.verdicts().next(), Some(Verdict::Accepted));
    assert_eq!(missed(&scene, &mut daemon, "slow"), []);
    assert_eq!(accounts(&scene), [("fast".to_owned(), 5, 0), ("slow".to_owned(), 5, 0)]);
}

#[test]
fn rule_44_what_is_told_again_and_names_that_are_too_long_make_no_document_without_end() {
    let (scene, mut daemon, [first, _]) = begin();
    let (one, long) = (scene.delivered(&first), "x".repeat(65));
    tell(&scene, &mut daemon, AckRequest { began: vec![long.clone()], ..AckRequest::default() });
    for _ in 0..3 {
        share(&scene, &mut daemon, "fast", 1, one, &["slow", "slow", &long, "unknown"]);
        share(&scene, &mut daemon, &long, 1, one, &["slow"]);
    }
    let (mut daemon, opened) = scene.open("node", 2);
    assert_eq!(opened.groups, ["fast", "slow"]);
    let missing = vec!["slow".to_owned(), long, "unknown".to_owned(), "slow".to_owned()];
    let reply = tell(&scene, &mut daemon, AckRequest { missing, ..AckRequest::default() });
    assert_eq!(reply.missed, slow_missed(1, 1, 5));
    assert_eq!(accounts(&scene), [("fast".to_owned(), 5, 0), ("slow".to_owned(), 0, 5)]);
}

#[test]
fn rule_44_what_one_group_has_consumed_is_delivered_where_another_s_trainer_ends_with_it_in_its_hands() {
    let (scene, _, [first, _]) = begin();
    let mut daemon = scene.daemon("node", 2);
    assert!(reclaim(&scene, &mut daemon, "slow", 1, &first));
    assert_eq!(resume(&scene, &mut daemon, "fast", 1, scene.delivered(&first)), Verdict::Accepted);
    assert_eq!(scene.audit().len(), 0, "the other group holds it");
    assert_eq!(daemon.give_back(&scene, &first, 0, 5), Verdict::Accepted);
    assert_eq!(missed(&scene, &mut daemon, "slow"), slow_missed(1, 1, 5));
    assert_eq!(accounts(&scene), [("fast".to_owned(), 5, 0), ("slow".to_owned(), 0, 5)]);
}

#[test]
fn rule_44_what_nobody_has_consumed_goes_to_all_groups_again() {
    let (scene, _, [first, second]) = begin();
    let mut daemon = scene.daemon("node", 2);
    assert!(reclaim(&scene, &mut daemon, "fast", 1, &first));
    assert_eq!(daemon.give_back(&scene, &first, 0, 5), Verdict::Accepted);
    assert!(reclaim(&scene, &mut daemon, "fast", 2, &second));
    let mut daemon = scene.daemon("node", 3);
    assert_eq!(missed(&scene, &mut daemon, "slow"), [], "it gets them as well");
}

#[test]
fn rule_44_a_group_that_comes_back_after_two_deaths_is_told_what_it_missed_at_the_first() {
    let (mut scene, mut daemon, [first, _]) = begin();
    share(&scene, &mut daemon, "fast", 1, scene.delivered(&first), &["slow"]);
    scene.daemon("node", 2);
    scene.restart();
    let (mut daemon, opened) = scene.open("node", 3);
    assert_eq!(opened.groups, ["fast", "slow"], "neither has ended");
    assert_eq!(missed(&scene, &mut daemon, "slow"), slow_missed(1, 1, 5));
}

#[test]
fn rule_44_a_group_that_has_ended_is_waited_for_no_more_and_the_audit_has_what_it_missed() {
    let (scene, mut daemon, [first, second]) = begin();
    share(&scene, &mut daemon, "fast", 1, scene.delivered(&first), &["slow"]);
    let mut daemon = scene.daemon("node", 2);
    let ended = |name: &str| AckRequest { ended: vec![name.to_owned()], ..AckRequest::default() };
    tell(&scene, &mut daemon, ended("slow"));
    assert_eq!(missed(&scene, &mut daemon, "slow"), [], "another one begins with its name");
    assert_eq!(accounts(&scene), [("fast".to_owned(), 5, 0), ("slow".to_owned(), 0, 5)]);
    assert!(reclaim(&scene, &mut daemon, "fast", 2, &second));
    let (mut daemon, opened) = scene.open("node", 3);
    assert_eq!(opened.groups, ["fast"]);
    assert_eq!(missed(&scene, &mut daemon, "slow"), []);
}

#[test]
fn rule_44_leases_that_end_while_the_daemon_lives_take_nothing_back_that_a_group_has_consumed() {
    let (scene, mut daemon, [first, second]) = begin();
    share(&scene, &mut daemon, "fast", 1, scene.delivered(&first), &["slow"]);
    scene.pass(TTL);
    let again = daemon.lease(&scene);
    assert_eq!((again.start, again.end), (second.start, second.end), "the other one is granted again");
    assert_eq!(missed(&scene, &mut daemon, "slow"), slow_missed(1, 1, 5));
    assert_eq!(scene.audit()[0].sums.delivered.count, 5);
}

#[test]
fn rule_44_an_epoch_that_is_abandoned_is_shared_by_nobody() {
    let (scene, mut daemon, [first, _]) = begin();
    share(&scene, &mut daemon, "fast", 1, scene.delivered(&first), &["slow"]);
    scene.call(AbandonRequest { caller: Some(daemon.next()), epoch: 0, ..AbandonRequest::default() }).unwrap();
    let mut daemon = scene.daemon("node", 2);
    assert_eq!(missed(&scene, &mut daemon, "slow"), []);
    let audit = &scene.audit()[0];
    assert_eq!((audit.verdict, audit.sums.abandoned.count), (Judgement::AddsUp, 10));
}

#[test]
fn rule_44_groups_that_saw_different_records_of_a_dead_daemon_s_batch_do_not_add_up() {
    let (scene, mut daemon, [first, _]) = begin();
    let item = scene.delivered(&first);
    share(&scene, &mut daemon, "fast", 1, item, &["slow"]);
    let mut daemon = scene.daemon("node", 2);
    resume(&scene, &mut daemon, "slow", 1, AckItem { sum_low: item.sum_low ^ 1, ..item });
    assert_eq!(scene.audit()[0].verdict, Judgement::DoesNotAddUp);
}
