//! What is open of each stream. Every stream has its own gate, so that opening, renewing or ending one stream does not
//! block the others.

use std::collections::BTreeMap;
use std::sync::Arc;

use forebay_pipeline::Stream;
use forebay_pipeline::settings::AskedPart;
use forebay_sources::Source;
use tokio::sync::RwLock;

use super::OpenError;
use super::attempt::Attempt;
use super::served::Served;

/// A stream of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StreamKey {
    pub(super) run: String,
    pub(super) stream: String,
}

/// Held by those who come in at a gate, and alone by the one who ends what is open there.
pub(super) type Turn = Arc<RwLock<()>>;

/// The gates of all streams. Nothing here waits.
#[derive(Debug, Default)]
pub(super) struct Gates {
    /// The daemon ends: nothing is opened any more.
    closed: bool,
    by_key: BTreeMap<StreamKey, Gate>,
}

/// One stream's gate.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate {
    turn: Turn,
    /// Its shards share one list of records.
    pub(super) dataset: Option<Attempt<Arc<dyn Source>>>,
    /// By shard or rank; a stream without them has one entry, without a number.
    pub(super) shards: BTreeMap<Option<AskedPart>, Attempt<Arc<Served>>>,
}

/// How it is with a stream that is not open.
#[derive(Clone, Debug)]
pub(super) enum Closed {
    /// Its dataset is open, and its first trainer says what else is needed.
    Waiting,
    /// It is being opened.
    Opening {
        /// Its dataset is open already: what is left is its ledger, its ring and its pipeline.
        dataset_open: bool,
    },
    /// It could not be opened.
    Failed(Arc<OpenError>),
}

/// Why nothing is opened at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shut {
    /// The stream ended meanwhile; it has another gate now.
    Replaced,
    /// The daemon ends.
    Ending,
}

impl Gates {
    /// The turn of a stream's gate, which is made if there is none.
    pub(super) fn turn(&mut self, key: &StreamKey) -> Turn {
        Arc::clone(&self.by_key.entry(key.clone()).or_default().turn)
    }

    /// The gate whose turn this is.
    pub(super) fn gate(&mut self, key: &StreamKey, turn: &Turn) -> Result<&mut Gate, Shut> {
        if self.closed {
            return Err(Shut::Ending);
        }
        self.by_key.get_mut(key).filter(|gate| Arc::ptr_eq(&gate.turn, turn)).ok_or(Shut::Replaced)
    }

    /// The attempt to open a stream's dataset, or a new one. `None` if there is no such gate any more.
    pub(super) fn dataset(
        &mut self,
        key: &StreamKey,
        begin: impl FnOnce() -> Attempt<Arc<dyn Source>>,
    ) -> Option<Attempt<Arc<dyn Source>>> {
        let gate = self.by_key.get_mut(key).filter(|_| !self.closed)?;
        Some(gate.dataset.get_or_insert_with(begin).clone())
    }

    /// Takes everything away from a gate. Its turn stays, for those who wait there.
    pub(super) fn empty(&mut self, key: &StreamKey) -> Gate {
        let Some(gate) = self.by_key.get_mut(key) else { return Gate::default() };
        let turn = Arc::clone(&gate.turn);
        std::mem::replace(gate, Gate { turn, ..Gate::default() })
    }

    /// Forgets one stream of a gate.
    fn forget(&mut self, key: &StreamKey, shard: Option<AskedPart>) {
        if let Some(gate) = self.by_key.get_mut(key) {
            gate.shards.remove(&shard);
        }
    }

    /// Removes a gate at which nothing is open or about to be.
    pub(super) fn remove_unused(&mut self, key: &StreamKey) {
        if self.by_key.get(key).is_some_and(|gate| gate.shards.values().all(Attempt::has_failed)) {
            self.by_key.remove(key);
        }
    }

    /// The stream that is open there.
    pub(super) fn running(&self, key: &StreamKey, shard: Option<AskedPart>) -> Option<Arc<Served>> {
        self.by_key.get(key)?.shards.get(&shard)?.settled()?.ok()
    }

