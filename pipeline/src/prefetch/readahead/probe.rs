//! A probe asks whether the storage still gives records. It repeats a read that succeeded before, and discards the
//! content.
//!
//! Other reads judge a record at which reads fail or hang. No other read begins after the last records of a run, or while
//! the budget is full. Then a probe replaces it. If the probe gets its record, the storage works. If the probe fails or
//! hangs, the storage is away. More probes then follow after pauses, of different records in turn. There is one probe at
//! a time, and none if no record of the same source was ever read successfully.
//!
//! A probe takes room in the budget like any read. If the record in trouble is the oldest, which may exceed the budget,
//! its probe may too.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use forebay_proto::Turn;
use forebay_sources::{Member, Retry};

use super::budget::ReadBudget;
use super::table::ReadTable;
use super::{ReadJob, Silence, pause};
use crate::record::EpochTurn;

/// How many records of each source are remembered. They are the first that were read, because lower caches, such as the
/// system's, are the least likely to have them.
const MOST_GOOD: usize = 4;

/// What is known for probes, and the one that is under way.
#[derive(Debug, Default)]
pub(super) struct Probe {
    /// Where the records of each source end, if there are several. An outage of one source says nothing about the others.
    ends: Vec<u64>,
    /// Records that the storage gave, by the place of their source, with the room that each had. The next to read is first.
    good: BTreeMap<usize, VecDeque<(u64, u64)>>,
    /// The record that waits for the answer of a probe, which has not begun yet.
    suspect: Option<u64>,
    under_way: Option<ProbeRead>,
    /// Failed probes since the last successful one.
    tries: u32,
    /// When the next one may begin.
    due: Option<Instant>,
    /// When the latest one failed or turned out to hang, if the storage has given nothing since.
    failed: Option<Instant>,
    /// When a probe last found that an outage is over. What still hangs has its time from then on.
    over: Option<Instant>,
}

#[derive(Debug)]
struct ProbeRead {
    id: u64,
    /// When it last progressed, or began.
    heard: Instant,
    reserved: u64,
    /// It was given up, and its thread replaced.
    lost: bool,
}

/// What the result of a probe says of the storage.
pub(super) enum ProbeAnswer {
    /// It gives records, as before.
    Given,
    /// It gives records again.
    OutageIsOver,
    /// Nothing, or that it is away.
    Nothing,
}

impl Probe {
    /// The sources of the dataset, if there are several.
    pub(super) fn of(members: &[Member]) -> Self {
        let ends = members.iter().scan(0, |end, member| {
            *end += member.records;
            Some(*end)
        });
        Self { ends: ends.collect(), ..Self::default() }
    }

    /// Whether the latest probe says that the storage is away.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Whether one is to begin.
    pub(super) fn is_wanted(&self) -> bool {
        self.suspect.is_some()
    }

    /// Whether one is under way.
    #[cfg(test)]
    pub(super) fn is_probing(&self) -> bool {
        self.under_way.is_some()
    }

    /// Whether an answer to this one counts.
    pub(super) fn is_under_way(&self, id: u64) -> bool {
        self.under_way.as_ref().is_some_and(|read| read.id == id)
    }

    /// Notes that bytes of a probe arrive.
    pub(super) fn continues(&mut self, id: u64, now: Instant) {
        if let Some(read) = self.under_way.as_mut().filter(|read| read.id == id) {
            read.heard = now;
        }
    }

    /// Notes that an ordinary read got its record. Returns whether that ends an outage that a probe found.
    pub(super) fn given(&mut self, job: &ReadJob) -> bool {
        self.suspect = None;
        let good = self.good.entry(self.source(job.record())).or_default();
        if good.len() < MOST_GOOD && good.iter().all(|(record, _)| *record != job.record()) {
            good.push_back((job.record(), job.reserved));
        }
        self.failed.take_if(|failed| *failed < job.began).is_some()
    }

    /// Gives up a probe that began or last progressed more than `timeout` ago. Returns its room.
    pub(super) fn expire(&mut self, now: Instant, timeout: Duration, silence: Silence<'_>) -> Option<u64> {
        let late = |read: &&mut ProbeRead| !read.lost && now.saturating_duration_since(read.heard) > timeout;
        let read = self.under_way.as_mut().filter(late)?;
        let reserved = read.reserved;
        match silence {
            // No other probe begins before this one returns, because each would take a thread.
            Silence::Thread => read.lost = true,
            Silence::Request(_) => self.under_way = None,
        }
        self.failed = Some(now);
        self.rest(now);
        Some(reserved)
    }

