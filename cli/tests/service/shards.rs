//! Static shards over restarts: what an epoch owes a shard, its batches of copies included, is in ledger and state, and
//! every position keeps its place.

use std::fs;

use forebay_client::{Options, Patient, Shard, State};
use rustix::process::Signal;

use crate::daemon::{Daemon, Home};
use crate::trainer::{Event, Puppet, Seen, Trainer, options, records};

/// Twenty records over three shards of 6, 7 and 7, in batches of 3: three batches for each, of which one shard has the
/// third without a record.
const SHARDS: u32 = 3;
const BATCHES: usize = 3;
const EPOCHS: u64 = 2;
const SETTINGS: &str = "epochs = 2\nshuffle = true\nnum_shards = 3\nbatch_size = 3\nlast_batch_policy = \"fill\"";

fn shard(home: &Home, id: u32) -> Trainer {
    Trainer::with(home, Options { shard: Some(Shard { id, count: SHARDS }), ..options() }).unwrap()
}

fn shards(home: &Home) -> Vec<Trainer> {
    (0..SHARDS).map(|id| shard(home, id)).collect()
}

/// The next so many batches, over the ends of epochs.
fn take(trainer: &mut Trainer, count: usize) -> Vec<Seen> {
    let mut seen = Vec::new();
    while seen.len() < count {
        match trainer.next() {
            Event::Batch(batch) => seen.push(batch),
            Event::EpochEnd(_) => {}
            other => panic!("{other:?} after {} batches", seen.len()),
        }
    }
    seen
}

/// Everything that is left, all epochs.
fn rest(trainer: &mut Trainer) -> Vec<Seen> {
    let mut seen = Vec::new();
    loop {
        match trainer.next() {
            Event::Batch(batch) => seen.push(batch),
            Event::EpochEnd(_) => {}
            Event::Done => return seen,
            other => panic!("{other:?} after {} batches", seen.len()),
        }
    }
}

/// Every rank has had as many batches in each epoch, and the ranks together each record once.
fn assert_whole(told: &[Vec<Seen>], when: &str) {
    for epoch in 0..EPOCHS {
        let of_epoch = |seen: &&Seen| seen.epoch == epoch;
        let counts: Vec<usize> = told.iter().map(|rank| rank.iter().filter(of_epoch).count()).collect();
        assert_eq!(counts, [BATCHES; SHARDS as usize], "batches of epoch {epoch} {when}");
        let all = told.iter().flatten().filter(of_epoch);
        assert_eq!(records(all), (0..20).collect::<Vec<_>>(), "records of epoch {epoch} {when}");
    }
}

#[test]
fn rule_13_ranks_have_as_many_batches_from_every_state_on() {
    let home = Home::with_pictures(20);
    let _daemon = home.serve(SETTINGS);
    let mut ranks = shards(&home);
    let starts: Vec<State> = ranks.iter_mut().map(|rank| rank.session.state(&mut Patient).unwrap()).collect();
    for stop in 1..=2 * BATCHES {
        let mut told = Vec::new();
        for (rank, start) in ranks.iter_mut().zip(&starts) {
            rank.session.restore(start, &mut Patient).unwrap();
            let mut seen = take(rank, stop);
            // The batch in hand counts, also one of nothing but copies.
            let state = rank.session.state(&mut Patient).unwrap();
            rank.session.restore(&state, &mut Patient).unwrap();
            seen.extend(rest(rank));
            told.push(seen);
        }
        assert_whole(&told, &format!("with a state in batch {stop}"));
        home.audit();
    }
}

/// Takes each rank back to its start, and so many batches on from there.
fn from_starts(ranks: &mut [Trainer], starts: &[State], stop: usize) -> Vec<Vec<Seen>> {
    let from_start = |(rank, start): (&mut Trainer, &State)| {
        rank.session.restore(start, &mut Patient).unwrap();
        take(rank, stop)
    };
    ranks.iter_mut().zip(starts).map(from_start).collect()
}

#[test]
fn rule_13_ranks_have_as_many_batches_whenever_the_daemon_is_killed() {
    let home = Home::with_pictures(20);
    let mut daemon = home.serve(SETTINGS);
    let mut ranks = shards(&home);
    let starts: Vec<State> = ranks.iter_mut().map(|rank| rank.session.state(&mut Patient).unwrap()).collect();
    for stop in 1..=2 * BATCHES {
        let mut told = from_starts(&mut ranks, &starts, stop);
        daemon.kill();
        daemon = home.start();
        for (rank, seen) in ranks.iter_mut().zip(&mut told) {
            seen.extend(rest(rank));
        }
        assert_whole(&told, &format!("after a death in batch {stop}"));
        home.audit();
    }
}

#[test]
fn rule_21_ranks_have_as_many_batches_whenever_the_daemon_is_ended() {
    let home = Home::with_pictures(20);
    let mut daemon = home.serve(SETTINGS);
    let mut ranks = shards(&home);
    let starts: Vec<State> = ranks.iter_mut().map(|rank| rank.session.state(&mut Patient).unwrap()).collect();
    for stop in 1..=2 * BATCHES {
        let mut told = from_starts(&mut ranks, &starts, stop);
        end(daemon);
        daemon = home.start();
        for (rank, seen) in ranks.iter_mut().zip(&mut told) {
            // The batch in hand was returned, and may come once more.
            let in_hand = seen.pop().unwrap();
            let left = rest(rank);
            if left.first().is_none_or(|next| next.records != in_hand.records) {
                seen.push(in_hand);
            }
            seen.extend(left);
        }
        assert_whole(&told, &format!("after an end in batch {stop}"));
    }
}

