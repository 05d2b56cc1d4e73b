//! Rings: how many trainers they have room for, what happens when slots are held for ever, and what they may cost.

use forebay_client::{Keep, Next, NextError, Options, Patient};
use forebay_proto::v1::StreamStatus;
use forebay_ring::{Backing, Memory, Pages};

use crate::daemon::{Daemon, Home};
use crate::trainer::{Event, Puppet, Seen, Trainer, options, records};

/// Slots of all rings.
pub(crate) fn slots(status: &StreamStatus) -> u32 {
    status.slots_free + status.slots_filling + status.slots_ready + status.slots_held + status.slots_quarantined
}

#[test]
fn rule_04_a_further_trainer_gets_the_credits_that_are_left_and_the_next_one_is_refused_with_the_number() {
    let home = Home::with_pictures(40);
    let _daemon = home.serve("trainers = 2\ncredits = 2");
    let (_first, _second) = (Puppet::attach(&home), Puppet::with_one_credit(&home));
    let third = Puppet::attach(&home);
    let refused = Trainer::with(&home, options()).map(drop).unwrap_err().to_string();
    assert!(refused.contains('4') && refused.contains('3'), "{refused}");
    third.close();
    let fourth = Trainer::with(&home, options()).unwrap();
    assert_eq!(fourth.session.credits(), 1, "what the others left");
}

#[test]
fn rule_04_views_that_are_held_for_ever_open_a_further_ring() {
    let home = Home::with_pictures(40);
    let _daemon = home.serve("epochs = 1\ntrainers = 1");
    let mut kept: Vec<(Keep, Vec<u8>)> = Vec::new();
    let mut consumed = Vec::new();
    // Two trainers of this process come, consume two batches each, keep their views, and leave.
    for _ in 0..2 {
        let mut trainer = Trainer::attach(&home);
        for _ in 0..2 {
            let Next::Batch(batch) = trainer.session.next(None, &mut Patient).unwrap() else { panic!("a batch") };
            batch.ack().unwrap();
            consumed.push(Seen::of(&batch));
            kept.push((batch.keep(), batch.images().to_vec()));
        }
        trainer.session.close().unwrap();
    }
    let mut trainer = Trainer::attach(&home);
    let rest = trainer.epoch();
    assert_eq!(records(consumed.iter().chain(&rest)), (0..40).collect::<Vec<_>>());
    assert_eq!(trainer.next(), Event::Done);
    let status = home.status();
    assert_eq!(status.slots_quarantined, 4, "the slots of the first ring wait for this process's end");
    assert!(kept.iter().all(|(keep, before)| keep.images() == before), "nothing was written into views");
    home.audit();
}

#[test]
fn rule_04_a_process_that_keeps_views_of_one_closed_session_after_the_other_is_refused_with_the_number() {
    let home = Home::with_pictures(40);
    let _daemon = home.serve("epochs = 1\ntrainers = 1");
    let mut kept = Vec::new();
    for _ in 0..3 {
        let mut trainer = Trainer::attach(&home);
        for _ in 0..2 {
            let Next::Batch(batch) = trainer.session.next(None, &mut Patient).unwrap() else { panic!("a batch") };
            batch.ack().unwrap();
            kept.push(batch.keep());
        }
        trainer.session.close().unwrap();
    }
    let refused = Trainer::with(&home, options()).map(drop).unwrap_err().to_string();
    assert!(refused.contains("looks at 6 batches"), "{refused}");
    let mut other = Puppet::attach(&home);
    assert_eq!(other.next().batch().records.len(), 4, "other processes are let in");
}

#[test]
fn rule_04_a_trainer_that_comes_after_a_further_ring_reads_what_is_left_in_the_older_one() {
    let home = Home::with_pictures(60);
    let _daemon = home.serve("epochs = 1\ntrainers = 1\ncredits = 3");
    let mut kept = Vec::new();
    let mut consumed = Vec::new();
    for batches in [3, 1] {
        let mut trainer = Trainer::with(&home, Options { credits: 3, ..options() }).unwrap();
        for _ in 0..batches {
            let Next::Batch(batch) = trainer.session.next(None, &mut Patient).unwrap() else { panic!("a batch") };
            batch.ack().unwrap();
            consumed.push(Seen::of(&batch));
            kept.push(batch.keep());
        }
        trainer.session.close().unwrap();
    }
    home.wait_for("there are two rings", |status| slots(status) > 5);
    // An offer that was on its way when a session closed counts as looked at, too: room for those is asked for.
    let rest = Trainer::with(&home, Options { credits: 3, ..options() }).unwrap().epoch();
    assert_eq!(records(consumed.iter().chain(&rest)), (0..60).collect::<Vec<_>>());
}

