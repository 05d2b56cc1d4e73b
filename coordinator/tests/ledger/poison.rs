//! A record that ends processes is made in child processes in all later epochs of its run (semantics rule 9).

use forebay_proto::v1::{Lease, RestoreRequest, Verdict, acquire_reply::Answer};

use crate::scene::{Daemon, Scene, spec, static_spec};

/// Delivers an epoch's leases, but for one position of each, which is bad. Only the first of these has ended processes. Answers
/// which record that was.
fn epoch_with_poison(scene: &Scene, daemon: &mut Daemon) -> u64 {
    let leases = daemon.acquire(scene, 5).leases;
    for (number, lease) in leases.iter().enumerate() {
        assert_eq!(daemon.nack_as(scene, lease, 1, number == 0), Verdict::Accepted);
        for (start, end) in [(0, 1), (2, lease.end - lease.start)] {
            for item in scene.receipts(lease, start, end) {
                assert_eq!(daemon.ack(scene, item), Verdict::Accepted);
            }
        }
    }
    scene.plan.record(leases[0].epoch, leases[0].start + 1)
}

/// Whether a lease has this record.
fn has(scene: &Scene, lease: &Lease, record: u64) -> bool {
    (lease.start..lease.end).any(|position| scene.plan.record(lease.epoch, position) == record)
}

#[test]
fn rule_9_a_record_that_ended_two_children_is_a_suspect_in_all_later_epochs() {
    for spec in [spec(35), static_spec(70, 1, 2, false)] {
        let mut scene = Scene::new(spec, 7, 4);
        let mut daemon = scene.daemon("node", 1);
        let poison = epoch_with_poison(&scene, &mut daemon);
        for epoch in 1..4 {
            scene.restart();
            let leases = daemon.acquire(&scene, 5).leases;
            assert_eq!((leases.len(), leases[0].epoch), (5, epoch));
            for lease in &leases {
                // Other bad records end nothing: they make no suspects.
                assert_eq!(lease.suspect, has(&scene, lease, poison), "{lease:?} and {poison}");
                for item in scene.receipts(lease, 0, 7) {
                    assert_eq!(daemon.ack(&scene, item), Verdict::Accepted);
                }
            }
        }
        assert_eq!(daemon.acquire(&scene, 1).answer(), Answer::DatasetDone);
        let marks: Vec<_> =
            scene.quarantine().into_iter().map(|entry| (entry.record == poison, entry.poison)).collect();
        assert_eq!(marks.len(), 5);
        assert!(marks.iter().all(|(is_it, is_marked)| is_it == is_marked), "{marks:?}");
    }
}

#[test]
fn rule_9_a_state_from_before_it_was_found_knows_it_no_more() {
    let scene = Scene::new(spec(35), 7, 2);
    let mut daemon = scene.daemon("node", 1);
    let before = scene.snapshot(Vec::new());
    epoch_with_poison(&scene, &mut daemon);
    let (caller, snapshot) = (Some(daemon.next()), Some(before));
    scene.call(RestoreRequest { caller, snapshot, ..RestoreRequest::default() }).unwrap();
    let leases = daemon.acquire(&scene, 5).leases;
    assert_eq!(leases.len(), 5);
    assert!(leases.iter().all(|lease| !lease.suspect), "{leases:?}");
}
