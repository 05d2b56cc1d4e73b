//! The last batches of epochs, in dynamic assignment and in static shards.

use forebay_client::{Options, Patient, Shard};

use crate::daemon::Home;
use crate::trainer::{Event, Puppet, Trainer, batches, options, records};

/// Records that the user sees, batch by batch, over two epochs of ten records; and what the audit counts as dropped.
fn last_batches(policy: &str) -> (Vec<Vec<i64>>, Vec<u64>) {
    let home = Home::with_pictures(10);
    let _daemon = home.serve(&format!("epochs = 2\nlast_batch_policy = \"{policy}\""));
    let mut trainer = Trainer::attach(&home);
    let seen: Vec<_> = (0..2).flat_map(|_| trainer.epoch()).collect();
    assert_eq!(trainer.next(), Event::Done);
    let audit = trainer.session.audit(&mut Patient).unwrap();
    assert!(audit.iter().all(|epoch| epoch.adds_up == Some(true)), "{audit:?}");
    assert!(audit.iter().all(|epoch| epoch.delivered + epoch.dropped == 10), "{audit:?}");
    assert_eq!(home.audit().len(), 3);
    (seen.into_iter().map(|seen| seen.records).collect(), audit.iter().map(|epoch| epoch.dropped).collect())
}

#[test]
fn rule_12_partial_shows_fewer_places() {
    let epoch = [vec![0, 1, 2, 3], vec![4, 5, 6, 7], vec![8, 9]];
    assert_eq!(last_batches("partial"), ([epoch.clone(), epoch].concat(), vec![0, 0]));
}

#[test]
fn rule_12_fill_repeats_the_last_record() {
    let epoch = [vec![0, 1, 2, 3], vec![4, 5, 6, 7], vec![8, 9, 9, 9]];
    assert_eq!(last_batches("fill"), ([epoch.clone(), epoch].concat(), vec![0, 0]));
}

#[test]
fn rule_12_drop_leaves_the_rest_out_and_the_audit_counts_it() {
    let epoch = [vec![0, 1, 2, 3], vec![4, 5, 6, 7]];
    assert_eq!(last_batches("drop"), ([epoch.clone(), epoch].concat(), vec![2, 2]));
}

#[test]
fn rule_04_trainers_get_the_credits_of_their_stream_unless_they_ask_for_others() {
    for (credits, trainers, asked, granted) in [(1, 4, 0, 1), (3, 2, 0, 3), (2, 3, 0, 2), (5, 1, 2, 2)] {
        let home = Home::with_pictures(8);
        let _daemon = home.serve(&format!("credits = {credits}\ntrainers = {trainers}"));
        // The last of as many trainers as the ring has room for.
        let _others: Vec<Puppet> = (1..trainers).map(|_| Puppet::attach(&home)).collect();
        let last = Trainer::with(&home, Options { credits: asked, ..options() }).unwrap();
        assert_eq!(last.session.credits(), granted, "credits = {credits}");
    }
}

#[test]
fn rule_12_two_trainers_get_one_partial_batch_in_each_epoch() {
    let home = Home::with_pictures(30);
    let _daemon = home.serve("epochs = 3\nshuffle = true");
    let mut trainers = [Puppet::attach(&home), Puppet::attach(&home)];
    trainers.iter_mut().for_each(Puppet::run);
    let all: Vec<_> = trainers.iter().flat_map(|trainer| batches(&trainer.rest())).collect();
    for epoch in 0..3 {
        let short: Vec<_> = all.iter().filter(|seen| seen.epoch == epoch && seen.own.len() < 4).collect();
        assert_eq!(short.iter().map(|seen| seen.own.len()).collect::<Vec<_>>(), [2], "epoch {epoch}");
    }
}

/// Nine records over two shards: 0 to 3 and 4 to 8, in batches of 4.
const SHARDS: &str = "epochs = 3\nnum_shards = 2\nlast_batch_policy = \"fill\"";

#[test]
fn rule_13_static_shards_rotate_and_are_padded_to_the_same_number_of_batches() {
    let home = Home::with_pictures(9);
    let _daemon = home.serve(SHARDS);
    let mut trainers = [Puppet::of_shard(&home, 0, 2), Puppet::of_shard(&home, 1, 2)];
    let told = trainers.each_mut().map(|trainer| batches(&trainer.finish()));
    let low = [vec![0, 1, 2, 3], vec![3, 3, 3, 3]];
    let high = [vec![4, 5, 6, 7], vec![8, 8, 8, 8]];
    let seen = told.each_ref().map(|all| all.iter().map(|seen| seen.records.clone()).collect::<Vec<_>>());
    assert_eq!(seen[0], [low.clone(), high.clone(), low.clone()].concat());
    assert_eq!(seen[1], [high.clone(), low, high].concat());
    // Copies are not the epoch's own: a batch of nothing else has none.
    let own = told.each_ref().map(|all| all.iter().map(|seen| seen.own.len()).collect::<Vec<_>>());
    assert_eq!(own, [vec![4, 0, 4, 1, 4, 0], vec![4, 1, 4, 0, 4, 1]]);
    let audit = home.audit();
    assert_eq!(audit.len(), 8, "{audit:?}");
    assert!(audit[0].contains("shard 0 of 2") && audit[4].contains("shard 1 of 2"), "{audit:?}");
}

