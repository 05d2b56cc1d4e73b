//! A copy of all ledgers as documents, for a snapshot of their store. Like any reply, it comes after the durable commit.

use std::pin::Pin;
use std::sync::Arc;

use forebay_ledger::{Change, Ledgers};
use forebay_ledger_client::{Call, CallError, Handle, Line};
use tokio::sync::oneshot;

use crate::store::StoreSnapshot;

type Documents = Result<Vec<Change>, CallError>;

struct Copying {
    documents: Vec<Change>,
    caller: oneshot::Sender<Documents>,
}

/// All documents of the coordinator's store, as they are in it when this is answered.
///
/// # Errors
/// The store cannot be used now, or the coordinator is in another process, which has the store.
pub async fn take_store_snapshot(handle: &Handle) -> Result<StoreSnapshot, CallError> {
    let (caller, reply) = oneshot::channel();
    let documents = handle.ask(Box::new(Copying { documents: Vec::new(), caller }), reply).await?;
    Ok(StoreSnapshot::now(documents))
}

impl Call for Copying {
    fn apply(&mut self, ledgers: &mut Ledgers, _now: u64) {
        self.documents = ledgers.documents();
    }

    fn answer(self: Box<Self>, durable: Result<(), CallError>) {
        let Self { documents, caller } = *self;
        // The caller may have given up.
        caller.send(durable.map(|()| documents)).ok();
    }

    fn forward(self: Box<Self>, _line: Arc<Line>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let refusal = "A snapshot of a store is taken by the coordinator that has it.";
        self.caller.send(Err(CallError::Invalid(refusal.to_owned()))).ok();
        Box::pin(std::future::ready(()))
    }
}
