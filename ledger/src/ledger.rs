//! The ledger of one (run, stream, shard or rank): a pure state machine without clock and without I/O.
//!
//! State is the cursor and its exceptions: leases that are out and ranges that came back. All other positions below the cursor
//! are complete. So the size of the state depends on what is out, never on the dataset's.

mod attendance;
mod bad_records;
mod by_plan;
mod damage;
mod ending;
mod expired;
mod failure;
mod grant;
mod groups;
mod held;
mod holder;
mod lease_out;
mod loads;
mod locate;
mod marks;
mod missing;
mod news;
mod policies;
mod receipts;
mod recover;
mod returned;
mod shares;
mod snapshot;
mod spans;
mod status;
mod step;
mod stored;
mod stored_worker;
mod tails;
mod tallies;
mod times;
mod worker_index;
mod workers;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Range};

use forebay_plan::{Plan, outline, spec_hash};
use forebay_proto::page;
use forebay_proto::v1::{
    AuditReply, Cause, DatasetOutline, DescribeReply, EpochPosition, Lease, ListQuarantineReply, Policies, Progress,
    QuarantineKey, QuarantinedRecord, Recovery, RunFailure, WorkerProcess,
};

pub use self::times::Times;
use self::{
    bad_records::BadRecords, expired::ExpiredPositions, loads::Loads, missing::Missing, shares::Shares, spans::Spans,
    worker_index::WorkerIndex, workers::Replies,
};
pub(crate) use self::{
    held::HeldPositions,
    loads::Load,
    tallies::{EpochTallies, Tallies, cut},
};
use crate::error::LedgerError;

/// Who reads which positions of which epoch, and what has been delivered.
///
/// `procedures.rs` drives it, with the time as an argument in milliseconds of any clock that does not go back: it never
/// looks at one. Leases expire by `expire` alone, when all that waited has been answered. What changed
/// since the last commit is taken out as documents by its owner, the coordinator's thread.
#[derive(Clone, Debug)]
pub struct Ledger {
    plan: Plan,
    spec_hash: [u8; 32],
    shard_size: u64,
    epochs: u64,
    /// What its workers have in common, if they have said so.
    policies: Option<Policies>,
    times: Times,
    generation: u64,
    next_lease: u64,
    cursor_epoch: u64,
    cursor: u64,
    acks: u64,
    /// Rising by (epoch, start), disjoint.
    returned: Vec<ReturnedPositions>,
    /// As those, of what fills no batch at a worker (semantics rule 36). They are no exception to what was leased out.
    tails: Vec<ReturnedPositions>,
    workers: BTreeMap<String, Worker>,
    /// The same workers, for those who look for some of them. Not stored.
    index: WorkerIndex,
    tallies: EpochTallies,
    /// By (epoch, record), at most `QUARANTINE_LIST`; `quarantined` and `bad` continue beyond it.
    quarantine: BTreeMap<(u64, u64), QuarantinedRecord>,
    /// The records that were ever in quarantine.
    bad: BadRecords,
    failure: RunFailure,
    loads: Loads,
    missing: Missing,
    quarantined: u64,
    /// Where the accounts of epochs begin that a restore in lockstep began in the middle.
    begins: Vec<EpochPosition>,
    /// In lockstep: where states were taken, and what was counted of the epoch before there. Earlier epochs are whole.
    marks: BTreeMap<(u64, u64), Tallies>,
    /// In lockstep: what another rank's `reset()` abandoned, until this time, which is not stored. Receipts may be under way.
    abandoned: (Vec<ReturnedPositions>, u64),
    /// In lockstep: where the account ends, because the run went on with another number of ranks.
    ends: Option<EpochPosition>,
    /// In lockstep: the generation of its segment; 0 for the first one.
    segment: u64,
    /// The last times that it was lost and recovered from a snapshot of its store.
    recoveries: Vec<Recovery>,
    /// Its leases are tasks, and end where grains end. Not stored: its tasks say so.
    whole_grains: bool,
    /// Rises with every durable change.
    revision: u64,
    /// Its dataset in short, for nodes that have another one.
    outline: Option<DatasetOutline>,
    /// What some groups of trainers have consumed and others have not.
    shares: Shares,
    dirty: Dirty,
}

/// What changed since the last commit.
#[expect(clippy::struct_excessive_bools, reason = "one for each document that a ledger has once")]
#[derive(Clone, Debug, Default)]
struct Dirty {
    head: bool,
    /// Written once: a run keeps its table of grains.
    grains: bool,
    outline: bool,
    shares: bool,
    workers: BTreeSet<String>,
    epochs: BTreeSet<u64>,
    marks: BTreeSet<(u64, u64)>,
    quarantine: BTreeSet<(u64, u64)>,
    bad: BTreeSet<u64>,
}

