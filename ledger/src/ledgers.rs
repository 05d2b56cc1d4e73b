//! All ledgers of a coordinator: opening, forgetting, finding the one that a request is for. Pure, as each ledger is.

mod lockstep;
mod shelf;
mod tasks;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use forebay_plan::{GrainTable, MAX_EPOCH, Plan, SpecError, differences, nameless, outline};
use forebay_proto::page;
use forebay_proto::v1::{
    Caller, CompareDatasetReply, CompareDatasetRequest, LedgerNews, LedgerSpec, ListLedgersReply, ListLedgersRequest,
    NewRunReply, NewRunRequest, OpenReply, OpenRequest, WorkerProcess,
};
use prost::Message;

use self::lockstep::{LockstepRun, RUN, SEGMENTS};
use self::shelf::Shelf;
use crate::{
    change::Change,
    error::LedgerError,
    ledger::{Ledger, Times},
    tasks::{Tasks, is_task_document},
};

/// Longest run, stream or worker name, in bytes.
const NAME_LEN: usize = 200;
/// Longest host name and boot id of a worker's process, in bytes.
const PROCESS_LEN: usize = 256;
/// What the keys of all ledgers' documents start with.
pub const PREFIX: &str = "ledger/";

/// Ledgers by name: `RUN/STREAM/all`, `RUN/STREAM/shard-3` for a static one, `RUN/STREAM/rank-3-of-8` for one in lockstep.
#[derive(Debug)]
pub struct Ledgers {
    times: Times,
    shelf: Shelf,
    /// The tasks of those whose shards are given to workers that read the data themselves.
    tasks: BTreeMap<String, Tasks>,
    /// The runs in lockstep, by what the names of their ledgers begin with.
    runs: BTreeMap<String, LockstepRun>,
    /// Documents of forgotten ledgers.
    forgotten: Vec<Change>,
}

impl Ledgers {
    /// From all documents of a store.
    pub fn load(documents: &[(String, Vec<u8>)], times: Times, now: u64) -> Result<Self, LedgerError> {
        let mut by_name = BTreeMap::<&str, Vec<(&str, &[u8])>>::new();
        for (key, bytes) in documents {
            let (name, document) = split(key).ok_or_else(|| {
                LedgerError::Corrupt(format!("The store holds {key:?}, which is not a document of a ledger."))
            })?;
            by_name.entry(name).or_default().push((document, bytes));
        }
        let (mut ledgers, mut tasks) = (BTreeMap::<String, Ledger>::new(), BTreeMap::new());
        let mut runs = BTreeMap::new();
        for (name, documents) in by_name {
            if let (Some(stream), [(SEGMENTS, bytes)]) = (name.strip_suffix(RUN), &*documents) {
                runs.insert(stream.to_owned(), LockstepRun::load(stream, bytes)?);
                continue;
            }
            let damaged = |why: String| {
                LedgerError::Corrupt(format!(
                    "The stored ledger {name:?} is damaged: {why}. Restore it from a backup, or begin a new run."
                ))
            };
            let (of_tasks, documents): (Vec<_>, Vec<_>) =
                documents.into_iter().partition(|(document, _)| is_task_document(document));
            let lasting = if of_tasks.is_empty() { times } else { Tasks::times(times) };
            let mut ledger = Ledger::load(&documents, lasting, now).map_err(|why| {
                if why.is_newer() {
                    LedgerError::Corrupt(format!("The stored ledger {name:?} {why}."))
                } else {
                    damaged(why.to_string())
                }
            })?;
            if !of_tasks.is_empty() {
                let own = Tasks::load(&of_tasks, &mut ledger, times, now).map_err(damaged)?;
                tasks.insert(name.to_owned(), own);
            }
            ledgers.insert(name.to_owned(), ledger);
        }
        // A run that is still in its first segment needs no document.
        for (name, ledger) in ledgers.iter().filter(|(_, ledger)| ledger.segment() == 1) {
            if let (Some(rank), Some(stream)) = (ledger.plan().spec().lockstep, lockstep::stream_of(name)) {
                runs.entry(stream.to_owned()).or_insert_with(|| LockstepRun::of(rank.world_size));
            }
        }
        Ok(Self { times, shelf: Shelf::of(ledgers), tasks, runs, forgotten: Vec::new() })
    }

