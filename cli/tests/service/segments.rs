//! A lockstep run that goes on with another number of ranks, over deaths of its daemon; and what one rank does to the others
//! (semantics rule 40).

use forebay_client::{Options, Patient, Shard, State};

use crate::daemon::Home;
use crate::trainer::{Event, Puppet, Seen, Trainer, options, records};

/// Twenty records in steps of eight: two whole steps, and one of four records.
const RECORDS: u64 = 20;
const SETTINGS: &str = "epochs = 2\nshuffle = true\nassignment = \"lockstep\"\nglobal_batch = 8";

fn job(home: &Home, world_size: u32) -> Vec<Trainer> {
    let shard = |id| Some(Shard { id, count: world_size });
    (0..world_size).map(|id| Trainer::with(home, Options { shard: shard(id), ..options() }).unwrap()).collect()
}

fn puppets(home: &Home, world_size: u32) -> Vec<Puppet> {
    (0..world_size).map(|rank| Puppet::of_shard(home, rank, world_size)).collect()
}

/// The next batch, behind ends of epochs.
fn batch(mut next: impl FnMut() -> Event) -> Seen {
    loop {
        match next() {
            Event::EpochEnd(_) => {}
            other => return other.batch(),
        }
    }
}

/// So many steps of all ranks.
fn take(ranks: &mut [Puppet], steps: usize) -> Vec<Seen> {
    (0..steps).flat_map(|_| ranks.iter_mut().map(|rank| batch(|| rank.next())).collect::<Vec<_>>()).collect()
}

fn state(rank: &mut Trainer) -> State {
    rank.session.state(&mut Patient).unwrap()
}

fn load(ranks: &mut [Trainer], state: &State) {
    for rank in ranks {
        rank.session.restore(state, &mut Patient).unwrap();
    }
}

/// What a trainer is told when it gets no more batches.
fn failure(rank: &mut Trainer) -> String {
    loop {
        match rank.next() {
            Event::Failed(words) => return words,
            Event::Batch(_) => {}
            other => panic!("{other:?} came in place of a failure"),
        }
    }
}

#[test]
fn rule_40_two_ranks_continue_from_a_state_of_four_after_a_kill_and_the_audit_has_the_whole_epochs() {
    let home = Home::with_pictures(RECORDS);
    let daemon = home.serve(SETTINGS);
    let mut four = puppets(&home, 4);
    let mut seen = take(&mut four, 2);
    let state = four[3].state();
    assert_eq!((state.epoch(), state.cursor()), (0, 16));
    // What they see behind the state is forgotten.
    take(&mut four, 1);
    daemon.kill();
    for rank in &mut four {
        rank.kill();
    }

    let daemon = home.start();
    let mut two = puppets(&home, 2);
    // Without the state, it is the run of four.
    let Event::Failed(refused) = two[0].next() else { panic!("nothing is read without a state") };
    assert!(refused.contains("read by 4 ranks") && refused.contains("Load a state"), "{refused}");
    for rank in &mut two {
        rank.restore(&state);
    }
    seen.extend(take(&mut two, 2));
    daemon.kill();
    let _daemon = home.start();
    two.iter_mut().for_each(Puppet::run);
    seen.extend(two.iter().flat_map(|rank| crate::trainer::batches(&rank.rest())));
    for epoch in 0..2 {
        let of_epoch = seen.iter().filter(|seen| seen.epoch == epoch);
        assert_eq!(records(of_epoch), (0..RECORDS).collect::<Vec<u64>>(), "epoch {epoch}, each record once");
    }
    let audit = home.audit().join("\n");
    let (_, run) = audit.split_once("all ranks of").expect("the account of the run");
    assert!(run.contains("4 ranks from step 0 of epoch 0, 2 ranks from step 2 of epoch 0"), "{audit}");
    let whole = run.lines().filter(|line| line.contains(": 20 of 20 records") && line.contains("checksum equal"));
    assert_eq!(whole.count(), 2, "{audit}");
}

#[test]
fn rule_40_ranks_of_before_are_told_who_continues_and_may_come_back_with_a_state() {
    let home = Home::with_pictures(RECORDS);
    let _daemon = home.serve(SETTINGS);
    let mut two = job(&home, 2);
    for rank in &mut two {
        rank.next().batch();
    }
    let first = state(&mut two[0]);
    let mut one = job(&home, 1);
    load(&mut one, &first);
    for rank in &mut two {
        let told = failure(rank);
        assert!(told.contains("continues with 1 rank from step 1 of epoch 0"), "{told}");
    }
    drop(two);
    one[0].next().batch();
    let second = state(&mut one[0]);
    let mut two = job(&home, 2);
    load(&mut two, &second);
    let last: Vec<Seen> = two.iter_mut().map(|rank| rank.next().batch()).collect();
    assert_eq!(records(&last).len(), 4);
    let audit = home.audit().join("\n");
    let segments = "2 ranks from step 0 of epoch 0, 1 rank from step 1 of epoch 0, 2 ranks from step 2 of epoch 0";
    assert!(audit.contains(segments), "{audit}");
}

#[test]
fn rule_40_reset_takes_all_ranks_to_the_start_of_the_next_epoch() {
    let home = Home::with_pictures(RECORDS);
    let _daemon = home.serve(SETTINGS);
    let mut ranks = job(&home, 2);
    for rank in &mut ranks {
        rank.next().batch();
    }
    for rank in &mut ranks {
        rank.session.reset(&mut Patient).unwrap();
    }
    let mut step: Vec<Seen> = ranks.iter_mut().map(|rank| batch(|| rank.next())).collect();
    assert!(step.iter().all(|seen| seen.epoch == 1), "{step:?}");
    for _ in 0..2 {
        step.extend(ranks.iter_mut().map(|rank| batch(|| rank.next())));
    }
    assert_eq!(records(&step), (0..RECORDS).collect::<Vec<u64>>());
    for rank in &mut ranks {
        assert!(matches!(rank.next(), Event::EpochEnd(1) | Event::Done));
    }
    let audit = home.audit().join("\n");
    let (_, run) = audit.split_once("all ranks of").expect("the account of the run");
    assert!(run.contains("epoch 0: 20 of 20 records") && run.contains("abandoned), checksum equal"), "{audit}");
    assert!(run.contains("epoch 1: 20 of 20 records accounted for (20 delivered), checksum equal"), "{audit}");
}