/// A worker's current incarnation and what it has.
#[derive(Clone, Debug, Default)]
struct Worker {
    incarnation: u64,
    leases: BTreeMap<u64, LeaseOut>,
    replies: Replies,
    /// Where it runs, if it has said so.
    process: Option<WorkerProcess>,
    /// Trainers read the stream there.
    attended: bool,
    /// It has said that it ends itself: its end is no death of rule 9.
    ends_itself: bool,
    /// What expired of its leases since it was heard last.
    expired: ExpiredPositions,
    /// Their numbers. `None`: it does not name them.
    trainers: Option<BTreeSet<u64>>,
    /// It has seen the replies below this number: an earlier command is not applied any more (semantics rule 34).
    unseen: u64,
    /// Its trainers wait for the end of an epoch of which others have the last positions. Not stored.
    waits: bool,
    /// When it was heard last. Not stored: after a restart it counts as heard just then.
    heard: u64,
}

/// A lease that is out.
#[derive(Clone, Debug)]
struct LeaseOut {
    lease: Lease,
    /// Positions that are not complete, counted from the epoch's start; never empty.
    open: Spans,
    /// Those of them that were in a finished batch, if the lease has been through a death: no later one is blamed on them.
    made: Spans,
    /// What is open of it stands in published batches.
    is_settled: bool,
    /// When it expires. Not stored: after a restart it has a full time to live.
    deadline: u64,
}

/// Positions on their way into a lease.
struct Grant {
    epoch: u64,
    range: Range<u64>,
    deaths: u32,
    /// How somebody may have seen them already.
    cause: Cause,
}

/// Positions that were leased, are not complete, and nobody has.
#[derive(Clone, Debug)]
struct ReturnedPositions {
    epoch: u64,
    start: u64,
    end: u64,
    /// Daemons in a row that died with them, without a receipt or a finished batch (semantics rule 9).
    deaths: u32,
    /// The lease that they were in last, for late receipts; 0 after a restore.
    lease: u64,
    lease_start: u64,
    worker: String,
    /// How somebody may have seen them already.
    cause: Cause,
    /// An incarnation that is gone had them, and its consumers may hand them in: granted last, not before `not_before`.
    kept_for_consumers: bool,
    not_before: u64,
}

impl Ledger {
    /// A fresh ledger. `origin` makes its lease ids differ from those of another ledger for the same dataset, whose
    /// receipts may still be under way.
    pub(crate) fn new(plan: Plan, shard_size: u64, epochs: u64, origin: &[u8], times: Times) -> Self {
        let mut ledger = Self {
            spec_hash: spec_hash(plan.spec()),
            shard_size,
            epochs,
            policies: None,
            times,
            generation: 1,
            next_lease: first_lease(origin),
            cursor_epoch: 0,
            cursor: 0,
            acks: 0,
            returned: Vec::new(),
            tails: Vec::new(),
            workers: BTreeMap::new(),
            index: WorkerIndex::default(),
            tallies: EpochTallies::default(),
            quarantine: BTreeMap::new(),
            bad: BadRecords::default(),
            failure: RunFailure::default(),
            loads: Loads::default(),
            missing: Missing::default(),
            quarantined: 0,
            begins: Vec::new(),
            marks: BTreeMap::new(),
            abandoned: (Vec::new(), 0),
            ends: None,
            segment: 0,
            recoveries: Vec::new(),
            whole_grains: false,
            revision: 1,
            outline: None,
            shares: Shares::default(),
            dirty: Dirty { head: true, grains: plan.grains().is_some(), ..Dirty::default() },
            plan,
        };
        ledger.settle();
        ledger
    }

    /// The plan of its spec.
    pub(crate) const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Positions per lease.
    pub(crate) const fn shard_size(&self) -> u64 {
        self.shard_size
    }

