//! Ranks of lockstep: every step has the same records whatever the number of ranks, over deaths of daemons and over states
//! that another number of ranks loads (semantics rule 40).

use std::fs;

use forebay_client::{Options, Patient, Shard, State};

use crate::daemon::Home;
use crate::trainer::{Event, Puppet, Seen, Trainer, options};

/// Twenty records in steps of six: three whole steps, and one of two records.
const RECORDS: u64 = 20;
const STEPS: usize = 4;
const EPOCHS: usize = 2;
const SETTINGS: &str = "epochs = 2\nshuffle = true\nassignment = \"lockstep\"\nglobal_batch = 6";

fn rank(home: &Home, id: u32, count: u32) -> Trainer {
    Trainer::with(home, Options { shard: Some(Shard { id, count }), ..options() }).unwrap()
}

fn job(home: &Home, world_size: u32) -> Vec<Trainer> {
    (0..world_size).map(|id| rank(home, id, world_size)).collect()
}

/// The next so many steps of each rank.
fn take(job: &mut [Trainer], steps: usize) -> Vec<Vec<Seen>> {
    let batches = |rank: &mut Trainer| -> Vec<Seen> {
        std::iter::from_fn(|| {
            loop {
                match rank.next() {
                    Event::Batch(batch) => return Some(batch),
                    Event::EpochEnd(_) => {}
                    Event::Done => return None,
                    other => panic!("{other:?} came in place of a batch"),
                }
            }
        })
        .take(steps)
        .collect()
    };
    job.iter_mut().map(batches).collect()
}

/// For each step its epoch, and the epoch's own records in the order of ranks.
fn steps(told: &[Vec<Seen>]) -> Vec<(u64, Vec<u64>)> {
    assert!(told.iter().all(|rank| rank.len() == told[0].len()), "all ranks have as many steps");
    let step = |step: usize| {
        let own = told.iter().flat_map(|rank| rank[step].own.clone()).collect();
        assert!(told.iter().all(|rank| rank[step].epoch == told[0][step].epoch), "all ranks are in one epoch");
        assert!(told.iter().all(|rank| rank[step].records.len() == told[0][step].records.len()), "of one shape");
        (told[0][step].epoch, own)
    };
    (0..told[0].len()).map(step).collect()
}

/// What one rank alone is given, over all epochs.
fn alone() -> Vec<(u64, Vec<u64>)> {
    let home = Home::with_pictures(RECORDS);
    let _daemon = home.serve(SETTINGS);
    let all = steps(&take(&mut job(&home, 1), usize::MAX));
    assert_eq!(all.len(), STEPS * EPOCHS);
    home.audit();
    all
}

#[test]
fn rule_40_two_ranks_see_the_steps_of_one_whenever_their_daemon_is_killed() {
    let alone = alone();
    let home = Home::with_pictures(RECORDS);
    let mut daemon = home.serve(SETTINGS);
    let mut ranks = job(&home, 2);
    let starts: Vec<State> = ranks.iter_mut().map(|rank| rank.session.state(&mut Patient).unwrap()).collect();
    for stop in 1..=STEPS * EPOCHS {
        for (rank, start) in ranks.iter_mut().zip(&starts) {
            rank.session.restore(start, &mut Patient).unwrap();
        }
        let mut told = take(&mut ranks, stop);
        daemon.kill();
        daemon = home.start();
        for (seen, rest) in told.iter_mut().zip(take(&mut ranks, usize::MAX)) {
            seen.extend(rest);
        }
        assert_eq!(steps(&told), alone, "after a death in step {stop}");
        let audit = home.audit();
        // Each rank, and both together.
        assert_eq!(audit.iter().filter(|line| line.contains("checksum equal")).count(), 3 * EPOCHS, "{audit:?}");
    }
}

#[test]
fn rule_40_a_state_is_loaded_by_another_number_of_ranks_from_every_step_on() {
    let alone = alone();
    let mut world_size = 2;
    for stop in 1..STEPS * EPOCHS {
        let home = Home::with_pictures(RECORDS);
        let _daemon = home.serve(SETTINGS);
        let mut ranks = job(&home, world_size);
        let told = take(&mut ranks, stop);
        // The batch in hand counts. Any rank's state will do.
        let states: Vec<State> = ranks.iter_mut().map(|rank| rank.session.state(&mut Patient).unwrap()).collect();
        let at = (u64::try_from(stop / STEPS).unwrap(), u64::try_from(stop % STEPS * 6).unwrap());
        assert!(states.iter().all(|state| (state.epoch(), state.cursor()) == at), "{states:?}");
        let state = State::from_bytes(&states[stop % states.len()].to_bytes()).unwrap();

        world_size = world_size % 3 + 1;
        let other = Home::with_pictures(RECORDS);
        let _daemon = other.serve(SETTINGS);
        let mut ranks = job(&other, world_size);
        for rank in &mut ranks {
            rank.session.restore(&state, &mut Patient).unwrap();
        }
        let rest = take(&mut ranks, usize::MAX);
        let whole = [steps(&told), steps(&rest)].concat();
        assert_eq!(whole, alone, "a state of step {stop} in the hands of {world_size} ranks");
        other.audit();
    }
}

