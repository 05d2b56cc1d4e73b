//! Opening ledgers: who may, with what, and what the store may hold.

use forebay_ledger_client::CallError;
use forebay_proto::v1::{
    AbandonRequest, AcquireRequest, AttendRequest, AuditRequest, DatasetSummary, DescribeRequest, LedgerSpec,
    NewRunRequest, OpenRequest, RestoreRequest, StoredWorker, acquire_reply::Answer, attend_request::Attendance,
};
use prost::Message;

use crate::scene::{Scene, spec, static_spec};

#[test]
fn rule_1_another_dataset_order_or_seed_is_refused_in_words() {
    let scene = Scene::new(spec(500), 32, 1);
    scene.open("node", 1);
    for (other, words) in [
        (LedgerSpec { records: 501, ..spec(500) }, "records was 500 and is now 501"),
        (LedgerSpec { seed: 8, ..spec(500) }, "seed was 7 and is now 8"),
        (LedgerSpec { shuffle: false, ..spec(500) }, "shuffle was true and is now false"),
        (LedgerSpec { fingerprint: vec![2; 32], ..spec(500) }, "fingerprint was 0101010101010101 and is now 0202"),
        (static_spec(500, 0, 2, false), "assignment was dynamic and is now static (shard_id 0, num_shards 2"),
    ] {
        let request = OpenRequest { spec: Some(other), ..scene.open_request("node", 2) };
        match scene.call(request) {
            Err(CallError::SpecMismatch(text)) => assert!(text.contains(words), "{text}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn rule_1_a_new_run_may_have_another_spec() {
    let mut scene = Scene::new(spec(500), 32, 1);
    let mut daemon = scene.daemon("node", 1);
    daemon.lease(&scene);
    let forget = || NewRunRequest { run: "run".to_owned(), stream: "train".to_owned() };
    assert_eq!(scene.call(forget()).unwrap().forgotten, 1);
    assert_eq!(scene.store.documents(), [], "nothing of a forgotten run is kept");
    assert!(matches!(
        scene.call(AcquireRequest { caller: Some(daemon.next()), leases: 1, ..AcquireRequest::default() }),
        Err(CallError::NotFound(_))
    ));
    assert_eq!(scene.call(forget()).unwrap().forgotten, 0);
    scene.spec = spec(501);
    assert!(!scene.open("node", 2).1.resumed);
}

#[test]
fn rule_18_a_reply_is_stored_under_the_number_that_its_command_has_in_docs_ledger_md() {
    let scene = Scene::new(spec(60), 10, 1);
    let stored = || {
        let documents = scene.store.documents();
        let (_, worker) = documents.iter().find(|(key, _)| key.ends_with("/worker/node")).unwrap();
        let replies = StoredWorker::decode(worker.as_slice()).unwrap().replies;
        replies.iter().map(|reply| reply.command).collect::<Vec<_>>()
    };
    let mut daemon = scene.daemon("node", 1);
    let leases = daemon.acquire(&scene, 3).leases;
    daemon.ack(&scene, scene.delivered(&leases[0]));
    daemon.nack(&scene, &leases[1], 0);
    daemon.give_back(&scene, &leases[1], 1, 10);
    assert_eq!(stored(), [1, 2, 3, 4]);
    let snapshot = Some(scene.snapshot(vec![]));
    let mut next = scene.daemon("node", 2);
    next.reclaim(&scene, &leases[2], 0, 10);
    scene.call(AbandonRequest { caller: Some(next.next()), epoch: 0, ..AbandonRequest::default() }).unwrap();
    scene.call(RestoreRequest { caller: Some(next.next()), snapshot, ..RestoreRequest::default() }).unwrap();
    let attendance = Attendance::Attended.into();
    scene.call(AttendRequest { caller: Some(next.next()), attendance, ..AttendRequest::default() }).unwrap();
    let summary = Some(DatasetSummary { bytes: 0, block: 1, sums: vec![0; 60] });
    scene.call(DescribeRequest { caller: Some(next.next()), summary }).unwrap();
    assert_eq!(stored(), [5, 6, 7, 8, 9]);
}

#[test]
fn rule_20_lease_size_stays_with_the_run() {
    let mut scene = Scene::new(spec(500), 32, 1);
    scene.open("node", 1);
    scene.lease_size = 64;
    let (_, reply) = scene.open("node", 2);
    assert_eq!((reply.lease_size, reply.resumed), (32, true), "the run's own is kept where none was asked for");
    let request = OpenRequest { lease_size_required: true, ..scene.open_request("node", 3) };
    match scene.call(request) {
        Err(CallError::SpecMismatch(text)) => assert!(text.contains("lease_size 32") && text.contains("64"), "{text}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rule_20_the_number_of_epochs_may_change() {
    let mut scene = Scene::new(spec(10), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    assert_eq!(scene.deliver_all(&mut daemon), Answer::DatasetDone);
    scene.epochs = 2;
    let mut daemon = scene.daemon("node", 2);
    assert_eq!(daemon.lease(&scene).epoch, 1);
}

#[test]
fn rule_13_every_static_shard_has_a_ledger_of_its_own_but_one_split() {
    let mut scene = Scene::new(static_spec(10, 0, 3, false), 32, 1);
    assert_eq!(scene.open("node", 1).1.ledger, "run/train/shard-0");
    scene.spec = static_spec(10, 1, 3, false);
    let (_, reply) = scene.open("node", 1);
    assert_eq!((reply.ledger.as_str(), reply.resumed), ("run/train/shard-1", false));
    let request = OpenRequest { spec: Some(static_spec(10, 2, 4, false)), ..scene.open_request("node", 1) };
    assert!(matches!(scene.call(request), Err(CallError::SpecMismatch(text)) if text.contains("num_shards 4")));
}

#[test]
fn requests_that_name_nothing_usable_are_refused() {
    let scene = Scene::new(spec(10), 4, 1);
    let good = scene.open_request("node", 1);
    for bad in [
        OpenRequest { run: String::new(), ..good.clone() },
        OpenRequest { stream: "a/b".to_owned(), ..good.clone() },
        OpenRequest { worker: "x".repeat(201), ..good.clone() },
        OpenRequest { lease_size: 0, ..good.clone() },
        OpenRequest { incarnation: 0, ..good.clone() },
        OpenRequest { spec: None, ..good.clone() },
        OpenRequest { spec: Some(spec(0)), ..good.clone() },
        OpenRequest { epochs: u64::MAX, ..good },
    ] {
        assert!(matches!(scene.call(bad.clone()), Err(CallError::Invalid(_))), "{bad:?}");
    }
    assert!(matches!(
        scene.call(AuditRequest { ledger: "run/train/all".to_owned(), from_epoch: 0 }),
        Err(CallError::NotFound(_))
    ));
    assert!(matches!(scene.call(AcquireRequest::default()), Err(CallError::NotFound(_))));
}

#[test]
fn hostile_documents_are_errors_that_name_them_and_never_panic() {
    let mut scene = Scene::new(spec(100), 10, 2);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    daemon.nack(&scene, &lease, 0);
    let other = daemon.lease(&scene);
    daemon.give_back(&scene, &other, 2, 5);
    let good = scene.store.documents();
    let mut refused = 0;
    for (which, (key, value)) in good.iter().enumerate() {
        for byte in 0..value.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut documents = good.clone();
                documents[which].1[byte] ^= flip;
                scene.store.set(&documents);
                match scene.try_restart() {
                    // Some bytes may be anything: a count, a name. What was accepted must work.
                    Ok(_) => {
                        scene.restart();
                        let request = OpenRequest { incarnation: 2, ..scene.open_request("node", 2) };
                        if let Ok(reply) = scene.call(request) {
                            let mut daemon = crate::scene::Daemon::of(daemon.caller());
                            daemon.caller.incarnation = 2;
                            daemon.caller.sequence = 0;
                            daemon.caller.ledger = reply.ledger;
                            daemon.acquire(&scene, 64);
                        }
                    }
                    Err(text) => {
                        assert!(text.contains("run/train/all"), "{key}: {text}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(refused > 50, "only {refused} of the changed documents were refused");
    let headless: Vec<_> = good.iter().filter(|(key, _)| !key.ends_with("/head")).cloned().collect();
    scene.store.set(&headless);
    assert!(scene.try_restart().is_err_and(|text| text.contains("the document head is missing")));
    scene.store.set(&[("elsewhere".to_owned(), vec![])]);
    assert!(scene.try_restart().is_ok(), "documents of others are left alone");
    scene.store.set(&[("ledger/odd".to_owned(), vec![])]);
    assert!(scene.try_restart().is_err_and(|text| text.contains("ledger/odd")));
}

#[test]
fn a_worker_with_two_leases_of_one_id_is_damaged() {
    let scene = Scene::new(spec(20), 10, 1);
    scene.daemon("node", 1).lease(&scene);
    let mut documents = scene.store.documents();
    let (_, worker) = documents.iter_mut().find(|(key, _)| key.contains("/worker/")).unwrap();
    let mut stored = StoredWorker::decode(worker.as_slice()).unwrap();
    stored.leases.push(stored.leases[0].clone());
    *worker = stored.encode_to_vec();
    scene.store.set(&documents);
    let refused = scene.try_restart().unwrap_err();
    assert!(refused.contains("impossible leases"), "{refused}");
}
