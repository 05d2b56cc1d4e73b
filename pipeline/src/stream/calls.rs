//! The rare requests of trainers: state, restore, path, reset, quarantine and audit. Each is answered in its own task.

use std::cmp::Ordering;
use std::os::unix::ffi::OsStringExt as _;
use std::sync::{Arc, Weak};

use forebay_delivery::Asked;
use forebay_ledger_client::CallError;
use forebay_proto::v1::call_reply::Reply;
use forebay_proto::v1::call_request::Call;
use forebay_proto::v1::{
    CallReply, CallRequest, Done, Failure, ListQuarantineReply, Progress, QuarantineList, RestoreCall, RestoreRequest,
};
use forebay_ring::ConsumerId;
use prost::Message as _;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::stream::restart::{self, Ended};
use crate::stream::{Stream, elsewhere};
use crate::threads;

/// What answers the requests to a stream.
#[derive(Debug)]
pub(super) struct Calls {
    /// The ring's thread calls, and does not keep the stream.
    stream: Weak<Stream>,
    runtime: Handle,
    /// Turns of those that are too long for a packet.
    long: Semaphore,
}

/// Calls of a stream that are too long for a packet and are in memory at one time; further ones wait.
const LONG_CALLS: usize = 2;

impl Calls {
    /// Of a stream, within a runtime.
    pub(super) fn to(stream: &Arc<Stream>) -> Arc<Self> {
        let (stream, runtime) = (Arc::downgrade(stream), Handle::current());
        Arc::new(Self { stream, runtime, long: Semaphore::new(LONG_CALLS) })
    }

    /// Takes one call, and has it answered.
    pub(super) fn take(self: &Arc<Self>, consumer: ConsumerId, id: u64, asked: Asked) {
        let Some(stream) = self.stream.upgrade() else { return };
        let calls = Arc::clone(self);
        self.runtime.spawn(async move {
            // Until it is answered: its memory is taken as long.
            let _turn = if asked.is_beside() { calls.long.acquire().await.ok() } else { None };
            match threads::beside("forebay-call", || asked.read()).await {
                Ok(Ok(request)) => calls.answer(&stream, consumer, id, request).await,
                Ok(Err(error)) => stream.delivery.evict(consumer, error.to_string()),
                Err(error) => {
                    let failure = Failure { message: format!("The request cannot be read: {error}.") };
                    let reply = CallReply { reply: Some(Reply::Failure(failure)) }.encode_to_vec();
                    stream.delivery.answer(consumer, id, reply);
                }
            }
        });
    }

    /// Answers one request.
    async fn answer(&self, stream: &Stream, consumer: ConsumerId, id: u64, request: CallRequest) {
        let restores = matches!(request.call, Some(Call::Restore(_)));
        let reply = match reply(stream, consumer, request).await {
            Ok(reply) => reply,
            Err(error) => Reply::Failure(Failure { message: error.to_string() }),
        };
        let reply = CallReply { reply: Some(reply) }.encode_to_vec();
        stream.delivery.answer(consumer, id, reply);
        if restores {
            stream.delivery.restored(consumer);
        }
    }
}

async fn reply(stream: &Stream, consumer: ConsumerId, request: CallRequest) -> Result<Reply, CallError> {
    match request.call {
        Some(Call::State(state)) => {
            has_one_group(stream, "state_dict()").await?;
            stream.snapshot(state.receipts).await.map(Reply::State)
        }
        Some(Call::Restore(restore)) => {
            has_one_group(stream, "load_state_dict()").await?;
            let RestoreCall { snapshot, load_id, number: load_number } = restore;
            // A trainer that has left by now has not loaded the state.
            stream.delivery.see_who_left().await;
            stream.delivery.tell_who_left().await;
            let (caller, trainer) = (None, stream.delivery.trainer(consumer).await);
            let snapshot = Some(snapshot.unwrap_or_default());
            let load = RestoreRequest { caller, snapshot, load_id, trainer, load_number };
            restart::load(stream, load).await.map(|()| Reply::Done(Done {}))
        }
        Some(Call::Path(call)) => match (stream.dataset.locator(call.record), stream.dataset.source().failure()) {
            (Some(_), Some(failure)) => Err(CallError::Invalid(failure)),
            (Some(locator), None) => Ok(Reply::Path(locator.name().into_vec())),
            (None, _) => Err(CallError::Invalid(format!(
                "The dataset has records 0 to {}; there is no record {}.",
                stream.dataset.records() - 1,
                call.record
            ))),
        },
        Some(Call::Reset(call)) => reset(stream, consumer, call.epoch).await.map(|()| Reply::Done(Done {})),
        Some(Call::Quarantine(call)) => {
            let ListQuarantineReply { records, more, .. } = stream.quarantine(call.after).await?;
            Ok(Reply::Quarantine(QuarantineList { records, more }))
        }
        Some(Call::Audit(call)) => stream.audit(call.from_epoch).await.map(Reply::Audit),
        None => Err(CallError::Invalid("The request is of a kind that this daemon does not know.".into())),
    }
}

/// A state is of one place in the epoch's order, and groups may be at several (semantics rule 44).
async fn has_one_group(stream: &Stream, what: &str) -> Result<(), CallError> {
    let groups = stream.delivery.status().await.map_or(0, |ring| ring.groups.len());
    if groups < 2 {
        return Ok(());
    }
    Err(CallError::Invalid(format!(
        "{what} needs a stream with one group of trainers, but {groups} groups read stream \"{}\" with groups = \"each\", \
         and each may be at another batch. End all groups but one, or give each job a stream of its own.",
        stream.identity.stream
    )))
}

/// Ends an epoch for a sole trainer, which is in it; what it did not get is listed as abandoned (semantics rule 10).
/// The trainer's last receipts may have completed the epoch, or another rank may have ended it: then nothing is left to abandon.
async fn reset(stream: &Stream, consumer: ConsumerId, epoch: u64) -> Result<(), CallError> {
    if let Some(other) = stream.delivery.other_than(consumer) {
        return Err(CallError::Invalid(format!(
            "reset() ends the epoch for a sole trainer, but process {other} reads stream \"{}\" as well.",
            stream.identity.stream
        )));
    }
    // Batches may wait for a group whose trainers have left.
    has_one_group(stream, "reset()").await?;
    stream.delivery.ledger().flush().await;
    let Progress { floor, generation, .. } = stream.delivery.ledger().progress();
    match epoch.cmp(&floor) {
        Ordering::Less => {
            // Batches of the epoch that another rank has ended may still be offered until then.
            elsewhere::catch_up(stream).await;
            Ok(())
        }
        Ordering::Equal => {
            let abandon = async || stream.delivery.ledger().abandon(epoch, generation).await.map(|_| Ended::Some);
            restart::restart(stream, abandon).await
        }
        Ordering::Greater => {
            Err(CallError::Invalid(format!("Epoch {epoch} cannot be ended: the stream is in epoch {floor}.")))
        }
    }
}
