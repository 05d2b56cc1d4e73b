//! Which decoder makes which record, and what becomes of requests that are not answered (semantics rule 60).
//!
//! It is a state machine without a clock and without connections: time is an argument, and its caller sends what it decides. A
//! request is for one record. It ends exactly once: with an answer, or because the record is taken back. Then the daemon makes the
//! record itself, or asks for it again with another request.

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::hedges::HedgeRate;
use super::peer::Peer;
pub(crate) use super::peer::{PeerId, PeerTerms};

/// How often the weights of decoders change.
const WEIGHING: Duration = Duration::from_secs(10);
/// How often requests are looked at that are not answered.
const LOOK: Duration = Duration::from_millis(50);

/// The decoders of a stream, and the requests under way. `T` is what the caller needs to know of a record.
#[derive(Debug)]
pub(crate) struct RemoteLane<T> {
    /// What tells the dataset from others, for its records' choice of decoders.
    dataset: u64,
    /// Whether the daemon decodes too.
    makes_here: bool,
    peers: BTreeMap<PeerId, Peer>,
    requests: BTreeMap<u64, DecoderRequest<T>>,
    next: u64,
    hedges: HedgeRate,
    weighed: Option<Instant>,
    /// Requests that were given twice so far.
    hedged: u64,
    /// Records that were taken back from a silent decoder, and have not been made since.
    once: BTreeSet<u64>,
}

#[derive(Debug)]
struct DecoderRequest<T> {
    item: T,
    record: u64,
    size: u64,
    first: PeerId,
    began: Instant,
    second: Option<PeerId>,
    /// It was given to a second decoder, whether both still have it or not.
    twice: bool,
}

/// What a decoder's answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    /// Its picture.
    Made,
    /// The decoder has no room now.
    Busy,
    /// The decoder does not make it: the record is bad there, cannot be read there, or is too large for it.
    NotMade,
}

/// Why a decoder's connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PeerEnd {
    /// It has said goodbye, or this end closed the connection.
    Goodbye,
    /// Without a goodbye: one of its records may have ended it.
    Broken,
    /// This end closed the connection, because the decoder was silent.
    Silent,
}

/// A record that is taken back from the decoders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TakenBack<T> {
    /// What the caller has of it.
    pub item: T,
    /// No decoder is asked for it any more: the daemon makes it.
    pub here: bool,
    /// It was under way when a decoder ended: the daemon makes it in a child process (semantics rule 9).
    pub suspect: bool,
}

/// What became of a request with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled<T> {
    /// The answer counts. Another decoder's, if one was asked too, does not any more.
    Made {
        /// What the caller has of the record.
        item: T,
        /// The other decoder.
        cancelled: Option<PeerId>,
    },
    /// The record is taken back.
    Back(TakenBack<T>),
    /// The answer does not count: the request has ended, or was never made.
    Late,
    /// The other decoder still has the request.
    Waits,
}

/// What is to be done because time has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Overdue<T> {
    /// Ask this decoder too.
    AskToo {
        /// The decoder.
        peer: PeerId,
        /// The request.
        id: u64,
        /// What the caller has of the record.
        item: T,
    },
    /// The record is taken back from this decoder.
    Back {
        /// The decoder.
        peer: PeerId,
        /// The request.
        id: u64,
        /// The record.
        back: TakenBack<T>,
    },
    /// These decoders answer, but none has answered this request for as long as would make it silent. The record is taken back.
    Lost {
        /// The decoders.
        peers: Vec<PeerId>,
        /// The request.
        id: u64,
        /// The record.
        back: TakenBack<T>,
    },
    /// Close the connection of this decoder, which is silent. [`RemoteLane::closed`] follows with [`PeerEnd::Silent`].
    Silent(PeerId),
}

impl<T: Copy> RemoteLane<T> {
    /// No decoder yet. `makes_here` says whether the daemon has threads for what is taken back.
    pub(crate) fn new(dataset: u64, makes_here: bool) -> Self {
        Self {
            dataset,
            makes_here,
            peers: BTreeMap::new(),
            requests: BTreeMap::new(),
            next: 0,
            hedges: HedgeRate::default(),
            weighed: None,
            hedged: 0,
            once: BTreeSet::new(),
        }
    }

    /// A decoder can be asked from now on.
    pub(crate) fn opened(&mut self, peer: PeerId, terms: PeerTerms, now: Instant) {
        self.peers.insert(peer, Peer::new(terms, now));
    }

    /// Whether there is a decoder that is not about to leave.
    pub(crate) fn has_peers(&self) -> bool {
        self.peers.values().any(|peer| !peer.is_leaving())
    }

