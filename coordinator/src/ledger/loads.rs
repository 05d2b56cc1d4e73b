//! States that trainers load. Several ranks may load the same one together: it is applied once (semantics rule 38).

use forebay_proto::v1::{RestoreReply, RestoreRequest, StoredLoad};
use prost::Message as _;

use super::Ledger;
use crate::call_error::CallError;

/// Loads that are remembered.
const LOADS: usize = 16;
/// Longest load id, in bytes.
const ID_LEN: usize = 200;

/// A state under a load id.
pub(crate) struct Load(StoredLoad);

impl Load {
    /// The state is known by its bytes.
    ///
    /// # Errors
    /// The id is too long, or no text for people.
    pub(crate) fn of(load_id: &str, state: &[u8]) -> Result<Self, CallError> {
        if load_id.len() > ID_LEN || load_id.contains(char::is_control) {
            return Err(CallError::Invalid(format!(
                "load_id has {} bytes; it may have at most {ID_LEN}, without control characters.",
                load_id.len()
            )));
        }
        let snapshot = blake3::derive_key("forebay load 1", state).to_vec();
        Ok(Self(StoredLoad { load_id: load_id.to_owned(), snapshot }))
    }
}

impl Ledger {
    /// Goes to a snapshot, unless that was done for another rank under the same load id. `continues`: see
    /// [`restore`](Self::restore).
    pub(crate) fn load_state(
        &mut self,
        worker: &str,
        request: &RestoreRequest,
        continues: bool,
        now: u64,
    ) -> Result<RestoreReply, CallError> {
        let RestoreRequest { snapshot, load_id, .. } = request;
        let snapshot =
            snapshot.as_ref().ok_or_else(|| CallError::Invalid("The request holds no snapshot.".to_owned()))?;
        if load_id.is_empty() {
            let instead = "Let all ranks load the state with the same load_id, which is new for each load.";
            self.sole_reader(worker, now, "A state without load_id is for a single reader", instead)?;
            return self.restore(snapshot, continues);
        }
        let load = Load::of(load_id, &snapshot.encode_to_vec())?;
        if self.has_loaded(&load)? {
            let failure = Some(self.failure.clone());
            return Ok(RestoreReply { progress: Some(self.progress()), failure, repeated: true });
        }
        let reply = self.restore(snapshot, continues)?;
        self.remember(load);
        Ok(reply)
    }

    /// Whether a state was loaded under this id.
    ///
    /// # Errors
    /// The id was used for another state.
    pub(crate) fn has_loaded(&self, load: &Load) -> Result<bool, CallError> {
        match self.loads.iter().find(|known| known.load_id == load.0.load_id) {
            Some(known) if known.snapshot == load.0.snapshot => Ok(true),
            Some(_) => Err(CallError::Invalid(format!(
                "load_id {:?} was used for another state. Each load needs a new one, which is equal on all ranks.",
                load.0.load_id
            ))),
            None => Ok(false),
        }
    }

    /// Notes a load after its restore, which has changed the ledger.
    pub(crate) fn remember(&mut self, load: Load) {
        let first = (self.loads.len() + 1).saturating_sub(LOADS);
        self.loads.drain(..first);
        self.loads.push(load.0);
    }
}