    /// Forgets the probe that is under way or was to begin.
    pub(super) fn close(&mut self) {
        (self.suspect, self.under_way) = (None, None);
    }

    /// Delays the next probe by a pause.
    fn rest(&mut self, now: Instant) {
        let first = self.good.values().next().and_then(|good| good.front()).map_or(0, |(record, _)| *record);
        self.due = Some(now + pause::before_retry(first, self.tries));
        self.tries = self.tries.saturating_add(1);
    }

    /// Whether a probe must not begin yet.
    fn rests(&self, now: Instant, timeout: Duration) -> bool {
        self.under_way.is_some()
            || self.due.is_some_and(|due| now < due)
            || self.over.is_some_and(|over| now.saturating_duration_since(over) <= timeout)
    }

    /// Chooses what a probe for `suspect` reads: the place among the good records.
    fn choose(&self, suspect: u64, culprits: &BTreeSet<u64>) -> Option<usize> {
        let good = self.good.get(&self.source(suspect))?;
        good.iter().position(|(record, _)| !culprits.contains(record))
    }

    /// The place of the source that has a record.
    fn source(&self, record: u64) -> usize {
        self.ends.partition_point(|end| *end <= record)
    }

    /// The next probe, if one is wanted and the budget allows it. `size` gives the bytes of a record, as the source knows them.
    /// If it is called with a larger number, it gives that number instead.
    pub(super) fn next<B>(
        &mut self,
        reads: &mut ReadTable<B>,
        budget: &mut ReadBudget,
        now: Instant,
        size: impl Fn(u64, u64) -> u64,
    ) -> Option<ReadJob> {
        let suspect = self.suspect?;
        let place = self.choose(suspect, &reads.culprits())?;
        let source = self.source(suspect);
        let (record, bytes) = self.good[&source][place];
        let reserved = budget.grant(size(record, bytes), reads.oldest_is_in_trouble())?;
        let id = reads.id();
        if let Some(good) = self.good.get_mut(&source) {
            // The next probe reads another record.
            let chosen = good.remove(place);
            good.extend(chosen);
        }
        self.suspect = None;
        self.under_way = Some(ProbeRead { id, heard: now, reserved, lost: false });
        let of = EpochTurn { epoch: 0, turn: Turn::first(record) };
        Some(ReadJob { id, of, reserved, last: false, epoch: None, began: now, probe: true })
    }

    /// Notes the result of a probe, if it is the one that is under way. Returns whether it was given up before, and what the result
    /// says.
    pub(super) fn ended(&mut self, id: u64, read: Result<(), Retry>, now: Instant) -> Option<(bool, ProbeAnswer)> {
        let ended = self.under_way.take_if(|read| read.id == id)?;
        let answer = match read {
            Ok(()) => {
                (self.tries, self.due) = (0, None);
                if self.failed.take().is_some() {
                    self.over = Some(now);
                    ProbeAnswer::OutageIsOver
                } else {
                    ProbeAnswer::Given
                }
            }
            Err(Retry::Later) => {
                self.failed = Some(now);
                self.rest(now);
                ProbeAnswer::Nothing
            }
            // The record has changed since it was read. That says nothing of the storage.
            Err(Retry::Never | Retry::WithRoom(_)) => {
                self.rest(now);
                ProbeAnswer::Nothing
            }
        };
        Some((ended.lost, answer))
    }

    /// Decides whether a probe is to begin: a record waits for the answer of another read, and none is under way. The latest read
    /// that gave a record began at `answered`.
    pub(super) fn look<B>(&mut self, reads: &ReadTable<B>, answered: Option<Instant>, now: Instant, timeout: Duration) {
        self.suspect = self.find_suspect(reads, answered, now, timeout);
    }

    fn find_suspect<B>(
        &self,
        reads: &ReadTable<B>,
        answered: Option<Instant>,
        now: Instant,
        timeout: Duration,
    ) -> Option<u64> {
        if self.rests(now, timeout) || reads.stages().any(|(_, stage)| stage.may_answer()) {
            return None;
        }
        let culprits = reads.culprits();
        let late = |since: Instant| now.saturating_duration_since(since) > timeout;
        let awaited = reads.stages().filter_map(|(own, stage)| stage.awaits(own, culprits.len() == 1, late));
        let is_open = |since: Instant| answered.is_none_or(|answered| answered <= since);
        // An answer to a read that began before a probe failed leaves open whether the storage is back.
        let open = awaited.filter(|(since, _)| self.has_failed() || is_open(*since));
        let with_probe = open.filter(|(_, record)| self.choose(*record, &culprits).is_some());
        with_probe.min().map(|(_, record)| record)
    }
}
