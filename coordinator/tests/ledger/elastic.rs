//! Elastic resume: jobs that stop at any moment, and go on from their state with another number of ranks (semantics rules 22
//! and 23). Ranks share one ledger, or the shards are dealt out to them. Lockstep is in `lockstep.rs`.

use std::rc::Rc;

use forebay_coordinator::suite::{Random, Visits};
use forebay_plan::Plan;
use forebay_proto::Turn;
use forebay_proto::v1::{
    AckItem, AckRequest, AcquireRequest, Caller, Lease, LedgerSpec, OpenRequest, RestoreRequest, Snapshot,
    TakeSnapshotRequest, Verdict, acquire_reply::Answer,
};
use prost::Message as _;

use crate::scene::{Scene, receipts, spec, static_spec};

const EPOCHS: u64 = 2;
const RANKS: u64 = 64;
const RESIZES: u32 = 500;

/// One worker of one ledger.
struct Reader {
    name: String,
    plan: Rc<Plan>,
    caller: Caller,
    /// What it has leased, each with its first position that no trainer has.
    leased: Vec<(Lease, u64)>,
    /// Receipts of what its trainer has in hand.
    in_hand: Vec<AckItem>,
    is_done: bool,
}

/// Ledgers, and their readers.
struct Job<'a> {
    scene: &'a Scene,
    readers: Vec<Reader>,
}

/// What a trainer saw: who, and which records of which epoch.
type Seen = (String, u64, Vec<u64>);

impl Reader {
    fn open(scene: &Scene, run: &str, spec: &LedgerSpec, rank: u64, incarnation: u64) -> Self {
        let (worker, run, spec) = (format!("rank {rank}"), run.to_owned(), spec.clone());
        let plan = Rc::new(Plan::new(&spec).unwrap());
        let open = scene.open_request(&worker, incarnation);
        let ledger = scene.call(OpenRequest { run, spec: Some(spec), ..open }).unwrap().ledger;
        let name = format!("{worker} of {ledger}, {incarnation}");
        let caller = Caller { ledger, worker, incarnation, sequence: 0, unseen: 0 };
        Self { name, plan, caller, leased: Vec::new(), in_hand: Vec::new(), is_done: false }
    }

    fn next(&mut self) -> Caller {
        self.caller.sequence += 1;
        self.caller.clone()
    }

    /// A batch of at most so many places. Its receipt stays with the trainer.
    fn batch(&mut self, scene: &Scene, places: u64) -> Option<Seen> {
        if self.leased.is_empty() {
            let request = AcquireRequest { caller: Some(self.next()), leases: 2, ..AcquireRequest::default() };
            let reply = scene.call(request).unwrap();
            self.is_done = reply.answer() == Answer::DatasetDone;
            self.leased.extend(reply.leases.into_iter().rev().map(|lease| (lease, 0)));
        }
        let (lease, from) = self.leased.pop()?;
        let end = (from + places).min(lease.end - lease.start);
        if lease.start + end < lease.end {
            self.leased.push((lease, end));
        }
        self.in_hand.extend(receipts(&self.plan, &lease, from, end));
        let order = self.plan.epoch(lease.epoch);
        let turns = (lease.start + from..lease.start + end).filter_map(|position| order.own(position));
        Some((self.name.clone(), lease.epoch, turns.map(Turn::record).collect()))
    }

    fn ack(&mut self, scene: &Scene) {
        let items = std::mem::take(&mut self.in_hand);
        let request = AckRequest { caller: Some(self.next()), items, ..AckRequest::default() };
        let verdicts = scene.call(request).unwrap().verdicts;
        assert!(verdicts.iter().all(|verdict| *verdict == i32::from(Verdict::Accepted)), "{verdicts:?}");
    }
}

impl<'a> Job<'a> {
    /// As many ranks as are wanted: on one ledger, or on the ledgers of these shards.
    fn start(scene: &'a Scene, run: &str, shards: &[LedgerSpec], ranks: u64, incarnation: u64) -> Self {
        let open = |(spec, rank): (&LedgerSpec, u64)| Reader::open(scene, run, spec, rank, incarnation);
        let readers = match shards {
            [] => (0..ranks).map(|rank| open((&scene.spec, rank))).collect(),
            _ => shards.iter().zip((0..ranks).cycle()).map(open).collect(),
        };
        Self { scene, readers }
    }

