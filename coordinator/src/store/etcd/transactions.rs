//! Reads and commits. Each transaction is guarded by the key of the leader and by the head, so that it is applied only in the
//! term and on the state that it was made for.

use std::sync::Arc;

use forebay_ledger::Change;
use forebay_proto::etcd::compare::{CompareResult, CompareTarget, TargetUnion};
use forebay_proto::etcd::request_op::Request;
use forebay_proto::etcd::response_op::Response;
use forebay_proto::etcd::{
    Compare, DeleteRangeRequest, KeyValue, PutRequest, RangeRequest, RequestOp, ResponseHeader, TxnRequest, TxnResponse,
};

use super::layout::{self, Attempt, Layout, Operation, StoreHead};
use super::leadership::Leadership;
use super::members::{CallFault, Members};
use crate::store::StoreError;

/// Keys of one answer. Values are at most 256 KiB.
const PAGE: i64 = 64;
/// How often something is tried that may be done twice.
const TRIES: usize = 3;

/// See the module.
pub(super) struct Transactions {
    members: Members,
    leadership: Arc<Leadership>,
    layout: Layout,
    /// What the next commit is made on.
    base: Option<Base>,
    /// Attempts so far.
    attempts: u64,
}

/// The store as this process knows it.
struct Base {
    term: u64,
    head: StoreHead,
    /// The revision in which the head was changed last; 0 if there is none.
    revision: i64,
    /// Changes of a commit that are in the journal, and not all carried out.
    pending: Vec<Change>,
}

impl Transactions {
    pub(super) fn new(layout: Layout, members: Members, leadership: Arc<Leadership>) -> Self {
        Self { members, leadership, layout, base: None, attempts: 0 }
    }

    /// All documents whose keys begin so. What a commit has left to carry out is carried out first.
    pub(super) async fn load(&mut self, start: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let term = self.leadership.term()?;
        let mut documents = self.read(term).await?;
        if self.base.as_ref().is_some_and(|base| base.head.journal > 0) {
            self.settle().await?;
            documents = self.read(term).await?;
        }
        documents.retain(|(key, _)| key.starts_with(start));
        // The documents that were read are valid only if this process still leads.
        self.leadership.term()?;
        Ok(documents)
    }

    /// Applies all changes at once.
    pub(super) async fn commit(&mut self, changes: &[Change]) -> Result<(), StoreError> {
        let term = self.leadership.term()?;
        // Other coordinators may have changed the documents since an earlier term, so changes that were made from them are
        // not written.
        let is_stale = self.base.take_if(|base| base.term != term).is_some();
        if is_stale && !changes.is_empty() {
            return Err(StoreError::new(
                "Writing to etcd",
                "another coordinator may have led meanwhile; it is read first",
            ));
        }
        if self.base.is_none() {
            self.read(term).await?;
        }
        self.settle().await?;
        let attempt = self.next_attempt(term);
        let mut parts = layout::transactions(self.layout.operations(changes));
        if parts.len() <= 1 {
            let operations = parts.pop().unwrap_or_default();
            self.change(StoreHead { attempt, journal: 0 }, operations, Vec::new()).await?;
            self.layout.applied(changes);
            return Ok(());
        }
        let pieces = layout::write_journal(changes);
        let journal = u32::try_from(pieces.len()).map_err(|_| StoreError::new("Writing to etcd", "it is too large"))?;
        for (number, piece) in pieces.into_iter().enumerate() {
            let key = format!("{}{number:08x}", self.layout.journal(attempt));
            // No process reads it before the head names it.
            self.guarded(&[Operation::Put(key, piece)]).await?;
        }
        self.change(StoreHead { attempt, journal }, Vec::new(), changes.to_vec()).await?;
        // The commit is made. If carrying it out fails now, it is done before any later work.
        if let Err(error) = self.settle().await {
            tracing::warn!(%error, "a large commit is not carried out yet");
        }
        Ok(())
    }

