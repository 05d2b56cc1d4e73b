//! States that trainers load. Several ranks may load the same one together: it is applied once (semantics rules 23 and 38).

use forebay_proto::v1::{LoadedState, RestoreReply, RestoreRequest, Snapshot, StoredLoad, TrainerLoad};
use prost::Message as _;

use super::Ledger;
use crate::error::LedgerError;

/// Loads that are remembered.
const LOADS: usize = 16;
/// Longest load id, in bytes.
const ID_LEN: usize = 200;

/// The states that were loaded.
#[derive(Clone, Debug, Default)]
pub(super) struct Loads {
    /// The last ones with an id, the newest one last.
    pub(super) with_ids: Vec<StoredLoad>,
    /// The one that the run was taken to last, and who has loaded it.
    pub(super) last: Option<LoadedState>,
}

/// A state under a load id.
pub(crate) struct Load(StoredLoad);

/// What becomes of a load without an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    /// The run is taken to the state.
    Applied,
    /// A trainer that is attached has loaded the state.
    Repeated,
    /// A trainer that has loaded the state may come back.
    Awaits,
}

impl Loads {
    /// Whether a trainer has loaded the state that the run was taken to.
    pub(super) fn has(&self, trainer: u64) -> bool {
        self.last.iter().flat_map(|last| &last.loads).any(|load| load.trainer == trainer)
    }

    /// The run is taken to a state.
    fn begin(&mut self, snapshot: &[u8], load: TrainerLoad) {
        // A trainer without a number cannot be known again.
        let loads = Vec::from_iter((load.trainer != 0).then_some(load));
        self.last = Some(LoadedState { snapshot: snapshot.to_vec(), loads, round: 0 });
    }

    /// A trainer has loaded a state as well. False if the run was taken to another one last.
    fn join(&mut self, snapshot: &[u8], load: TrainerLoad) -> bool {
        let Some(last) = self.last.as_mut().filter(|last| last.snapshot == snapshot) else { return false };
        last.loads.retain(|known| known.trainer != load.trainer);
        last.loads.extend((load.trainer != 0).then_some(load));
        true
    }
}

impl Load {
    /// The state is known by its bytes.
    ///
    /// # Errors
    /// The id is too long, or no text for people.
    pub(crate) fn of(load_id: &str, state: &[u8]) -> Result<Self, LedgerError> {
        if load_id.len() > ID_LEN || load_id.contains(char::is_control) {
            return Err(LedgerError::Invalid(format!(
                "load_id has {} bytes; it may have at most {ID_LEN}, without control characters.",
                load_id.len()
            )));
        }
        Ok(Self(StoredLoad { load_id: load_id.to_owned(), snapshot: digest(state) }))
    }
}

impl Ledger {
    /// Goes to a snapshot, unless that was done before for this load, or for another rank. `continues`: see
    /// [`restore`](Self::restore).
    pub(crate) fn load_state(
        &mut self,
        worker: &str,
        request: &RestoreRequest,
        continues: bool,
        now: u64,
    ) -> Result<RestoreReply, LedgerError> {
        let RestoreRequest { snapshot, load_id, trainer, load_number, .. } = request;
        let snapshot =
            snapshot.as_ref().ok_or_else(|| LedgerError::Invalid("The request holds no snapshot.".to_owned()))?;
        let load = Load::of(load_id, &snapshot.encode_to_vec())?;
        let of_trainer = TrainerLoad { trainer: *trainer, number: *load_number };
        let decision = if load_id.is_empty() {
            let instead = "Let all ranks load the state with the same load_id, which is new for each load.";
            self.sole_reader(worker, now, "A state without load_id is for a single reader", instead)?;
            self.decide(worker, &load, of_trainer, now)
        } else if self.has_loaded(&load)? {
            Decision::Repeated
        } else {
            Decision::Applied
        };
        match decision {
            Decision::Applied => self.apply(snapshot, load, of_trainer, continues),
            Decision::Repeated => {
                if self.loads.join(&load.0.snapshot, of_trainer) {
                    self.touch();
                }
                Ok(self.unchanged(true))
            }
            Decision::Awaits => Ok(self.unchanged(false)),
        }
    }

