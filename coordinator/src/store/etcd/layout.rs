//! The layout of documents in etcd: the keys, and what a commit puts and deletes. Pure.
//!
//! A document is one or several pieces, because etcd takes no large values. A commit that is too large for one transaction
//! is written ahead. First its pieces are written to a journal, which no process reads yet. The commit is made when the head
//! names this journal. Then its changes are carried out, in any number of transactions. The last one removes the journal's
//! name from the head.

use std::collections::{BTreeMap, HashMap};

use forebay_ledger::Change;

use crate::store::parts;

/// Most operations of a transaction. By default, etcd takes 128.
pub(super) const OPERATIONS: usize = 100;
/// Most bytes of a transaction's keys and values. By default, etcd takes a request of 1.5 MiB.
pub(super) const BYTES: usize = 1 << 20;
/// Most bytes of a value.
const PIECE: usize = 256 << 10;
/// Layout of the head.
const VERSION: u8 = 1;

/// One operation of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Put(String, Vec<u8>),
    Delete(String),
    /// Everything below.
    Clear(String),
}

/// Tells each attempt to commit from all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Attempt {
    /// The term in which it was made.
    pub term: u64,
    /// Counted in it.
    pub number: u64,
}

/// The document that each commit changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StoreHead {
    /// What changed it last.
    pub attempt: Attempt,
    /// How many pieces the journal of this attempt has, whose changes are not all carried out; 0 for no journal.
    pub journal: u32,
}

/// Keys, and how many pieces the documents have.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    prefix: String,
    /// Of documents with more than one.
    pieces: HashMap<String, usize>,
}

impl Layout {
    /// All keys begin with this.
    pub(super) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.trim_end_matches('/').to_owned(), pieces: HashMap::new() }
    }

    /// The key whose maker leads.
    pub(super) fn leader(&self) -> String {
        format!("{}/leader", self.prefix)
    }

    /// What the keys begin with by which replicas say what they read.
    pub(super) fn replicas(&self) -> String {
        format!("{}/replicas/", self.prefix)
    }

    pub(super) fn head(&self) -> String {
        format!("{}/head", self.prefix)
    }

    /// What the keys of documents begin with, if their own begin with `start`.
    pub(super) fn documents(&self, start: &str) -> String {
        format!("{}/documents/{start}", self.prefix)
    }

    /// What the keys of all journals begin with.
    pub(super) fn journals(&self) -> String {
        format!("{}/journal/", self.prefix)
    }

    /// What the keys of one journal begin with.
    pub(super) fn journal(&self, attempt: Attempt) -> String {
        format!("{}{:016x}-{:016x}/", self.journals(), attempt.term, attempt.number)
    }

    /// A key of a document's piece. Documents have no control characters in their keys, so these keys have the same order.
    fn piece(&self, key: &str, number: usize) -> String {
        format!("{}\0{number:08x}", self.documents(key))
    }

    /// What carries these changes out. No key is in it twice, as etcd demands.
    pub(super) fn operations(&self, changes: &[Change]) -> Vec<Operation> {
        let mut last: BTreeMap<&str, Option<&[u8]>> = BTreeMap::new();
        for change in changes {
            match change {
                Change::Put { key, value } => last.insert(key, Some(value)),
                Change::Delete { key } => last.insert(key, None),
            };
        }
        let mut operations = Vec::new();
        for (key, value) in last {
            let new: Vec<&[u8]> = value.map(pieces).unwrap_or_default();
            // A document that is not known to have several has at most one.
            let old = self.pieces.get(key).copied().unwrap_or(1);
            // From the last one down: if this takes several transactions, what is there in between has no gap.
            let stale = (new.len()..old).rev();
            operations.extend(
                new.iter().enumerate().map(|(number, piece)| Operation::Put(self.piece(key, number), piece.to_vec())),
            );
            operations.extend(stale.map(|number| Operation::Delete(self.piece(key, number))));
        }
        operations
    }

    /// These changes are there.
    pub(super) fn applied(&mut self, changes: &[Change]) {
        for change in changes {
            match change {
                Change::Put { key, value } if value.len() > PIECE => {
                    self.pieces.insert(key.clone(), pieces(value).len());
                }
                Change::Put { key, .. } | Change::Delete { key } => drop(self.pieces.remove(key)),
            }
        }
    }

    /// The documents in these pieces, which come in the order of their keys. Nothing if they are no pieces.
    pub(super) fn gather(&mut self, found: Vec<(Vec<u8>, Vec<u8>)>) -> Option<Vec<(String, Vec<u8>)>> {
        let before = self.documents("").len();
        let mut documents: Vec<(String, Vec<u8>)> = Vec::new();
        let mut count = 0;
        for (key, value) in found {
            let key = String::from_utf8(key).ok()?;
            let (name, number) = key.get(before..)?.split_once('\0')?;
            let number = usize::from_str_radix(number, 16).ok()?;
            match documents.last_mut() {
                Some((last, whole)) if last == name => {
                    count += 1;
                    (number == count).then_some(())?;
                    whole.extend(value);
                    self.pieces.insert(name.to_owned(), count + 1);
                }
                _ => {
                    (number == 0).then_some(())?;
                    count = 0;
                    self.pieces.remove(name);
                    documents.push((name.to_owned(), value));
                }
            }
        }
        Some(documents)
    }
}

