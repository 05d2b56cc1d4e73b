//! States that trainers load. Several ranks may load the same one together: it is applied once (semantics rule 38).

use forebay_proto::v1::{RestoreReply, RestoreRequest, StoredLoad};
use prost::Message as _;

use super::Ledger;
use crate::call_error::CallError;

/// Loads that are remembered.
const LOADS: usize = 16;
/// Longest load id, in bytes.
const ID_LEN: usize = 200;

impl Ledger {
    /// Goes to a snapshot, unless that was done for another rank under the same load id.
    pub(crate) fn load_state(
        &mut self,
        worker: &str,
        request: &RestoreRequest,
        now: u64,
    ) -> Result<RestoreReply, CallError> {
        let RestoreRequest { snapshot, load_id, .. } = request;
        let snapshot =
            snapshot.as_ref().ok_or_else(|| CallError::Invalid("The request holds no snapshot.".to_owned()))?;
        if load_id.is_empty() {
            let instead = "Let all ranks load the state with the same load_id, which is new for each load.";
            self.sole_reader(worker, now, "A state without load_id is for a single reader", instead)?;
            return self.restore(snapshot);
        }
        if load_id.len() > ID_LEN || load_id.contains(char::is_control) {
            return Err(CallError::Invalid(format!(
                "load_id has {} bytes; it may have at most {ID_LEN}, without control characters.",
                load_id.len()
            )));
        }
        let hash = blake3::derive_key("forebay load 1", &snapshot.encode_to_vec());
        match self.loads.iter().find(|load| load.load_id == *load_id) {
            Some(load) if load.snapshot == hash => {
                let failure = Some(self.failure.clone());
                return Ok(RestoreReply { progress: Some(self.progress()), failure, repeated: true });
            }
            Some(_) => {
                return Err(CallError::Invalid(format!(
                    "load_id {load_id:?} was used for another state. Each load needs a new one, which is equal on all ranks."
                )));
            }
            None => {}
        }
        let reply = self.restore(snapshot)?;
        let first = (self.loads.len() + 1).saturating_sub(LOADS);
        self.loads.drain(..first);
        self.loads.push(StoredLoad { load_id: load_id.clone(), snapshot: hash.to_vec() });
        Ok(reply)
    }
}
