//! Rare requests: snapshot and restore, paths, reset, quarantine, audit.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forebay_proto::v1::{self, call_reply::Reply, call_request::Call as Request};
use forebay_ring::{Bulk, Call, MessageKind, PACKET_LEN, packet};
use prost::Message as _;

use super::Session;
use crate::audit::EpochAudit;
use crate::error::{Broken, CallError};
use crate::hold::Holds;
use crate::link::{self, Patience};
use crate::quarantine::Quarantined;
use crate::state::State;
use crate::watch::Watch;

/// How long an answer may take. A snapshot waits for receipts to be durable, an audit adds up every record.
const TIMEOUT: Duration = Duration::from_secs(120);

impl Session {
    /// A snapshot of the run in which every batch that this session handed out counts as consumed, the one in hand
    /// included, and batches in other trainers' hands do not (semantics rule 22).
    ///
    /// # Errors
    /// See [`CallError`]; so for the other calls.
    pub fn state(&mut self, watch: &mut dyn Watch) -> Result<State, CallError> {
        let receipts = |holds: &Holds| v1::StateCall {
            in_hand: holds.receipts_in_hand().map(|receipt| receipt.seq).collect(),
            receipts: holds.receipts_in_hand().flat_map(|receipt| receipt.ack_items().collect::<Vec<_>>()).collect(),
        };
        let call = self.hands.with(receipts);
        match self.call(Request::State(call), watch)? {
            Reply::State(snapshot) => Ok(State::new(snapshot)),
            other => Err(unexpected(&other)),
        }
    }

    /// Takes the run back to a snapshot. Batches in hand are given back, and waiting offers are discarded.
    ///
    /// # Errors
    /// [`CallError::Failed`] if the snapshot is of another dataset, order or seed, or trainers of other nodes read the
    /// stream.
    pub fn restore(&mut self, state: &State, watch: &mut dyn Watch) -> Result<(), CallError> {
        self.load(state, "", watch)
    }

    /// As [`restore`](Self::restore), for one of several ranks that load the same state together, on any nodes. All of them
    /// give the same `load_id`, which is new for each load: the run is taken to the state once.
    ///
    /// # Errors
    /// Also [`CallError::Failed`] if the id was used for another state.
    pub fn load(&mut self, state: &State, load_id: &str, watch: &mut dyn Watch) -> Result<(), CallError> {
        self.loads += 1;
        let (snapshot, load_id, number) = (Some(state.snapshot().clone()), load_id.to_owned(), self.loads);
        let call = v1::RestoreCall { snapshot, load_id, number };
        self.done(Request::Restore(call), watch)?;
        // The answer comes after all messages of the old generation, and before all of the new one.
        let offers = self.inbox.take_offers();
        self.inbox.restart(state.epoch());
        self.untaken = None;
        self.hands.change(|holds| {
            holds.forget_sent();
            let mut packets = holds.give_back_all();
            packets.extend(holds.unread(&offers));
            packets
        });
        Ok(())
    }

    /// The file of a record.
    ///
    /// # Errors
    /// [`CallError::Failed`] if the dataset has no such record.
    pub fn path(&mut self, record: u64, watch: &mut dyn Watch) -> Result<PathBuf, CallError> {
        match self.call(Request::Path(v1::PathCall { record }), watch)? {
            Reply::Path(bytes) => Ok(PathBuf::from(OsString::from_vec(bytes))),
            other => Err(unexpected(&other)),
        }
    }

    /// Ends the epoch that the caller is in: what is in hand was consumed, the rest is abandoned. Nothing happens between
    /// two epochs, and nothing is abandoned if the batch in hand was the epoch's last.
    ///
    /// # Errors
    /// [`CallError::Failed`] where other trainers are attached.
    pub fn reset(&mut self, watch: &mut dyn Watch) -> Result<(), CallError> {
        self.hands.owner().check()?;
        let Some(epoch) = self.inbox.epoch_begun() else { return Ok(()) };
        self.hands.change(Holds::consume_all);
        self.done(Request::Reset(v1::ResetCall { epoch }), watch)?;
        let offers = self.inbox.leave(epoch);
        self.untaken.take_if(|batch| batch.epoch() <= epoch);
        self.hands.change(|holds| holds.unread(&offers));
        Ok(())
    }