    /// Rises with every restore and recovery.
    pub(crate) const fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) const fn spec_hash(&self) -> [u8; 32] {
        self.spec_hash
    }

    /// Its dataset in short, if a worker has left that here.
    pub(crate) const fn outline(&self) -> Option<&DatasetOutline> {
        self.outline.as_ref()
    }

    /// Takes an outline of its dataset, unless it has one.
    pub fn describe(&mut self, outline: Option<DatasetOutline>) -> Result<DescribeReply, LedgerError> {
        let outline = outline.filter(|outline| outline::is_of(outline, self.plan.spec().records));
        let outline = outline.ok_or_else(|| LedgerError::Invalid("The outline is none of this dataset.".to_owned()))?;
        if self.outline.is_none() {
            self.outline = Some(outline);
            self.dirty.outline = true;
            self.touch();
        }
        Ok(DescribeReply { progress: Some(self.progress()) })
    }

    /// What the ledger knows of its epochs, settled.
    pub(crate) fn progress(&mut self) -> Progress {
        self.settle();
        let returned = self.returned.first().map_or(u64::MAX, |returned| returned.epoch);
        let issued = if self.exhausted() || self.fresh() { self.cursor_epoch } else { self.cursor_epoch + 1 };
        Progress {
            floor: self.first_open().map_or(self.cursor_epoch, |open| open.min(self.cursor_epoch)),
            drained: returned.min(issued),
            generation: self.generation,
            failed: !self.failure.why.is_empty(),
        }
    }

    /// A page of the tallies.
    pub fn audit(&mut self, from_epoch: u64) -> AuditReply {
        let tallies = self.tallies.range(from_epoch..).map(|(&epoch, tallies)| tallies.message(epoch));
        let (epochs, more) = page(tallies);
        let spec = self.plan.spec().clone();
        // The sum over the whole dataset is the same in any order: only the records of a part or of a mixture depend on the table.
        let is_unsummed = self.tallies.values().any(Tallies::is_unsummed);
        let depends = self.plan.part().is_some() || !self.plan.is_plain() || is_unsummed;
        let table = self.plan.grains().filter(|_| from_epoch == 0 && depends);
        let grains = table.map(|table| table.lengths());
        let recoveries = if from_epoch == 0 { self.recoveries.clone() } else { Vec::new() };
        let begins = if from_epoch == 0 { self.begins.clone() } else { Vec::new() };
        let progress = Some(self.progress());
        let (total_epochs, ends) = (self.epochs, self.ends);
        AuditReply {
            spec: Some(spec),
            epochs,
            progress,
            more,
            grains,
            recoveries,
            begins,
            total_epochs,
            ends,
            run: None,
            has_ended: false,
        }
    }

    /// A page of the quarantine's list.
    pub fn list_quarantine(&self, after: Option<QuarantineKey>) -> ListQuarantineReply {
        let start = after.map_or(Bound::Unbounded, |key| Bound::Excluded((key.epoch, key.record)));
        let (records, more) = page(self.quarantine.range((start, Bound::Unbounded)).map(|(_, entry)| entry.clone()));
        let quarantined = self.tallies.values().map(|tallies| tallies.quarantined.count).sum();
        ListQuarantineReply { records, more, quarantined }
    }

    /// Moves the cursor over the end of an epoch that is leased out, but only into the epoch after the first
    /// incomplete one: at most one epoch of lookahead. What it does follows from the rest of the state, so that it
    /// need not be stored.
    fn settle(&mut self) {
        while !self.exhausted()
            && self.cursor == self.plan.epoch_len(self.cursor_epoch)
            && self.first_open().is_none_or(|open| open >= self.cursor_epoch)
        {
            self.cursor_epoch += 1;
            self.cursor = 0;
        }
    }

    /// Every position of every epoch was leased once.
    fn exhausted(&self) -> bool {
        self.epochs > 0 && self.cursor_epoch >= self.epochs
    }

    /// There is a position that was never leased and may be now.
    fn fresh(&self) -> bool {
        !self.exhausted() && self.cursor < self.plan.epoch_len(self.cursor_epoch)
    }

    /// The first epoch below or at the cursor that has a position out or returned.
    fn first_open(&self) -> Option<u64> {
        let returned = self.returned.first().map(|returned| returned.epoch);
        let tail = self.tails.first().map(|tail| tail.epoch);
        [self.index.first_epoch(), returned, tail].into_iter().flatten().min()
    }

    /// Positions that were leased, are not complete, and nobody has.
    fn unleased(&self) -> impl Iterator<Item = &ReturnedPositions> {
        self.returned.iter().chain(&self.tails)
    }

    /// Every position of the epoch is accounted for.
    fn is_complete(&self, epoch: u64) -> bool {
        let leased_out = epoch < self.cursor_epoch
            || (epoch == self.cursor_epoch && self.cursor == self.plan.epoch_len(self.cursor_epoch));
        let is_out = self.index.holders_of(epoch).next().is_some();
        leased_out && !is_out && self.unleased().all(|back| back.epoch != epoch)
    }

    /// Takes in that a worker has changed, or is gone.
    fn note(&mut self, worker: &str) {
        self.index.note(worker, self.workers.get(worker));
    }

    /// Notes that the head document changed, as it does with every command that changes anything.
    fn touch(&mut self) {
        self.revision += 1;
        self.dirty.head = true;
    }

    fn tally(&mut self, epoch: u64) -> &mut Tallies {
        self.dirty.epochs.insert(epoch);
        self.tallies.of(epoch)
    }
}

/// Where the ids of leases begin in a ledger with this origin.
fn first_lease(origin: &[u8]) -> u64 {
    let hash = blake3::derive_key("forebay lease ids 1", origin);
    u64::from_le_bytes([0, 0, 0, 0, 0, hash[0], hash[1], hash[2] >> 1]) + 1
}