    /// The ledger of this name.
    pub fn get(&mut self, name: &str) -> Result<&mut Ledger, LedgerError> {
        self.shelf.get_mut(name).ok_or_else(|| {
            LedgerError::NotFound(format!(
                "There is no ledger {name:?}: it was never opened, or a new run was begun. The daemon of the \
                 stream opens it when it starts, or when it is told \"forebay run new\"."
            ))
        })
    }

    /// The news for workers that follow a ledger; `None` if the ledger is gone.
    pub fn news(&mut self, name: &str) -> Option<LedgerNews> {
        self.shelf.shown_one(name).map(Ledger::news)
    }

    /// The ledger that a caller names.
    pub fn of_caller(&mut self, caller: Option<&Caller>) -> Result<&mut Ledger, LedgerError> {
        self.current(caller.map_or("", |caller| &caller.ledger))
    }

    /// The ledger of this name.
    ///
    /// # Errors
    /// There is none, or its run has gone on without it.
    fn current(&mut self, name: &str) -> Result<&mut Ledger, LedgerError> {
        self.superseded(name).map_or(Ok(()), Err)?;
        self.get(name)
    }

    /// Lets a worker's command act on its ledger, once: see `Ledger::once`.
    pub fn command<R: Message + Default>(
        &mut self,
        number: u32,
        caller: Option<&Caller>,
        now: u64,
        act: impl FnOnce(&mut Ledger, &str) -> Result<R, LedgerError>,
    ) -> Result<R, LedgerError> {
        self.of_caller(caller)?.once(caller, number, now, act)
    }

    /// Returns the leases of silent workers, and the tasks that take too long.
    pub fn expire(&mut self, now: u64) {
        for (name, tasks) in &mut self.tasks {
            if let Some(ledger) = self.shelf.get_mut(name) {
                tasks.expire(ledger, now);
            }
        }
        self.shelf.expire(now);
    }

    /// When the next lease expires.
    pub fn next_deadline(&self) -> Option<u64> {
        self.shelf.next_deadline()
    }

    /// The names of all ledgers that may have changed since the last call. Some may be gone.
    pub fn take_touched(&mut self) -> BTreeSet<String> {
        self.shelf.take_touched()
    }

    /// The changes to commit: all since the last call.
    pub fn take_changes(&mut self) -> Vec<Change> {
        let mut changes = std::mem::take(&mut self.forgotten);
        self.shelf.for_touched(|name, ledger| ledger.take_changes(&format!("{PREFIX}{name}/"), &mut changes));
        for (name, tasks) in &mut self.tasks {
            tasks.take_changes(&format!("{PREFIX}{name}/"), &mut changes);
        }
        changes.extend(self.runs.iter_mut().filter_map(|(stream, run)| run.take_change(stream)));
        changes
    }

    /// All documents of all ledgers, as they are.
    pub fn documents(&self) -> Vec<Change> {
        let mut documents = Vec::new();
        for (name, ledger) in self.shelf.iter() {
            ledger.documents(&format!("{PREFIX}{name}/"), &mut documents);
        }
        for (name, tasks) in &self.tasks {
            tasks.documents(&format!("{PREFIX}{name}/"), &mut documents);
        }
        documents.extend(self.runs.iter().filter_map(|(stream, run)| run.stored(stream)));
        documents
    }

    /// Lets every ledger go on from a snapshot that was taken at this time: see `Ledger::recover`.
    pub fn recover(&mut self, taken: u64, origin: &[u8]) {
        for (name, ledger) in self.shelf.iter_mut() {
            if let Some(tasks) = self.tasks.get_mut(name) {
                tasks.recover(ledger);
            }
            ledger.recover(taken, &[name.as_bytes(), b" ", origin].concat());
        }
    }

    /// The generation of each ledger, by name.
    pub fn generations(&self) -> Vec<(String, u64)> {
        self.shelf.iter().map(|(name, ledger)| (name.clone(), ledger.generation())).collect()
    }