/// At once, with what trainers hold.
fn end(mut daemon: Daemon) {
    daemon.signal(Signal::TERM);
    daemon.hears("draining");
    daemon.signal(Signal::TERM);
    let (status, said) = daemon.ends();
    assert!(status.success(), "{status}:\n{said}");
}

#[test]
fn rule_13_a_killed_trainer_s_batch_of_copies_comes_again() {
    let home = Home::with_pictures(20);
    let _daemon = home.serve(SETTINGS);
    let mut trainer = Puppet::of_shard(&home, 0, SHARDS);
    let seen: Vec<Seen> = (0..BATCHES).map(|_| trainer.next().batch()).collect();
    assert_eq!((seen[2].own.len(), seen[2].records.len(), seen[2].epoch), (0, 3, 0));
    trainer.kill();
    let mut trainer = Puppet::of_shard(&home, 0, SHARDS);
    let again = trainer.next().batch();
    assert_eq!((again.records, again.epoch), (seen[2].records.clone(), 0));
    assert_eq!(trainer.next(), Event::EpochEnd(0));
}

#[test]
fn rule_10_ranks_that_reset_in_step_stay_in_step() {
    let home = Home::with_pictures(20);
    let _daemon = home.serve(&SETTINGS.replace("epochs = 2", "epochs = 4"));
    for (stop, mut ranks) in (1..=BATCHES).map(|stop| (stop, shards(&home))) {
        for rank in &mut ranks {
            let seen = take(rank, stop);
            rank.session.reset(&mut Patient).unwrap();
            assert!(seen.iter().all(|seen| seen.epoch + 1 == stop as u64), "rank in epoch {}", seen[0].epoch);
        }
        for rank in ranks {
            rank.session.close().unwrap();
        }
    }
    for rank in &mut shards(&home) {
        let last = rank.epoch();
        assert_eq!((last.len(), last[0].epoch), (BATCHES, 3));
    }
}

/// Two shards of six records, batches of three; records 1, 3, 4 and 5 are bad.
fn damaged() -> Home {
    let home = Home::with_pictures(12);
    for record in [1, 3, 4, 5] {
        fs::write(home.picture(record), "this is no picture").unwrap();
    }
    home
}

const SKIP: &str = "epochs = 1\nnum_shards = 2\non_error = \"skip\"\n";

#[test]
fn rule_07_places_stay_when_the_daemon_is_killed_and_a_batch_of_bad_records_is_not_forgotten() {
    let home = damaged();
    let daemon = home.serve(&format!("{SKIP}batch_size = 3"));
    let attach = || Trainer::with(&home, Options { shard: Some(Shard { id: 0, count: 2 }), ..options() }).unwrap();
    let mut trainer = attach();
    let start = trainer.session.state(&mut Patient).unwrap();
    let undisturbed = rest(&mut trainer);
    let shown: Vec<&[i64]> = undisturbed.iter().map(|seen| &seen.records[..]).collect();
    assert_eq!(shown, [[0, -1, 2], [-1, -1, -1]]);
    trainer.session.restore(&start, &mut Patient).unwrap();
    drop(trainer);

    // Nothing is acked: both batches were made, and are made again.
    let mut trainer = attach();
    let first = trainer.next().batch();
    home.wait_for("the other batch is ready", |status| status.slots_ready + status.slots_held == 2);
    drop(trainer);
    daemon.kill();
    let daemon = home.start();
    let mut trainer = attach();
    let again = trainer.next().batch();
    assert_eq!((again.records, again.own), (first.records, vec![0, 2]));
    // The batch of bad records is in hand when the daemon dies: it is neither forgotten nor told twice.
    let bad = trainer.next().batch();
    assert_eq!(bad.records, [-1; 3]);
    daemon.kill();
    let _daemon = home.start();
    assert_eq!(trainer.next(), Event::EpochEnd(0));
    let audit = trainer.session.audit(&mut Patient).unwrap();
    assert_eq!((audit[0].delivered, audit[0].quarantined, audit[0].complete), (2, 4, true));
    home.audit();
    let quarantine = trainer.session.quarantine(&mut Patient).unwrap();
    assert_eq!(quarantine.iter().map(|bad| bad.record).collect::<Vec<_>>(), [1, 3, 4, 5]);
}

#[test]
fn rule_20_with_another_batch_size_what_went_out_leaves_its_places() {
    let home = Home::with_pictures(12);
    let daemon = home.serve(&format!("{SKIP}batch_size = 2"));
    let attach = || Trainer::with(&home, Options { shard: Some(Shard { id: 1, count: 2 }), ..options() }).unwrap();
    let mut trainer = attach();
    assert_eq!(trainer.next().batch().records, [6, 7]);
    assert_eq!(trainer.next().batch().records, [8, 9]);
    // The second goes back unread.
    drop(trainer);
    home.wait_for("the first is acked", |status| status.delivered == 2);
    daemon.stop();
    let _daemon = home.serve(&format!("{SKIP}batch_size = 3"));
    let mut trainer = attach();
    let seen = rest(&mut trainer);
    let shown: Vec<&[i64]> = seen.iter().map(|seen| &seen.records[..]).collect();
    assert_eq!(shown, [[-1, -1, 8], [9, 10, 11]]);
    assert_eq!(records(&seen), [8, 9, 10, 11]);
}