impl StoreHead {
    pub(super) fn encode(self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend(self.attempt.term.to_le_bytes());
        bytes.extend(self.attempt.number.to_le_bytes());
        bytes.extend(self.journal.to_le_bytes());
        bytes
    }

    /// Nothing if another version has written it.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first()?;
        let (term, rest) = rest.split_first_chunk::<8>()?;
        let (number, rest) = rest.split_first_chunk::<8>()?;
        let journal = u32::from_le_bytes(rest.try_into().ok()?);
        let attempt = Attempt { term: u64::from_le_bytes(*term), number: u64::from_le_bytes(*number) };
        (*version == VERSION).then_some(Self { attempt, journal })
    }
}

impl Operation {
    fn size(&self) -> usize {
        match self {
            Self::Put(key, value) => key.len() + value.len(),
            Self::Delete(key) | Self::Clear(key) => key.len(),
        }
    }
}

/// Splits operations into transactions, each with room for the head as well.
pub(super) fn transactions(operations: Vec<Operation>) -> Vec<Vec<Operation>> {
    let mut all: Vec<Vec<Operation>> = Vec::new();
    let mut room = (0, 0);
    for operation in operations {
        let size = operation.size();
        if room.0 == 0 || room.1 < size {
            all.push(Vec::new());
            room = (OPERATIONS - 2, BYTES - PIECE);
        }
        room = (room.0 - 1, room.1.saturating_sub(size));
        all.last_mut().expect("it has just been made").push(operation);
    }
    all
}

/// The pieces of a journal with these changes.
pub(super) fn write_journal(changes: &[Change]) -> Vec<Vec<u8>> {
    let mut bytes = Vec::new();
    for change in changes {
        let (key, value) = match change {
            Change::Put { key, value } => (key, Some(value)),
            Change::Delete { key } => (key, None),
        };
        bytes.push(u8::from(value.is_some()));
        parts::put(&mut bytes, key.as_bytes());
        if let Some(value) = value {
            parts::put(&mut bytes, value);
        }
    }
    pieces(&bytes).into_iter().map(<[u8]>::to_vec).collect()
}

/// The changes of a journal. `None` if the bytes are no journal.
pub(super) fn read_journal(mut bytes: &[u8]) -> Option<Vec<Change>> {
    let mut changes = Vec::new();
    while let Some((is_put, rest)) = bytes.split_first() {
        bytes = rest;
        let key = String::from_utf8(parts::take(&mut bytes)?.to_vec()).ok()?;
        changes.push(match is_put {
            0 => Change::Delete { key },
            1 => Change::Put { key, value: parts::take(&mut bytes)?.to_vec() },
            _ => return None,
        });
    }
    Some(changes)
}