    /// Answers that decoders owe, those of requests given twice included.
    pub(crate) fn under_way(&self) -> usize {
        self.peers.values().map(|peer| peer.under_way().len()).sum()
    }

    /// Answers that a decoder owes, and how long one is expected to take once it has answered.
    pub(crate) fn load(&self, peer: PeerId) -> Option<(usize, Option<Duration>)> {
        let peer = self.peers.get(&peer)?;
        Some((peer.under_way().len(), peer.is_measured().then(|| peer.expected(0))))
    }

    /// Requests that were given twice so far.
    pub(crate) fn hedged(&self) -> u64 {
        self.hedged
    }

    /// Whether some decoder may be asked for a record now.
    pub(crate) fn has_room(&self, now: Instant) -> bool {
        self.peers.values().any(|peer| peer.has_room(now))
    }

    /// Chooses a decoder for a record, whose file has `size` bytes. Gives the decoder with the request's number, or nothing if all
    /// decoders have enough to do.
    pub(crate) fn ask(&mut self, record: u64, size: u64, item: T, now: Instant) -> Option<(PeerId, u64)> {
        let scored = self.peers.iter().filter(|(_, peer)| !peer.is_leaving());
        let mut scored: Vec<(f64, PeerId)> = scored.map(|(id, peer)| (peer.score(self.dataset, record), *id)).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let named = scored.first()?.1;
        let free = scored.iter().map(|(_, id)| *id).find(|id| self.peers[id].has_room(now));
        if let Some(peer) = self.peers.get_mut(&named) {
            peer.named(free == Some(named));
        }
        let first = free?;
        let id = self.next;
        self.next += 1;
        self.peers.get_mut(&first)?.ask(id, now);
        self.requests.insert(id, DecoderRequest { item, record, size, first, began: now, second: None, twice: false });
        self.hedges.asked(now);
        Some((first, id))
    }

    /// A decoder has answered.
    pub(crate) fn answered(&mut self, peer: PeerId, id: u64, kind: AnswerKind, now: Instant) -> Settled<T> {
        let asked = self.peers.get_mut(&peer).and_then(|of| of.answered(id));
        let (Some(asked), Some(request)) = (asked, self.requests.get_mut(&id)) else { return Settled::Late };
        let other = request.other(peer).filter(|other| self.peers.contains_key(other));
        let Some(of) = self.peers.get_mut(&peer) else { return Settled::Late };
        if kind != AnswerKind::Busy {
            of.heard(now);
        }
        match kind {
            AnswerKind::Made => of.made(request.size, asked, now),
            AnswerKind::Busy => of.is_busy(now),
            AnswerKind::NotMade => {}
        }
        if let (AnswerKind::Busy, Some(other)) = (kind, other) {
            (request.first, request.second) = (other, None);
            return Settled::Waits;
        }
        let Some(DecoderRequest { item, record, .. }) = self.requests.remove(&id) else { return Settled::Late };
        if kind != AnswerKind::Busy {
            self.once.remove(&record);
        }
        if let Some(other) = other.and_then(|other| self.peers.get_mut(&other)) {
            other.forget(id);
        }
        match kind {
            AnswerKind::Made => Settled::Made { item, cancelled: other },
            AnswerKind::Busy => Settled::Back(TakenBack { item, here: false, suspect: false }),
            AnswerKind::NotMade => Settled::Back(TakenBack { item, here: true, suspect: false }),
        }
    }

