//! States that trainers load. Several ranks may load the same one together: it is applied once (semantics rules 23 and 38).

use forebay_proto::v1::{LoadedState, Snapshot, StoredLoad, TrainerLoad};
use prost::Message as _;

use crate::error::LedgerError;

/// Loads that are remembered.
const LOADS: usize = 16;
/// Longest load id, in bytes.
const ID_LEN: usize = 200;

/// The states that were loaded.
#[derive(Clone, Debug, Default)]
pub(super) struct Loads {
    /// The last ones with an id, the newest one last.
    with_ids: Vec<StoredLoad>,
    /// The one that the run was taken to last, and who has loaded it.
    last: Option<LoadedState>,
}

/// A state under a load id.
pub(crate) struct Load(StoredLoad);

/// What becomes of a load without an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoadDecision {
    /// The run is taken to the state.
    Applied,
    /// A trainer that is attached has loaded the state.
    Repeated,
    /// A trainer that has loaded the state may come back.
    Awaits,
}

impl Loads {
    /// From what is stored.
    pub(super) const fn of(with_ids: Vec<StoredLoad>, last: Option<LoadedState>) -> Self {
        Self { with_ids, last }
    }

    pub(super) fn stored(&self) -> (Vec<StoredLoad>, Option<LoadedState>) {
        (self.with_ids.clone(), self.last.clone())
    }

    /// Whether a trainer has loaded the state that the run was taken to.
    pub(super) fn has(&self, trainer: u64) -> bool {
        self.last.iter().flat_map(|last| &last.loads).any(|load| load.trainer == trainer)
    }

    /// Whether a state was loaded under this id.
    ///
    /// # Errors
    /// The id was used for another state.
    pub(super) fn has_loaded(&self, load: &Load) -> Result<bool, LedgerError> {
        match self.with_ids.iter().find(|known| known.load_id == load.0.load_id) {
            Some(known) if known.snapshot == load.0.snapshot => Ok(true),
            Some(_) => Err(LedgerError::Invalid(format!(
                "load_id {:?} was used for another state. Each load needs a new one, which is equal on all ranks.",
                load.0.load_id
            ))),
            None => Ok(false),
        }
    }

    /// What becomes of a load without an id. Only trainers of its worker count, because no other worker has any: those that are
    /// attached there, and those that may come back.
    pub(super) fn decide(
        &self,
        load: &Load,
        of_trainer: TrainerLoad,
        is_attached: impl Fn(u64) -> bool,
        is_awaited: impl Fn(u64) -> bool,
    ) -> LoadDecision {
        let TrainerLoad { trainer, number } = of_trainer;
        let last = self.last.as_ref().filter(|last| last.snapshot == load.0.snapshot && trainer != 0);
        let Some(last) = last else { return LoadDecision::Applied };
        if let Some(own) = last.loads.iter().find(|known| known.trainer == trainer) {
            // A trainer asks once more after its daemon's death. A further load of its own takes the run back.
            return if number > own.number { LoadDecision::Applied } else { LoadDecision::Repeated };
        }
        if last.loads.iter().any(|known| is_attached(known.trainer)) {
            LoadDecision::Repeated
        } else if last.loads.iter().any(|known| is_awaited(known.trainer)) {
            LoadDecision::Awaits
        } else {
            LoadDecision::Applied
        }
    }

    /// The run is taken to a state.
    pub(super) fn begin(&mut self, load: &Load, of_trainer: TrainerLoad) {
        // A trainer without a number cannot be known again.
        let loads = Vec::from_iter((of_trainer.trainer != 0).then_some(of_trainer));
        self.last = Some(LoadedState { snapshot: load.0.snapshot.clone(), loads, round: 0 });
    }

    /// Whether the run was taken to this state last.
    pub(super) fn is_last(&self, load: &Load) -> bool {
        self.last.as_ref().is_some_and(|last| last.snapshot == load.0.snapshot)
    }

    /// A trainer has loaded the state that the run was taken to last as well.
    pub(super) fn join(&mut self, of_trainer: TrainerLoad) {
        if let Some(last) = &mut self.last {
            last.loads.retain(|known| known.trainer != of_trainer.trainer);
            last.loads.extend((of_trainer.trainer != 0).then_some(of_trainer));
        }
    }

    /// Notes a load after its restore.
    pub(super) fn remember(&mut self, load: Load) {
        let first = (self.with_ids.len() + 1).saturating_sub(LOADS);
        self.with_ids.drain(..first);
        self.with_ids.push(load.0);
    }

    /// The state that the run was taken to last, as a hash, and the round of this load.
    pub(super) fn last(&self) -> Option<(&[u8], u64)> {
        self.last.as_ref().map(|last| (&*last.snapshot, last.round))
    }

    /// The round in which the run was taken to this state. None if it was taken to another one last.
    pub(super) fn round_of(&self, state: &Snapshot) -> Option<u64> {
        let (loaded, round) = self.last()?;
        (loaded == digest(&state.encode_to_vec())).then_some(round)
    }

    /// The run was taken to the state of the last load in this round.
    pub(super) fn begin_round(&mut self, round: u64) {
        if let Some(last) = &mut self.last {
            last.round = round;
        }
    }

    /// These trainers have not loaded the run's state any more: they are gone.
    pub(super) fn strike_off(&mut self, is_gone: impl Fn(u64) -> bool) {
        if let Some(last) = &mut self.last {
            last.loads.retain(|load| !is_gone(load.trainer));
        }
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

    /// Whether it has an id, which says that it is another load.
    pub(super) const fn has_id(&self) -> bool {
        !self.0.load_id.is_empty()
    }
}

/// A state as a hash of its bytes.
fn digest(state: &[u8]) -> Vec<u8> {
    blake3::derive_key("forebay load 1", state).to_vec()
}
