//! The delivery of one stream: everything that happens to a batch from when it is finished until the ledger knows what became of
//! it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel as channel;
use forebay_ledger_client::{CallError, Handle};
use forebay_plan::EpochPart;
use forebay_proto::v1::{LastHolder, OpenRequest, Progress, StreamInfo};
use forebay_ring::{ConsumerId, Peer, SlotMut, Socket, text_code};
use thiserror::Error;
use tokio::sync::oneshot;

use crate::admission::{AttachRequest, ledger_code, welcome};
use crate::attendance::{Attendance, Party};
use crate::consumers::{
    Arrival, Asked, Counters, DeliveryRules, EpochTerms, Inbox, InboxMessage, LedgerReports, Outbox, RingParts,
    RingStatus, RingSupply, RingThread, TrainerHooks, inbox,
};
use crate::handover::{Handover, Vacancies};
use crate::ledger_client::LedgerClient;
use crate::ledger_tasks;
use crate::missed;
use crate::outcomes::{OutcomeReceiver, OutcomeSender};
use crate::presence::Presence;
use crate::settings::DeliverySettings;
use crate::stream_ring::{NoRing, StreamRing};

/// How long a batch that trainers elsewhere wait for may stay untaken (semantics rule 35).
const UNTAKEN: Duration = Duration::from_secs(10);

/// What a stream's trainers are promised.
#[derive(Clone, Debug)]
pub struct DeliveryTerms {
    /// Name of the stream.
    pub stream: String,
    /// Name of its run.
    pub run: String,
    /// The shard or rank that it is. One trainer reads it, and gets its batches in their order.
    pub part: Option<EpochPart>,
    /// The daemon's incarnation.
    pub incarnation: u64,
    /// Offers that a trainer gets at once if it asks for no number of them.
    pub credits: u32,
    /// Who gets a batch.
    pub settings: DeliverySettings,
    /// Epochs in all, without end if nothing.
    pub epochs: Option<u64>,
    /// How long an epoch's end may wait for a held batch.
    pub epoch_end_timeout: Duration,
}

/// What the ring's thread needs of the stream around it.
pub struct RingStart {
    /// This daemon, for trainers that wait for it.
    pub node: LastHolder,
    /// The ring that the stream begins with.
    pub first: StreamRing,
    /// Makes a further ring, by its number. Another thread calls it: the kernel may take its time.
    pub further: Arc<dyn Fn(u32) -> Result<StreamRing, NoRing> + Send + Sync>,
    /// Takes the calls of trainers. Answers come back by [`Delivery::answer`], or [`Delivery::evict`] for one that cannot be read.
    pub calls: Box<dyn Fn(ConsumerId, u64, Asked) + Send>,
    /// Told when a trainer has left, with how many are left.
    pub surplus: Box<dyn Fn(usize) + Send>,
}

/// Published batches, trainers, groups, receipts and rings of one stream.
#[derive(Debug)]
pub struct Delivery {
    terms: DeliveryTerms,
    ledger: Arc<LedgerClient>,
    /// What became of records, for the ledger.
    outcomes: OutcomeSender,
    attendance: Arc<Attendance>,
    presence: Presence,
    outbox: Outbox,
    free: channel::Receiver<SlotMut>,
    gave_way: channel::Receiver<u64>,
    counters: Arc<Counters>,
}

/// What a delivery hears by, until it is started.
#[derive(Debug)]
pub struct DeliveryEnds {
    inbox: Inbox,
    vacancies: Vacancies,
    outcomes: OutcomeReceiver,
}

/// Where the stages hand over what they make. Clones lead to the same trainers.
#[derive(Clone, Debug)]
pub struct Inlet(Outbox);

/// Why there is no delivery.
#[derive(Debug, Error)]
pub enum DeliveryError {
    /// The ledger cannot be asked, or it is about something else.
    #[error(transparent)]
    Ledger(#[from] CallError),
    /// The process has no descriptor left.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl std::fmt::Debug for RingStart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RingStart").field("node", &self.node).field("first", &self.first).finish_non_exhaustive()
    }
}

impl DeliveryTerms {
    /// The stream with its part, for messages.
    pub(crate) fn shown(&self) -> String {
        match &self.part {
            None => self.stream.clone(),
            Some(part) => format!("{} ({part})", self.stream),
        }
    }
}