    /// A decoder will take nothing new, but answers what it has.
    pub(crate) fn leaves(&mut self, peer: PeerId) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.leaves();
        }
    }

    /// A decoder's connection has ended. Gives what it had, unless another decoder has it too. What a silent decoder had may go to another
    /// one, but if that is silent too, the daemon makes it: else decoders that never answer could keep a record for ever.
    pub(crate) fn closed(&mut self, peer: PeerId, end: PeerEnd) -> Vec<TakenBack<T>> {
        let Some(gone) = self.peers.remove(&peer) else { return Vec::new() };
        let suspect = end == PeerEnd::Broken;
        let mut back = Vec::new();
        for id in gone.under_way().keys() {
            let Some(request) = self.requests.get_mut(id) else { continue };
            if let Some(other) = request.other(peer).filter(|other| self.peers.contains_key(other)) {
                (request.first, request.second) = (other, None);
            } else {
                let is_again = end == PeerEnd::Silent && !self.once.insert(request.record);
                let here = suspect || is_again;
                if here {
                    self.once.remove(&request.record);
                }
                back.push(TakenBack { item: request.item, here, suspect });
                self.requests.remove(id);
            }
        }
        back
    }

    /// What is overdue now. At most one request in twenty is given twice, and no request is given a third time.
    pub(crate) fn look(&mut self, now: Instant) -> Vec<Overdue<T>> {
        if self.weighed.is_none_or(|weighed| now.saturating_duration_since(weighed) >= WEIGHING) {
            self.weighed = Some(now);
            self.peers.values_mut().for_each(Peer::weigh);
        }
        let mut overdue = Vec::new();
        for (id, peer) in &self.peers {
            let oldest = peer.under_way().iter().min_by_key(|(_, asked)| **asked);
            let size = oldest.and_then(|(id, _)| self.requests.get(id)).map(|request| request.size);
            if size.is_some_and(|size| now >= peer.silent_at(size)) {
                overdue.push(Overdue::Silent(*id));
            }
        }
        overdue.extend(self.lost(now));
        let late = |id: &u64, request: &DecoderRequest<T>| {
            let first = self.peers.get(&request.first)?;
            let waited = now.saturating_duration_since(request.began);
            (!request.twice && waited >= first.expected(request.size) * 2).then_some(*id)
        };
        let late: Vec<u64> = self.requests.iter().filter_map(|(id, request)| late(id, request)).collect();
        for id in late {
            let Some(request) = self.requests.get(&id) else { continue };
            let idle = self.peers.iter().find(|(peer, of)| **peer != request.first && of.is_idle(now));
            let idle = idle.map(|(peer, _)| *peer);
            if idle.is_none() && !self.makes_here {
                continue;
            }
            if !self.hedges.allows(now) {
                break;
            }
            self.hedged += 1;
            overdue.extend(match idle {
                Some(peer) => self.ask_too(peer, id, now),
                None => self.take_back(id),
            });
        }
        overdue
    }

    /// Takes back what decoders that answer have not answered. A decoder that is silent is closed instead.
    fn lost(&mut self, now: Instant) -> Vec<Overdue<T>> {
        let is_lost = |id: &u64, request: &DecoderRequest<T>| {
            let mut asked = request.holders().filter_map(|peer| {
                let peer = self.peers.get(&peer)?;
                Some((peer, *peer.under_way().get(id)?))
            });
            asked.all(|(peer, asked)| {
                let patience = peer.patience(request.size);
                now >= asked + patience && now < peer.silent_at(request.size)
            })
        };
        let lost: Vec<u64> = self.requests.iter().filter(|(id, of)| is_lost(id, of)).map(|(id, _)| *id).collect();
        let take_back = |id: u64| {
            let request = self.requests.remove(&id)?;
            self.once.remove(&request.record);
            let peers: Vec<PeerId> = request.holders().filter(|peer| self.peers.contains_key(peer)).collect();
            peers.iter().filter_map(|peer| self.peers.get_mut(peer).map(|peer| peer.forget(id))).for_each(drop);
            Some(Overdue::Lost { peers, id, back: TakenBack { item: request.item, here: true, suspect: false } })
        };
        lost.into_iter().filter_map(take_back).collect()
    }

    /// When [`look`](Self::look) is due, if anything is waited for.
    pub(crate) fn next_look(&self, now: Instant) -> Option<Instant> {
        // One that is busy is asked again after a while.
        let rests = |peer: &Peer| !peer.is_leaving() && !peer.has_room(now);
        (!self.requests.is_empty() || self.peers.values().any(rests)).then_some(now + LOOK)
    }

    fn ask_too(&mut self, peer: PeerId, id: u64, now: Instant) -> Option<Overdue<T>> {
        let request = self.requests.get_mut(&id)?;
        self.peers.get_mut(&peer)?.ask(id, now);
        (request.second, request.twice) = (Some(peer), true);
        Some(Overdue::AskToo { peer, id, item: request.item })
    }

    /// The daemon makes it instead.
    fn take_back(&mut self, id: u64) -> Option<Overdue<T>> {
        let DecoderRequest { item, record, first, .. } = self.requests.remove(&id)?;
        self.once.remove(&record);
        if let Some(peer) = self.peers.get_mut(&first) {
            peer.forget(id);
        }
        Some(Overdue::Back { peer: first, id, back: TakenBack { item, here: true, suspect: false } })
    }
}

impl<T> DecoderRequest<T> {
    /// The decoders that were asked.
    fn holders(&self) -> impl Iterator<Item = PeerId> + use<T> {
        [Some(self.first), self.second].into_iter().flatten()
    }

    /// The other decoder that was asked.
    fn other(&self, peer: PeerId) -> Option<PeerId> {
        if self.first == peer { self.second } else { Some(self.first) }
    }
}
