//! SIGKILL, of trainers, of the daemon and of both: nothing is lost, and only what was not acked comes again.

use std::collections::BTreeSet;

use bytemuck::Zeroable;
use forebay_client::{Next, Options, Patient, Shard};
use forebay_ring::{
    Attach, Bulk, ClaimSum, MessageKind, NO_RING, Offer, Release, ResumedClaim, View, attach_flags, packet,
};

use crate::daemon::Home;
use crate::speaker::{DaemonMessage, Speaker, attach};
use crate::trainer::{Event, Puppet, Seen, Trainer, batches, options, records, until};

const EPOCH: &str = "epochs = 1\nshuffle = true";

#[test]
fn rule_15_a_killed_trainer_s_batches_reach_another_and_what_it_acked_does_not() {
    let home = Home::with_pictures(60);
    let _daemon = home.serve(EPOCH);
    let mut killed = Puppet::attach(&home);
    let seen: Vec<Seen> = (0..4).map(|_| killed.next().batch()).collect();
    killed.kill();
    let mut other = Trainer::attach(&home);
    let rest = other.epoch();
    assert_eq!(records(seen[..3].iter().chain(&rest)), (0..60).collect::<Vec<_>>());
    let again = rest.iter().find(|batch| batch.records == seen[3].records);
    assert!(again.is_some(), "the batch in its hand comes again as it was");
    let audit = other.session.audit(&mut Patient).unwrap();
    let (repeats, held) = (audit[0].repeats, seen[3].records.len() as u64);
    assert_eq!(repeats.total(), repeats.trainer_ended, "nothing else died: {repeats:?}");
    // With the batch in its hand those count that it was offered and may not have looked at.
    assert!((held..=2 * held).contains(&repeats.trainer_ended), "{repeats:?}");
    home.audit();
}

#[test]
fn rule_15_a_trainer_that_comes_back_to_the_next_daemon_tells_that_nothing_was_seen_twice() {
    for settings in [EPOCH, "epochs = 1\nnum_shards = 1"] {
        let home = Home::with_pictures(400);
        let mut daemon = home.serve(settings);
        let shard = settings.contains("num_shards").then_some(Shard { id: 0, count: 1 });
        let mut trainer = Trainer::with(&home, Options { shard, ..options() }).unwrap();
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.extend((0..5).map(|_| trainer.next().batch()));
            daemon.kill();
            daemon = home.start();
        }
        seen.extend(trainer.epoch());
        assert_eq!(records(&seen), (0..400).collect::<Vec<_>>());
        let audit = trainer.session.audit(&mut Patient).unwrap();
        assert_eq!((audit[0].delivered, audit[0].repeats.total()), (400, 0), "{settings}: {audit:?}");
        home.audit();
    }
}

#[test]
fn rule_15_what_a_killed_trainer_had_is_named_also_if_its_daemon_dies_before_the_next_one_s_receipt() {
    let home = Home::with_pictures(400);
    let daemon = home.serve_little_ahead(EPOCH);
    let mut killed = Puppet::with_one_credit(&home);
    let had = killed.next().batch();
    killed.kill();
    let mut trainer = Trainer::attach(&home);
    let taken = until(&mut trainer, &had);
    // A state is of what is durable: what the daemon told the ledger before is there.
    trainer.session.state(&mut Patient).unwrap();
    daemon.kill();
    let _daemon = home.start();
    let rest = trainer.epoch();
    assert_eq!(records(taken.iter().chain(&rest)), (0..400).collect::<Vec<_>>(), "it is handed in");
    let repeats = trainer.session.audit(&mut Patient).unwrap()[0].repeats;
    assert_eq!(repeats.trainer_ended, had.records.len() as u64, "{repeats:?}");
    home.audit();
}

#[test]
fn rule_9_a_record_in_a_finished_batch_is_delivered_after_any_number_of_its_daemon_s_deaths() {
    let home = Home::with_pictures(1);
    let mut daemon = home.serve(EPOCH);
    let mut trainer = Trainer::attach(&home);
    for _ in 0..5 {
        home.wait_for("its batch is with the trainer, which has not looked", |status| status.slots_held == 1);
        // A state is of what is durable: what the daemon told the ledger before is there.
        trainer.session.state(&mut Patient).unwrap();
        daemon.kill();
        daemon = home.start();
        // The trainer sees that its daemon is another one.
        trainer.session.audit(&mut Patient).unwrap();
    }
    assert_eq!(records(&trainer.epoch()), [0]);
    assert_eq!(trainer.session.quarantine(&mut Patient).unwrap(), []);
}

#[test]
fn rule_15_a_killed_trainer_s_own_restart_continues_where_it_was() {
    let home = Home::with_pictures(60);
    let _daemon = home.serve(EPOCH);
    let mut seen = Vec::new();
    for _ in 0..4 {
        let mut trainer = Puppet::attach(&home);
        seen.extend((0..3).map(|_| trainer.next().batch()));
        // The one in its hand was not acked.
        trainer.kill();
        seen.pop();
    }
    seen.extend(batches(&Puppet::attach(&home).finish()));
    assert_eq!(records(&seen), (0..60).collect::<Vec<_>>());
    home.audit();
}