#[test]
fn rule_04_a_ring_whose_last_slot_comes_back_is_let_go_of_by_the_daemon_and_its_trainers() {
    let home = Home::with_pictures(60);
    let _daemon = home.serve("epochs = 1\ntrainers = 1");
    let (mut leavers, mut consumed) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let mut leaver = Puppet::attach(&home);
        consumed.extend(leaver.leave(2));
        leavers.push(leaver);
    }
    let mut trainer = Trainer::attach(&home);
    consumed.push(trainer.next().batch());
    assert_eq!(trainer.session.rings().count(), 2);
    for leaver in &mut leavers {
        leaver.kill();
    }
    home.wait_for("the first ring is gone", |status| slots(status) == 4 && status.slots_quarantined == 0);
    consumed.push(trainer.next().batch());
    assert_eq!(trainer.session.rings().count(), 1, "the trainer has heard of it");
    consumed.extend(trainer.epoch());
    assert_eq!(records(&consumed), (0..60).collect::<Vec<_>>());
    home.audit();
}

#[test]
fn rule_14_a_trainer_that_keeps_every_slot_is_told_so_and_continues_when_one_is_gone() {
    let home = Home::with_pictures(20);
    let _daemon = home.serve("epochs = 1");
    let mut trainer = Trainer::with(&home, Options { credits: 2, ..options() }).unwrap();
    let mut kept = Vec::new();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let Next::Batch(batch) = trainer.session.next(None, &mut Patient).unwrap() else { panic!("a batch") };
        seen.push(Seen::of(&batch));
        kept.push(batch.keep());
    }
    assert!(matches!(trainer.session.next(None, &mut Patient), Err(NextError::SlotsHeld { granted: 2 })));
    kept.pop();
    seen.extend(trainer.epoch());
    assert_eq!(records(&seen), (0..20).collect::<Vec<_>>());
}

#[test]
fn rule_31_a_ring_larger_than_its_memory_is_refused_with_the_number_that_is_needed() {
    let home = Home::with_pictures(4);
    home.configure(&format!("[ring]\nmemory = \"5mb\"\n{}", home.train("")));
    let (code, said) = home.fails_to_start();
    assert_eq!(code, Some(1));
    // Six slots of 2 MiB and a page in front, which takes 2 MiB as well.
    assert!(said.contains("stream \"train\": the ring: 14 MiB of memory are needed"), "{said}");
    assert!(said.contains("ring.memory leaves 5 MiB") && said.contains("lower batch_size"), "{said}");
}

#[test]
fn rule_31_rings_share_the_memory_that_they_may_take_together() {
    let home = Home::with_pictures(4);
    home.configure(&format!("[ring]\nmemory = \"20mb\"\n{}{}", home.train(""), home.stream("eval", "")));
    let mut daemon = Daemon::spawn(home.serve_command());
    daemon.hears("of memory are needed");
    daemon.hears("ready");
}

#[test]
fn rule_31_rings_are_of_the_pages_that_are_asked_for_or_are_refused_with_what_the_machine_lacks() {
    let huge = Memory::for_ring(&Backing { pages: Pages::Hugetlb, ..Backing::default() }).unwrap();
    let refused_huge = huge.check(14 << 20).is_err().then_some("/proc/sys/vm/nr_hugepages) leaves");
    for (ring, refused) in [
        ("pages = \"small\"", None),
        ("pages = \"thp\"", None),
        ("pages = \"hugetlb\"", refused_huge),
        ("numa = 1023", Some("this machine has no NUMA node 1023 with memory")),
    ] {
        let home = Home::with_pictures(20);
        home.configure(&format!("[ring]\n{ring}\n{}", home.train("epochs = 1")));
        if let Some(words) = refused {
            let (code, said) = home.fails_to_start();
            assert!(code == Some(1) && said.contains(words), "{ring}: {said}");
            continue;
        }
        let mut daemon = Daemon::spawn(home.serve_command());
        daemon.hears("ready");
        assert_eq!(records(&Trainer::attach(&home).epoch()), (0..20).collect::<Vec<_>>(), "{ring}");
    }
}
