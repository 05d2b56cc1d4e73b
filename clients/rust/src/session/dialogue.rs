//! The dialogue of a session with its daemon, and with the next one when it dies: messages are taken as they come, and
//! waits continue until the caller has what it asked for.

use std::time::Duration;

use forebay_proto::v1::{self, call_reply::Reply, call_request::Call as Request};
use forebay_ring::{Message, MessageKind, Missed, Number, PACKET_LEN, packet};
use prost::Message as _;
use rustix::time::{ClockId, clock_gettime};

use super::Next;
use super::batches::Batches;
use super::caller_wait::CallerWait;
use super::calls::{self, Calls};
use super::connection::{Connection, Unreached};
use crate::error::{AttachError, Broken, CallError, NextError, Refusal};
use crate::inbox::Head;
use crate::link::{self, Arrival, Patience};
use crate::target::{Options, Target};
use crate::watch::{Notice, Watch};

/// How long a caller that holds every slot may wait for the epoch's end before it gets an error.
const SETTLING: Duration = Duration::from_secs(2);
/// How long an answer may take. A snapshot waits for receipts to be durable, an audit adds up every record.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Both directions of a session's messages.
#[derive(Debug)]
pub(super) struct Dialogue {
    pub(super) connection: Connection,
    pub(super) batches: Batches,
    calls: Calls,
    wait: CallerWait,
    buffer: Vec<u8>,
}

impl Dialogue {
    pub(super) fn attach(target: Target, options: Options, watch: &mut dyn Watch) -> Result<Self, AttachError> {
        let told_after = options.told_after;
        let (connection, ring) = Connection::attach(target, options, watch)?;
        let (epoch, number) = (connection.info().epoch, connection.welcome().ring);
        let batches = Batches::new(epoch, connection.socket(), number, ring);
        let wait = CallerWait::new(told_after);
        Ok(Self { connection, batches, calls: Calls::default(), wait, buffer: vec![0; PACKET_LEN] })
    }

    /// Waits for the next batch, or an end.
    pub(super) fn next(&mut self, timeout: Option<Duration>, watch: &mut dyn Watch) -> Result<Next, NextError> {
        let patience = &mut Patience::new(watch, timeout);
        let next = self.wait_for_next(patience);
        if matches!(next, Err(NextError::Timeout { .. })) {
            // The caller has asked, and so has begun the stream's epoch, even if no daemon was there.
            self.batches.inbox.join();
        }
        self.wait.is_over(next.is_ok(), patience.waited());
        self.wait.report_end(patience.waited(), &self.batches.hands);
        next
    }

    fn wait_for_next(&mut self, patience: &mut Patience<'_>) -> Result<Next, NextError> {
        loop {
            // A hang-up is looked for before a queued offer is handed out: the daemon that vouched for it is gone.
            if let Some(cause) = self.read()? {
                self.reconnect(&cause, patience)?;
                continue;
            }
            if let Some(next) = self.decide(patience)? {
                return Ok(next);
            }
            let slice = patience.slice();
            let granted = self.connection.welcome().credits;
            if self.batches.holds_all(granted) && (slice.is_err() || patience.waited() >= SETTLING) {
                return Err(NextError::SlotsHeld { granted });
            }
            let slice = slice?;
            self.tell_of_wait("a batch", patience);
            self.wait.report(patience.waited(), &self.batches.hands);
            let wakes_by = patience.watch().wakes_by();
            self.connection.socket().wait_beside(wakes_by, Some(slice)).map_err(Broken::from)?;
        }
    }