impl Delivery {
    /// Opens a stream's ledger. Trainers can attach, and batches can be handed over, once it is [started](Self::start).
    ///
    /// # Errors
    /// The ledger cannot be asked, or it is about something else; or the process has no descriptor left.
    pub async fn open(
        ledgers: Handle,
        request: OpenRequest,
        terms: DeliveryTerms,
    ) -> Result<(Self, DeliveryEnds), DeliveryError> {
        let (outbox, inbox) = inbox()?;
        let has_others = ledgers.is_remote();
        let (ledger, outcomes, receiver) = LedgerClient::open(ledgers, request, has_others, outbox.clone()).await?;
        let ledger = Arc::new(ledger);
        let ((vacant, free), (yields, gave_way)) = (channel::unbounded(), channel::unbounded());
        let attendance = Arc::new(Attendance::new(terms.stream.clone(), terms.part));
        let (presence, counters) = (Presence::default(), Arc::default());
        let delivery = Self { terms, ledger, outcomes, attendance, presence, outbox, free, gave_way, counters };
        let vacancies = Vacancies { free: vacant, gave_way: yields };
        Ok((delivery, DeliveryEnds { inbox, vacancies, outcomes: receiver }))
    }

    /// Starts the ring's thread, and the tasks of the ledger's client.
    ///
    /// # Errors
    /// The system has no room for the thread.
    pub fn start(&self, ends: DeliveryEnds, around: RingStart) -> io::Result<()> {
        let DeliveryEnds { inbox, vacancies, outcomes: receiver } = ends;
        let RingStart { node, first, further, calls, surplus } = around;
        let (ledger, attendance) = (&self.ledger, Arc::clone(&self.attendance));
        let parts = RingParts {
            stream: self.terms.shown(),
            run: self.terms.run.clone(),
            node,
            rings: RingSupply { first, further, vacancies },
            ledger: LedgerReports {
                outcomes: self.outcomes.clone(),
                blamed: ledger.blamed(),
                waiting: ledger.updates().waiting(),
            },
            hooks: TrainerHooks {
                calls,
                left: Box::new(move |consumer, left| {
                    attendance.leave(consumer);
                    surplus(left);
                }),
            },
            epochs: EpochTerms {
                first: ledger.progress().floor,
                count: self.terms.epochs,
                end_timeout: self.terms.epoch_end_timeout,
            },
            rules: DeliveryRules {
                settings: self.terms.settings,
                in_order: self.terms.part.is_some(),
                steps: ledger.opened().steps,
            },
            groups: ledger.opened().former_groups.clone(),
            untaken: UNTAKEN.min(ledger.lease_ttl()),
            counters: Arc::clone(&self.counters),
        };
        RingThread::start(parts, inbox, &self.outbox)?;
        ledger_tasks::start(ledger, receiver);
        Ok(())
    }

    /// The stream's client of its ledger.
    pub fn ledger(&self) -> &Arc<LedgerClient> {
        &self.ledger
    }

    /// Where the stages report what became of records, for the ledger.
    pub fn outcomes(&self) -> OutcomeSender {
        self.outcomes.clone()
    }

    // The stages.

    /// Where batches are handed over.
    pub fn inlet(&self) -> Inlet {
        Inlet(self.outbox.clone())
    }

    /// Rights to slots that may be filled.
    pub fn free(&self) -> channel::Receiver<SlotMut> {
        self.free.clone()
    }

    /// Numbers of batches that have given way to one of an earlier epoch, before their slots.
    pub fn gave_way(&self) -> channel::Receiver<u64> {
        self.gave_way.clone()
    }

    /// What is counted, for metrics.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// How it is; nothing once the ring's thread has ended.
    pub async fn status(&self) -> Option<RingStatus> {
        let (reply, status) = oneshot::channel();
        self.post(InboxMessage::Status(reply));
        status.await.ok()
    }

    /// Drops the batches that no trainer holds, and continues from the ledger's progress. Set `fenced` if every lease has
    /// ended.
    pub async fn drop_ready(&self, progress: Progress, fenced: bool) {
        self.ask(|done| InboxMessage::DropReady { progress, fenced, done }).await;
    }

    /// Stops offering batches, and drops those that no trainer holds.
    pub async fn drain(&self) {
        self.ask(InboxMessage::Drain).await;
    }

    /// Ends the ring's thread. What trainers held is on its way back then.
    pub async fn close(&self) {
        self.ask(InboxMessage::Close).await;
    }

    /// The run has failed at a bad record, which may be another daemon's.
    pub fn run_failed(&self, why: String) {
        self.post(InboxMessage::RunFailed(why));
    }

    // Trainers.

