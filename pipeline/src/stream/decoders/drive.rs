//! The task of a stream that asks decoders: it gives positions to the lane, sends what the lane decides, and puts answers where the
//! batch stage takes them. It alone knows the lane, so nothing here is locked for longer than a step.

use std::collections::{BTreeSet, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use forebay_ledger_client::Address;
use forebay_proto::v1::{DecoderRecord, DecoderSetup};
use parking_lot::Mutex;
use tokio::net::lookup_host;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until, timeout};

use super::Decoders;
use super::link::{self, LinkEvent, LinkOrder, Links};
use crate::prefetch::Prefetch;
use crate::prefetch::readahead::ReadJob;
use crate::remote::answer::AnsweredPicture;
use crate::remote::lane::{Overdue, PeerEnd, PeerId, RemoteLane, Settled, TakenBack};
use crate::remote::roster::{DecoderFigures, DecoderRoster, DecoderState};
use crate::remote::share::RemoteShare;

/// How often names are resolved again.
const RESOLVE: Duration = Duration::from_secs(10);
/// How long that may take.
const RESOLVING: Duration = Duration::from_secs(5);
/// Decoders that a daemon has connections to, at most.
const MOST_DECODERS: usize = 32;

/// See the module.
struct Driver {
    lane: RemoteLane<ReadJob>,
    prefetch: Arc<Prefetch>,
    share: Arc<RemoteShare>,
    peers: HashMap<PeerId, ConnectedPeer>,
    /// Memory for answers of one decoder.
    memory: u64,
    /// Why the last decoder could not be asked.
    why: String,
    /// What is told of the decoders.
    roster: Arc<DecoderRoster>,
}

struct ConnectedPeer {
    orders: mpsc::UnboundedSender<LinkOrder>,
    name: String,
    /// Answers that it may still send: one for each request, also for those that were cancelled.
    owes: u64,
}

/// Asks decoders until the prefetch is closed.
pub(crate) async fn drive(
    (decoders, roster): (Arc<Decoders>, Arc<DecoderRoster>),
    setup: DecoderSetup,
    dataset: u64,
    prefetch: Arc<Prefetch>,
) {
    let Some(share) = prefetch.remote().cloned() else { return };
    let (events, mut heard) = mpsc::unbounded_channel();
    let memory = decoders.memory;
    let links = Links {
        decoders: Arc::clone(&decoders),
        setup,
        share: Arc::clone(&share),
        events,
        next: AtomicU64::new(1),
        numbers: Mutex::default(),
        places: Mutex::default(),
    };
    // They end with this task.
    let mut connections = JoinSet::new();
    connections.spawn(connect(Arc::new(links)));
    let lane = RemoteLane::new(dataset, share.makes_here());
    let mut driver = Driver { lane, prefetch, share, peers: HashMap::new(), memory, why: String::new(), roster };
    let mut due = None;
    loop {
        let now = Instant::now();
        driver.share.note_peers(driver.lane.has_peers(), &driver.why, now);
        driver.ask(now);
        // However often something happens in between, requests are looked at in time.
        due = driver.lane.next_look(now).map(|next| due.unwrap_or(next));
        tokio::select! {
            event = heard.recv() => match event {
                Some(event) => driver.hear(event),
                None => return,
            },
            () = driver.share.changed() => {}
            () = sleep_until(due.unwrap_or(now).into()), if due.is_some() => {
                due = None;
                driver.look();
            }
        }
        if driver.prefetch.is_closed() {
            tracing::debug!(twice = driver.lane.hedged(), "the decoders are not asked any more");
            driver.roster.rest();
            return;
        }
        while let Ok(event) = heard.try_recv() {
            driver.hear(event);
        }
    }
}

impl Driver {
    /// Asks for as much as decoders and memory allow.
    fn ask(&mut self, now: Instant) {
        while self.lane.has_room(now) {
            let len = self.share.answer_len();
            let under_way = (self.lane.under_way() as u64 + 1).saturating_mul(len);
            let most = self.memory.saturating_mul(self.peers.len() as u64);
            let is_full = under_way.saturating_add(self.share.held()) > most;
            let Some(job) = self.prefetch.decoder_job(is_full) else { return };
            let (size, version) = self.prefetch.known_of(job.record());
            match self.lane.ask(job.record(), size, job, now) {
                Some((peer, id)) => {
                    self.send(peer, LinkOrder::Ask(record(id, &job, size, version)));
                    self.tell(peer, |_| ());
                }
                None => self.prefetch.take_back(&TakenBack { item: job, here: false, suspect: false }),
            }
        }
    }

    fn hear(&mut self, event: LinkEvent) {
        let now = Instant::now();
        match event {
            LinkEvent::Opened { peer, terms, orders, name } => {
                self.lane.opened(peer, terms, now);
                self.peers.insert(peer, ConnectedPeer { orders, name, owes: 0 });
                self.tell(peer, |figures| (figures.state, figures.reason) = (DecoderState::Asked, String::new()));
            }
            LinkEvent::Answer { peer, .. } if !self.owed(peer) => self.close(peer, PeerEnd::Goodbye),
            LinkEvent::Answer { peer, answer, kind, body } => match self.lane.answered(peer, answer.id, kind, now) {
                Settled::Made { item, cancelled } => {
                    if let Some(other) = cancelled {
                        self.send(other, LinkOrder::Cancel(answer.id));
                    }
                    if let Some(made) = AnsweredPicture::of(&answer, body, &self.share) {
                        self.prefetch.made(&item, made);
                    }
                    self.tell(peer, |figures| figures.pictures += 1);
                }
                Settled::Back(back) => {
                    let (record, words) = (back.item.record(), &answer.words);
                    tracing::debug!(record, here = back.here, words, "a decoder has not made a record");
                    self.prefetch.take_back(&back);
                    self.tell(peer, |figures| figures.taken_back += 1);
                }
                Settled::Late | Settled::Waits => self.tell(peer, |_| ()),
            },
            LinkEvent::Leaves(peer) => {
                self.lane.leaves(peer);
                self.tell(peer, |figures| figures.state = DecoderState::Leaving);
            }
            LinkEvent::Closed { peer, end } => self.close(peer, end),
            LinkEvent::Failed { name, state, why } => {
                self.why = format!("{name}: {why}");
                self.roster.note(&name, |figures| (figures.state, figures.reason) = (state, why));
            }
            LinkEvent::Forgotten { name } => self.roster.forget(&name),
        }
    }

