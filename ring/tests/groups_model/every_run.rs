//! Every run of small scenes: three trainers in two groups, a ring, and a few batches. Each trainer comes at any moment, and may
//! be killed, evicted, or leave at any later one. The model asserts each step. The search asserts the ends: each run has one,
//! and then every batch was consumed and every slot is free, unless no trainer is left.
//!
//! Each event uses something up that a scene has only so much of, or that a trainer may do once with a batch. A run without an
//! end would return to a state of its own, and the search looks for that.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::thread::panicking;

use crate::event::Event;
use crate::model::Model;

/// Names one of the model's groups, or, beyond them, a group by itself.
const VISION: usize = 0;
const ALONE: usize = 2;

/// What there is in all runs of a scene.
#[derive(Clone, Copy, Debug)]
struct Scene {
    slots: u32,
    batches: u64,
    /// Batches of an epoch.
    per_epoch: u64,
    /// In the order in which they come: the group of each, and whether it may wait for the next epoch.
    trainers: [(usize, bool); 3],
    /// How often a trainer gives a batch back without having consumed it.
    returns: u32,
    /// How many batches may lose their leases.
    voids: u32,
}

/// A moment of a run.
#[derive(Clone, Debug, Hash)]
struct Moment {
    model: Model,
    returns: u32,
    voids: u32,
}

/// The events that led to a moment. They are printed if an assertion fails there.
#[derive(Debug, Default)]
struct Trail(Vec<Event>);

/// All moments that were reached, by their hashes: 64 bits tell a million of them apart with a chance of one in 30 million of a
/// mistake.
#[derive(Debug, Default)]
struct Search {
    /// Whether everything behind a moment has been looked at.
    reached: HashMap<u64, bool>,
    trail: Trail,
    events: u64,
    ends: u64,
}

impl Moment {
    fn first(scene: &Scene) -> Self {
        Self { model: Model::new(scene.slots), returns: scene.returns, voids: scene.voids }
    }

    /// What happens by itself, if it may: by the daemon, by trainers that run, and by processes that end after all.
    fn steps(&self, scene: &Scene) -> Vec<Event> {
        let Model { exchange, next_seq, next_consumer, trainers, groups, batches, hands, .. } = &self.model;
        let (open, mut steps) = (exchange.open(), Vec::new());
        let epochs = scene.batches.div_ceil(scene.per_epoch);
        if *next_seq < scene.batches && exchange.counts().free > 0 {
            steps.push(Event::Publish { ahead: next_seq / scene.per_epoch - open });
        }
        if let Some((name, late)) = scene.trainers.get(usize::try_from(*next_consumer).unwrap()) {
            steps.push(Event::Attach { name: *name, late: *late, credits: 1 });
        }
        for (number, hand) in hands.iter().enumerate() {
            steps.push(if hand.acked { Event::Release { pick: number, returned: false } } else { Event::Ack(number) });
        }
        for (number, trainer) in trainers.values().enumerate() {
            if !trainer.attached {
                steps.push(Event::Exit(number));
            }
        }
        let is_named = groups.values().enumerate().filter(|(_, group)| group.name.is_some());
        steps.extend(is_named.map(|(number, _)| Event::EndGroup(number)));
        let waiting = batches.values().filter(|batch| batch.unnoted > 0).count();
        steps.extend((0..waiting).map(Event::Noted));
        if open < epochs && *next_seq >= scene.batches.min((open + 1) * scene.per_epoch) && self.model.is_over() {
            steps.push(Event::NextEpoch);
        }
        steps
    }

    /// What may happen at any moment, and need not.
    fn accidents(&self) -> Vec<Event> {
        let attached = self.model.trainers.values().enumerate().filter(|(_, trainer)| trainer.attached);
        let mut accidents: Vec<_> =
            attached.flat_map(|(number, _)| [Event::Exit(number), Event::Evict(number), Event::Bye(number)]).collect();
        let unacked = self.model.hands.iter().enumerate().filter(|(_, hand)| !hand.acked && self.returns > 0);
        accidents.extend(unacked.flat_map(|(pick, _)| [true, false].map(|returned| Event::Release { pick, returned })));
        let leased = self.model.batches.values().filter(|batch| !batch.over && !batch.void && self.voids > 0);
        accidents.extend(leased.map(|batch| Event::Void(batch.id.seq)));
        accidents
    }

