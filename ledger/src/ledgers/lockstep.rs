//! Lockstep runs: which ledgers of ranks belong together, and what a state, a load and a reset of one rank do to all of them
//! (semantics rule 40).

mod run;

use std::collections::BTreeMap;

use forebay_proto::page;
use forebay_proto::v1::{
    AbandonReply, AbandonRequest, AuditReply, AuditRequest, EpochTally, LedgerSpec, LockstepAudit, LockstepRank,
    LockstepSegment, RestoreReply, RestoreRequest, Snapshot, TakeSnapshotReply, TakeSnapshotRequest,
};

use self::run::LockstepRun;
pub(super) use self::run::{RUN, SEGMENTS};
use super::registry::Registry;
use crate::change::Change;
use crate::error::LedgerError;
use crate::ledger::Ledger;
use forebay_plan::EpochPart;
use forebay_plan::{SegmentEnd, Segments, ranks};

/// The runs in lockstep, by what the names of their ledgers begin with.
#[derive(Debug, Default)]
pub(super) struct LockstepRuns(BTreeMap<String, LockstepRun>);

/// Whose account a state is of that a rank loads. It is the same for all ranks that load it: the sums of a run have all that its
/// ranks counted before the state, or nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StateOrigin {
    /// The rank's own segment has reached it: its account continues.
    Segment,
    /// An earlier segment has, or one of another number of ranks. The rank's account begins there.
    Run,
    /// Another run. All accounts of this one begin there.
    Elsewhere,
}

impl LockstepRuns {
    /// Takes in the document of a run.
    pub(super) fn load(&mut self, stream: &str, bytes: &[u8]) -> Result<(), LedgerError> {
        self.0.insert(stream.to_owned(), LockstepRun::load(stream, bytes)?);
        Ok(())
    }

    /// Takes in a stored ledger. A run that is still in its first segment needs no document.
    pub(super) fn load_rank(&mut self, name: &str, ledger: &Ledger) {
        let rank = ledger.plan().spec().lockstep.filter(|_| ledger.segment() == 1);
        if let (Some(rank), Some(stream)) = (rank, stream_of(name)) {
            self.0.entry(stream.to_owned()).or_insert_with(|| LockstepRun::of(rank.world_size));
        }
    }

    /// The documents that have changed since the last call.
    pub(super) fn take_changes(&mut self) -> impl Iterator<Item = Change> {
        self.0.iter_mut().filter_map(|(stream, run)| run.take_change(stream))
    }

    /// All documents.
    pub(super) fn documents(&self) -> impl Iterator<Item = Change> {
        self.0.iter().filter_map(|(stream, run)| run.stored(stream))
    }

    /// Forgets a run. Deletes its document, if there is one.
    pub(super) fn forget(&mut self, stream: &str) -> Option<Change> {
        self.0.remove(stream).and_then(|run| run.forget(stream))
    }

