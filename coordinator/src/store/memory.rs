//! Documents in memory: the reference for other stores, and for ledgers that need not outlive the process.

use std::collections::BTreeMap;

use forebay_ledger::Change;

use super::{Store, StoreError};

/// A map. Clones are copies of what it holds at that moment.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    documents: BTreeMap<String, Vec<u8>>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Store for MemoryStore {
    fn term(&mut self) -> Result<u64, StoreError> {
        Ok(0)
    }

    fn commands_at_once(&self) -> usize {
        usize::MAX
    }

    fn load(&mut self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let rest = self.documents.range(prefix.to_owned()..);
        Ok(rest.take_while(|(key, _)| key.starts_with(prefix)).map(|(k, v)| (k.clone(), v.clone())).collect())
    }

    fn commit(&mut self, changes: &[Change]) -> Result<(), StoreError> {
        for change in changes {
            match change {
                Change::Put { key, value } => self.documents.insert(key.clone(), value.clone()),
                Change::Delete { key } => self.documents.remove(key),
            };
        }
        Ok(())
    }
}