#[test]
fn rule_16_the_daemon_is_killed_and_two_trainers_continue_without_a_record_twice() {
    let home = Home::with_pictures(400);
    let daemon = home.serve_little_ahead(EPOCH);
    let mut trainers = [Puppet::attach(&home), Puppet::attach(&home)];
    let mut seen: Vec<Seen> = Vec::new();
    for trainer in &mut trainers {
        seen.extend((0..3).map(|_| trainer.next().batch()));
    }
    daemon.kill();
    let daemon = home.start();
    // Both come back and hand in what they consumed.
    trainers.iter_mut().for_each(Puppet::ask);
    seen.extend(trainers.each_ref().map(|trainer| trainer.told().batch()));
    daemon.kill();
    let _daemon = home.start();
    trainers.iter_mut().for_each(Puppet::ask);
    seen.extend(trainers.each_ref().map(|trainer| trainer.told().batch()));
    trainers.iter_mut().for_each(Puppet::run);
    seen.extend(trainers.iter().flat_map(|trainer| batches(&trainer.rest())));
    assert_eq!(records(&seen), (0..400).collect::<Vec<_>>());
    home.audit();
}

#[test]
fn rule_16_trainers_that_run_freely_get_every_record_of_every_epoch_while_their_daemon_is_killed_again_and_again() {
    let home = Home::with_pictures(120);
    let mut daemon = home.serve("epochs = 3\nshuffle = true");
    let mut trainers = [Puppet::attach(&home), Puppet::attach(&home)];
    trainers.iter_mut().for_each(Puppet::run);
    let mut events = Vec::new();
    for _ in 0..4 {
        // While this one is on its way back, the other one may have read all that was left.
        for _ in 0..6 {
            if events.last() != Some(&Event::Done) {
                events.push(trainers[0].told());
            }
        }
        daemon.kill();
        daemon = home.start();
    }
    if events.last() != Some(&Event::Done) {
        events.extend(trainers[0].rest());
    }
    events.extend(trainers[1].rest());
    let seen = batches(&events);
    for epoch in 0..3 {
        let of_epoch: BTreeSet<u64> = records(seen.iter().filter(|seen| seen.epoch == epoch)).into_iter().collect();
        assert_eq!(of_epoch, (0..120).collect(), "epoch {epoch}");
    }
    let audit = home.audit();
    assert_eq!(audit.len(), 4, "{audit:?}");
}

#[test]
fn rule_16_daemon_and_trainer_are_killed_and_only_what_was_in_their_hands_comes_again() {
    let home = Home::with_pictures(60);
    let daemon = home.serve("epochs = 2\nshuffle = true");
    let mut killed = Puppet::attach(&home);
    let mut events = Vec::new();
    while events.last() != Some(&Event::EpochEnd(0)) {
        events.push(killed.next());
    }
    let seen: Vec<Seen> = (0..5).map(|_| killed.next().batch()).collect();
    daemon.kill();
    killed.kill();
    let _daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    assert_eq!(trainer.session.info().epoch, 1, "the ledger's file knows that epoch 0 is complete");
    let rest = trainer.epoch();
    let (before, after): (BTreeSet<u64>, Vec<u64>) = (records(&seen).into_iter().collect(), records(&rest));
    let once: BTreeSet<u64> = after.iter().copied().collect();
    assert_eq!(once.len(), after.len(), "the new trainer gets nothing twice");
    assert_eq!(before.union(&once).copied().collect::<Vec<_>>(), (0..60).collect::<Vec<_>>());
    let in_hand: BTreeSet<u64> = seen[4].own.iter().copied().collect();
    assert!(in_hand.is_subset(&once), "what was in its hand was not acked");
    let audit = trainer.session.audit(&mut Patient).unwrap();
    assert!(audit.iter().all(|epoch| epoch.adds_up == Some(true) && epoch.delivered == 60), "{audit:?}");
    home.audit();
}

#[test]
fn rule_16_a_batch_in_hand_is_finished_and_acked_after_its_daemon_s_death() {
    let home = Home::with_pictures(200);
    let daemon = home.serve_little_ahead("epochs = 1");
    let mut trainer = Trainer::attach(&home);
    let Next::Batch(batch) = trainer.session.next(None, &mut Patient).unwrap() else { panic!("a batch") };
    let before = batch.images().to_vec();
    daemon.kill();
    let _daemon = home.start();
    let second = trainer.next().batch();
    assert_eq!(batch.images(), before, "its memory stays as it is");
    drop(batch);
    let rest = trainer.epoch();
    assert_eq!(records([&second].into_iter().chain(&rest)), (4..200).collect::<Vec<_>>(), "and it counts as consumed");
    home.audit();
}

