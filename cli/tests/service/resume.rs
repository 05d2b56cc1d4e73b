//! Snapshots of a run and the way back to them.

use std::collections::BTreeSet;

use forebay_client::Patient;

use crate::daemon::Home;
use crate::trainer::{Event, Puppet, Seen, Trainer, batches, records, until};

#[test]
fn rule_22_a_state_counts_the_callers_batches_and_not_those_in_other_hands() {
    let home = Home::with_pictures(40);
    let _daemon = home.serve("epochs = 1\nshuffle = true");
    let mut other = Puppet::with_one_credit(&home);
    let others = other.next().batch();
    let mut trainer = Puppet::with_one_credit(&home);
    let mine: Vec<Seen> = (0..2).map(|_| trainer.next().batch()).collect();
    let state = trainer.state();
    assert_eq!(state.epoch(), 0);
    assert!(state.to_bytes().len() < 1024, "a few hundred bytes");
    // More is consumed after the snapshot, by both.
    trainer.next().batch();
    other.next().batch();
    trainer.next().batch();
    trainer.close();
    other.close();

    let mut later = Trainer::attach(&home);
    later.session.restore(&state, &mut Patient).unwrap();
    let rest = later.epoch();
    assert_eq!(records(mine.iter().chain(&rest)), (0..40).collect::<Vec<_>>(), "exactly the complement");
    assert!(others.own.iter().all(|record| records(&rest).contains(record)));
    let audit = later.session.audit(&mut Patient).unwrap();
    assert_eq!((audit[0].delivered, audit[0].adds_up), (40, Some(true)));
}

#[test]
fn rule_15_a_state_names_what_a_killed_trainer_had_however_far_its_batch_had_come_again() {
    let home = Home::with_pictures(40);
    let _daemon = home.serve("epochs = 1\nshuffle = true");
    let mut killed = Puppet::with_one_credit(&home);
    let had = [killed.next().batch(), killed.next().batch()];
    killed.kill();
    let mut trainer = Trainer::attach(&home);
    let queued = trainer.session.state(&mut Patient).unwrap();
    let taken = until(&mut trainer, &had[1]);
    let in_hand = trainer.session.state(&mut Patient).unwrap();
    trainer.epoch();
    trainer.session.close().unwrap();
    let before: [(_, Vec<&Seen>); 2] = [(queued, had.iter().collect()), (in_hand, had.iter().chain(&taken).collect())];
    for (state, before) in before {
        let mut later = Trainer::attach(&home);
        later.session.restore(&state, &mut Patient).unwrap();
        let rest = later.epoch();
        let seen = records(before.into_iter().chain(&rest));
        let once: BTreeSet<&u64> = seen.iter().collect();
        assert_eq!(once.len(), 40);
        let repeats = later.session.audit(&mut Patient).unwrap()[0].repeats;
        assert_eq!((repeats.trainer_ended, repeats.total()), (4, 4), "{repeats:?}");
        assert_eq!(seen.len() - once.len(), 4, "and so it was");
        later.session.close().unwrap();
    }
    home.audit();
}

#[test]
fn rule_23_a_state_goes_back_into_an_earlier_epoch() {
    let home = Home::with_pictures(20);
    let _daemon = home.serve("epochs = 3\nshuffle = true");
    let mut trainer = Trainer::attach(&home);
    let mine = [trainer.next().batch(), trainer.next().batch()];
    let state = trainer.session.state(&mut Patient).unwrap();
    trainer.epoch();
    assert_eq!(trainer.next().batch().epoch, 1);
    trainer.session.restore(&state, &mut Patient).unwrap();
    let rest = trainer.epoch();
    assert!(rest.iter().all(|seen| seen.epoch == 0));
    assert_eq!(records(mine.iter().chain(&rest)), (0..20).collect::<Vec<_>>());
    for epoch in 1..3 {
        let all = trainer.epoch();
        assert!(all.iter().all(|seen| seen.epoch == epoch));
        assert_eq!(records(&all), (0..20).collect::<Vec<_>>());
    }
    assert_eq!(trainer.next(), Event::Done);
    home.audit();
}

#[test]
fn rule_23_a_state_that_every_rank_restores_is_applied_once() {
    let home = Home::with_pictures(40);
    let _daemon = home.serve("epochs = 1\nshuffle = true");
    let mut ranks = [Puppet::with_one_credit(&home), Puppet::with_one_credit(&home)];
    let mine: Vec<Seen> = ranks.iter_mut().map(|rank| rank.next().batch()).collect();
    // A barrier of the ranks would stand here. The other's batch is not the caller's: it comes again.
    let state = ranks[0].state();
    let lost: Vec<Seen> = ranks.iter_mut().map(|rank| rank.next().batch()).collect();
    ranks[0].restore(&state);
    let first = ranks[0].next().batch();
    // Were the second one's restore applied anew, the first one's batch would come again.
    ranks[1].restore(&state);
    ranks.iter_mut().for_each(Puppet::run);
    let rest: Vec<Seen> = ranks.iter().flat_map(|rank| batches(&rank.rest())).collect();
    let after = records([&first].into_iter().chain(&rest));
    assert_eq!(records([&mine[0]].into_iter().chain([&first]).chain(&rest)), (0..40).collect::<Vec<_>>());
    assert!(records(&lost).iter().all(|record| after.contains(record)), "what came after the snapshot comes again");
    home.audit();
}