    /// Opens a ledger for a worker, or makes it. A name that is taken by a living worker is refused.
    pub fn open(&mut self, request: &OpenRequest, now: u64) -> Result<OpenReply, LedgerError> {
        let invalid = |text: String| LedgerError::Invalid(text);
        for (what, name) in [("run", &request.run), ("stream", &request.stream), ("worker", &request.worker)] {
            check_name(what, name)?;
        }
        let spec = request.spec.as_ref().ok_or_else(|| invalid("The request holds no spec.".to_owned()))?;
        if request.shard_size == 0 || request.incarnation == 0 {
            return Err(invalid("shard_size and incarnation must not be 0.".to_owned()));
        }
        check_process(request.process.as_ref())?;
        if request.epochs > MAX_EPOCH {
            return Err(invalid(format!("epochs is {}; it may be at most {MAX_EPOCH}.", request.epochs)));
        }
        let stream = format!("{}/{}/", request.run, request.stream);
        self.compare(&stream, request)?;
        let name = self.name_of(&stream, spec);
        let resumed = self.shelf.contains(&name);
        // One outline is enough for all shards.
        let wants_outline = self.of_stream(&stream).all(|(_, ledger)| ledger.outline().is_none());
        if !resumed {
            let origin = format!("{name} {} {:x}", request.worker, request.incarnation);
            let plan = self.plan(&stream, request, spec).map_err(|error| invalid(error.to_string()))?;
            let mut ledger = Ledger::new(plan, request.shard_size, request.epochs, origin.as_bytes(), self.times);
            self.place(&stream, &mut ledger);
            self.shelf.insert(&name, ledger);
        }
        let ledger = self.shelf.get_mut(&name).expect("it was there or has just been made");
        if request.shard_size_required && request.shard_size != ledger.shard_size() {
            return Err(LedgerError::SpecMismatch(format!(
                "Run {:?} of stream {:?} was made with shard_size {}, and now {} is asked for. A run keeps its \
                 shard_size: leave it out, or begin a new run.",
                request.run,
                request.stream,
                ledger.shard_size(),
                request.shard_size
            )));
        }
        if let Some(incumbent) = ledger.incumbent(request, now)? {
            return Ok(OpenReply { incumbent, ..OpenReply::default() });
        }
        ledger.agree(request, now)?;
        ledger.take_policies(request, now);
        ledger.register(request, now);
        Ok(OpenReply {
            ledger: name,
            spec_hash: ledger.spec_hash().to_vec(),
            shard_size: ledger.shard_size(),
            resumed,
            progress: Some(ledger.progress()),
            lease_ttl_ms: self.times.lease_ttl,
            incumbent: 0,
            wants_outline,
            groups: ledger.former_groups(),
            awaits_trainers: ledger.awaits_trainers(&request.worker),
        })
    }

    /// Where a dataset differs from that of a stream's run.
    pub fn compare_dataset(&self, request: &CompareDatasetRequest) -> Result<CompareDatasetReply, LedgerError> {
        if request.outline.as_ref().is_some_and(|asked| !outline::is_of(asked, request.records)) {
            return Err(LedgerError::Invalid("The outline in the request is none of its records.".to_owned()));
        }
        let stream = format!("{}/{}/", request.run, request.stream);
        let known = self.of_stream(&stream).find_map(|(_, ledger)| Some((ledger.plan().spec(), ledger.outline()?)));
        let Some((spec, kept)) = known.filter(|(spec, _)| spec.fingerprint != request.fingerprint) else {
            return Ok(CompareDatasetReply::default());
        };
        let first = request
            .outline
            .as_ref()
            .and_then(|asked| outline::first_difference((spec.records, kept), (request.records, asked)));
        let first = first.map(|records| forebay_proto::v1::Range { start: records.start, end: records.end });
        Ok(CompareDatasetReply { differs: true, records: spec.records, bytes: kept.bytes, first })
    }

    /// A page of the ledgers, by name.
    pub fn list(&mut self, request: &ListLedgersRequest, now: u64) -> ListLedgersReply {
        let ledgers = self.shelf.shown(&request.after);
        let status = |(name, ledger): (&String, &mut Ledger)| {
            let mut status = ledger.status(name, !request.without_workers, now);
            if let Some(tasks) = self.tasks.get(name) {
                tasks.complete(&mut status);
            }
            status
        };
        let (ledgers, more) = page(ledgers.map(status));
        ListLedgersReply { ledgers, more }
    }

