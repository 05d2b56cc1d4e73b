//! Epochs belong to the stream: several trainers share them, and none is ahead of the others.

use crate::daemon::Home;
use crate::trainer::{Event, Puppet, Seen, Trainer, batches, options, records};

#[test]
fn rule_11_two_trainers_share_three_shuffled_epochs_and_each_record_comes_once_in_each() {
    let home = Home::with_pictures(61);
    let _daemon = home.serve("epochs = 3\nshuffle = true");
    let mut trainers = [Puppet::attach(&home), Puppet::attach(&home)];
    trainers.iter_mut().for_each(Puppet::run);
    let told: Vec<Vec<Event>> = trainers.iter().map(Puppet::rest).collect();
    for events in &told {
        // Between two ends there are only batches of the epoch that ends there.
        let mut epoch = 0;
        for event in events {
            match event {
                Event::Batch(seen) => assert_eq!(seen.epoch, epoch),
                Event::EpochEnd(ended) => {
                    assert_eq!(*ended, epoch);
                    epoch += 1;
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(epoch, 3);
    }
    let all: Vec<Seen> = told.iter().flat_map(|events| batches(events)).collect();
    for epoch in 0..3 {
        let of_epoch = all.iter().filter(|seen| seen.epoch == epoch);
        assert_eq!(records(of_epoch), (0..61).collect::<Vec<_>>(), "epoch {epoch}");
    }
    let audit = home.audit();
    assert!(audit.len() == 4 && audit[1..].iter().all(|line| line.contains("61")), "{audit:?}");
}

#[test]
fn rule_11_nobody_gets_the_next_epoch_before_the_last_batch_of_this_one_is_acked() {
    let home = Home::with_pictures(16);
    let _daemon = home.serve("epochs = 2");
    let mut holder = Puppet::with_one_credit(&home);
    let held = holder.next().batch();
    let mut other = Puppet::with_one_credit(&home);
    let mut seen: Vec<Seen> = (0..3).map(|_| other.next().batch()).collect();
    other.ask();
    home.wait_for("batches of epoch 1 stand ready", |status| status.slots_ready >= 1 && status.delivered == 12);
    assert!(other.waits(), "batches of epoch 1 are there, but not for it");
    assert_eq!(home.status().epoch, 0);
    holder.ask();
    assert_eq!(other.told(), Event::EpochEnd(0));
    assert_eq!(holder.told(), Event::EpochEnd(0));
    seen.push(held);
    assert_eq!(records(&seen), (0..16).collect::<Vec<_>>());
    assert_eq!(other.next().batch().epoch, 1);
}

#[test]
fn rule_11_a_dead_trainer_s_batch_comes_to_the_one_that_waits_for_the_epoch_s_end() {
    let home = Home::with_pictures(16);
    let _daemon = home.serve("epochs = 1");
    let mut holder = Puppet::with_one_credit(&home);
    let held = holder.next().batch();
    let mut other = Trainer::with(&home, forebay_client::Options { credits: 1, ..options() }).unwrap();
    let mut seen: Vec<Seen> = (0..3).map(|_| other.next().batch()).collect();
    holder.kill();
    let again = other.next().batch();
    assert_eq!((&again.records, again.seq), (&held.records, held.seq), "it is the same batch");
    seen.push(again);
    assert_eq!(records(&seen), (0..16).collect::<Vec<_>>());
    assert_eq!(other.next(), Event::EpochEnd(0));
    assert_eq!(other.next(), Event::Done);
}

#[test]
fn rule_11_a_trainer_that_waits_too_long_for_an_end_is_told_who_holds_what() {
    let home = Home::with_pictures(8);
    let _daemon = home.serve("epochs = 1\nepoch_end_timeout = \"1s\"");
    let mut holder = Puppet::with_one_credit(&home);
    let held = holder.next().batch();
    let mut other = Trainer::attach(&home);
    let seen = other.next().batch();
    let Event::Failed(reason) = other.next() else { panic!("the epoch cannot end") };
    let words = format!("epoch 0 waits for batch {}, which process {} has held", held.seq, holder.pid());
    assert!(reason.contains(&words), "{words:?} is not in: {reason}");
    // The epoch has ended before the other one asks again, so that it cannot wait too long once more.
    assert_eq!(holder.next(), Event::EpochEnd(0));
    assert_eq!(other.next(), Event::EpochEnd(0), "the next call goes on as if nothing had been");
    assert_eq!(records([&held, &seen]), (0..8).collect::<Vec<_>>());
}

#[test]
fn rule_11_a_second_trainer_of_one_process_is_refused_until_the_first_has_left() {
    let home = Home::with_pictures(8);
    let _daemon = home.serve("");
    for _ in 0..20 {
        let mut first = Trainer::attach(&home);
        first.next().batch();
        let refused = Trainer::with(&home, options()).err().expect("one is enough").to_string();
        let words = format!("process {} has a trainer on stream \"train\" already", std::process::id());
        assert!(refused.contains(&words), "{refused}");
        first.session.close().unwrap();
        // The next round attaches at once.
    }
}

#[test]
fn rule_10_a_trainer_that_joins_late_sees_the_rest_of_the_epoch() {
    let home = Home::with_pictures(20);
    let _daemon = home.serve("epochs = 2");
    let mut early = Puppet::with_one_credit(&home);
    let taken: Vec<Seen> = (0..3).map(|_| early.next().batch()).collect();
    // What was in its hand comes to the one that joins.
    early.close();
    let mut late = Trainer::attach(&home);
    assert_eq!(late.session.info().epoch, 0);
    let rest = late.epoch();
    assert_eq!(records(taken[..2].iter().chain(&rest)), (0..20).collect::<Vec<_>>());
    assert_eq!(records(&late.epoch()), (0..20).collect::<Vec<_>>());
}

#[test]
fn rule_10_reset_is_refused_while_another_trainer_reads_the_stream() {
    let home = Home::with_pictures(20);
    let _daemon = home.serve("epochs = 1\ncredits = 1");
    let other = Puppet::with_one_credit(&home);
    let mut trainer = Trainer::attach(&home);
    let seen = trainer.next().batch();
    let refused = trainer.session.reset(&mut forebay_client::Patient).unwrap_err().to_string();
    assert!(refused.contains(&format!("process {}", other.pid())), "{refused}");
    other.close();
    trainer.session.reset(&mut forebay_client::Patient).unwrap();
    assert_eq!(trainer.next(), Event::Done);
    let audit = trainer.session.audit(&mut forebay_client::Patient).unwrap();
    assert_eq!((audit[0].delivered, audit[0].abandoned), (seen.own.len() as u64, 16));
    assert_eq!(audit[0].adds_up, Some(true));
}

#[test]
fn rule_10_reset_with_the_last_batch_in_hand_abandons_nothing() {
    let home = Home::with_pictures(12);
    let _daemon = home.serve("epochs = 3");
    let mut trainer = Trainer::attach(&home);
    let reset = |trainer: &mut Trainer| trainer.session.reset(&mut forebay_client::Patient).unwrap();
    // Before the first batch, behind the last one, twice, and behind the end: one epoch goes by.
    reset(&mut trainer);
    let seen: Vec<Seen> = (0..3).map(|_| trainer.next().batch()).collect();
    assert_eq!((records(&seen), seen[2].epoch), ((0..12).collect(), 0));
    home.wait_for("batches of epoch 1 are ready", |status| status.slots_ready >= 1);
    reset(&mut trainer);
    reset(&mut trainer);
    let second = trainer.epoch();
    assert_eq!((records(&second), second[0].epoch), ((0..12).collect(), 1));
    reset(&mut trainer);
    // In its middle, an epoch does lose the rest.
    let third = trainer.next().batch();
    assert_eq!((third.own.as_slice(), third.epoch), (&[0, 1, 2, 3][..], 2));
    reset(&mut trainer);
    assert_eq!(trainer.next(), Event::Done);
    let audit = trainer.session.audit(&mut forebay_client::Patient).unwrap();
    let counts: Vec<_> = audit.iter().map(|epoch| (epoch.delivered, epoch.abandoned, epoch.adds_up)).collect();
    assert_eq!(counts, [(12, 0, Some(true)), (12, 0, Some(true)), (4, 8, Some(true))]);
}
