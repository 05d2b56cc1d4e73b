//! The ledger of one (run, stream, shard or rank): a pure state machine without clock and without I/O.
//!
//! State is the cursor and its exceptions: leases that are out and ranges that came back. All other positions below the cursor
//! are complete. So the size of the state depends on what is out, never on the dataset's.

mod account;
mod by_plan;
mod damage;
mod documents;
mod grants;
mod leases;
mod lineage;
mod loads;
mod membership;
mod policies;
mod quarantine;
mod receipts;
mod shares;
mod snapshot;
mod states;
mod step;
mod steps;
mod terms;
mod times;
mod version;
mod views;
mod workers;

use std::sync::Arc;

use forebay_plan::{MAX_EPOCH, OrderTable, Plan, SelectionTable, SpecError, summary};
use forebay_proto::v1::{
    ClassNumbers, DatasetSummary, DescribeReply, GrainLengths, Progress, SelectedRecords, StoredHead, StoredWorker,
};
use prost::Message;

use self::account::{Account, EPOCH, MARK};
use self::damage::Damage;
use self::documents::{DocumentWriter, Revision};
use self::leases::Leases;
use self::lineage::Lineage;
use self::quarantine::{BAD, ENTRY, Quarantine};
use self::shares::{SHARES, Shares};
use self::terms::{CLASSES, GRAINS, SELECTED, SUMMARY, Terms};
use self::version::StoredVersion;
use self::workers::{WORKER, Workers};
use crate::change::Change;
use crate::error::LedgerError;

pub use self::times::Times;
pub(crate) use self::{loads::Load, quarantine::cut, version::OLDEST, views::HeldPositions};

/// The key of the document that each ledger has. Each part has something in it.
const HEAD: &str = "head";

/// Which worker reads which positions of which epoch, and what has been delivered.
///
/// `ledger-client/src/procedures.rs` calls it, with the time as an argument in milliseconds of any clock that does not go back: it never
/// looks at one. Leases expire by `expire` alone, when all that waited has been answered. What changed
/// since the last commit is taken out as documents by its owner, the coordinator's thread.
///
/// Each part knows what is stored of it, and what of that has changed. The commands, which need several parts, are in
/// `membership.rs`, `grants.rs`, `receipts.rs` and `states.rs`, and what only looks in `views.rs`.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// What its workers agreed on when they opened it.
    terms: Terms,
    /// How it is stored.
    version: StoredVersion,
    /// How it came to be where it is.
    lineage: Lineage,
    /// How far it was leased, and what is out or came back.
    leases: Leases,
    workers: Workers,
    /// What it has counted.
    account: Account,
    /// Which records were bad, and whether the run has failed.
    quarantine: Quarantine,
    /// What some groups of trainers have consumed and others have not.
    shares: Shares,
}

impl Ledger {
    /// A fresh ledger. `origin` makes its lease ids differ from those of another ledger for the same dataset, whose
    /// receipts may still be under way.
    pub(crate) fn new(plan: Plan, lease_size: u64, epochs: u64, origin: &[u8], times: Times) -> Self {
        let mut ledger = Self {
            terms: Terms::new(plan, lease_size, epochs, times),
            version: StoredVersion::new(),
            lineage: Lineage::new(),
            leases: Leases::new(origin),
            workers: Workers::default(),
            account: Account::default(),
            quarantine: Quarantine::default(),
            shares: Shares::default(),
        };
        ledger.settle();
        ledger
    }

    /// A ledger from all of its documents, keys without prefix, for a build that reads up to version `newest`. They are checked as
    /// input from outside.
    pub(crate) fn load(documents: &[(&str, &[u8])], newest: u32, times: Times, now: u64) -> Result<Self, Damage> {
        let find = |wanted: &str| documents.iter().find(|(key, _)| *key == wanted);
        let head: StoredHead = decode(HEAD, find(HEAD).ok_or(Damage::NoHead)?.1)?;
        let version = StoredVersion::load(&head, newest)?;
        let spec = head.spec.as_ref().ok_or(Damage::NoSpec)?;
        let grains = find(GRAINS).map(|(key, bytes)| decode::<GrainLengths>(key, bytes)).transpose()?;
        let classes = find(CLASSES).map(|(key, bytes)| decode::<ClassNumbers>(key, bytes)).transpose()?;
        let selected = find(SELECTED).map(|(key, bytes)| decode::<SelectedRecords>(key, bytes)).transpose()?;
        let table = OrderTable::read(spec, grains.as_ref(), classes.as_ref())?;
        let selection = SelectionTable::of_spec(spec, selected.as_ref()).map_err(SpecError::from)?;
        let mut ledger = Self {
            terms: Terms::load(Plan::with_selection(spec, table, selection)?, &head, times),
            version,
            lineage: Lineage::load(&head),
            leases: Leases::load(&head, now, times),
            workers: Workers::load(&head, now, times),
            account: Account::load(&head),
            quarantine: Quarantine::load(&head),
            shares: Shares::default(),
        };
        for (key, bytes) in documents.iter().filter(|(key, _)| !matches!(*key, HEAD | GRAINS | CLASSES | SELECTED)) {
            ledger.load_document(key, bytes, now)?;
        }
        let plan = ledger.plan();
        let tables = [
            (GRAINS, plan.grains().is_some()),
            (CLASSES, plan.classes().is_some()),
            (SELECTED, plan.selection().is_some()),
        ];
        for (key, is_planned) in tables {
            if find(key).is_some() && !is_planned {
                return Err(Damage::Unknown(key.to_owned()));
            }
        }
        let has_whole_steps = head.lease_size.is_multiple_of(plan.positions_of_step().unwrap_or(1));
        if head.lease_size == 0 || !has_whole_steps || head.epochs > MAX_EPOCH || head.generation > MAX_EPOCH {
            return Err(Damage::Number);
        }
        ledger.leases.check(&ledger.terms)?;
        if head.version == 1 {
            ledger.leases.owe_padding(&ledger.terms);
        }
        ledger.settle();
        Ok(ledger)
    }