#[test]
fn rule_40_a_killed_rank_gets_its_batch_again_and_no_other_rank_does() {
    let home = Home::with_pictures(RECORDS);
    let _daemon = home.serve(SETTINGS);
    let (mut kept, mut killed) = (rank(&home, 0, 2), Puppet::of_shard(&home, 1, 2));
    let first = killed.next().batch();
    killed.kill();
    assert_eq!(take(std::slice::from_mut(&mut kept), 2)[0].len(), 2);
    let mut again = Puppet::of_shard(&home, 1, 2);
    assert_eq!(again.next().batch().records, first.records);
}

#[test]
fn rule_40_copies_fill_the_last_step_and_are_not_counted() {
    let home = Home::with_pictures(RECORDS);
    let _daemon = home.serve(&format!("{SETTINGS}\nlast_batch_policy = \"fill\""));
    let told = take(&mut job(&home, 3), STEPS);
    let last: Vec<(usize, usize)> = told.iter().map(|rank| (rank[3].records.len(), rank[3].own.len())).collect();
    assert_eq!(last, [(2, 0), (2, 1), (2, 1)]);
    // A rank without a record of its own repeats the last that it had.
    assert_eq!(told[0][3].records, vec![told[0][2].records[1]; 2]);
    drop(home);

    let home = Home::with_pictures(RECORDS);
    let _daemon = home.serve(&format!("{SETTINGS}\nlast_batch_policy = \"drop\""));
    let mut ranks = job(&home, 3);
    let told = take(&mut ranks, usize::MAX);
    assert_eq!(steps(&told).len(), (STEPS - 1) * EPOCHS);
    let audit = home.audit().join("\n");
    assert_eq!(audit.matches("1 dropped), checksum equal").count(), 2 * EPOCHS, "{audit}");
    assert_eq!(audit.matches("20 of 20 records accounted for (18 delivered, 2 dropped)").count(), EPOCHS, "{audit}");
}

#[test]
fn rule_40_a_bad_record_keeps_its_place() {
    let home = Home::with_pictures(12);
    fs::write(home.picture(7), "this is no picture").unwrap();
    let settings = "epochs = 1\nassignment = \"lockstep\"\nglobal_batch = 6\non_error = \"skip\"";
    let _daemon = home.serve(settings);
    let told = take(&mut job(&home, 2), usize::MAX);
    assert_eq!([&told[0][1].records[..], &told[1][1].records[..]], [[6, -1, 8], [9, 10, 11]]);
    let audit = home.audit().join("\n");
    assert!(audit.contains("(5 delivered, 1 quarantined), complete but for 1 bad"), "{audit}");
}

#[test]
fn rule_40_ranks_that_cannot_share_a_step_are_refused_with_the_sizes_that_can() {
    let home = Home::with_pictures(RECORDS);
    let _daemon = home.serve(SETTINGS);
    let attach = |shard| Trainer::with(&home, Options { shard, ..options() }).err().map(|error| error.to_string());
    let uneven = attach(Some(Shard { id: 0, count: 4 })).unwrap();
    assert!(
        uneven.contains("global_batch 6 is not a multiple of world_size 4. World sizes that fit: 1, 2, 3, 6"),
        "{uneven}"
    );
    let none = attach(None).unwrap();
    assert!(none.contains("is in lockstep; attach with a rank and a world_size"), "{none}");
    let _first = rank(&home, 0, 2);
    let mut other = rank(&home, 0, 3);
    let Event::Failed(told) = other.next() else { panic!("ranks of another number get nothing without a state") };
    assert!(told.contains("It is read by 2 ranks from step 0 of epoch 0, but this rank is one of 3"), "{told}");
    let twice = attach(Some(Shard { id: 0, count: 2 })).unwrap();
    assert!(twice.contains("already"), "{twice}");
}
