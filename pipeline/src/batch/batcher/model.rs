//! A simple model of the batcher's environment. [`World`] plays the stage. It has the pixels (which record's picture a
//! place shows), and records the outcome of every position. The seed decides what happens next.

mod published;

use std::collections::{HashMap, HashSet, VecDeque};

use super::tests::wrong;
use super::*;
use crate::batch::form::Form;
use crate::batch_metadata::BatchMetadata;
use crate::decode::ORIGIN;

/// What a place shows; not in the map: what an earlier batch left there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pixels {
    Of(u64),
    Black,
    /// In the decoder's hands.
    Torn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ModelOutcome {
    Published,
    Nacked,
    Dropped,
    Returned,
}

#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) rules: Rules,
    /// Lengths of the leases of an epoch.
    pub(super) leases: Vec<u64>,
    pub(super) unreadable: HashSet<u64>,
    pub(super) undecodable: HashSet<u64>,
    /// Copies sometimes fail though their record is good.
    pub(super) flaky: bool,
    /// Leases that come back after the epoch was drained.
    pub(super) late: u64,
    /// The batch that is not full ends so.
    pub(super) policy: LastBatchPolicy,
    /// Static: every epoch has a last position without a record.
    pub(super) bare: bool,
    /// Static: positions that are complete already and never come.
    pub(super) complete: HashSet<u64>,
    /// Stop after so many steps.
    pub(super) stop: Option<usize>,
    pub(super) seed: u64,
}

#[derive(Debug)]
pub(super) struct World {
    pub(super) setting: Setting,
    batcher: Batcher,
    dice: u64,
    pixels: HashMap<At, Pixels>,
    /// Pictures in decoding, with their record.
    jobs: Vec<(At, u64)>,
    /// Copies to be read.
    reads: Vec<(At, u64)>,
    outcomes: HashMap<(u64, u64), ModelOutcome>,
    given: Vec<Position>,
    /// Static: the batch that was begun last for an epoch and number in it.
    current: HashMap<(u64, u64), u64>,
    /// Static: the form of a batch, and the positions that came for it.
    seats: HashMap<u64, (Form, Vec<Position>)>,
    /// Last published batch of an epoch.
    last: HashMap<u64, u64>,
    pub(super) published: Vec<BatchMetadata>,
    failed: bool,
}

pub(super) const EPOCHS: u64 = 2;

impl World {
    pub(super) fn new(setting: Setting) -> Self {
        Self {
            batcher: Batcher::new(setting.rules),
            dice: setting.seed | 1,
            setting,
            pixels: HashMap::new(),
            jobs: Vec::new(),
            reads: Vec::new(),
            outcomes: HashMap::new(),
            given: Vec::new(),
            current: HashMap::new(),
            seats: HashMap::new(),
            last: HashMap::new(),
            published: Vec::new(),
            failed: false,
        }
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        usize::try_from((self.dice >> 20) % sides as u64).unwrap()
    }

    fn is_good(&self, record: u64) -> bool {
        !self.setting.unreadable.contains(&record) && !self.setting.undecodable.contains(&record)
    }

    fn is_static(&self) -> bool {
        self.setting.rules.dynamic.is_none()
    }

    /// Records of a static epoch.
    fn records(&self) -> u64 {
        self.setting.leases.iter().sum()
    }

    /// Records of the epoch: those of its leases, then leases that come back. None: the epoch is drained.
    fn feeds(&self) -> VecDeque<(u64, Option<Position>)> {
        let mut feeds = VecDeque::new();
        let mut lease = 0;
        for epoch in 0..EPOCHS {
            let mut index = 0;
            let mut span = |feeds: &mut VecDeque<_>, epoch, start: u64, len: u64| {
                lease += 1;
                for offset in 0..len {
                    let (index, record) = (start + offset, start + offset);
                    let position =
                        Position { epoch, lease, offset, lease_end: len, index, record, repeat: 0, suspect: false };
                    feeds.push_back((epoch, Some(position)));
                }
            };
            for &len in &self.setting.leases {
                let open = |index: &u64| !self.is_static() || !self.setting.complete.contains(index);
                let rest: Vec<u64> = (index..index + len).filter(open).collect();
                rest.chunk_by(|a, b| a + 1 == *b).for_each(|run| span(&mut feeds, epoch, run[0], run.len() as u64));
                index += len;
            }
            if self.is_static() && self.setting.bare {
                span(&mut feeds, epoch, index, 1);
            }
            feeds.push_back((epoch, None));
            for back in 0..self.setting.late {
                span(&mut feeds, epoch, back, self.setting.leases[0].min(3));
                feeds.push_back((epoch, None));
            }
        }
        feeds
    }

    pub(super) fn run(&mut self) {
        let mut feeds = self.feeds();
        let mut step = 0;
        loop {
            self.perform();
            if self.failed || self.setting.stop == Some(step) {
                return self.close();
            }
            step += 1;
            let (feed, jobs, reads) = (usize::from(!feeds.is_empty()) * 3, self.jobs.len(), self.reads.len());
            if feed + jobs + reads == 0 {
                break;
            }
            let choice = self.roll(feed + jobs + reads);
            if choice < feed {
                match feeds.pop_front().unwrap() {
                    (_, Some(position)) => self.record(position),
                    (epoch, None) => self.end(epoch),
                }
            } else if choice < feed + jobs {
                let (at, record) = self.jobs.swap_remove(choice - feed);
                self.decoded(at, record);
            } else {
                let (at, record) = self.reads.swap_remove(choice - feed - jobs);
                self.fetched(at, record);
            }
        }
        assert!(self.batcher.drafts.is_empty(), "nothing is under way, yet there are batches in the making");
        self.close();
    }