    /// Admits a trainer. `info` says what it is told of the stream in this epoch.
    pub async fn attach(
        &self,
        socket: Socket,
        peer: Peer,
        request: AttachRequest,
        info: impl FnOnce(u64) -> StreamInfo,
    ) {
        let DeliveryTerms { settings, incarnation, .. } = self.terms;
        let AttachRequest { number, protocol, credits, membership, resumed_claims } = request;
        let credits = if credits == 0 { self.terms.credits } else { credits };
        let id = self.attendance.number();
        self.see_who_left().await;
        let notice = missed::notice(settings.groups, &membership, &resumed_claims);
        let party = Party::of(settings.groups, &membership);
        let key = party.key(peer.shown_pid(), incarnation ^ id.0);
        let entered = match self.ledger.opened().steps.refusal(&self.terms.stream, protocol) {
            Some(reason) => Some((text_code::PROTOCOL, reason)),
            None => self.attendance.enter(id, &peer, party).map(|reason| (text_code::BUSY, reason)),
        };
        let (adopted, refusal) = match entered {
            None => match welcome(&self.ledger, &self.presence, (id, number), &resumed_claims, key.as_ref()).await {
                Ok(adopted) => (adopted, None),
                Err(error) => (Vec::new(), Some((ledger_code(&error), error.to_string()))),
            },
            Some(refusal) => (Vec::new(), Some(refusal)),
        };
        let info = info(self.ledger.progress().floor);
        let arrival =
            Arrival { id, socket, peer, protocol, credits, membership, key, incarnation, info, adopted, notice };
        match refusal {
            None => self.post(InboxMessage::Attach(Box::new(arrival))),
            Some((code, reason)) => {
                self.attendance.leave(id);
                arrival.refuse(code, &reason);
            }
        }
    }

    /// Whether no trainer was attached at the last report of the ring's thread.
    pub fn is_idle(&self) -> bool {
        self.attendance.is_empty()
    }

    /// The process of a trainer that is not this one, if there is any.
    pub fn other_than(&self, consumer: ConsumerId) -> Option<u32> {
        self.attendance.other_than(consumer)
    }

    /// The number that a trainer keeps over the deaths of its daemons; 0 for one that is not here.
    pub async fn trainer(&self, consumer: ConsumerId) -> u64 {
        self.presence.number(consumer).await
    }

    /// Makes sure that trainers that left before this moment no longer count: the ring's thread looks at all its sockets
    /// between two notes.
    pub async fn see_who_left(&self) {
        for _ in 0..2 {
            self.status().await;
        }
    }

    /// Watches until the delivery is gone which trainers leave.
    pub fn watch_trainers(self: &Arc<Self>) {
        let mut trainers = self.attendance.count();
        let delivery = Arc::downgrade(self);
        tokio::spawn(async move {
            while trainers.changed().await.is_ok() {
                let Some(delivery) = delivery.upgrade() else { return };
                delivery.tell_who_left().await;
            }
        });
    }

    /// Tells the ledger which trainers have left, behind all that they had in their hands.
    pub async fn tell_who_left(&self) {
        let gone = self.presence.gone(|id| self.attendance.has(id)).await;
        if gone.is_empty() {
            return;
        }
        // The ring's thread says what they had after it has seen them leave.
        self.see_who_left().await;
        self.ledger.flush().await;
        if let Err(error) = self.presence.leave(&self.ledger, &gone).await {
            tracing::debug!(stream = self.terms.shown(), %error, "the ledger is not told that trainers have left");
        }
    }

    /// The daemon ends. The trainers that are here will come to the next one.
    pub async fn trainers_stay(&self) {
        self.presence.end().await;
    }

    /// Answers a trainer's call with this protobuf `CallReply`.
    pub fn answer(&self, consumer: ConsumerId, id: u64, reply: Vec<u8>) {
        self.post(InboxMessage::Answer { consumer, id, reply });
    }

    /// Evicts a trainer that does not keep to the protocol.
    pub fn evict(&self, consumer: ConsumerId, reason: String) {
        self.post(InboxMessage::Evict { consumer, reason });
    }

    /// A trainer has the answer to a restore, before which nothing counts: it is told if the stream has ended.
    pub fn restored(&self, consumer: ConsumerId) {
        self.post(InboxMessage::Restored(consumer));
    }

    /// Leaves a note for the ring's thread.
    fn post(&self, message: InboxMessage) {
        self.outbox.post(message);
    }

    /// Leaves a note that the ring's thread answers.
    async fn ask(&self, message: impl FnOnce(oneshot::Sender<()>) -> InboxMessage) {
        let (done, answered) = oneshot::channel();
        self.post(message(done));
        // Answered, or the ring's thread has ended, and the stream with it.
        let _answered = answered.await;
    }
}

impl Inlet {
    /// Hands over what the stages have made.
    pub fn hand_over(&self, made: Handover) {
        self.0.post(InboxMessage::Batch(made));
    }

    /// The stream cannot continue, for this reason.
    pub fn fail(&self, reason: String) {
        self.0.post(InboxMessage::Failed(reason));
    }
}