    /// The ledger of this name.
    ///
    /// # Errors
    /// There is none, or its run has gone on without it.
    pub(super) fn current<'s>(&self, registry: &'s mut Registry, name: &str) -> Result<&'s mut Ledger, LedgerError> {
        self.superseded(registry, name).map_or(Ok(()), Err)?;
        registry.find(name)
    }

    /// Name of the ledger that a spec is about.
    pub(super) fn name_of(&self, stream: &str, spec: &LedgerSpec) -> String {
        format!("{stream}{}", EpochPart::name(EpochPart::of(spec), self.segment_of(stream, spec.lockstep.as_ref())))
    }

    /// The generation of the segment that a rank belongs to, or would begin.
    fn segment_of(&self, stream: &str, rank: Option<&LockstepRank>) -> u64 {
        let run = rank.zip(self.0.get(stream));
        run.map_or(0, |(rank, run)| run.segments.generation_of(rank.world_size))
    }

    /// Puts a fresh ledger of a rank where its segment begins. One of a segment that has not begun waits for a state.
    pub(super) fn place(&mut self, stream: &str, ledger: &mut Ledger) {
        let Some(rank) = ledger.plan().spec().lockstep else { return };
        let run = self.0.entry(stream.to_owned()).or_insert_with(|| LockstepRun::of(rank.world_size));
        let LockstepSegment { epoch, step, world_size, generation } = *run.segments.current();
        if world_size == rank.world_size {
            ledger.begin_at(generation, epoch, step);
        } else {
            ledger.begin_at(generation + 1, 0, 0);
        }
    }

    /// Takes a rank to a state, and its run with it: ranks of another number begin a segment there, and those of before are
    /// fenced.
    pub(super) fn restore(
        &mut self,
        registry: &mut Registry,
        request: &RestoreRequest,
        now: u64,
    ) -> Result<RestoreReply, LedgerError> {
        let mut request = request.clone();
        let name = &*request.caller.as_ref().map_or(String::new(), |caller| caller.ledger.clone());
        if let (Some(ledger), Some(state)) = (registry.get(name), &mut request.snapshot) {
            ledger.behind_dropped_step(state);
        }
        let (caller, mut is_new) = (request.caller.as_ref(), false);
        let origin =
            request.snapshot.as_ref().map_or(StateOrigin::Elsewhere, |state| self.origin_of(registry, name, state));
        let round = self.round_of(registry, name, &request);
        let reply = self.current(registry, name)?.once(caller, 7, now, |ledger, worker| {
            let reply = ledger.load_state(worker, &request, origin == StateOrigin::Segment, now)?;
            is_new = !reply.repeated && !reply.awaits_trainers;
            if is_new {
                ledger.begin_round(round);
            }
            Ok(reply)
        })?;
        if let (true, Some(state)) = (is_new, &request.snapshot) {
            self.run_continues(registry, name, origin, state.epoch, state.cursor);
        }
        Ok(reply)
    }

    /// The round in which a rank loads a state. Ranks that load one state together do so in one round. The first of them
    /// that goes back to the same state again begins another round, and the others follow it there. A rank that is still at
    /// the state does not go back, unless a new load id says so.
    fn round_of(&self, registry: &mut Registry, name: &str, request: &RestoreRequest) -> u64 {
        let (Some(state), Some(ledger)) = (&request.snapshot, registry.get_mut(name)) else { return 0 };
        if ledger.plan().spec().lockstep.is_none() {
            return 0;
        }
        let own = ledger.round_of(state);
        let is_at = |now: Snapshot| (now.epoch, now.cursor) == (state.epoch, state.cursor);
        let goes_back = !request.load_id.is_empty()
            || !ledger
                .take_snapshot(&TakeSnapshotRequest::default())
                .is_ok_and(|reply| reply.snapshot.is_some_and(is_at));
        let newest = self.ranks_beside(registry, name).filter_map(|(_, other)| other.round_of(state)).max().max(own);
        newest.map_or(0, |newest| newest + u64::from(own == Some(newest) && goes_back))
    }

    /// Whose account the state is that a rank loads.
    fn origin_of(&self, registry: &Registry, name: &str, state: &Snapshot) -> StateOrigin {
        let (Some((stream, segments)), Some(ledger)) = (self.run_of(name), registry.get(name)) else {
            return StateOrigin::Elsewhere;
        };
        let rank = ledger.plan().spec().lockstep.unwrap_or_default();
        let (epoch, step) = (state.epoch, state.cursor / rank.global_batch.max(1));
        let Some(segment) = segments.at(epoch, step) else { return StateOrigin::Elsewhere };
        let is_begin = (segment.epoch, segment.step) == (epoch, step);
        // The run has been through all of its earlier segments.
        if segment == segments.current() && !is_begin && !has_come_to(registry, stream, segment, epoch, step) {
            return StateOrigin::Elsewhere;
        }
        let own = (ledger.segment(), rank.world_size);
        let is_own = own == (segment.generation, segment.world_size) && (!is_begin || ledger.begins_at(epoch, step));
        if is_own { StateOrigin::Segment } else { StateOrigin::Run }
    }

    /// A rank was taken to this place of the epoch's order.
    fn run_continues(&mut self, registry: &mut Registry, name: &str, origin: StateOrigin, epoch: u64, cursor: u64) {
        let (Some(stream), Some(ledger)) = (stream_of(name), registry.get(name)) else { return };
        let (Some(rank), Some(run)) = (ledger.plan().spec().lockstep, self.0.get_mut(stream)) else { return };
        let (before, step) = (run.segments.clone(), cursor / rank.global_batch.max(1));
        match origin {
            StateOrigin::Elsewhere => run.segments.begin_again(rank.world_size, epoch, step),
            StateOrigin::Run | StateOrigin::Segment => {
                run.segments.continue_run(rank.world_size, epoch, step, origin == StateOrigin::Run);
            }
        }
        if run.segments == before {
            return;
        }
        run.change();
        let segments = run.segments.clone();
        let LockstepSegment { epoch, step, generation, world_size } = *segments.current();
        tracing::info!(stream, epoch, step, ranks = world_size, generation, "a lockstep run continues from a state");
        for (_, ledger) in registry.of_stream_mut(stream) {
            let Some(LockstepRank { world_size, .. }) = ledger.plan().spec().lockstep else { continue };
            match segments.end_of(ledger.segment(), world_size) {
                SegmentEnd::Current if ledger.begins_at(epoch, step) => {}
                // It was opened before its segment began, or began elsewhere. It will load the state as well.
                SegmentEnd::Current => ledger.begin_at(generation, epoch, step),
                SegmentEnd::Before(epoch, step) => ledger.close(epoch, step),
                // Ranks of a number that the run may yet go on with.
                SegmentEnd::Void if ledger.segment() > generation => {}
                SegmentEnd::Void => ledger.void(),
            }
        }
    }

    /// Ends an epoch. If it is that of a rank, the other ranks continue behind it as well.
    pub(super) fn abandon(
        &self,
        registry: &mut Registry,
        request: &AbandonRequest,
        now: u64,
    ) -> Result<AbandonReply, LedgerError> {
        let caller = request.caller.as_ref();
        let name = caller.map_or("", |caller| &caller.ledger);
        self.check_segment(registry, name)?;
        let mut is_new = false;
        let reply = self.current(registry, name)?.once(caller, 6, now, |ledger, worker| {
            is_new = true;
            ledger.abandon(worker, request, now)
        })?;
        if is_new {
            // A rank that has loaded another state, or gone back to the same one, is elsewhere. This one will load that state too.
            let state = registry.get(name).and_then(Ledger::loaded_state);
            let state = state.map(|(state, round)| (state.to_vec(), round));
            let is_beside =
                |other: &Ledger| other.loaded_state() == state.as_ref().map(|(state, round)| (&**state, *round));
            let beside = self.ranks_beside(registry, name).filter(|(_, other)| is_beside(other));
            beside.for_each(|(_, other)| other.end_epochs(request.epoch, now));
        }
        Ok(reply)
    }

    /// A state. If it is that of a rank, all ranks keep their sums of what is before it.
    pub(super) fn take_snapshot(
        &self,
        registry: &mut Registry,
        request: &TakeSnapshotRequest,
    ) -> Result<TakeSnapshotReply, LedgerError> {
        let name = &*request.ledger;
        self.check_segment(registry, name)?;
        let ledger = self.current(registry, name)?;
        let reply = ledger.take_snapshot(request)?;
        if let (Some(rank), Some(state)) = (ledger.plan().spec().lockstep, &reply.snapshot) {
            let step = state.cursor / rank.global_batch.max(1);
            ledger.mark(state.epoch, step);
            self.ranks_beside(registry, name).for_each(|(_, other)| other.mark(state.epoch, step));
        }
        Ok(reply)
    }

    /// A page of a ledger's tallies. With that of a rank goes the account of its run.
    pub(super) fn audit(&self, registry: &mut Registry, request: &AuditRequest) -> Result<AuditReply, LedgerError> {
        let AuditRequest { ledger: name, from_epoch } = request;
        let mut reply = registry.find(name)?.audit(*from_epoch);
        let Some((stream, segments)) = self.run_of(name) else {
            return Ok(reply);
        };
        let (mut epochs, more) = all_tallies(registry, stream, *from_epoch);
        // Both lists end with the same epoch, behind which the next page begins.
        let ends = [(&reply.epochs, reply.more), (&epochs, more)];
        let last =
            ends.into_iter().filter(|(_, more)| *more).filter_map(|(page, _)| page.last()).map(|last| last.epoch);
        if let Some(last) = last.min() {
            reply.epochs.retain(|tally| tally.epoch <= last);
            epochs.retain(|tally| tally.epoch <= last);
            reply.more = true;
        }
        let floor = floor_of(registry, stream, segments);
        let stream = stream.trim_end_matches('/').to_owned();
        reply.run = Some(LockstepAudit { stream, epochs, floor, segments: segments.all().to_vec() });
        Ok(reply)
    }

    /// The other ledgers of a rank's segment.
    fn ranks_beside<'s>(
        &self,
        registry: &'s mut Registry,
        name: &'s str,
    ) -> impl Iterator<Item = (&'s String, &'s mut Ledger)> + use<'s> {
        let stream = self.run_of(name).map(|(stream, _)| stream);
        let segment = registry.get(name).map(Ledger::segment);
        let of_run = stream.map(move |stream| registry.of_stream_mut(stream)).into_iter().flatten();
        of_run.filter(move |(of, ledger)| *of != name && Some(ledger.segment()) == segment)
    }

    /// The stream and the segments of a rank's ledger; none for other ledgers.
    fn run_of<'a>(&self, name: &'a str) -> Option<(&'a str, &Segments)> {
        let stream = stream_of(name)?;
        Some((stream, &self.0.get(stream)?.segments))
    }

    /// Why a ledger's ranks get no more of their run, if that has gone on with others.
    fn superseded(&self, registry: &Registry, name: &str) -> Option<LedgerError> {
        let (stream, segments) = self.run_of(name).filter(|_| registry.get(name).is_some_and(Ledger::has_ended))?;
        let LockstepSegment { epoch, step, world_size, .. } = *segments.current();
        Some(LedgerError::Fenced(format!(
            "{}Ledger {name:?} has ended: the run continues with {} from step {step} of epoch {epoch}. To change the \
             number of ranks again, restart all ranks and load a state on each.",
            shown(stream),
            ranks(world_size)
        )))
    }

    /// Refuses to go on with ranks of another number than the run has, which have loaded no state.
    pub(super) fn check_segment(&self, registry: &Registry, name: &str) -> Result<(), LedgerError> {
        let Some((stream, segments)) = self.run_of(name) else { return Ok(()) };
        let current = segments.current();
        let Some(ledger) = registry.get(name).filter(|ledger| ledger.segment() > current.generation) else {
            return Ok(());
        };
        let asked = ledger.plan().spec().lockstep.unwrap_or_default().world_size;
        let LockstepSegment { epoch, step, world_size, .. } = *current;
        let short = stream.split('/').nth(1).unwrap_or_default();
        Err(LedgerError::SpecMismatch(format!(
            "{}It is read by {} from step {step} of epoch {epoch}, but this rank is one of {asked}. Load a state of the run on each \
             rank before its first batch, use world_size {world_size}, or begin a new run: `forebay run new {short}` for a \
             service's stream, another \"run\" for a trainer with its own daemon.",
            shown(stream),
            ranks(world_size)
        )))
    }
}