    /// The plan of a new ledger. The shards of a stream share one table of grains.
    fn plan(&self, stream: &str, request: &OpenRequest, spec: &LedgerSpec) -> Result<Plan, SpecError> {
        let shared = self.of_stream(stream).find_map(|(_, ledger)| ledger.plan().grains().cloned());
        let table = match (shared, &request.grains) {
            (Some(table), _) => Some(table),
            (None, Some(sent)) => Some(Arc::new(GrainTable::from_lengths(sent, spec.records)?)),
            (None, None) => None,
        };
        Plan::with_grains(spec, table)
    }

    /// All ledgers of a run's stream agree in everything but the number of the shard, and the number and count of ranks.
    fn compare(&self, stream: &str, request: &OpenRequest) -> Result<(), LedgerError> {
        let asked = request.spec.as_ref().map(nameless).unwrap_or_default();
        // They agree with each other.
        if let Some((_, ledger)) = self.of_stream(stream).next() {
            let mut kept = nameless(ledger.plan().spec());
            if let (Some(kept), Some(asked)) = (&mut kept.shard, &asked.shard) {
                kept.shard_id = asked.shard_id;
            }
            if let (Some(kept), Some(asked)) = (&mut kept.lockstep, &asked.lockstep) {
                (kept.rank, kept.world_size) = (asked.rank, asked.world_size);
            }
            if kept != asked {
                return Err(LedgerError::SpecMismatch(format!(
                    "Run {:?} of stream {:?} was made for something else: {}. Undo the change, or begin a new run: \
                     `forebay run new {}` for a service's stream, another run= for a Loader.",
                    request.run,
                    request.stream,
                    differences(&kept, &asked),
                    request.stream
                )));
            }
        }
        Ok(())
    }

    /// Begins a run with a name of its own.
    pub fn new_run(&mut self, request: &NewRunRequest) -> Result<NewRunReply, LedgerError> {
        for (what, name) in [("run", &request.run), ("stream", &request.stream)] {
            check_name(what, name)?;
        }
        let stream = format!("{}/{}/", request.run, request.stream);
        let names = self.names_of(&stream);
        for name in &names {
            self.forget(name);
        }
        self.forgotten.extend(self.runs.remove(&stream).and_then(|run| run.forget(&stream)));
        Ok(NewRunReply { forgotten: u32::try_from(names.len()).unwrap_or(u32::MAX) })
    }

    fn names_of(&self, stream: &str) -> Vec<String> {
        self.of_stream(stream).map(|(name, _)| name.clone()).collect()
    }

    /// Removes a ledger with its documents.
    fn forget(&mut self, name: &str) {
        if let Some(ledger) = self.shelf.remove(name) {
            let (prefix, mut documents) = (format!("{PREFIX}{name}/"), Vec::new());
            ledger.documents(&prefix, &mut documents);
            if let Some(tasks) = self.tasks.remove(name) {
                tasks.documents(&prefix, &mut documents);
            }
            self.forgotten.extend(documents.into_iter().map(Change::into_delete));
        }
    }

    fn of_stream<'a>(&'a self, stream: &'a str) -> impl Iterator<Item = (&'a String, &'a Ledger)> {
        self.shelf.of_stream(stream)
    }
}

/// Names are parts of keys, divided by '/'.
fn check_name(what: &str, name: &str) -> Result<(), LedgerError> {
    if name.is_empty() || name.len() > NAME_LEN || name.contains(|c: char| c == '/' || c.is_control()) {
        return Err(LedgerError::Invalid(format!(
            "The {what} name {name:?} cannot be used: it must have 1 to {NAME_LEN} bytes, without '/' and control \
             characters."
        )));
    }
    Ok(())
}

/// What a worker says of its process is stored.
fn check_process(process: Option<&WorkerProcess>) -> Result<(), LedgerError> {
    if process.is_some_and(|process| process.host.len().max(process.boot.len()) > PROCESS_LEN) {
        let text = format!("A worker's host and boot may have at most {PROCESS_LEN} bytes each.");
        return Err(LedgerError::Invalid(text));
    }
    Ok(())
}

/// A key's ledger name and document.
pub fn split(key: &str) -> Option<(&str, &str)> {
    let rest = key.strip_prefix(PREFIX)?;
    let (end, _) = rest.match_indices('/').nth(2)?;
    Some((&rest[..end], &rest[end + 1..]))
}
