//! The rare requests of trainers: state, restore, path, reset, quarantine, audit.

use std::cmp::Ordering;
use std::os::unix::ffi::OsStringExt as _;
use std::sync::Arc;

use forebay_coordinator::CallError;
use forebay_proto::v1::call_reply::Reply;
use forebay_proto::v1::call_request::Call;
use forebay_proto::v1::{CallReply, CallRequest, Done, Failure, ListQuarantineReply, QuarantineList, Snapshot};
use forebay_ring::ConsumerId;
use prost::Message as _;

use crate::consumers::Note;
use crate::stream::Stream;

impl Stream {
    /// Answers one request.
    pub(super) async fn answer(self: Arc<Self>, consumer: ConsumerId, id: u64, request: CallRequest) {
        let restores = matches!(request.call, Some(Call::Restore(_)));
        let reply = match self.reply(consumer, request).await {
            Ok(reply) => reply,
            Err(error) => Reply::Failure(Failure { message: error.to_string() }),
        };
        let reply = CallReply { reply: Some(reply) }.encode_to_vec();
        self.outbox.post(Note::Answer { consumer, id, reply });
        if restores {
            self.outbox.post(Note::Restored(consumer));
        }
    }

    /// Says that a request cannot even be read.
    pub(super) fn cannot_answer(&self, consumer: ConsumerId, id: u64, why: &std::io::Error) {
        let failure = Failure { message: format!("The request cannot be read: {why}.") };
        let reply = CallReply { reply: Some(Reply::Failure(failure)) }.encode_to_vec();
        self.outbox.post(Note::Answer { consumer, id, reply });
    }

    async fn reply(self: &Arc<Self>, consumer: ConsumerId, request: CallRequest) -> Result<Reply, CallError> {
        match request.call {
            Some(Call::State(state)) => self.snapshot(state.receipts).await.map(Reply::State),
            Some(Call::Restore(restore)) => {
                let snapshot = restore.snapshot.unwrap_or_default();
                self.restore(consumer, snapshot).await.map(|()| Reply::Done(Done {}))
            }
            Some(Call::Path(call)) => match self.dataset.locator(call.record) {
                Some(locator) => Ok(Reply::Path(locator.name().into_vec())),
                None => Err(CallError::Invalid(format!(
                    "The dataset has records 0 to {}; there is no record {}.",
                    self.dataset.records() - 1,
                    call.record
                ))),
            },
            Some(Call::Reset(reset)) => self.reset(consumer, reset.epoch).await.map(|()| Reply::Done(Done {})),
            Some(Call::Quarantine(call)) => {
                let ListQuarantineReply { records, more, .. } = self.quarantine(call.after).await?;
                Ok(Reply::Quarantine(QuarantineList { records, more }))
            }
            Some(Call::Audit(call)) => self.audit(call.from_epoch).await.map(Reply::Audit),
            None => Err(CallError::Invalid("The request is of a kind that this daemon does not know.".into())),
        }
    }

    /// Goes back to a snapshot. Every rank of a job may send the same one: it is applied once, as long as one that
    /// sent it is attached (semantics rule 23).
    async fn restore(self: &Arc<Self>, consumer: ConsumerId, snapshot: Snapshot) -> Result<(), CallError> {
        let id = blake3::hash(&snapshot.encode_to_vec());
        let mut restored = self.restored.lock().await;
        if let Some((last, senders)) = restored.as_mut() {
            let attached = self.consumers.lock();
            senders.retain(|sender| attached.contains_key(sender));
            if *last == id && !senders.is_empty() && !senders.contains(&consumer) {
                senders.push(consumer);
                return Ok(());
            }
        }
        self.anew(true, || async { self.worker.restore(snapshot).await }).await?;
        *restored = Some((id, vec![consumer]));
        Ok(())
    }

    /// Ends an epoch for a sole trainer, which is in it; what it did not get is listed as abandoned (semantics rule 10).
    /// The trainer's last receipts may have completed the epoch: then nothing is left to abandon.
    async fn reset(self: &Arc<Self>, consumer: ConsumerId, epoch: u64) -> Result<(), CallError> {
        if let Some(other) = self.consumers.lock().iter().find(|(id, _)| **id != consumer).map(|(_, pid)| *pid) {
            return Err(CallError::Invalid(format!(
                "reset() ends the epoch for a sole trainer, but process {other} reads stream \"{}\" as well.",
                self.identity.stream
            )));
        }
        self.flush().await;
        let floor = self.worker.progress().borrow().floor;
        match epoch.cmp(&floor) {
            Ordering::Less => Ok(()),
            Ordering::Equal => self.anew(false, || async { self.worker.abandon(epoch).await.map(drop) }).await,
            Ordering::Greater => {
                Err(CallError::Invalid(format!("Epoch {epoch} cannot be ended: the stream is in epoch {floor}.")))
            }
        }
    }
}