    /// What becomes of a load without an id. Only trainers of the worker count: no other one has any.
    fn decide(&self, worker: &str, load: &Load, of_trainer: TrainerLoad, now: u64) -> Decision {
        let TrainerLoad { trainer, number } = of_trainer;
        let last = self.loads.last.as_ref().filter(|last| last.snapshot == load.0.snapshot && trainer != 0);
        let Some(last) = last else { return Decision::Applied };
        if let Some(own) = last.loads.iter().find(|known| known.trainer == trainer) {
            // A trainer asks once more after its daemon's death. A further load of its own takes the run back.
            return if number > own.number { Decision::Applied } else { Decision::Repeated };
        }
        let here = self.workers.get(worker).and_then(|worker| worker.trainers.as_ref());
        let is_here = |known: &&TrainerLoad| here.is_some_and(|here| here.contains(&known.trainer));
        let is_awaited = |known: &&TrainerLoad| self.missing.is_awaited(worker, known.trainer, now);
        if last.loads.iter().any(|known| is_here(&known)) {
            Decision::Repeated
        } else if last.loads.iter().any(|known| is_awaited(&known)) {
            Decision::Awaits
        } else {
            Decision::Applied
        }
    }

    fn apply(
        &mut self,
        snapshot: &Snapshot,
        load: Load,
        of_trainer: TrainerLoad,
        continues: bool,
    ) -> Result<RestoreReply, LedgerError> {
        let reply = self.restore(snapshot, continues)?;
        let has_id = !load.0.load_id.is_empty();
        // An id says that it is another load. Who has loaded the same state without one stays known.
        if !has_id || !self.loads.join(&load.0.snapshot, of_trainer) {
            self.loads.begin(&load.0.snapshot, of_trainer);
            self.forget_missing();
        }
        if has_id {
            self.remember(load);
        }
        Ok(reply)
    }

    /// The reply to a load that was applied before, or that is to be asked for again.
    fn unchanged(&mut self, repeated: bool) -> RestoreReply {
        let (progress, failure) = (Some(self.progress()), Some(self.failure.clone()));
        RestoreReply { progress, failure, repeated, awaits_trainers: !repeated }
    }

    /// Whether a state was loaded under this id.
    ///
    /// # Errors
    /// The id was used for another state.
    pub(crate) fn has_loaded(&self, load: &Load) -> Result<bool, LedgerError> {
        match self.loads.with_ids.iter().find(|known| known.load_id == load.0.load_id) {
            Some(known) if known.snapshot == load.0.snapshot => Ok(true),
            Some(_) => Err(LedgerError::Invalid(format!(
                "load_id {:?} was used for another state. Each load needs a new one, which is equal on all ranks.",
                load.0.load_id
            ))),
            None => Ok(false),
        }
    }

    /// Notes a load after its restore, which has changed the ledger.
    pub(crate) fn remember(&mut self, load: Load) {
        let known = &mut self.loads.with_ids;
        let first = (known.len() + 1).saturating_sub(LOADS);
        known.drain(..first);
        known.push(load.0);
    }

    /// The state that the run was taken to last, as a hash, and the round of this load.
    pub(crate) fn loaded_state(&self) -> Option<(&[u8], u64)> {
        self.loads.last.as_ref().map(|last| (&*last.snapshot, last.round))
    }

    /// The round in which the run was taken to this state. None if it was taken to another one last.
    pub(crate) fn round_of(&self, state: &Snapshot) -> Option<u64> {
        let (loaded, round) = self.loaded_state()?;
        (loaded == digest(&state.encode_to_vec())).then_some(round)
    }

    /// The run was taken to the state of the last load in this round.
    pub(crate) fn begin_round(&mut self, round: u64) {
        if let Some(last) = self.loads.last.as_mut().filter(|last| last.round != round) {
            last.round = round;
            self.touch();
        }
    }

    /// These trainers have not loaded the run's state any more: they are gone.
    pub(super) fn strike_off(&mut self, is_gone: impl Fn(u64) -> bool) {
        if let Some(last) = &mut self.loads.last {
            last.loads.retain(|load| !is_gone(load.trainer));
        }
    }
}

/// A state as a hash of its bytes.
fn digest(state: &[u8]) -> Vec<u8> {
    blake3::derive_key("forebay load 1", state).to_vec()
}