    /// Records that could not be read or decoded, each once, in the order of their epochs.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn quarantine(&mut self, watch: &mut dyn Watch) -> Result<Vec<Quarantined>, CallError> {
        let mut all: Vec<v1::QuarantinedRecord> = Vec::new();
        loop {
            let after = all.last().map(v1::QuarantinedRecord::key);
            match self.call(Request::Quarantine(v1::QuarantineCall { after }), watch)? {
                Reply::Quarantine(page) if page.more && !page.records.is_empty() => all.extend(page.records),
                Reply::Quarantine(last) => {
                    all.extend(last.records);
                    return Ok(Quarantined::gather(all));
                }
                other => return Err(unexpected(&other)),
            }
        }
    }

    /// What became of every record, epoch by epoch.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn audit(&mut self, watch: &mut dyn Watch) -> Result<Vec<EpochAudit>, CallError> {
        let mut all = v1::AuditReply::default();
        let mut from_epoch = Some(0);
        while let Some(epoch) = from_epoch {
            match self.call(Request::Audit(v1::AuditCall { from_epoch: epoch }), watch)? {
                Reply::Audit(page) => {
                    from_epoch = page.next_epoch().filter(|next| *next > epoch);
                    all.append(page);
                }
                other => return Err(unexpected(&other)),
            }
        }
        Ok(EpochAudit::of(&all))
    }

    fn done(&mut self, request: Request, watch: &mut dyn Watch) -> Result<(), CallError> {
        match self.call(request, watch)? {
            Reply::Done(_) => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    /// Asks and waits for the answer. After a daemon's death the next one is asked again: whatever the first one did,
    /// twice is as good as once.
    fn call(&mut self, request: Request, watch: &mut dyn Watch) -> Result<Reply, CallError> {
        self.hands.owner().check()?;
        let what = name(&request);
        let body = v1::CallRequest { call: Some(request) }.encode_to_vec();
        let patience = &mut Patience::new(watch, Some(TIMEOUT));
        let reply = self.wait_for_answer(&body, what, patience);
        self.wait_is_over(reply.is_ok(), patience);
        reply
    }

    fn wait_for_answer(
        &mut self,
        body: &[u8],
        what: &'static str,
        patience: &mut Patience<'_>,
    ) -> Result<Reply, CallError> {
        loop {
            self.ask(body, what, patience)?;
            let cause = loop {
                if let Some(cause) = self.read()? {
                    break cause;
                }
                if let Some(answer) = self.inbox.take_answer() {
                    return reply(&answer);
                }
                self.pass_on_notices(patience);
                let slice = patience.slice()?;
                self.tell_of_wait(what, patience);
                self.link.socket.wait(Some(slice)).map_err(Broken::from)?;
            };
            self.reconnect(&cause, patience)?;
        }
    }

    /// Sends a call behind every receipt that had to wait.
    fn ask(&mut self, body: &[u8], what: &'static str, patience: &mut Patience<'_>) -> Result<(), CallError> {
        self.calls += 1;
        let inline = body.len() <= PACKET_LEN - size_of::<Call>();
        let (tail, fds): (&[u8], Vec<OwnedFd>) =
            if inline { (body, Vec::new()) } else { (&[], vec![Bulk::write(body).map_err(Broken::from)?.into_fd()]) };
        let len = u32::try_from(tail.len()).expect("it fits into a packet");
        let head = Call { kind: MessageKind::Call as u32, len, id: self.calls };
        self.inbox.expect_answer(self.calls);
        let packet = packet(&head, tail);
        let socket = Arc::clone(&self.link.socket);
        while !self.hands.flush() || !link::try_send(&socket, &packet, &fds).map_err(Broken::from)? {
            self.tell_of_wait(what, patience);
            link::pause_for_room(&socket, patience)?;
        }
        Ok(())
    }
}

/// What the caller of a request waits for.
fn name(request: &Request) -> &'static str {
    match request {
        Request::State(_) => "a state of the run",
        Request::Restore(_) => "the load of a state",
        Request::Path(_) => "the path of a record",
        Request::Reset(_) => "the end of the epoch",
        Request::Quarantine(_) => "the list of bad records",
        Request::Audit(_) => "the audit",
    }
}

fn reply(answer: &[u8]) -> Result<Reply, CallError> {
    let reply = v1::CallReply::decode(answer).map_err(|error| Broken::Protocol(error.to_string()))?;
    match reply.reply {
        Some(Reply::Failure(failure)) => Err(CallError::Failed(link::told(&failure.message))),
        Some(reply) => Ok(reply),
        None => Err(Broken::Protocol("it sent an empty answer".to_owned()).into()),
    }
}

fn unexpected(reply: &Reply) -> CallError {
    Broken::Protocol(format!("it answered another question: {reply:?}")).into()
}