/// Whether the current segment may have given a state before this step: a rank has counted something, or a state was taken
/// there, and no rank is further from it than receipts are late.
fn has_come_to(registry: &Registry, stream: &str, segment: &LockstepSegment, epoch: u64, step: u64) -> bool {
    let of_segment = |ledger: &&Ledger| {
        let world_size = ledger.plan().spec().lockstep.map(|rank| rank.world_size);
        (ledger.segment(), world_size) == (segment.generation, Some(segment.world_size))
    };
    let ranks = || registry.of_stream(stream).map(|(_, ledger)| ledger).filter(of_segment);
    let has_begun = |rank: &Ledger| rank.has_counted_from(segment.epoch, segment.step) || rank.has_mark(epoch, step);
    ranks().any(has_begun) && ranks().all(|rank| rank.is_near(epoch))
}

/// A page of the sums over all ledgers of a stream.
fn all_tallies(registry: &Registry, stream: &str, from_epoch: u64) -> (Vec<EpochTally>, bool) {
    let mut sums = BTreeMap::new();
    registry.of_stream(stream).for_each(|(_, ledger)| ledger.add_tallies(from_epoch, &mut sums));
    page(sums.into_iter().map(|(epoch, tallies)| tallies.message(epoch)))
}

/// All epochs below it are complete on all ranks. A rank that has no ledger yet has read nothing.
fn floor_of(registry: &mut Registry, stream: &str, segments: &Segments) -> u64 {
    let LockstepSegment { epoch, world_size, generation, .. } = *segments.current();
    let names = (0..world_size).map(|rank| {
        let part = EpochPart::Rank(LockstepRank { global_batch: 0, rank, world_size });
        format!("{stream}{}", EpochPart::name(Some(part), generation))
    });
    let floor = |name: String| registry.get_mut(&name).map_or(epoch, |ledger| ledger.progress().floor);
    names.map(floor).min().unwrap_or(epoch)
}

/// What a name has in common with those of all ledgers of its stream, the last slash included.
pub(super) fn stream_of(name: &str) -> Option<&str> {
    name.rfind('/').map(|end| &name[..=end])
}

/// A stream in the words of an error.
fn shown(stream: &str) -> String {
    let mut parts = stream.split('/');
    let (run, stream) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("Run {run:?} of stream {stream:?} is in lockstep. ")
}