/// At least one, which may be empty.
fn pieces(value: &[u8]) -> Vec<&[u8]> {
    if value.is_empty() { vec![value] } else { value.chunks(PIECE).collect() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::{MemoryStore, Store as _};

    /// What etcd does with a transaction, as far as it is done here.
    #[derive(Default)]
    struct Map(BTreeMap<String, Vec<u8>>);

    impl Map {
        fn apply(&mut self, transaction: &[Operation]) {
            let mut keys = std::collections::BTreeSet::new();
            assert!(transaction.len() < OPERATIONS && transaction.iter().map(Operation::size).sum::<usize>() < BYTES);
            for operation in transaction {
                let (Operation::Put(key, _) | Operation::Delete(key) | Operation::Clear(key)) = operation;
                assert!(keys.insert(key.clone()), "etcd refuses a key that is in a transaction twice: {key}");
                match operation {
                    Operation::Put(key, value) => drop(self.0.insert(key.clone(), value.clone())),
                    Operation::Delete(key) => drop(self.0.remove(key)),
                    Operation::Clear(start) => self.0.retain(|key, _| !key.starts_with(start.as_str())),
                }
            }
        }

        fn below(&self, start: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
            let found = self.0.iter().filter(|(key, _)| key.starts_with(start));
            found.map(|(key, value)| (key.clone().into_bytes(), value.clone())).collect()
        }
    }

    fn change() -> impl Strategy<Value = Change> {
        let key = prop_oneof!["[abc]", "[abc]/[abc]"];
        let value = (any::<u8>(), prop_oneof![0..9_usize, PIECE - 1..PIECE + 2, 3 * PIECE..3 * PIECE + 2]);
        (key, proptest::option::of(value)).prop_map(|(key, value)| match value {
            Some((byte, len)) => Change::Put { key, value: vec![byte; len] },
            None => Change::Delete { key },
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn documents_of_any_size_are_what_was_put_last(
            commits in proptest::collection::vec(proptest::collection::vec(change(), 0..12), 1..8),
        ) {
            let (mut layout, mut map, mut model) = (Layout::new("/forebay/"), Map::default(), MemoryStore::new());
            for changes in commits {
                for part in transactions(layout.operations(&changes)) {
                    map.apply(&part);
                }
                layout.applied(&changes);
                model.commit(&changes).unwrap();
                let mut fresh = Layout::new("/forebay");
                for start in ["", "b/"] {
                    let found = fresh.gather(map.below(&fresh.documents(start))).unwrap();
                    prop_assert_eq!(found, model.load(start).unwrap());
                }
                // A fresh reader finds the same pieces as the writer has.
                prop_assert_eq!(&fresh.pieces, &layout.pieces);
                let journal = write_journal(&changes);
                prop_assert!(journal.iter().all(|piece| piece.len() <= PIECE));
                prop_assert_eq!(read_journal(&journal.concat()), Some(changes));
            }
        }

        #[test]
        fn bytes_of_anybody_are_a_journal_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let Some(changes) = read_journal(&bytes) {
                prop_assert_eq!(write_journal(&changes).concat(), bytes);
            }
        }
    }

    #[test]
    fn a_head_is_read_as_it_was_written_and_another_version_is_not() {
        let head = StoreHead { attempt: Attempt { term: 7, number: u64::MAX }, journal: 9 };
        let mut bytes = head.encode();
        assert_eq!(StoreHead::decode(&bytes), Some(head));
        assert_eq!(StoreHead::decode(&bytes[1..]), None);
        bytes[0] = 2;
        assert_eq!(StoreHead::decode(&bytes), None);
    }

    #[test]
    fn keys_that_are_no_pieces_are_not_taken_for_documents() {
        let mut layout = Layout::new("/f");
        let found = |keys: &[&str]| keys.iter().map(|key| (key.as_bytes().to_vec(), vec![])).collect();
        assert!(layout.gather(found(&["/f/documents/a\x0000000000"])).is_some());
        for wrong in [
            &["/f/documents/a"][..],
            &["/f/documents/a\x0000000001"],
            &["/f/documents/a\x0000000000", "/f/documents/a\x0000000002"],
            &["/f/documents/a\x00x"],
        ] {
            assert!(layout.gather(found(wrong)).is_none(), "{wrong:?}");
        }
    }
}