    fn look(&mut self) {
        for overdue in self.lane.look(Instant::now()) {
            match overdue {
                Overdue::AskToo { peer, id, item } => {
                    let (size, version) = self.prefetch.known_of(item.record());
                    self.send(peer, LinkOrder::Ask(record(id, &item, size, version)));
                }
                Overdue::Back { peer, id, back } => {
                    self.send(peer, LinkOrder::Cancel(id));
                    self.prefetch.take_back(&back);
                    self.tell(peer, |figures| figures.taken_back += 1);
                }
                Overdue::Lost { peers, id, back } => {
                    let record = back.item.record();
                    tracing::debug!(record, "decoders answer others, but not this; the daemon makes it");
                    for peer in peers {
                        self.send(peer, LinkOrder::Cancel(id));
                        self.tell(peer, |figures| figures.taken_back += 1);
                    }
                    self.prefetch.take_back(&back);
                }
                Overdue::Silent(peer) => {
                    let name = self.peers.get(&peer).map_or("", |peer| &peer.name);
                    tracing::warn!(decoder = name, "a decoder is silent; its records are made elsewhere");
                    self.why = format!("{name}: it is silent");
                    self.close(peer, PeerEnd::Silent);
                }
            }
        }
    }

    /// A connection has ended, or is ended by this: without the sender of its orders, its task ends.
    fn close(&mut self, peer: PeerId, end: PeerEnd) {
        let back = self.lane.closed(peer, end);
        if let Some(ConnectedPeer { name, .. }) = self.peers.remove(&peer) {
            self.roster.note(&name, |figures| {
                (figures.state, figures.under_way) = (end.into(), 0);
                figures.taken_back += back.len() as u64;
            });
        }
        for back in back {
            self.prefetch.take_back(&back);
        }
    }

    /// Changes what is told of a decoder.
    fn tell(&self, peer: PeerId, change: impl FnOnce(&mut DecoderFigures)) {
        let Some((ConnectedPeer { name, .. }, load)) = self.peers.get(&peer).zip(self.lane.load(peer)) else { return };
        self.roster.note(name, |figures| {
            (figures.under_way, figures.expected) = (load.0 as u64, load.1);
            change(figures);
        });
    }

    /// Counts an answer of a connection. False if it was not asked for so many: then it could send without end.
    fn owed(&mut self, peer: PeerId) -> bool {
        let Some(ConnectedPeer { owes, name, .. }) = self.peers.get_mut(&peer) else { return true };
        let Some(rest) = owes.checked_sub(1) else {
            tracing::warn!(decoder = name, "a decoder sends more answers than it was asked for; it is hung up");
            self.why = format!("{name}: it sends what it was not asked for");
            return false;
        };
        *owes = rest;
        true
    }

    fn send(&mut self, peer: PeerId, order: LinkOrder) {
        if let Some(ConnectedPeer { orders, owes, .. }) = self.peers.get_mut(&peer) {
            *owes += u64::from(matches!(order, LinkOrder::Ask(_)));
            // A connection that has just ended is told in an event.
            let _gone = orders.send(order);
        }
    }
}

fn record(id: u64, job: &ReadJob, size: u64, version: Option<String>) -> DecoderRecord {
    let (epoch, turn) = (job.of.epoch, job.of.turn);
    DecoderRecord { id, epoch, record: turn.record(), repeat: turn.repeat().into(), size, version }
}

/// Keeps connections to all addresses, whose names are resolved again and again. An address that a name does not lead to any more keeps
/// its connection, but gets no further one. If a name leads nowhere, or cannot be resolved, its last addresses stay.
async fn connect(links: Arc<Links>) {
    let (mut known, mut connections) = (BTreeSet::new(), JoinSet::new());
    loop {
        while let Some(Ok(ended)) = connections.try_join_next() {
            known.remove(&ended);
        }
        for (number, address) in links.decoders.addresses.iter().enumerate() {
            let found = places(address).await;
            if found.is_empty() {
                continue;
            }
            links.places.lock().insert(number, found.clone());
            for at in found {
                if known.len() < MOST_DECODERS && known.insert((number, at)) {
                    let (links, address) = (Arc::clone(&links), address.clone());
                    connections.spawn(async move {
                        link::keep(links, (number, &address), at).await;
                        (number, at)
                    });
                }
            }
        }
        sleep(RESOLVE).await;
    }
}

/// Where an address leads. A Unix socket has no name to resolve.
async fn places(address: &Address) -> Vec<Option<SocketAddr>> {
    let Address::Network { host, port, .. } = address else { return vec![None] };
    let resolved = timeout(RESOLVING, lookup_host((host.as_str(), *port))).await;
    match resolved.map_err(std::io::Error::from).flatten() {
        Ok(found) => found.map(Some).collect(),
        Err(error) => {
            tracing::debug!(%address, %error, "the name of a decoder cannot be resolved");
            Vec::new()
        }
    }
}
