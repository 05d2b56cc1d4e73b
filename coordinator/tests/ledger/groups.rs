//! What each group of trainers has consumed of an epoch (semantics rule 44).

use forebay_plan::{GroupAudit, GroupVerdict, Verdict as Judgement};
use forebay_proto::v1::{AckItem, AckRequest, GroupKey, GroupReceipt, Lease, Verdict};

use crate::scene::{Daemon, GRACE, Scene, spec};

fn named(name: &str) -> GroupKey {
    GroupKey { name: name.to_owned(), ..GroupKey::default() }
}

/// Hands in that these groups have consumed a batch.
fn consumed(scene: &Scene, daemon: &mut Daemon, batch: u64, item: AckItem, groups: &[(&GroupKey, AckItem)]) -> Verdict {
    let receipt =
        |(group, item): &(&GroupKey, AckItem)| GroupReceipt { group: Some((*group).clone()), batch, item: Some(*item) };
    let groups = groups.iter().map(receipt).collect();
    let request = AckRequest { caller: Some(daemon.next()), items: vec![item], groups, ..AckRequest::default() };
    scene.call(request).unwrap().verdicts().next().unwrap()
}

fn verdicts(groups: &[GroupAudit]) -> Vec<GroupVerdict> {
    groups.iter().map(|group| group.verdict).collect()
}

/// Two leases of five records each.
fn begin() -> (Scene, Daemon, [Lease; 2]) {
    let scene = Scene::new(spec(10), 5, 1);
    let mut daemon = scene.daemon("node", 1);
    let leases = [daemon.lease(&scene), daemon.lease(&scene)];
    (scene, daemon, leases)
}

#[test]
fn rule_44_each_group_has_an_account_which_a_restart_keeps() {
    let (mut scene, mut daemon, [first, second]) = begin();
    let (small, alone) = (named("small"), GroupKey { pid: 4711, trainer: 9, ..GroupKey::default() });
    let item = scene.delivered(&first);
    assert_eq!(consumed(&scene, &mut daemon, 3, item, &[(&small, item)]), Verdict::Accepted);
    let audit = scene.audit();
    assert_eq!(audit[0].groups[0].to_string(), "group \"small\": batches 3 to 3, 5 of 5 delivered records");
    scene.restart();
    let item = scene.delivered(&second);
    assert_eq!(consumed(&scene, &mut daemon, 4, item, &[(&small, item), (&alone, item)]), Verdict::Accepted);
    let audit = scene.audit();
    assert_eq!(audit[0].verdict, Judgement::AddsUp);
    assert_eq!(verdicts(&audit[0].groups), [GroupVerdict::Whole, GroupVerdict::Part]);
    let lines: Vec<_> = audit[0].groups.iter().map(GroupAudit::to_string).collect();
    let of_alone = "trainer of process 4711: batches 4 to 4, 5 of 10 delivered records";
    assert_eq!(lines, ["group \"small\": whole, 10 records, checksum equal", of_alone]);
}

#[test]
fn rule_44_batches_that_two_daemons_have_numbered_have_no_first_and_last_number() {
    for is_counted in [true, false] {
        let (mut scene, mut daemon, [first, _]) = begin();
        let (early, late) = (named("early"), named("late"));
        if is_counted {
            let item = scene.delivered(&first);
            consumed(&scene, &mut daemon, 96, item, &[(&early, item)]);
        }
        let mut daemon = scene.daemon("node", 2);
        scene.pass(GRACE);
        let lease = daemon.lease(&scene);
        let item = scene.delivered(&lease);
        assert_eq!(consumed(&scene, &mut daemon, 0, item, &[(&late, item)]), Verdict::Accepted);
        scene.restart();
        let of_late = scene.audit().remove(0).groups.pop().unwrap().to_string();
        let delivered = if is_counted { 10 } else { 5 };
        assert_eq!(of_late, format!("group \"late\": batches of several daemons, 5 of {delivered} delivered records"));
    }
}

#[test]
fn rule_44_a_group_that_saw_other_records_is_an_error_of_the_audit() {
    let (scene, mut daemon, [first, second]) = begin();
    let (right, wrong) = (named("right"), named("wrong"));
    let [one, two] = [scene.delivered(&first), scene.delivered(&second)];
    consumed(&scene, &mut daemon, 1, one, &[(&right, one), (&wrong, one)]);
    let other = AckItem { sum_low: two.sum_low ^ 1, ..two };
    consumed(&scene, &mut daemon, 2, two, &[(&right, two), (&wrong, other)]);
    let audit = &scene.audit()[0];
    assert_eq!(audit.accounted(), audit.expected, "the records themselves are all there");
    assert_eq!(verdicts(&audit.groups), [GroupVerdict::Whole, GroupVerdict::Differs]);
    assert_eq!(audit.verdict, Judgement::DoesNotAddUp);
    assert!(audit.groups[1].to_string().contains("DOES NOT ADD UP"), "{}", audit.groups[1]);
}

#[test]
fn rule_44_a_receipt_that_is_refused_counts_for_no_group() {
    let (scene, mut daemon, [first, _]) = begin();
    let small = named("small");
    let item = scene.delivered(&first);
    assert_eq!(consumed(&scene, &mut daemon, 1, item, &[(&small, item)]), Verdict::Accepted);
    assert_ne!(consumed(&scene, &mut daemon, 1, item, &[(&small, item)]), Verdict::Accepted, "it came twice");
    assert_eq!(scene.audit()[0].groups[0].consumed.count, 5);
}

#[test]
fn rule_44_trainers_that_come_and_go_make_no_document_without_end() {
    let scene = Scene::new(spec(1000), 1000, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    let item = scene.delivered(&lease);
    let keys: Vec<_> = (0..1000).map(|trainer| GroupKey { pid: 1, trainer, ..GroupKey::default() }).collect();
    let groups: Vec<_> = keys.iter().map(|key| (key, item)).collect();
    assert_eq!(consumed(&scene, &mut daemon, 1, item, &groups), Verdict::Accepted);
    assert_eq!(scene.audit()[0].groups.len(), 256);
}
