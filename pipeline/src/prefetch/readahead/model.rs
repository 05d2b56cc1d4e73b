//! Tests of what must always hold for reading ahead, with a model of the world outside.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::Duration;

use forebay_proto::Turn;
use forebay_sources::ReadErrorKind;
use proptest::prelude::*;

use super::tests::{error, span};
use super::*;
use crate::record::FailedRead;

#[derive(Clone, Debug)]
enum Step {
    Lease {
        late: bool,
        /// For each position, whether it has a record.
        positions: Vec<bool>,
    },
    Drain,
    Start,
    /// Records below this are known.
    Pass(u64),
    /// A read continues with a partner.
    Turn(usize),
    Finish {
        which: usize,
        how: How,
    },
    Take {
        ahead: bool,
        room: bool,
    },
    Decode,
    Fetch,
    Expire,
}

/// What a read gives.
#[derive(Clone, Copy, Debug)]
enum How {
    Good,
    Bad,
    Outage,
    OutageOfPartner,
    Larger,
    LargerPartner,
}

impl How {
    /// What it is for a job. What is read by requests has no mosaics, and a probe reads a record alone.
    fn read(self, job: &ReadJob, requests: bool) -> Result<u64, FailedRead> {
        let (own, with_partners) = (job.record(), !requests && !job.probe);
        let larger = ReadErrorKind::Larger { size: size(own, job.reserved) + 3 };
        let (record, kind) = match self {
            Self::Good => return Ok(own),
            Self::Bad => (own, ReadErrorKind::Missing),
            Self::OutageOfPartner if with_partners => (PARTNER, ReadErrorKind::Storage),
            Self::Outage | Self::OutageOfPartner => (own, ReadErrorKind::Storage),
            Self::LargerPartner if with_partners => (PARTNER, larger),
            Self::Larger | Self::LargerPartner => (own, larger),
        };
        Err(FailedRead::at(record, error(kind)))
    }
}

fn how() -> impl Strategy<Value = How> {
    prop_oneof![
        4 => Just(How::Good),
        2 => Just(How::Bad),
        1 => Just(How::Outage),
        1 => Just(How::OutageOfPartner),
        1 => Just(How::Larger),
        1 => Just(How::LargerPartner),
    ]
}

fn positions() -> impl Strategy<Value = Vec<bool>> {
    prop::collection::vec(prop::bool::weighted(0.8), 0..7)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (any::<bool>(), positions()).prop_map(|(late, positions)| Step::Lease { late, positions }),
        1 => Just(Step::Drain),
        6 => Just(Step::Start),
        2 => (0_u64..60).prop_map(Step::Pass),
        2 => any::<usize>().prop_map(Step::Turn),
        6 => (any::<usize>(), how()).prop_map(|(which, how)| Step::Finish { which, how }),
        8 => any::<(bool, bool)>().prop_map(|(ahead, room)| Step::Take { ahead, room }),
        4 => Just(Step::Decode),
        1 => Just(Step::Fetch),
        1 => Just(Step::Expire),
    ];
    prop::collection::vec(step, 0..200)
}

/// What is known outside: jobs in threads or requests, bytes in decoding, positions by epoch that were leased and not
/// taken.
struct World {
    ahead: ReadAhead<u64>,
    budget: u64,
    /// Jobs are requests, which are made again if they are late, and not threads.
    requests: bool,
    now: Instant,
    epoch: u64,
    lease: u64,
    waiting: BTreeMap<u64, VecDeque<Waiting>>,
    fetched: usize,
    /// Jobs, and whether they count as under way. Those that were given up may still return.
    jobs: Vec<(ReadJob, bool)>,
    decoding: VecDeque<u64>,
    /// Epochs whose end must be reported.
    changed: HashSet<u64>,
    /// The epoch up to which the batch thread last found nothing to take. None if it was woken since.
    waits: Option<u64>,
}

/// A position by its lease and its offset there, and whether it has a record. Nothing is read where it has none.
type Waiting = (u64, u64, bool);

const TIMEOUT: Duration = Duration::from_secs(60);
/// The partner of all mosaics.
const PARTNER: u64 = 1000;

fn size(record: u64, bytes: u64) -> u64 {
    (1 + record % 7 * 3).max(bytes)
}

