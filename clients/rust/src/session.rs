//! One trainer's attachment to a stream. It receives batches, sends receipts, and survives the daemon's death.

use std::sync::Arc;
use std::time::{Duration, Instant};

use forebay_proto::v1::StreamInfo;
use forebay_ring::{Message, MessageKind, Missed, Number, Offer, PACKET_LEN, View, packet};
use rustix::time::{ClockId, clock_gettime};

use crate::batch::Batch;
use crate::error::{AttachError, Broken, NextError, Refusal};
use crate::hands::Hands;
use crate::hold::Holds;
use crate::inbox::{Head, Inbox};
use crate::link::{self, Arrival, Asked, Link, Patience};
use crate::mapped::{Mapped, Ring};
use crate::owner::Owner;
use crate::receipt::Receipt;
use crate::rings::Rings;
use crate::target::{Options, Target};
use crate::vigil::Vigil;
use crate::waits::Waits;
use crate::watch::{HeldBatch, HoldingNode, Notice, Watch};

mod call;
mod put_back;
mod reconnect;
mod waiting;

/// How long a caller that holds every slot may wait for the epoch's end before it gets an error.
const SETTLING: Duration = Duration::from_secs(2);

/// A trainer's end of a stream.
///
/// ```no_run
/// use forebay_client::{Next, Options, Patient, Session, Target};
///
/// let target = Target::Stream { socket: None, name: "train".to_owned(), settings: None };
/// let mut session = Session::attach(target, Options::default(), &mut Patient)?;
/// while let Next::Batch(batch) = session.next(None, &mut Patient)? {
///     println!("{} pictures, labels {:?}", batch.valid(), batch.labels());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Session {
    target: Target,
    options: Options,
    /// The ledger knows this trainer by it, whatever becomes of its daemons.
    number: u64,
    hands: Arc<Hands>,
    inbox: Inbox,
    link: Link,
    /// The daemon that will follow the one of `link`, which is gone.
    asked: Option<Asked>,
    /// Since when no daemon is reached.
    lost: Option<Instant>,
    rings: Rings,
    /// The batch that was put back, as long as its offer waits.
    untaken: Option<Batch>,
    calls: u64,
    vigil: Vigil,
    waits: Waits,
    /// How many states this trainer has loaded.
    loads: u64,
    buffer: Vec<u8>,
}

/// What the stream has next.
#[derive(Debug)]
pub enum Next {
    /// A batch. It is in the caller's hands until the next call, which acknowledges it.
    Batch(Batch),
    /// The epoch of this number is complete; the next call begins the one after it.
    EpochEnd(u64),
    /// The stream has no further epoch. So does every further call say.
    Done,
}

impl Session {
    /// Attaches to a stream; a private daemon is started where it does not run yet.
    ///
    /// # Errors
    /// When no daemon answers, or it refuses, with its reason.
    pub fn attach(target: Target, options: Options, watch: &mut dyn Watch) -> Result<Self, AttachError> {
        let timeout = options.attach_timeout;
        let number = link::number()?;
        let (link, ring) = link::attach(&target, &options, number, &mut Patience::new(watch, Some(timeout)))?;
        let hands = Arc::new(Hands::new(Owner::this_process()));
        hands.connect(Arc::clone(&link.socket));
        let inbox = Inbox::new(link.info.epoch);
        let rings = Rings::new(link.welcome.ring, ring);
        let buffer = vec![0; PACKET_LEN];
        let vigil = Vigil::new(options.told_after);
        Ok(Self {
            target,
            options,
            number,
            hands,
            inbox,
            link,
            asked: None,
            lost: None,
            rings,
            untaken: None,
            calls: 0,
            vigil,
            waits: Waits::default(),
            loads: 0,
            buffer,
        })
    }

    /// What the daemon says about the stream.
    pub fn info(&self) -> &StreamInfo {
        &self.link.info
    }

    /// The epoch that the caller is in. After the end of an epoch it is the next one.
    pub fn epoch(&self) -> u64 {
        self.inbox.epoch()
    }

    /// Slots that this trainer may hold at once.
    pub fn credits(&self) -> u32 {
        self.link.welcome.credits
    }

    /// Slots that still have a view. As long as they are [all that may be held](Self::credits), no further batch comes.
    pub fn viewed(&self) -> usize {
        self.hands.with(Holds::viewed)
    }