    fn record(&mut self, position: Position) {
        self.given.push(position);
        let readable = !self.setting.unreadable.contains(&position.record);
        if self.is_static() {
            let size = u64::from(self.setting.rules.batch_size);
            let (index, records) = (position.index / size, self.records());
            if self.setting.policy == LastBatchPolicy::Drop && index >= records / size {
                if position.index < records {
                    self.batcher.drop_position(position);
                } else {
                    // The stage tells the ledger itself.
                    self.settled(&position, ModelOutcome::Dropped);
                }
                return;
            }
            self.seat(position, index);
            if position.index >= records {
                return self.batcher.bare(position);
            }
        } else if (readable || self.batcher.keeps_places()) && self.batcher.needs_slot(&position) {
            self.batcher.begin(position.epoch);
        }
        if readable {
            let at = self.batcher.place(position, label(position.record));
            self.decode(at, position.record);
        } else {
            let (locator, reason) = wrong();
            self.batcher.unreadable(BadRecord { position, locator, reason }, label(position.record));
        }
    }

    /// Begins a static batch where the position needs one, and notes that it came for it.
    fn seat(&mut self, position: Position, index: u64) {
        if self.batcher.needs_slot(&position) {
            let (size, records) = (self.setting.rules.batch_size, self.records());
            let count = |all: u64| u32::try_from(all.saturating_sub(index * u64::from(size))).unwrap().min(size);
            let own = count(records);
            let copies =
                if self.setting.policy == LastBatchPolicy::Fill { self.copies(size - own) } else { Vec::new() };
            let form = Form {
                positions: count(records + u64::from(self.setting.bare)),
                own,
                copies: copies.into_iter().map(Turn::first).collect(),
                empty: None,
            };
            let batch = self.batcher.begin_fixed(&position, &form);
            self.current.insert((position.epoch, index), batch);
            self.seats.insert(batch, (form, Vec::new()));
        }
        let batch = self.current[&(position.epoch, index)];
        self.seats.get_mut(&batch).unwrap().1.push(position);
    }

    fn end(&mut self, epoch: u64) {
        self.batcher.end(epoch);
    }

    fn copies(&self, count: u32) -> Vec<u64> {
        (0..u64::from(count)).map(|copy| copy / 2 % self.setting.leases[0]).collect()
    }

    fn decode(&mut self, at: At, record: u64) {
        assert!(at.1 < self.setting.rules.batch_size);
        assert_ne!(self.pixels.insert(at, Pixels::Torn), Some(Pixels::Torn), "two writers at {at:?}");
        self.jobs.push((at, record));
    }

    fn decoded(&mut self, at: At, record: u64) {
        assert_eq!(self.batcher.record(at), Some(record));
        let fails = !self.is_good(record) || self.fails_now(at);
        self.pixels.insert(at, Pixels::Of(record));
        if fails {
            self.pixels.remove(&at);
        }
        let outcome = if fails { Err(wrong()) } else { Ok(origin(record)) };
        self.batcher.outcome(at, outcome);
    }

    fn fetched(&mut self, at: At, record: u64) {
        if self.setting.unreadable.contains(&record) {
            self.batcher.outcome(at, Err(wrong()));
        } else {
            self.batcher.copying(at, Turn::first(record), label(record));
            self.decode(at, record);
        }
    }

    fn fails_now(&mut self, at: At) -> bool {
        let copy = self.batcher.drafts.of(at.0).place(at.1).own.is_none();
        self.setting.flaky && copy && self.roll(3) == 0
    }

    fn perform(&mut self) {
        while let Some(action) = self.batcher.action() {
            match action {
                Action::Fetch { at, epoch, turn } => {
                    assert_eq!(self.batcher.epoch(at.0), Some(epoch));
                    self.reads.push((at, turn.record()));
                }
                Action::Copy { from, to } => {
                    let source = self.pixels.get(&from).copied();
                    assert!(matches!(source, Some(Pixels::Of(record)) if self.is_good(record)), "{from:?}: {source:?}");
                    assert_ne!(self.pixels.insert(to, source.unwrap()), Some(Pixels::Torn));
                }
                Action::Clear { at } => {
                    assert_ne!(self.pixels.insert(at, Pixels::Black), Some(Pixels::Torn));
                }
                Action::Publish(metadata) => self.publish(metadata),
                Action::Discard { batch } => {
                    for place in 0..self.setting.rules.batch_size {
                        assert_ne!(self.pixels.get(&(batch, place)), Some(&Pixels::Torn));
                    }
                }
                Action::Settled { .. } => unreachable!("no epoch of this model ends at whole batches"),
                Action::Dropped(positions) => {
                    assert!(!positions.is_empty());
                    for position in &positions {
                        self.settled(position, ModelOutcome::Dropped);
                    }
                }
                Action::Nack(bad) => self.settled(&bad.position, ModelOutcome::Nacked),
                Action::Fail(_) => assert!(!std::mem::replace(&mut self.failed, true), "told once"),
            }
        }
    }

    fn settled(&mut self, position: &Position, outcome: ModelOutcome) {
        let before = self.outcomes.insert((position.lease, position.offset), outcome);
        assert_eq!(before, None, "{position:?} is {outcome:?}, and was settled before");
    }

    fn close(&mut self) {
        for position in self.batcher.close() {
            self.settled(&position, ModelOutcome::Returned);
        }
        for position in &self.given {
            assert!(self.outcomes.contains_key(&(position.lease, position.offset)), "{position:?} is lost");
        }
        assert_eq!(self.outcomes.len(), self.given.len());
    }
}

/// A picture that no other record has.
fn origin(record: u64) -> Origin {
    Origin { stored: (u32::try_from(record).unwrap() + 1, 1), ..ORIGIN }
}

fn label(record: u64) -> i64 {
    i64::try_from(record).unwrap() * 10
}
