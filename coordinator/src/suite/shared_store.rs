//! A memory store that outlives its coordinator, and fails in every way that the contract of stores allows.

use std::sync::Arc;

use forebay_ledger::Change;
use parking_lot::Mutex;

use crate::store::{MemoryStore, Store, StoreError};

/// See the module. Clones are the same store.
#[derive(Clone, Debug, Default)]
pub struct SharedStore(Arc<Mutex<SharedState>>);

#[derive(Debug, Default)]
struct SharedState {
    inner: MemoryStore,
    commits: u64,
    fail_at: Option<(u64, CommitFailure)>,
    full: bool,
    /// Changes on their way, which arrive just before the next commit.
    late: Option<Vec<Change>>,
    term: u64,
    /// Whether it is unknown which process leads.
    is_unsure: bool,
    /// Which of two replicas leads.
    leader: usize,
    names: [String; 2],
    /// The newest version of ledgers that all replicas read.
    read_by_replicas: u32,
}

/// How a commit fails.
#[derive(Clone, Copy, Debug)]
pub enum CommitFailure {
    /// Nothing was written, and that is known.
    Failed,
    /// Nothing was written, and the caller does not learn that.
    Before,
    /// All was written, but the answer was lost.
    After,
    /// All is written just before the next commit, which fails because of it.
    Late,
    /// Another process leads, and a moment later this one leads again.
    Deposed,
}

/// One of two processes with a store.
#[derive(Debug)]
pub struct Replica {
    store: SharedStore,
    number: usize,
}

impl SharedStore {
    /// Lets the commit with this number, counted from 1 and from now on, fail.
    pub fn fail_at(&self, commit: u64, failure: CommitFailure) {
        let mut shared = self.0.lock();
        shared.fail_at = Some((shared.commits + commit, failure));
    }

    /// Lets every commit fail until further notice, as a full disk does.
    pub fn fill(&self, full: bool) {
        self.0.lock().full = full;
    }

    /// Sets whether it is unknown which process leads, as with an etcd that does not answer. The term stays the same.
    pub fn make_unsure(&self, is_unsure: bool) {
        self.0.lock().is_unsure = is_unsure;
    }

    /// How many commits were attempted.
    pub fn commits(&self) -> u64 {
        self.0.lock().commits
    }

    /// All documents, by key.
    ///
    /// # Panics
    ///
    /// Never: a map can be read.
    pub fn documents(&self) -> Vec<(String, Vec<u8>)> {
        self.0.lock().inner.load("").expect("a map can be read")
    }

    /// Replaces all documents.
    ///
    /// # Panics
    ///
    /// Never: a map can be written.
    pub fn set(&self, documents: &[(String, Vec<u8>)]) {
        let mut shared = self.0.lock();
        shared.inner = MemoryStore::new();
        let put = |(key, value): &(String, Vec<u8>)| Change::Put { key: key.clone(), value: value.clone() };
        shared.inner.commit(&documents.iter().map(put).collect::<Vec<_>>()).expect("a map can be written");
    }

    /// The store as one of two processes has it.
    pub fn replica(&self, number: usize) -> Replica {
        Replica { store: self.clone(), number }
    }

    /// Where the two replicas are reached.
    pub fn name_replicas(&self, names: [String; 2]) {
        self.0.lock().names = names;
    }

    /// All replicas read ledgers up to this version.
    pub fn replicas_read(&self, version: u32) {
        self.0.lock().read_by_replicas = version;
    }

    /// Lets another replica lead.
    pub fn elect(&self, number: usize) {
        let mut shared = self.0.lock();
        shared.leader = number;
        shared.term += 1;
    }
}

impl Store for SharedStore {
    fn term(&mut self) -> Result<u64, StoreError> {
        let shared = self.0.lock();
        if shared.is_unsure {
            return Err(StoreError::new("Asking who leads", "no answer"));
        }
        Ok(shared.term)
    }

    fn commands_at_once(&self) -> usize {
        usize::MAX
    }

    fn load(&mut self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        self.0.lock().inner.load(prefix)
    }

    fn commit(&mut self, changes: &[Change]) -> Result<(), StoreError> {
        let mut shared = self.0.lock();
        shared.commits += 1;
        if shared.full {
            return Err(StoreError::new("Writing to a store that is full", "no room"));
        }
        if let Some(late) = shared.late.take() {
            shared.inner.commit(&late)?;
            return Err(StoreError::new("Writing to a store that has changed", "it broke"));
        }
        let failure = shared.fail_at.filter(|(at, _)| *at == shared.commits).map(|(_, failure)| failure);
        let error = StoreError::new("Writing to a store that breaks", "it broke");
        match failure {
            None => return shared.inner.commit(changes),
            Some(CommitFailure::Failed) => return Err(error),
            Some(CommitFailure::Before) => {}
            Some(CommitFailure::After) => shared.inner.commit(changes)?,
            Some(CommitFailure::Late) => shared.late = Some(changes.to_vec()),
            Some(CommitFailure::Deposed) => {
                shared.term += 1;
                return Err(error.not_leader(Some("http://other:1".to_owned())));
            }
        }
        Err(error.unknown())
    }
}

impl Replica {
    fn leads(&self) -> Result<u64, StoreError> {
        let shared = self.store.0.lock();
        if shared.is_unsure {
            return Err(StoreError::new("Asking who leads", "no answer"));
        }
        if shared.leader == self.number {
            return Ok(shared.term + 1);
        }
        let leader = shared.names[shared.leader].clone();
        Err(StoreError::new("Reading a store", "another process leads").not_leader(Some(leader)))
    }
}

impl Store for Replica {
    fn term(&mut self) -> Result<u64, StoreError> {
        self.leads()
    }

    fn commands_at_once(&self) -> usize {
        self.store.commands_at_once()
    }

    fn load(&mut self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        self.leads()?;
        self.store.load(prefix)
    }

    fn commit(&mut self, changes: &[Change]) -> Result<(), StoreError> {
        self.leads()?;
        self.store.commit(changes)
    }

    fn read_by_replicas(&self) -> u32 {
        self.store.0.lock().read_by_replicas
    }
}
