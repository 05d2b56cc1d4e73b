//! A run's state, to keep with a checkpoint.

use forebay_proto::v1::Snapshot;
use prost::Message;
use thiserror::Error;

/// A snapshot of a run: a few hundred bytes, whatever the size of the dataset.
///
/// ```
/// use forebay_client::State;
/// assert!(State::from_bytes(b"something else").is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    snapshot: Snapshot,
}

/// The bytes are no state.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("these bytes are not a state of a Forebay run: {0}")]
pub struct StateError(String);

impl State {
    pub(crate) fn new(snapshot: Snapshot) -> Self {
        Self { snapshot }
    }

    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The epoch that the run is in: the first that is not complete.
    pub fn epoch(&self) -> u64 {
        self.snapshot.open.iter().map(|range| range.epoch).fold(self.snapshot.epoch, u64::min)
    }

    /// The first position that was never leased, in the order of its epoch; that may be the one after
    /// [`epoch`](Self::epoch).
    pub fn cursor(&self) -> u64 {
        self.snapshot.cursor
    }

    /// The beginning of an epoch of the same run. Epochs before it count as complete, and have no tally.
    #[must_use]
    pub fn at(&self, epoch: u64) -> Self {
        let snapshot = self.snapshot.clone();
        Self { snapshot: Snapshot { epoch, cursor: 0, open: Vec::new(), tallies: Vec::new(), ..snapshot } }
    }

    /// For a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.snapshot.encode_to_vec()
    }

    /// From a file.
    ///
    /// # Errors
    /// When it was not written by [`to_bytes`](Self::to_bytes).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        let snapshot = Snapshot::decode(bytes).map_err(|error| StateError(error.to_string()))?;
        if snapshot.spec.is_none() {
            return Err(StateError("they do not say which dataset they are of".to_owned()));
        }
        Ok(Self { snapshot })
    }
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::{EpochTally, LedgerSpec, OpenRange};

    use super::*;

    #[test]
    fn a_later_epoch_of_a_run_begins_with_nothing_read() {
        let spec = Some(LedgerSpec { records: 10, ..LedgerSpec::default() });
        let open = vec![OpenRange { epoch: 2, start: 1, end: 4, ..OpenRange::default() }];
        let tallies = vec![EpochTally { epoch: 2, ..EpochTally::default() }];
        let state =
            State::new(Snapshot { spec, epoch: 3, cursor: 7, open, tallies, generation: 5, ..Snapshot::default() });
        assert_eq!((state.epoch(), state.cursor()), (2, 7));
        let later = state.at(9);
        assert_eq!((later.epoch(), later.cursor()), (9, 0));
        assert!(later.snapshot().tallies.is_empty());
        assert_eq!((&later.snapshot().spec, later.snapshot().generation), (&state.snapshot().spec, 5));
    }
}