impl World {
    fn step(&mut self, step: &Step) {
        match *step {
            Step::Lease { late, ref positions } => self.lease(late, positions),
            Step::Drain => {
                self.changed.insert(self.epoch);
                self.waits = None;
                self.epoch += 1;
                self.ahead.drained(self.epoch);
            }
            Step::Start => {
                let before = self.ahead.used();
                let (wanted, idle) = (self.ahead.wants_readers(), before == 0);
                let job = self.next_job();
                assert!(!idle || wanted || job.is_none(), "readers that wait would not be called");
                if let Some(job) = job {
                    assert_eq!(self.ahead.used(), before + job.reserved);
                    let idle = self.decoding.is_empty();
                    assert!(self.ahead.used() <= self.budget || idle, "only with nothing in decoding");
                    self.jobs.push((job, true));
                }
            }
            Step::Pass(known) => {
                let before = self.ahead.used();
                if self.ahead.pass(self.now, |record| (record < known).then_some(record)).next {
                    self.waits = None;
                }
                assert_eq!(self.ahead.used(), before, "what is known takes no room");
            }
            Step::Turn(which) => {
                if !self.requests && !self.jobs.is_empty() {
                    let (job, _) = &self.jobs[which % self.jobs.len()];
                    self.ahead.turns_to(job, PARTNER, self.now);
                }
            }
            Step::Finish { which, how } => {
                if !self.jobs.is_empty() {
                    let (job, _) = self.jobs.swap_remove(which % self.jobs.len());
                    let read = how.read(&job, self.requests);
                    self.finish(&job, read);
                }
            }
            Step::Take { ahead, room } => {
                let limit = if ahead { self.epoch } else { self.epoch.saturating_sub(1) };
                self.take(limit, room || limit == self.epoch);
            }
            Step::Decode => {
                if let Some(reserved) = self.decoding.pop_front() {
                    self.ahead.release(reserved);
                }
            }
            Step::Fetch => {
                self.ahead.fetch((0, 0), EpochTurn { epoch: 0, turn: Turn::first(3) });
                self.fetched += 1;
            }
            Step::Expire => {
                self.now += 2 * TIMEOUT;
                self.waits = None;
                let silence =
                    if self.requests { Silence::Request(&|_| error(ReadErrorKind::Storage)) } else { Silence::Thread };
                let in_flight = self.jobs.iter().filter(|(_, counts)| *counts).count();
                assert_eq!(self.ahead.expire(self.now, TIMEOUT, silence), in_flight, "all of them are late");
                self.jobs.iter_mut().for_each(|(_, counts)| *counts = false);
            }
        }
        let in_flight = self.jobs.iter().filter(|(_, counts)| *counts);
        let bytes = in_flight.clone().map(|(job, _)| job.reserved).sum();
        assert_eq!(self.ahead.in_flight(), InFlight { reads: in_flight.count(), bytes });
    }

    fn lease(&mut self, late: bool, positions: &[bool]) {
        let epoch = if late { self.epoch.saturating_sub(1) } else { self.epoch };
        self.lease += 1;
        self.waits = None;
        let of_lease = (0..).zip(positions).map(|(offset, has_record)| (self.lease, offset, *has_record));
        let mut bare: Vec<std::ops::Range<u64>> = Vec::new();
        for (_, offset, _) in of_lease.clone().filter(|(.., has_record)| !has_record) {
            match bare.last_mut() {
                Some(last) if last.end == offset => last.end += 1,
                _ => bare.push(offset..offset + 1),
            }
        }
        self.ahead.lease(Span { bare, ..span(self.lease, epoch, self.lease, positions.len() as u64) });
        self.waiting.entry(epoch).or_default().extend(of_lease);
        self.changed.insert(epoch);
    }

    /// The read to do next. It is a probe if there is no other one.
    fn next_job(&mut self) -> Option<ReadJob> {
        let job = self.ahead.next_job(self.now, |of, bytes| size(of.turn.record(), bytes));
        job.or_else(|| self.ahead.next_probe(self.now, size))
    }

    fn finish(&mut self, job: &ReadJob, read: Result<u64, FailedRead>) {
        if read.is_ok() {
            // Other requests for the same record are useless now.
            self.jobs.iter_mut().filter(|(other, _)| other.id == job.id).for_each(|(_, counts)| *counts = false);
        }
        // The batch thread is woken for a late read too, because it may count.
        if self.ahead.ended(job, read, self.now) != Noted::Behind {
            self.waits = None;
        }
    }