    /// Takes a stream that runs away from its gate.
    pub(super) fn take(
        &mut self,
        key: &StreamKey,
        shard: Option<AskedPart>,
        condition: impl Fn(&Stream) -> bool,
    ) -> Option<Arc<Served>> {
        let served = self.running(key, shard).filter(|served| condition(&served.stream))?;
        self.forget(key, shard);
        Some(served)
    }

    /// Whether a stream is open there.
    pub(super) fn has_open(&self, key: &StreamKey) -> bool {
        let open = |attempt: &Attempt<Arc<Served>>| matches!(attempt.settled(), Some(Ok(_)));
        self.by_key.get(key).is_some_and(|gate| gate.shards.values().any(open))
    }

    /// All streams that are open.
    pub(super) fn open(&self) -> Vec<Arc<Served>> {
        let attempts = self.by_key.values().flat_map(|gate| gate.shards.values());
        attempts.filter_map(|attempt| attempt.settled()?.ok()).collect()
    }

    /// What of a stream is not open, by shard.
    pub(super) fn not_open(&self, key: &StreamKey) -> Vec<(Option<AskedPart>, Closed)> {
        let Some(gate) = self.by_key.get(key) else { return vec![(None, Closed::Waiting)] };
        let dataset_open = gate.dataset.as_ref().is_some_and(|attempt| matches!(attempt.settled(), Some(Ok(_))));
        let shards =
            gate.shards.iter().filter_map(|(shard, attempt)| Some((*shard, Closed::of(attempt, dataset_open)?)));
        let mut closed: Vec<_> = shards.collect();
        if gate.shards.is_empty() {
            let dataset = gate.dataset.as_ref().and_then(|attempt| Closed::of(attempt, dataset_open));
            closed.push((None, dataset.unwrap_or(Closed::Waiting)));
        }
        closed
    }

    /// Opens nothing more. Gives all that is open or about to be.
    pub(super) fn close(&mut self) -> Vec<(StreamKey, Gate)> {
        self.closed = true;
        self.by_key.iter().map(|(key, gate)| (key.clone(), gate.clone())).collect()
    }
}

impl Closed {
    fn of<T: Clone + Send + Sync + 'static>(attempt: &Attempt<T>, dataset_open: bool) -> Option<Self> {
        match attempt.settled() {
            Some(Ok(_)) => None,
            Some(Err(reason)) => Some(Self::Failed(reason)),
            None => Some(Self::Opening { dataset_open }),
        }
    }
}

impl Gate {
    /// The attempt to open a shard: the one that is there, or a new one. One that came to nothing is made again, from
    /// its dataset on.
    pub(super) fn stream(
        &mut self,
        shard: Option<AskedPart>,
        begin: impl FnOnce() -> Attempt<Arc<Served>>,
    ) -> Attempt<Arc<Served>> {
        if let Some(attempt) = self.shards.get(&shard).filter(|attempt| !attempt.has_failed()) {
            return attempt.clone();
        }
        self.forget_failed();
        let attempt = begin();
        self.shards.insert(shard, attempt.clone());
        attempt
    }

    /// Whether something is about to be opened.
    pub(super) fn is_opening(&self) -> bool {
        self.dataset.as_ref().is_some_and(Attempt::continues) || self.shards.values().any(Attempt::continues)
    }

    /// Forgets what failed, and a dataset that no stream could be opened with.
    pub(super) fn forget_failed(&mut self) {
        let unusable = !self.shards.is_empty() && self.shards.values().all(Attempt::has_failed);
        if unusable || self.dataset.as_ref().is_some_and(Attempt::has_failed) {
            self.dataset = None;
        }
        self.shards.retain(|_, attempt| !attempt.has_failed());
    }

    /// Ends all that is about to be opened, and gives what is open.
    pub(super) async fn call_off(&self) -> Vec<Arc<Served>> {
        let mut open = Vec::new();
        for attempt in self.shards.values() {
            open.extend(attempt.call_off().await);
        }
        if let Some(dataset) = &self.dataset {
            dataset.call_off().await;
        }
        open
    }
}