#[test]
fn rule_22_a_state_after_the_daemon_s_death_counts_the_batch_in_hand() {
    let home = Home::with_pictures(400);
    let mut daemon = home.serve_little_ahead("epochs = 1\nshuffle = true");
    let mut trainer = Trainer::attach(&home);
    let mine = [trainer.next().batch(), trainer.next().batch()];
    for _ in 0..2 {
        daemon.kill();
        daemon = home.start();
        let state = trainer.session.state(&mut Patient).unwrap();
        let fresh = Home::with_pictures(400);
        let _other = fresh.serve("epochs = 1\nshuffle = true");
        let mut later = Trainer::attach(&fresh);
        later.session.restore(&state, &mut Patient).unwrap();
        assert_eq!(records(mine.iter().chain(&later.epoch())), (0..400).collect::<Vec<_>>());
    }
}

#[test]
fn rule_16_a_batch_that_is_held_over_two_deaths_counts_once() {
    let home = Home::with_pictures(400);
    let mut daemon = home.serve_little_ahead("epochs = 1\nshuffle = true");
    let mut trainer = Trainer::attach(&home);
    let held = [trainer.next().batch(), trainer.next().batch()];
    for _ in 0..2 {
        daemon.kill();
        daemon = home.start();
        // It comes back with the batch in its hand.
        trainer.session.audit(&mut Patient).unwrap();
    }
    assert_eq!(records(held.iter().chain(&trainer.epoch())), (0..400).collect::<Vec<_>>());
    home.audit();
}

#[test]
fn rule_16_a_batch_that_is_given_back_after_two_deaths_comes_again() {
    let home = Home::with_pictures(400);
    let mut daemon = home.serve_little_ahead("epochs = 1\nshuffle = true");
    let mut trainer = Trainer::attach(&home);
    let Next::Batch(batch) = trainer.session.next(None, &mut Patient).unwrap() else { panic!("a batch") };
    for _ in 0..2 {
        daemon.kill();
        daemon = home.start();
        trainer.session.audit(&mut Patient).unwrap();
    }
    batch.reject().unwrap();
    assert_eq!(records(&trainer.epoch()), (0..400).collect::<Vec<_>>());
    home.audit();
}

/// A trainer that comes with these batches in its hands.
fn comes_with(home: &Home, held: &[ResumedClaim]) -> (Speaker, Box<View>) {
    let mut speaker = Speaker::connect(home);
    let resume = Attach { flags: attach_flags::RESUME, incarnation: 7, ..attach() };
    speaker.say(&packet(&resume, &[]), &[Bulk::write(bytemuck::cast_slice(held)).unwrap().into_fd()]);
    let DaemonMessage::Welcome(view) = speaker.hear() else { panic!("it is refused") };
    (speaker, view)
}

#[test]
fn rule_16_batches_of_one_number_from_two_dead_daemons_are_acked_and_returned_each_by_itself() {
    let home = Home::with_pictures(400);
    let mut daemon = home.serve_little_ahead(EPOCH);
    let (mut held, mut shown, mut offers) = (Vec::new(), Vec::new(), Vec::new());
    for number in 1..=2 {
        let (mut speaker, view) = comes_with(&home, &held);
        let offer = speaker.offer();
        for claim in &view.claims(offer.slot)[..offer.claims as usize] {
            let (lease, start, len) = (claim.lease, claim.start, claim.len.into());
            let (epoch, seq, bare, sum) = (offer.epoch, offer.seq, claim.bare, ClaimSum::zeroed());
            held.push(ResumedClaim { lease, start, len, epoch, seq, held: number, bare, sum });
        }
        let records = &view.records(offer.slot)[..offer.shown as usize];
        shown.push(records.iter().map(|record| u64::try_from(*record).unwrap()).collect::<Vec<_>>());
        offers.push(offer);
        daemon.kill();
        daemon = home.start();
    }
    let numbers: Vec<_> = held.iter().map(|resumed| (resumed.seq, resumed.held)).collect();
    assert_eq!(numbers, [(offers[0].seq, 1), (offers[0].seq, 2)], "one claim each, and one number for both");
    let (speaker, _) = comes_with(&home, &held);
    let resumed = Offer { ring: NO_RING, slot: 0, generation: 2, ..offers[1] };
    speaker.ack(&resumed, &[shown[1].iter().copied().collect()]);
    let (kind, ring, seq) = (MessageKind::Release as u32, NO_RING, offers[0].seq);
    speaker.say(&packet(&Release { kind, slot: 0, seq, generation: 1, returned: 1, ring }, &[]), &[]);
    home.wait_for("the second is counted", |status| status.delivered == shown[1].len() as u64);
    drop(speaker);
    let rest = Trainer::attach(&home).epoch();
    let expected = (0..400).filter(|record| !shown[1].contains(record)).collect::<Vec<_>>();
    assert_eq!(records(&rest), expected, "what was acked does not come again, and what was returned does");
    home.audit();
}