    /// The rings that batches may be in now. They change after a daemon's death, and when the daemon makes or retires one.
    pub fn rings(&self) -> impl Iterator<Item = Mapped> {
        self.rings.iter()
    }

    /// How often the [rings](Self::rings) have changed so far, for callers that have mapped or locked them.
    pub fn ring_changes(&self) -> u64 {
        self.rings.changes()
    }

    /// Acknowledges what is in hand and waits for the next batch.
    ///
    /// The first call after an epoch's end joins the epoch that the stream is in by then. With a `timeout` of zero it
    /// does not wait.
    ///
    /// # Errors
    /// See [`NextError`]. After [`NextError::Timeout`], [`NextError::SlotsHeld`], [`NextError::EpochHeld`],
    /// [`NextError::Stalled`], [`NextError::Missed`] and [`Broken::Interrupted`] the next call continues as if nothing had
    /// happened.
    pub fn next(&mut self, timeout: Option<Duration>, watch: &mut dyn Watch) -> Result<Next, NextError> {
        self.hands.owner().check()?;
        self.hands.change(Holds::consume_all);
        let patience = &mut Patience::new(watch, timeout);
        let next = self.wait_for_next(patience);
        self.wait_is_over(next.is_ok(), patience);
        let waited = self.waits.ends(patience.waited());
        self.tell_waited(waited);
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
            if self.holds_all() && (slice.is_err() || patience.waited() >= SETTLING) {
                return Err(NextError::SlotsHeld { granted: self.credits() });
            }
            let slice = slice?;
            self.tell_of_wait("a batch", patience);
            let waited = self.waits.waited(patience.waited());
            self.tell_waited(waited);
            self.link.socket.wait(Some(slice)).map_err(Broken::from)?;
        }
    }

    /// Returns all batches in hand unread, and ends the session. Slots that are still viewed stay blocked in the daemon
    /// until this process ends.
    ///
    /// # Errors
    /// [`Broken::Forked`] in a forked child.
    pub fn close(self) -> Result<(), Broken> {
        self.hands.owner().check()
        // The drop does the rest.
    }

    /// The result for the caller, if there is one now. `None` means to wait longer.
    fn decide(&mut self, patience: &mut Patience<'_>) -> Result<Option<Next>, NextError> {
        self.pass_on_notices(patience);
        if let Some((code, message)) = self.inbox.failure() {
            return Err(NextError::Failed(Refusal { code, message }));
        }
        if let Some(text) = self.inbox.evicted() {
            return Err(NextError::Evicted(text));
        }
        if let Some(Missed { epoch, from, to, records, .. }) = self.inbox.take_missed() {
            return Err(NextError::Missed { epoch, from, to, records });
        }
        self.inbox.join();
        match self.inbox.take(now()) {
            Head::Offer(offer) => {
                let batch = self.hand_out(offer)?;
                if let Target::Private { daemon, .. } = &self.target {
                    daemon.has_delivered();
                }
                return Ok(Some(Next::Batch(batch)));
            }
            Head::EpochEnd(epoch) => return Ok(Some(Next::EpochEnd(epoch))),
            Head::Done => return Ok(Some(Next::Done)),
            Head::Expired(deadline) if self.inbox.asks_beyond(deadline) => {
                let ask = Number { kind: MessageKind::Deadline as u32, reserved: 0, value: deadline };
                self.hands.change(|_| vec![packet(&ask, &[])]);
            }
            Head::Expired(_) | Head::Nothing => {}
        }
        if let Some(text) = self.inbox.take_stalled() {
            return Err(NextError::Stalled(text));
        }
        if let Some((batch, expired)) = self.inbox.take_held() {
            if expired {
                return Err(NextError::EpochHeld(batch));
            }
            self.vigil.hears_why();
            patience.watch().notice(&Notice::Held(batch));
        }
        Ok(None)
    }

    /// Tells the caller what the daemon has said.
    fn pass_on_notices(&mut self, patience: &mut Patience<'_>) {
        while let Some(words) = self.inbox.take_notice() {
            self.vigil.hears_why();
            patience.watch().notice(&Notice::Told(words));
        }
    }

    /// No further batch can come before a view of an earlier one is dropped; an epoch's end still can.
    fn holds_all(&self) -> bool {
        !self.inbox.has_offer() && self.hands.with(Holds::slots) >= self.credits() as usize
    }

    fn hand_out(&mut self, offer: Offer) -> Result<Batch, Broken> {
        if let Some(batch) = self.untaken.take_if(|batch| batch.seq() == offer.seq) {
            self.hands.take_again(batch.ticket());
            return Ok(batch);
        }
        let ring = self.rings.get(offer.ring);
        let ring =
            ring.ok_or_else(|| Broken::Protocol(format!("batch {} is in unknown ring {}", offer.seq, offer.ring)))?;
        let view = &ring.view;
        let geometry = view.geometry();
        let fits = offer.slot < geometry.slots()
            && offer.shown as usize <= geometry.batch()
            && offer.valid <= offer.shown
            && offer.claims as usize <= geometry.batch();
        if !fits {
            return Err(Broken::Protocol(format!("the offer of batch {} does not fit its ring: {offer:?}", offer.seq)));
        }
        let claims = &view.claims(offer.slot)[..offer.claims as usize];
        let repeats = geometry.columns().schema().repeats();
        let repeats = repeats.map(|column| bytemuck::cast_slice(view.column(offer.slot, column).values()));
        let (records, mask) = (view.records(offer.slot), view.mask(offer.slot));
        let receipt = Receipt::read(&offer, claims, records, repeats, mask)?;
        let ticket = self.hands.take(offer, receipt);
        Ok(Batch::new(&self.hands, ticket, Arc::clone(ring), offer))
    }

    /// Takes everything that has come. Some(cause) when the daemon is gone.
    fn read(&mut self) -> Result<Option<String>, Broken> {
        self.hands.flush();
        loop {
            match link::receive(&self.link.socket, &mut self.buffer)? {
                Arrival::Nothing => return Ok(None),
                Arrival::HungUp => return Ok(Some("it hung up".to_owned())),
                Arrival::Message(message) => {
                    self.vigil.hears();
                    match message {
                        Message::Offer(offer) => self.inbox.offer(offer),
                        Message::EpochEnd(epoch) => {
                            self.inbox.epoch_end(epoch);
                            self.hands.change(|holds| holds.epoch_ended(epoch));
                        }
                        Message::Done(_) => self.inbox.done(),
                        Message::Failed(code, text) => self.inbox.fail(code, link::told(text)),
                        Message::Evict(_, text) => self.inbox.evict(link::told(text)),
                        Message::Answer(id, body) => {
                            // Packets behind the answer are left for the next look: the caller acts on the answer first.
                            if self.inbox.answer(id, link::body(body)?) {
                                return Ok(None);
                            }
                        }
                        Message::Held { head, elsewhere } => {
                            let node = |(name, host)| HoldingNode { name: link::told(name), host: link::told(host) };
                            self.inbox.hold_up(HeldBatch::new(&head, elsewhere.map(node)), head.expired != 0);
                        }
                        Message::Stalled(_, text) => self.inbox.stall(link::told(text)),
                        Message::Missed(missed) => self.inbox.miss(missed),
                        Message::Notice(_, words) => self.inbox.notice(link::told(words)),
                        Message::Ring { head, fd, pixels } => {
                            let view = View::map(fd, self.link.welcome.incarnation, head.ring)?;
                            self.rings.add(head.ring, Ring::new(view, head.pixels, pixels)?);
                        }
                        Message::Retired(ring) => self.rings.retire(ring)?,
                        Message::Deadline(deadline) => self.inbox.renew(deadline),
                        Message::Void(seq) => {
                            if let Some(void) = self.inbox.void(seq) {
                                self.untaken.take_if(|batch| batch.seq() == seq);
                                self.hands.change(|holds| holds.unread(&[void]));
                            }
                        }
                        Message::Fenced(epoch) => {
                            let void = self.inbox.fence(epoch);
                            self.untaken = None;
                            self.hands.change(|holds| {
                                holds.forget_sent();
                                holds.unread(&void)
                            });
                        }
                        // A newer daemon says it, and nothing depends on it.
                        Message::Unknown(_) => {}
                        other => return Err(Broken::Protocol(format!("{other:?} came, which only a trainer sends"))),
                    }
                }
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.hands.owner().is_here() {
            // A socket that fails has nothing more to say.
            let _seen = self.read();
            self.untaken = None;
            self.hands.leave(&self.inbox.take_offers());
            if let Some(asked) = self.asked.take() {
                asked.give_up();
            }
        }
    }
}

/// Nanoseconds on the clock of the deadlines, which also counts while the machine is suspended.
fn now() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
}