#[test]
fn rule_23_the_daemon_is_killed_between_the_loads_of_two_ranks_and_the_state_is_applied_once() {
    let home = Home::with_pictures(40);
    let daemon = home.serve("epochs = 1\nshuffle = true");
    let mut ranks = [Puppet::with_one_credit(&home), Puppet::with_one_credit(&home)];
    let mine: Vec<Seen> = ranks.iter_mut().map(|rank| rank.next().batch()).collect();
    let state = ranks[0].state();
    ranks[0].restore(&state);
    let mut first = vec![ranks[0].next().batch(), ranks[0].next().batch()];
    daemon.kill();
    let daemon = home.start();
    first.push(ranks[0].next().batch());
    ranks[1].restore(&state);
    // The next daemon knows as well who has loaded it.
    daemon.kill();
    let _daemon = home.start();
    first.push(ranks[0].next().batch());
    let mut third = Puppet::with_one_credit(&home);
    third.restore(&state);
    ranks.iter_mut().for_each(Puppet::run);
    third.run();
    let rest: Vec<Seen> = ranks.iter().chain([&third]).flat_map(|rank| batches(&rank.rest())).collect();
    let all = [&mine[0]].into_iter().chain(&first).chain(&rest);
    assert_eq!(records(all), (0..40).collect::<Vec<_>>(), "each once, but for what the other one had before the state");
    home.audit();
}

#[test]
fn rule_23_a_trainer_that_did_not_ask_for_the_restore_hands_out_nothing_of_before() {
    let home = Home::with_pictures(40);
    let _daemon = home.serve("epochs = 1\nshuffle = true");
    let mut other = Puppet::attach(&home);
    let before = other.next().batch();
    let mut trainer = Trainer::attach(&home);
    let start = trainer.session.state(&mut Patient).unwrap();
    home.wait_for("one batch is queued behind the other's, and two for this trainer", |status| status.slots_held == 4);
    trainer.session.restore(&start, &mut Patient).unwrap();
    // Its batch in hand is acked now, which leads nowhere: the records come again.
    other.run();
    let mine = trainer.epoch();
    let others = batches(&other.rest());
    assert_eq!(records(mine.iter().chain(&others)), (0..40).collect::<Vec<_>>(), "each once");
    assert!(before.own.iter().all(|record| records(mine.iter().chain(&others)).contains(record)));
    home.audit();
}

#[test]
fn rule_23_the_same_state_is_applied_again_once_its_senders_have_left() {
    let home = Home::with_pictures(24);
    let _daemon = home.serve("epochs = 1");
    let mut trainer = Trainer::attach(&home);
    let mine = trainer.next().batch();
    let state = trainer.session.state(&mut Patient).unwrap();
    trainer.session.close().unwrap();
    for _ in 0..3 {
        let mut trainer = Trainer::attach(&home);
        trainer.session.restore(&state, &mut Patient).unwrap();
        let rest = trainer.epoch();
        assert_eq!(records([&mine].into_iter().chain(&rest)), (0..24).collect::<Vec<_>>());
        trainer.session.close().unwrap();
    }
    home.audit();
}

#[test]
fn rule_23_a_state_outlives_the_daemon_and_the_run_that_it_is_of() {
    let home = Home::with_pictures(24);
    let daemon = home.serve("epochs = 1\nshuffle = true");
    let mut trainer = Trainer::attach(&home);
    let mine = trainer.next().batch();
    let state = trainer.session.state(&mut Patient).unwrap();
    trainer.session.close().unwrap();
    daemon.stop();
    std::fs::remove_dir_all(home.path("state")).unwrap();
    let _daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    trainer.session.restore(&state, &mut Patient).unwrap();
    let rest = trainer.epoch();
    assert_eq!(records([&mine].into_iter().chain(&rest)), (0..24).collect::<Vec<_>>());
    home.audit();
}

#[test]
fn rule_23_a_state_of_the_very_end_is_an_end() {
    let home = Home::with_pictures(8);
    let _daemon = home.serve("epochs = 1");
    let mut trainer = Trainer::attach(&home);
    let all = [trainer.next().batch(), trainer.next().batch()];
    let state = trainer.session.state(&mut Patient).unwrap();
    assert_eq!(records(&all), (0..8).collect::<Vec<_>>());
    trainer.session.restore(&state, &mut Patient).unwrap();
    assert_eq!(trainer.next(), Event::Done);
    trainer.session.close().unwrap();
    // Ranks that send it again, and late, are told the same.
    let mut ranks = [Puppet::attach(&home), Puppet::attach(&home)];
    for rank in &mut ranks {
        rank.restore(&state);
        assert_eq!(rank.next(), Event::Done);
    }
}

#[test]
fn rule_23_a_state_of_another_order_is_refused_and_nothing_changes() {
    let (home, other) = (Home::with_pictures(12), Home::with_pictures(12));
    let _daemon = home.serve("epochs = 1\nseed = 1");
    let _other = other.serve("epochs = 1\nseed = 2");
    let mut stranger = Trainer::attach(&other);
    stranger.next().batch();
    let state = stranger.session.state(&mut Patient).unwrap();
    let mut trainer = Trainer::attach(&home);
    let first = trainer.next().batch();
    let refused = trainer.session.restore(&state, &mut Patient).unwrap_err().to_string();
    assert!(refused.contains("seed"), "{refused}");
    let rest = trainer.epoch();
    assert_eq!(records([&first].into_iter().chain(&rest)), (0..12).collect::<Vec<_>>());
    home.audit();
}