    /// Reads the head and all documents, as they are at one moment.
    async fn read(&mut self, term: u64) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let head = self.layout.head();
        let request = RangeRequest { key: head.into_bytes(), ..RangeRequest::default() };
        let reply = self.members.call(async |way| way.range(request.clone()).await).await;
        let mut reply = reply.map_err(|fault| reading(fault.words()))?;
        let moment = revision_of(reply.header);
        let (head, revision) = match reply.kvs.pop() {
            None => (StoreHead::default(), 0),
            Some(found) => (self.decode(&found)?, found.mod_revision),
        };
        let found = self.range(&self.layout.documents(""), moment).await?;
        let documents =
            self.layout.gather(found).ok_or_else(|| reading("a key there does not belong to a document"))?;
        let mut pending = Vec::new();
        if head.journal > 0 {
            let pieces = self.range(&self.layout.journal(head.attempt), moment).await?;
            let whole = pieces.len() == head.journal as usize;
            let bytes: Vec<u8> = pieces.into_iter().flat_map(|(_, piece)| piece).collect();
            pending = layout::read_journal(&bytes)
                .filter(|_| whole)
                .ok_or_else(|| reading("the journal of a commit is damaged"))?;
        }
        let is_new = self.base.as_ref().is_none_or(|base| base.term != term);
        self.base = Some(Base { term, head, revision, pending });
        if is_new && head.journal == 0 {
            self.clear_journals(term).await?;
        }
        Ok(documents)
    }

    /// Keys and values below a key, as they were at a revision.
    async fn range(&mut self, start: &str, moment: i64) -> Result<Vec<(Vec<u8>, Vec<u8>)>, StoreError> {
        let (mut from, mut all) = (start.as_bytes().to_vec(), Vec::new());
        loop {
            let request = RangeRequest { key: from, range_end: behind(start), limit: PAGE, revision: moment };
            let page = self.members.call(async |way| way.range(request.clone()).await).await;
            let page = page.map_err(|fault| reading(fault.words()))?;
            all.extend(page.kvs.into_iter().map(|found| (found.key, found.value)));
            match all.last() {
                Some((last, _)) if page.more => from = [last.as_slice(), &[0]].concat(),
                _ => return Ok(all),
            }
        }
    }

    fn decode(&self, found: &KeyValue) -> Result<StoreHead, StoreError> {
        let wrong = || reading(format!("{} is of another version of Forebay, or no head", self.layout.head()));
        StoreHead::decode(&found.value).ok_or_else(wrong)
    }

    /// Carries out what a commit has left.
    async fn settle(&mut self) -> Result<(), StoreError> {
        let Some(base) = self.base.as_ref().filter(|base| base.head.journal > 0) else { return Ok(()) };
        let (term, done) = (base.term, base.head.attempt);
        for part in layout::transactions(self.layout.operations(&base.pending)) {
            self.guarded(&part).await?;
        }
        let head = StoreHead { attempt: self.next_attempt(term), journal: 0 };
        let pending = self.base.as_mut().map(|base| std::mem::take(&mut base.pending)).unwrap_or_default();
        let clear = vec![Operation::Clear(self.layout.journal(done))];
        match self.change(head, clear, Vec::new()).await {
            Ok(()) => {
                self.layout.applied(&pending);
                Ok(())
            }
            Err(error) => {
                // The next call reads it again.
                self.base = None;
                // This error concerns an earlier commit, not the one that is asked for now.
                Err(StoreError::new("Carrying out a large commit", error))
            }
        }
    }

    /// Deletes pieces of commits that were never made. The head changes with it: if this came again later, it would delete the
    /// journal of a commit that was made meanwhile.
    async fn clear_journals(&mut self, term: u64) -> Result<(), StoreError> {
        let head = StoreHead { attempt: self.next_attempt(term), journal: 0 };
        let clear = vec![Operation::Clear(self.layout.journals())];
        self.change(head, clear, Vec::new()).await.map_err(|error| {
            // The next call reads it again.
            self.base = None;
            // This error concerns an earlier commit, not the one that is asked for now.
            StoreError::new("Deleting what was left in etcd", error)
        })
    }

    fn next_attempt(&mut self, term: u64) -> Attempt {
        self.attempts += 1;
        Attempt { term, number: self.attempts }
    }

    /// Does what may be done twice and changes no head. It is tried several times.
    async fn guarded(&mut self, operations: &[Operation]) -> Result<(), StoreError> {
        let mut tries = TRIES;
        loop {
            tries -= 1;
            match self.send(operations.to_vec()).await {
                Ok(reply) if reply.succeeded => return Ok(()),
                Ok(reply) => return Err(self.overtaken(&reply)),
                Err(CallFault::Lost(_)) if tries > 0 => {}
                Err(fault) => return Err(StoreError::new("Writing to etcd", fault.words())),
            }
        }
    }

    /// Changes the head, and whatever else. If the answer is lost, the head says whether it was applied: it is looked up by the
    /// number of the attempt, and nothing is sent twice.
    async fn change(
        &mut self,
        head: StoreHead,
        mut operations: Vec<Operation>,
        pending: Vec<Change>,
    ) -> Result<(), StoreError> {
        operations.push(Operation::Put(self.layout.head(), head.encode()));
        let revision = match self.send(operations).await {
            Ok(reply) if reply.succeeded => revision_of(reply.header),
            Ok(reply) => return Err(self.overtaken(&reply)),
            Err(CallFault::Refused(why)) => return Err(StoreError::new("Writing to etcd", why)),
            Err(CallFault::Lost(why)) => match self.look_up(head.attempt).await {
                Some(revision) => revision,
                None => return Err(StoreError::new("Writing to etcd", why).unknown()),
            },
        };
        if let Some(base) = &mut self.base {
            (base.head, base.revision, base.pending) = (head, revision, pending);
        }
        Ok(())
    }

    /// The revision in which this attempt was applied, if it is known to be.
    async fn look_up(&mut self, attempt: Attempt) -> Option<i64> {
        for _ in 0..TRIES {
            let key = self.layout.head().into_bytes();
            if let Ok(found) = self.members.call(async |way| way.get(key.clone()).await).await {
                let found = found?;
                let head = StoreHead::decode(&found.value)?;
                return (head.attempt == attempt).then_some(found.mod_revision);
            }
        }
        None
    }

    /// Sends a transaction once. It is applied only if this process leads and the head is as it is known.
    async fn send(&mut self, operations: Vec<Operation>) -> Result<TxnResponse, CallFault> {
        let Some(base) = &self.base else { return Err(CallFault::Refused("it was not read yet".to_owned())) };
        let leader = self.layout.leader().into_bytes();
        let term = i64::try_from(base.term).unwrap_or(i64::MAX);
        let look = RangeRequest { key: leader.clone(), ..RangeRequest::default() };
        let transaction = TxnRequest {
            compare: vec![
                equal(leader, TargetUnion::CreateRevision(term)),
                equal(self.layout.head().into_bytes(), TargetUnion::ModRevision(base.revision)),
            ],
            success: operations.into_iter().map(|given| operation(given.into())).collect(),
            failure: vec![operation(Request::RequestRange(look))],
        };
        self.members.call(async |way| way.txn(transaction.clone()).await).await
    }

    /// Why a guard was not met.
    fn overtaken(&mut self, reply: &TxnResponse) -> StoreError {
        let Some(base) = self.base.take() else { return reading("it was not read yet") };
        let leads = reply.responses.iter().any(|response| match &response.response {
            Some(Response::ResponseRange(found)) => {
                found.kvs.iter().any(|leader| u64::try_from(leader.create_revision) == Ok(base.term))
            }
            _ => false,
        });
        if leads {
            return StoreError::new("Writing to etcd", "an earlier commit came late; what it changed is read first");
        }
        let why = "the key of the leader is gone";
        self.leadership.lost(base.term, why);
        StoreError::new("Writing to etcd", why).not_leader(None)
    }
}

