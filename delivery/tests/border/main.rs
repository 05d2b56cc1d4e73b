//! Every run of small scenes at the border between two epochs: the ring and the batch stage together, with a ledger whose last
//! positions of the first epoch come back late (semantics rule 11). Each run has an end. There, both epochs are complete, or a
//! trainer that does not ask keeps them open, and no position waits for the slot of a later batch. The search finds each of the
//! mistakes that [`Policy`] lists.

mod model;

use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use model::{Border, Event, Habits, Policy, Scene};

/// What a search has found.
#[derive(Debug, Default)]
struct Search {
    /// All moments that were reached, by their hashes, and whether everything behind them has been looked at.
    reached: HashMap<u64, bool>,
    trail: Vec<Event>,
    /// Runs that end before both epochs are complete.
    open_ends: u64,
}

impl Search {
    fn of(scene: &Scene, policy: Policy) -> Result<Self, (&'static str, Self)> {
        let mut search = Self::default();
        match search.look(scene, &Border::new(scene, policy)) {
            Ok(()) => Ok(search),
            Err(wrong) => Err((wrong, search)),
        }
    }

    /// Looks at everything that may follow.
    fn look(&mut self, scene: &Scene, moment: &Border) -> Result<(), &'static str> {
        if let Some(wrong) = moment.wrong {
            return Err(wrong);
        }
        let hash = |moment: &Border| BuildHasherDefault::<DefaultHasher>::default().hash_one(moment);
        let mark = hash(moment);
        match self.reached.insert(mark, false) {
            Some(true) => {
                self.reached.insert(mark, true);
                return Ok(());
            }
            Some(false) => return Err("a run returns here, and need not end"),
            None => {}
        }
        let (steps, mut is_end) = (moment.steps(scene), true);
        for (number, event) in steps.iter().copied().chain(moment.accidents()).enumerate() {
            let mut next = moment.clone();
            next.apply(scene, event);
            if hash(&next) != mark {
                is_end &= number >= steps.len();
                self.trail.push(event);
                self.look(scene, &next)?;
                self.trail.pop();
            }
        }
        if is_end && !moment.is_complete() {
            self.open_ends += 1;
            if moment.waits_for_a_later_slot() {
                return Err("a position waits for the slot of a later batch");
            }
            if !scene.trainers.iter().any(|trainer| trainer.idle) {
                return Err("nothing happens any more");
            }
        }
        self.reached.insert(mark, true);
        Ok(())
    }
}

/// A `for` in Python with the credits that it has by default.
const FOR: Habits = Habits { credits: 2, views: 1, idle: false, late: false };
const COPIES: Habits = Habits { credits: 1, views: 0, idle: false, late: false };

fn scene() -> Scene {
    Scene {
        slots: 4,
        batch: 1,
        first: 0,
        late: 2,
        second: 3,
        starved: None,
        in_order: false,
        trainers: vec![FOR],
        each: false,
        deaths: 0,
        evictions: 0,
        expiries: 0,
        rebirths: 0,
    }
}

fn scenes() -> Vec<(&'static str, Scene)> {
    let idle = Habits { idle: true, ..COPIES };
    let three = Scene { slots: 3, second: 2, trainers: vec![COPIES], ..scene() };
    let pairs = Scene { batch: 2, slots: 3, second: 4, trainers: vec![COPIES], ..scene() };
    let short = Scene { late: 1, first: 1, ..three.clone() };
    let groups = Scene { trainers: vec![COPIES, COPIES], each: true, ..three.clone() };
    vec![
        ("one trainer", scene()),
        ("three slots", three.clone()),
        ("a late trainer", Scene { trainers: vec![Habits { late: true, ..FOR }], ..scene() }),
        ("a batch without its last record", Scene { starved: Some(1), ..scene() }),
        ("a shard", Scene { in_order: true, second: 4, ..scene() }),
        ("a shard's batch without its last record", Scene { in_order: true, starved: Some(1), ..scene() }),
        ("many views", Scene { slots: 5, trainers: vec![Habits { credits: 3, views: 2, ..FOR }], ..scene() }),
        ("batches of two", pairs.clone()),
        ("a position too few", Scene { late: 3, second: 3, ..pairs.clone() }),
        ("a daemon that dies", Scene { rebirths: 1, ..short.clone() }),
        ("a shard's daemon that dies", Scene { rebirths: 1, in_order: true, ..short }),
        ("a daemon that dies with batches of two", Scene { rebirths: 1, ..pairs }),
        ("a lease that expires", Scene { expiries: 1, ..three }),
        ("groups", groups.clone()),
        ("a group that asks for nothing", Scene { trainers: vec![COPIES, idle], ..groups.clone() }),
        ("a death", Scene { deaths: 1, ..groups.clone() }),
        ("an eviction", Scene { evictions: 1, ..groups }),
        ("two trainers", Scene { trainers: vec![COPIES, COPIES], ..scene() }),
    ]
}

/// A scene of which only the beginning is looked at, for a mistake: all of its runs take minutes.
fn large() -> (&'static str, Scene) {
    let pairs = Scene { batch: 2, late: 4, second: 6, ..scene() };
    ("batches of two and a view", pairs)
}

#[test]
fn rule_11_in_every_run_the_epoch_that_trainers_are_in_ends_and_no_position_of_it_waits_for_a_later_slot() {
    for (name, scene) in scenes() {
        match Search::of(&scene, Policy::Real) {
            Ok(Search { reached, open_ends, .. }) => {
                println!("{name}: {} moments, {open_ends} ends with an epoch open", reached.len());
            }
            Err((wrong, Search { trail, .. })) => panic!("{name}: {wrong}, after {trail:#?}"),
        }
    }
}

#[test]
fn rule_11_the_search_finds_every_mistake() {
    let waits = "a position waits for the slot of a later batch";
    for (policy, scene, expected) in [
        (Policy::OneFreeSlot, "one trainer", waits),
        (Policy::OneReservedSlot, "one trainer", waits),
        (Policy::EvenOffered, "a lease that expires", "a batch gives way that was offered"),
        (Policy::Oldest, "a shard", "batches do not keep their order"),
        (Policy::WithGaps, "a shard", "batches do not keep their order"),
        (Policy::HalfReturned, "batches of two and a view", "a state does not have each position once"),
        (Policy::KeepsDropped, "a position too few", "a slot is lost"),
        (Policy::ForgetsResumedClaims, "a daemon that dies", "a state does not have each position once"),
    ] {
        let (_, scene) =
            scenes().into_iter().chain([large()]).find(|(name, _)| *name == scene).expect("it is a scene's name");
        let Err((wrong, search)) = Search::of(&scene, policy) else { panic!("{policy:?} is not found") };
        println!("{policy:?} after {} moments: {wrong}", search.reached.len());
        assert_eq!(wrong, expected, "{policy:?} after {:#?}", search.trail);
    }
}
