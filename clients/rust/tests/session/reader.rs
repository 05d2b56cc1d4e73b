//! Readers over a session: what they answer in any order of calls, and what a reader does beside its batches.

use forebay_client::reader::{Reader, ReaderError};
use forebay_client::{Batch, CallError, Patient};
use proptest::prelude::*;

use crate::World;
use crate::daemon::Plan;

/// What a program may ask a reader.
#[derive(Clone, Copy, Debug)]
enum Asked {
    HasNext,
    ReadNext,
    Reset,
}

/// A reader as its documentation has it: the first records of all batches of all passes, and where the program is.
struct Model {
    passes: Vec<Vec<i64>>,
    as_one: bool,
    pass: usize,
    read: usize,
}

impl Model {
    fn new(plan: &Plan, as_one: bool) -> Self {
        let firsts = (0..plan.records).step_by(plan.batch as usize).map(|first| i64::try_from(first).unwrap());
        let firsts: Vec<_> = firsts.collect();
        Self { passes: vec![firsts; usize::try_from(plan.epochs).unwrap()], as_one, pass: 0, read: 0 }
    }

    fn next(&mut self) -> Option<i64> {
        if self.as_one && self.passes.get(self.pass).is_some_and(|pass| self.read == pass.len()) {
            (self.pass, self.read) = (self.pass + 1, 0);
        }
        self.passes.get(self.pass)?.get(self.read).copied()
    }

    fn read(&mut self) -> Option<i64> {
        let next = self.next()?;
        self.read += 1;
        Some(next)
    }

    fn reset(&mut self) {
        if self.read > 0 {
            (self.pass, self.read) = (self.pass + 1, 0);
        }
    }
}

fn asked() -> impl Strategy<Value = Asked> {
    prop_oneof![3 => Just(Asked::HasNext), 5 => Just(Asked::ReadNext), 1 => Just(Asked::Reset)]
}

/// The first record of what was read; nothing at the end.
fn first(read: Result<Batch, ReaderError>) -> Option<i64> {
    match read {
        Ok(batch) => Some(batch.records()[0]),
        Err(ReaderError::End) => None,
        Err(error) => panic!("{error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_reader_answers_as_its_model_whatever_it_is_asked(
        records in 1..9_u64, batch in 1..4_u32, epochs in 1..4_u64, as_one in any::<bool>(),
        program in prop::collection::vec(asked(), 0..40),
    ) {
        let world = World::new();
        let plan = Plan::new(records, batch, epochs);
        let mut model = Model::new(&plan, as_one);
        let daemon = world.start(plan);
        let session = world.attach();
        let mut reader = if as_one { Reader::across_passes(session) } else { Reader::of(session) };
        for asked in program {
            match asked {
                Asked::HasNext => prop_assert_eq!(reader.has_next().unwrap(), model.next().is_some()),
                Asked::ReadNext => prop_assert_eq!(first(reader.read_next()), model.read()),
                Asked::Reset => {
                    reader.reset().unwrap();
                    model.reset();
                }
            }
        }
        drop(reader);
        daemon.stop();
        prop_assert_eq!(world.log.lock().wrong_sums, 0);
    }
}

#[test]
fn rule_10_a_pass_of_which_nothing_was_read_is_not_abandoned_and_any_other_is() {
    let world = World::new();
    let daemon = world.start(Plan::new(8, 4, 3));
    let mut reader = Reader::of(world.attach());
    assert!(reader.has_next().unwrap());
    reader.reset().unwrap();
    assert!(world.log.lock().resets.is_empty(), "nothing was read");
    assert_eq!(first(reader.read_next()), Some(0));
    reader.reset().unwrap();
    assert_eq!(world.log.lock().resets, [0]);
    let mut read = Vec::new();
    while reader.has_next().unwrap() {
        read.extend(reader.read_next().unwrap().records().to_vec());
    }
    assert_eq!(read, (0..8).collect::<Vec<i64>>());
    reader.reset().unwrap();
    assert_eq!(world.log.lock().resets, [0], "pass 1 had ended by itself");
    assert_eq!(first(reader.read_next()), Some(0));
    drop(reader);
    daemon.stop();
    assert_eq!(world.delivered(0), (0..4).collect::<Vec<u64>>());
    assert_eq!(world.delivered(1), (0..8).collect::<Vec<u64>>());
}

#[test]
fn rule_22_a_state_counts_what_was_read_and_not_what_has_next_saw() {
    let world = World::new();
    let _daemon = world.start(Plan::new(8, 4, 1));
    let mut reader = Reader::of(world.attach());
    assert!(reader.has_next().unwrap());
    reader.session_mut().state(&mut Patient).unwrap();
    let batch = reader.read_next().unwrap();
    reader.session_mut().state(&mut Patient).unwrap();
    let calls = std::mem::take(&mut world.log.lock().state_calls);
    assert_eq!(calls.iter().map(|call| call.in_hand.clone()).collect::<Vec<_>>(), [vec![], vec![batch.seq()]]);
}

#[test]
fn the_end_says_what_to_do() {
    let world = World::new();
    let _daemon = world.start(Plan::new(4, 4, 1));
    let mut reader = Reader::across_passes(world.attach());
    assert_eq!(first(reader.read_next()), Some(0));
    for _ in 0..2 {
        let error = reader.read_next().unwrap_err().to_string();
        assert!(error.contains("call reset() to begin the next pass"), "{error}");
        reader.reset().unwrap();
        assert!(!reader.has_next().unwrap(), "there is no further pass");
    }
}

#[test]
fn a_refused_reset_leaves_the_reader_where_it_is() {
    let world = World::new();
    let _daemon = world.start(Plan { alone: false, ..Plan::new(8, 4, 2) });
    let mut reader = Reader::of(world.attach());
    assert_eq!(first(reader.read_next()), Some(0));
    for _ in 0..2 {
        assert!(matches!(reader.reset(), Err(ReaderError::Call(CallError::Failed(_)))));
    }
    assert_eq!(first(reader.read_next()), Some(4));
}