fn reading(why: impl Into<String>) -> StoreError {
    StoreError::new("Reading the ledgers in etcd", why.into())
}

fn revision_of(header: Option<ResponseHeader>) -> i64 {
    header.map_or(0, |header| header.revision)
}

/// The first key that does not begin with this one, which ends in a slash.
pub(super) fn behind(start: &str) -> Vec<u8> {
    let mut end = start.as_bytes().to_vec();
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    end
}

/// That a key has this revision: 0 if there is no such key.
pub(super) fn equal(key: Vec<u8>, revision: TargetUnion) -> Compare {
    let target = match revision {
        TargetUnion::Version(_) => CompareTarget::Version,
        TargetUnion::CreateRevision(_) => CompareTarget::Create,
        TargetUnion::ModRevision(_) => CompareTarget::Mod,
    };
    Compare { result: CompareResult::Equal.into(), target: target.into(), key, target_union: Some(revision) }
}

pub(super) fn operation(request: Request) -> RequestOp {
    RequestOp { request: Some(request) }
}

impl From<Operation> for Request {
    fn from(operation: Operation) -> Self {
        let delete = |key, range_end| Self::RequestDeleteRange(DeleteRangeRequest { key, range_end });
        match operation {
            Operation::Put(key, value) => Self::RequestPut(PutRequest { key: key.into_bytes(), value, lease: 0 }),
            Operation::Delete(key) => delete(key.into_bytes(), Vec::new()),
            Operation::Clear(start) => delete(start.clone().into_bytes(), behind(&start)),
        }
    }
}