    /// A batch of any reader, if one has something to read.
    fn step(&mut self, random: &mut Random, places: u64) -> Option<Seen> {
        let first = usize::try_from(random.below(self.readers.len() as u64)).unwrap();
        let (before, from) = self.readers.split_at_mut(first);
        let mut all = from.iter_mut().chain(before).filter(|reader| !reader.is_done);
        all.find_map(|reader| {
            let seen = reader.batch(self.scene, places);
            // Some acknowledge at once, some later. One that waits for an epoch's end has acknowledged all.
            if seen.is_none() || random.once_in(2) {
                reader.ack(self.scene);
            }
            seen
        })
    }

    fn is_done(&self) -> bool {
        self.readers.iter().all(|reader| reader.is_done)
    }

    /// The state of each ledger. The first reader of a ledger takes it, and what it has in hand counts as consumed. The others
    /// have acknowledged everything.
    fn states(&mut self) -> Vec<Snapshot> {
        let mut states: Vec<Snapshot> = Vec::new();
        for index in (0..self.readers.len()).rev() {
            let ledger = self.readers[index].caller.ledger.clone();
            if self.readers[..index].iter().any(|other| other.caller.ledger == ledger) {
                self.readers[index].ack(self.scene);
                continue;
            }
            let consumed = self.readers[index].in_hand.clone();
            let state = self
                .scene
                .call(TakeSnapshotRequest { ledger, consumed, ..TakeSnapshotRequest::default() })
                .unwrap()
                .snapshot
                .unwrap();
            let most = 1024 + 32 * state.open.len();
            assert!(state.encoded_len() <= most, "{} bytes for {} ranges", state.encoded_len(), state.open.len());
            states.insert(0, state);
        }
        states
    }

    /// All ranks load the states.
    fn load(&mut self, states: &[Snapshot], load_id: &str) {
        for (index, reader) in self.readers.iter_mut().enumerate() {
            let state = if states.len() == 1 { &states[0] } else { &states[index] };
            let (caller, load_id) = (Some(reader.next()), load_id.to_owned());
            self.scene
                .call(RestoreRequest { caller, snapshot: Some(state.clone()), load_id, ..RestoreRequest::default() })
                .unwrap();
        }
    }
}

/// Stops and resizes jobs. `shards` gives the shards of a dataset of so many records, or none.
fn stop_and_resize(seed: u64, shards: impl Fn(&mut Random, u64) -> Vec<LedgerSpec>) {
    let mut random = Random::new(seed);
    let (mut resizes, mut life) = (0, 0);
    while resizes < RESIZES {
        let records = 1 + random.below(900);
        let scene = Scene::new(spec(records), 1 + random.below(24), EPOCHS);
        let shards = shards(&mut random, records);
        let (mut visits, mut states, mut run) = (Visits::default(), Vec::new(), 0);
        loop {
            life += 1;
            let ranks = 1 + random.below(RANKS);
            // It goes on in its own ledgers, or in those of a new run.
            run += u64::from(random.once_in(2));
            let mut job = Job::start(&scene, &format!("run {run}"), &shards, ranks, life);
            if !states.is_empty() {
                job.load(&states, &format!("load {life}"));
            }
            let (places, stop) = (1 + random.below(12), 1 + random.below(60));
            let mut batches = 0;
            while batches < stop && !job.is_done() {
                if let Some((reader, epoch, seen)) = job.step(&mut random, places) {
                    for record in seen {
                        visits.deliver(&reader, epoch, record);
                    }
                    batches += 1;
                }
            }
            states = job.states();
            if job.is_done() {
                break;
            }
            // It goes on for a while, and what it delivers is forgotten with the state that is loaded.
            for _ in 0..random.below(4) {
                job.step(&mut random, places);
            }
            resizes += 1;
        }
        let checked = visits.check(records, 0, EPOCHS);
        checked.unwrap_or_else(|wrong| panic!("{records} records, seed {seed}, life {life}: {wrong}"));
    }
}

#[test]
fn rule_23_after_500_random_stops_and_resizes_of_a_shared_run_no_record_is_missing_or_there_twice() {
    stop_and_resize(23, |_, _| Vec::new());
}

#[test]
fn rule_23_after_500_random_stops_and_resizes_over_as_many_shards_no_record_is_missing_or_there_twice() {
    stop_and_resize(13, |random, records| {
        let most = RANKS.min(records);
        let (count, stick) = (1 + u32::try_from(random.below(most)).unwrap(), random.once_in(2));
        (0..count).map(|shard| static_spec(records, shard, count, stick)).collect()
    });
}