    /// The result for the caller, if there is one now. `None` means to wait longer.
    fn decide(&mut self, patience: &mut Patience<'_>) -> Result<Option<Next>, NextError> {
        self.pass_on_notices(patience);
        let inbox = &mut self.batches.inbox;
        if let Some((code, message)) = inbox.reports.failure() {
            return Err(NextError::Failed(Refusal { code, message }));
        }
        if let Some(text) = inbox.reports.evicted() {
            return Err(NextError::Evicted(text));
        }
        if let Some(Missed { epoch, from, to, records, .. }) = inbox.reports.take_missed() {
            return Err(NextError::Missed { epoch, from, to, records });
        }
        inbox.join();
        match inbox.take(now()) {
            Head::Offer(offer) => {
                let batch = self.batches.hand_out(offer)?;
                self.connection.has_delivered();
                return Ok(Some(Next::Batch(batch)));
            }
            Head::EpochEnd(epoch) => return Ok(Some(Next::EpochEnd(epoch))),
            Head::Done => return Ok(Some(Next::Done)),
            Head::Expired(deadline) if inbox.asks_beyond(deadline) => {
                let ask = Number { kind: MessageKind::Deadline as u32, reserved: 0, value: deadline };
                self.batches.hands.change(|_| vec![packet(&ask, &[])]);
            }
            Head::Expired(_) | Head::Nothing => {}
        }
        let reports = &mut self.batches.inbox.reports;
        if let Some(text) = reports.take_stalled() {
            return Err(NextError::Stalled(text));
        }
        if let Some((batch, expired)) = reports.take_held() {
            if expired {
                return Err(NextError::EpochHeld(batch));
            }
            self.wait.pass_on(&Notice::Held(batch), patience);
        }
        Ok(None)
    }

    /// Asks and waits for the answer. After a daemon's death the next one is asked again: whatever the first one did,
    /// twice is as good as once.
    pub(super) fn call(&mut self, request: Request, watch: &mut dyn Watch) -> Result<Reply, CallError> {
        self.batches.hands.owner().check()?;
        let what = calls::name(&request);
        let body = v1::CallRequest { call: Some(request) }.encode_to_vec();
        let patience = &mut Patience::new(watch, Some(TIMEOUT));
        let reply = self.wait_for_answer(&body, what, patience);
        self.wait.is_over(reply.is_ok(), patience.waited());
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
                if let Some(answer) = self.calls.take_answer() {
                    return calls::reply(&answer);
                }
                self.pass_on_notices(patience);
                let slice = patience.slice()?;
                self.tell_of_wait(what, patience);
                self.connection.socket().wait(Some(slice)).map_err(Broken::from)?;
            };
            self.reconnect(&cause, patience)?;
        }
    }

    /// Sends a call behind every receipt that had to wait.
    fn ask(&mut self, body: &[u8], what: &'static str, patience: &mut Patience<'_>) -> Result<(), CallError> {
        let (packet, fds) = self.calls.ask(body)?;
        loop {
            let socket = self.connection.socket();
            if self.batches.hands.flush() && link::try_send(socket, &packet, &fds).map_err(Broken::from)? {
                return Ok(());
            }
            self.tell_of_wait(what, patience);
            link::pause_for_room(self.connection.socket(), patience)?;
        }
    }

    /// Takes everything that has come. Some(cause) when the daemon is gone.
    fn read(&mut self) -> Result<Option<String>, Broken> {
        self.batches.hands.flush();
        loop {
            match link::receive(self.connection.socket(), &mut self.buffer)? {
                Arrival::Nothing => return Ok(None),
                Arrival::HungUp => return Ok(Some("it hung up".to_owned())),
                Arrival::Message(message) => {
                    self.wait.hears();
                    match message {
                        Message::Answer(id, body) => {
                            // Packets behind the answer are left for the next look: the caller acts on the answer first.
                            if self.calls.answer(id, link::body(body)?) {
                                return Ok(None);
                            }
                        }
                        message => self.batches.hear(message, self.connection.welcome().incarnation)?,
                    }
                }
            }
        }
    }

    fn reconnect(&mut self, cause: &str, patience: &mut Patience<'_>) -> Result<(), Unreached> {
        self.connection.reconnect(cause, &mut self.batches, patience)?;
        self.calls.forget();
        // What the former daemon was asked has no answer.
        self.wait.hears();
        Ok(())
    }

    /// Tells the caller what the daemon has said.
    fn pass_on_notices(&mut self, patience: &mut Patience<'_>) {
        while let Some(words) = self.batches.inbox.reports.take_notice() {
            self.wait.pass_on(&Notice::Told(words), patience);
        }
    }

    /// Tells the caller of its wait, if that is due.
    fn tell_of_wait(&mut self, what: &'static str, patience: &mut Patience<'_>) {
        self.wait.tell(what, &self.connection, &mut self.calls, &self.batches.hands, patience);
    }

    /// The session ends, in the process that it belongs to.
    pub(super) fn close(&mut self) {
        // A socket that fails has nothing more to say.
        let _seen = self.read();
        self.batches.close();
        self.connection.close();
    }
}

/// Nanoseconds on the clock of the deadlines, which also counts while the machine is suspended.
fn now() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
}