    /// Takes in a document that is neither the head, nor a table of the order, nor the selected records.
    fn load_document(&mut self, key: &str, bytes: &[u8], now: u64) -> Result<(), Damage> {
        if let Some(name) = key.strip_prefix(WORKER) {
            let (name, deadline) = (Arc::from(name), now.saturating_add(self.terms.times().lease_ttl));
            let stored: StoredWorker = decode(key, bytes)?;
            self.leases.load_of(&name, &stored.leases, key, deadline)?;
            self.workers.load_worker(&name, stored, now);
        } else if key.starts_with(EPOCH) {
            self.account.load_epoch(&decode(key, bytes)?);
        } else if key.starts_with(MARK) {
            self.account.load_mark(&decode(key, bytes)?);
        } else if key.starts_with(ENTRY) {
            self.quarantine.load_entry(decode(key, bytes)?);
        } else if key.starts_with(BAD) {
            self.quarantine.load_bad(&decode(key, bytes)?).then_some(()).ok_or(Damage::Number)?;
        } else if key == SUMMARY {
            let summary: DatasetSummary = decode(key, bytes)?;
            if !summary::is_of(&summary, self.plan().dataset_records()) {
                return Err(Damage::Summary);
            }
            self.terms.load_summary(summary);
        } else if key == SHARES {
            let (last, _) = self.leases.cursor();
            self.shares = Shares::load(decode(key, bytes)?, last).ok_or(Damage::Shares)?;
        } else {
            return Err(Damage::Unknown(key.to_owned()));
        }
        Ok(())
    }

    /// The documents that changed since the last call, with keys that start with `prefix`.
    pub(crate) fn take_changes(&mut self, prefix: &str, changes: &mut Vec<Change>) {
        let Self { terms, version, lineage, leases, workers, account, quarantine, shares } = self;
        let documents = &mut DocumentWriter::new(prefix, changes);
        quarantine.write_changes(documents);
        account.write_changes(documents);
        workers.write_changes(leases.take_changed(), |holder| leases.stored_of(holder), documents);
        terms.write_changes(documents);
        shares.write_changes(documents);
        let revisions = [
            &mut terms.revision,
            &mut version.revision,
            &mut lineage.revision,
            &mut leases.revision,
            &mut workers.revision,
            &mut account.revision,
            &mut quarantine.revision,
            &mut shares.revision,
        ];
        if revisions.map(Revision::take_dirty).contains(&true) {
            documents.put(HEAD, Some(&self.head()));
        }
    }

    /// All of its documents, as they are.
    pub(crate) fn documents(&self, prefix: &str, changes: &mut Vec<Change>) {
        let documents = &mut DocumentWriter::new(prefix, changes);
        self.quarantine.write_all(documents);
        self.account.write_all(documents);
        self.workers.write_all(|holder| self.leases.stored_of(holder), documents);
        self.terms.write_all(documents);
        self.shares.write_all(documents);
        documents.put(HEAD, Some(&self.head()));
    }

    fn head(&self) -> StoredHead {
        let mut head = StoredHead { version: self.version.written(), ..StoredHead::default() };
        self.terms.fill_head(&mut head);
        self.lineage.fill_head(&mut head);
        self.leases.fill_head(&mut head);
        self.workers.fill_head(&mut head);
        self.account.fill_head(&mut head);
        self.quarantine.fill_head(&mut head);
        head
    }

    /// Rises with every durable change.
    fn revision(&self) -> u64 {
        let Self { terms, version, lineage, leases, workers, account, quarantine, shares } = self;
        let of_positions = [terms.revision, version.revision, lineage.revision, leases.revision, workers.revision];
        let of_sums = [account.revision, quarantine.revision, shares.revision];
        of_positions.iter().chain(&of_sums).map(Revision::changes).sum()
    }

    /// The plan of its spec.
    pub(crate) const fn plan(&self) -> &Plan {
        self.terms.plan()
    }

    /// Takes a summary of its dataset, unless it has one.
    pub fn describe(&mut self, summary: Option<DatasetSummary>) -> Result<DescribeReply, LedgerError> {
        let summary = summary.filter(|summary| summary::is_of(summary, self.plan().dataset_records()));
        let summary =
            summary.ok_or_else(|| LedgerError::Invalid("The summary does not belong to this dataset.".to_owned()))?;
        self.terms.describe(summary);
        Ok(DescribeReply { progress: Some(self.progress()) })
    }

    /// What the ledger knows of its epochs, settled.
    pub(crate) fn progress(&mut self) -> Progress {
        self.settle();
        Progress {
            floor: self.leases.floor(),
            drained: self.leases.drained(&self.terms),
            generation: self.lineage.generation(),
            failed: self.quarantine.has_failed(),
        }
    }

    /// See [`Leases::settle`].
    fn settle(&mut self) {
        self.leases.settle(&self.terms);
    }
}

fn decode<M: Message + Default>(key: &str, bytes: &[u8]) -> Result<M, Damage> {
    M::decode(bytes).map_err(|error| Damage::Undecodable { key: key.to_owned(), error })
}