    fn after(&self, event: Event) -> Self {
        let mut next = self.clone();
        match event {
            Event::Release { pick, .. } if !self.model.hands[pick].acked => next.returns -= 1,
            Event::Void(_) => next.voids -= 1,
            _ => {}
        }
        next.model.apply(event);
        // A trainer allows another batch as it lets go of one.
        if let Event::Release { pick, .. } = event {
            let number = next.model.trainers.keys().position(|id| *id == self.model.hands[pick].consumer).unwrap();
            next.model.apply(Event::Credit(number));
        }
        next
    }

    /// Asserts that nothing is left over where nothing happens by itself any more.
    fn assert_end(&self, scene: &Scene) {
        let Model { exchange, next_seq, trainers, batches, .. } = &self.model;
        let (left, counts) = (batches.values().filter(|batch| !batch.over).count(), exchange.counts());
        if trainers.is_empty() {
            // They wait for the next trainer.
            assert_eq!((counts.ready as usize, counts.held, counts.quarantined), (left, 0, 0));
        } else {
            assert_eq!((*next_seq, left), (scene.batches, 0), "nothing happens any more");
            assert_eq!(counts.free, scene.slots, "{counts:?}");
        }
    }
}

impl Search {
    fn of(scene: &Scene) -> Self {
        let mut search = Self::default();
        search.look(scene, &Moment::first(scene));
        search
    }

    /// Looks at everything that may follow.
    fn look(&mut self, scene: &Scene, moment: &Moment) {
        let mark = BuildHasherDefault::<DefaultHasher>::default().hash_one(moment);
        match self.reached.insert(mark, false) {
            Some(true) => {
                self.reached.insert(mark, true);
                return;
            }
            Some(false) => panic!("a run returns here, and need not end"),
            None => {}
        }
        let unchanged = |next: &Moment| BuildHasherDefault::<DefaultHasher>::default().hash_one(next) == mark;
        let mut is_end = true;
        let steps = moment.steps(scene);
        for (number, event) in steps.iter().copied().chain(moment.accidents()).enumerate() {
            self.trail.0.push(event);
            let next = moment.after(event);
            // What was refused has changed nothing.
            if !unchanged(&next) {
                self.events += 1;
                is_end &= number >= steps.len();
                self.look(scene, &next);
            }
            self.trail.0.pop();
        }
        if is_end {
            self.ends += 1;
            moment.assert_end(scene);
        }
        self.reached.insert(mark, true);
    }
}

impl Drop for Trail {
    fn drop(&mut self) {
        if panicking() {
            eprintln!("after");
            for event in &self.0 {
                eprintln!("    {event:?}");
            }
        }
    }
}

#[test]
fn rule_44_every_run_of_three_trainers_in_two_groups_ends_with_each_batch_once_in_each_group() {
    let named = [(VISION, false), (ALONE, false), (VISION, false)];
    let scene = Scene { slots: 3, batches: 3, per_epoch: 2, trainers: named, returns: 0, voids: 0 };
    let scenes = [
        // One credit for a group: the third trainer takes the place of the first one.
        ("three slots", scene),
        ("four slots", Scene { slots: 4, batches: 2, ..scene }),
        ("a late group", Scene { trainers: [(VISION, false), (ALONE, true), (VISION, false)], ..scene }),
        ("returns", Scene { batches: 2, returns: 1, ..scene }),
        ("lost leases", Scene { batches: 2, voids: 1, ..scene }),
    ];
    for (name, scene) in scenes {
        let Search { reached, events, ends, .. } = &Search::of(&scene);
        println!("{name}: {} moments, {events} events between them, {ends} ends", reached.len());
        assert!(*ends > 1, "with deaths, runs end in more than one way");
    }
}