#[test]
fn rule_13_a_shard_that_is_empty_in_some_epochs_continues_to_the_next() {
    let home = Home::with_pictures(2);
    let _daemon = home.serve("num_shards = 3");
    // Of three shards the first is empty: this trainer has it in every third epoch, without end.
    let mut trainer = Puppet::of_shard(&home, 1, 3);
    for epoch in (0..9).filter(|epoch| epoch % 3 < 2) {
        let mut next = trainer.next();
        // An empty epoch's end is passed over when it came before the trainer asked, else it is an empty `for`.
        if matches!(next, Event::EpochEnd(empty) if empty % 3 == 2 && empty + 1 == epoch) {
            next = trainer.next();
        }
        let seen = next.batch();
        assert_eq!((seen.epoch, seen.own), (epoch, vec![epoch % 3]));
        assert_eq!(trainer.next(), Event::EpochEnd(epoch));
    }
}

#[test]
fn rule_13_a_shard_that_is_empty_in_every_epoch_is_refused() {
    let home = Home::with_pictures(2);
    let _daemon = home.serve("num_shards = 3\nstick_to_shard = true");
    let shard = Some(Shard { id: 0, count: 3 });
    let refused = Trainer::with(&home, Options { shard, ..options() }).map(drop).unwrap_err().to_string();
    assert!(refused.contains("Shard 0 of 3 has no record in any epoch: the dataset has 2 records"), "{refused}");
    Puppet::of_shard(&home, 1, 3).next().batch();
}

#[test]
fn rule_13_a_shard_waits_for_its_own_trainer_to_come_back() {
    let home = Home::with_pictures(40);
    let _daemon = home.serve("epochs = 1\nnum_shards = 2");
    let mut first = Puppet::of_shard(&home, 0, 2);
    let consumed = first.next().batch();
    let in_hand = first.next().batch();
    let mut other = Puppet::of_shard(&home, 1, 2);
    first.kill();
    let others = batches(&other.finish());
    assert_eq!(records(&others), (20..40).collect::<Vec<_>>(), "the other shard's batches stay with it");
    let mut back = Puppet::of_shard(&home, 0, 2);
    let rest = batches(&back.finish());
    assert_eq!(rest[0].records, in_hand.records, "its order is as it was");
    assert_eq!(records([&consumed].into_iter().chain(&rest)), (0..20).collect::<Vec<_>>());
    home.audit();
}

#[test]
fn rule_13_a_shard_has_one_trainer_and_a_wrong_one_is_refused() {
    let home = Home::with_pictures(9);
    let _daemon = home.serve(SHARDS);
    let attach = |shard| Trainer::with(&home, Options { shard, ..options() }).map(drop).unwrap_err().to_string();
    assert!(
        attach(None).contains("is split over 2 shards; give a shard_id from 0 to 1 and num_shards=2"),
        "{}",
        attach(None)
    );
    let of_three = attach(Some(Shard { id: 0, count: 3 }));
    assert!(of_three.contains("has the shards 0 to 1 of 2, not 0 of 3"), "{of_three}");
    let third = attach(Some(Shard { id: 2, count: 2 }));
    assert!(third.contains("shard_id out of bounds"), "{third}");
    let first = Puppet::of_shard(&home, 1, 2);
    let taken = attach(Some(Shard { id: 1, count: 2 }));
    assert!(taken.contains("stream \"train\": shard 1 of 2 has a trainer already, process"), "{taken}");
    assert!(taken.contains(&first.pid().to_string()), "{taken}");
}

#[test]
fn rule_13_a_stream_without_shards_refuses_a_trainer_that_names_one() {
    let home = Home::with_pictures(4);
    let _daemon = home.serve("");
    let shard = Some(Shard { id: 0, count: 2 });
    let refused = Trainer::with(&home, Options { shard, ..options() }).map(drop).unwrap_err().to_string();
    assert!(refused.contains("has no shards, but num_shards=2 was given"), "{refused}");
}