    /// Returns whether something was taken.
    fn take(&mut self, limit: u64, room: bool) -> bool {
        let taken = self.ahead.take(limit, |_| room);
        let nothing_before = self.waits.is_some_and(|upto| limit <= upto);
        assert!(!nothing_before || taken == TakenRead::Wait, "nobody was told of {taken:?}");
        let read = match taken {
            TakenRead::Wait => {
                self.waits = self.waits.max(Some(limit));
                return false;
            }
            TakenRead::NoRoom(position) => {
                assert!(!room && position.epoch <= limit);
                return false;
            }
            TakenRead::Drained(epoch) => {
                assert!(epoch < self.epoch && epoch <= limit);
                assert!(self.changed.remove(&epoch), "{epoch} was drained before, and nothing came since");
                let mut upto = self.waiting.range(..=epoch);
                assert!(upto.all(|(_, waiting)| waiting.is_empty()), "{epoch} has positions");
                assert!(self.changed.iter().all(|other| *other > epoch || self.waiting.contains_key(other)));
                return true;
            }
            TakenRead::Bare(position) => {
                assert!(room && position.epoch <= limit);
                self.is_next(&position, false);
                return true;
            }
            TakenRead::Fetched { read, .. } => {
                self.fetched -= 1;
                read
            }
            TakenRead::Record(position, read) => {
                assert!(room && position.epoch <= limit);
                self.is_next(&position, true);
                read
            }
        };
        // What was known has no room to give back.
        if let Ok(held) = read
            && held.reserved > 0
        {
            assert!(held.reserved >= size(held.bytes, 0));
            self.decoding.push_back(held.reserved);
        }
        true
    }

    /// What is taken is the first of what waits.
    fn is_next(&mut self, position: &Position, has_record: bool) {
        let (epoch, first) = self.waiting.iter_mut().find(|(_, waiting)| !waiting.is_empty()).unwrap();
        let taken = (position.lease, position.offset, has_record);
        assert_eq!((*epoch, first.pop_front()), (position.epoch, Some(taken)));
    }

    /// Runs until nothing more happens.
    fn run_out(&mut self) {
        loop {
            let mut moved = false;
            // By then every try that failed is due.
            self.now += TIMEOUT;
            while let Some(job) = self.next_job() {
                self.jobs.push((job, true));
            }
            for (job, _) in std::mem::take(&mut self.jobs) {
                moved = true;
                self.finish(&job, Ok(job.record()));
            }
            while self.take(self.epoch, true) {
                moved = true;
            }
            for reserved in self.decoding.drain(..) {
                moved = true;
                self.ahead.release(reserved);
            }
            if !moved {
                return;
            }
        }
    }
}

proptest! {
    #[test]
    fn rule_28_positions_are_taken_in_order_within_the_budget_and_nothing_is_lost(
        budget in 0_u64..60,
        requests in any::<bool>(),
        steps in steps(),
        stop in any::<bool>(),
    ) {
        let mut world = World {
            ahead: ReadAhead::new(budget, 0),
            budget,
            requests,
            now: Instant::now(),
            epoch: 0,
            lease: 0,
            waiting: BTreeMap::new(),
            fetched: 0,
            jobs: Vec::new(),
            decoding: VecDeque::new(),
            changed: HashSet::new(),
            waits: None,
        };
        for step in &steps {
            world.step(step);
        }
        if !stop {
            world.run_out();
            prop_assert!(world.waiting.values().all(VecDeque::is_empty), "positions are stuck: {:?}", world.waiting);
            prop_assert_eq!(world.fetched, 0);
            prop_assert_eq!(world.ahead.used(), 0);
            prop_assert!(world.changed.iter().all(|epoch| *epoch >= world.epoch), "not told: {:?}", world.changed);
        }
        let rest = world.ahead.close().into_iter();
        let rest: HashSet<_> = rest.flat_map(|(lease, start, end)| (start..end).map(move |at| (lease, at))).collect();
        let waiting = world.waiting.into_values().flatten();
        let waiting: HashSet<_> = waiting.map(|(lease, offset, _)| (lease, offset)).collect();
        prop_assert_eq!(rest, waiting);
    }
}
