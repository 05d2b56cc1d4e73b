//! The messages of the daemon that the caller has not asked for yet, and the epoch that the caller is in.
//!
//! Epochs belong to the stream, not to a trainer (semantics rule 10): the first `next()` after an epoch's end joins
//! whatever epoch the stream is in by then. Pure: messages in, decisions out.

mod reports;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use forebay_ring::Offer;

use reports::Reports;

/// Messages in the order in which the daemon sent them, and the states that outlast them.
#[derive(Debug)]
pub(crate) struct Inbox {
    events: VecDeque<Event>,
    pub(crate) reports: Reports,
    epoch: CallerEpoch,
    /// The deadline that has passed, and for a later one than which the daemon was asked.
    asked_beyond: Option<u64>,
}

/// The epoch that the caller is in.
#[derive(Debug)]
struct CallerEpoch {
    number: u64,
    /// The caller has asked for a batch of the epoch and not been told its end.
    is_joined: bool,
    /// A state was loaded, and no batch has been handed out since: ends of epochs pass by (semantics rule 22).
    is_loaded: bool,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Offer(Offer),
    EpochEnd(u64),
    Done,
}

/// The first event for the caller.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Head {
    /// A batch that may be handed out.
    Offer(Offer),
    /// The caller's epoch is complete.
    EpochEnd(u64),
    /// The stream has no further epoch.
    Done,
    /// A batch whose claims have passed this deadline: it waits for the daemon's word (semantics rule 19).
    Expired(u64),
    /// Nothing yet.
    Nothing,
}

impl Inbox {
    /// Of a trainer that attached while the stream was in this epoch.
    pub(crate) fn new(epoch: u64) -> Self {
        Self {
            events: VecDeque::new(),
            reports: Reports::default(),
            epoch: CallerEpoch { number: epoch, is_joined: false, is_loaded: false },
            asked_beyond: None,
        }
    }

    pub(crate) fn offer(&mut self, offer: Offer) {
        self.reports.flows();
        self.events.push_back(Event::Offer(offer));
    }

    pub(crate) fn epoch_end(&mut self, epoch: u64) {
        self.reports.epoch_ended();
        self.events.push_back(Event::EpochEnd(epoch));
    }

    pub(crate) fn done(&mut self) {
        self.events.push_back(Event::Done);
    }

    /// Whether to ask the daemon for a later deadline than this one. True only once for each.
    pub(crate) fn asks_beyond(&mut self, deadline: u64) -> bool {
        self.asked_beyond.replace(deadline) != Some(deadline)
    }

    /// Everything offered so far may be handed out until this moment.
    pub(crate) fn renew(&mut self, deadline: u64) {
        for event in &mut self.events {
            if let Event::Offer(offer) = event {
                offer.deadline = deadline;
            }
        }
    }

    /// The daemon takes this batch back: its offer, if it still waits, is taken out. What was handed out is the caller's.
    pub(crate) fn void(&mut self, seq: u64) -> Option<Offer> {
        let is_meant = |event: &Event| matches!(event, Event::Offer(offer) if offer.seq == seq);
        let place = self.events.iter().position(is_meant)?;
        match self.events.remove(place)? {
            Event::Offer(offer) => Some(offer),
            Event::EpochEnd(_) | Event::Done => None,
        }
    }

    /// Joins the stream's epoch, unless the caller is in the middle of one. Ends that came while the caller did not ask are
    /// skipped: their epochs have passed.
    pub(crate) fn join(&mut self) {
        while !self.epoch.is_joined {
            match self.events.front() {
                Some(Event::EpochEnd(epoch)) => {
                    self.epoch.number = self.epoch.number.max(epoch + 1);
                    self.events.pop_front();
                }
                _ => self.epoch.is_joined = true,
            }
        }
    }

    /// Takes the first event; `now` is on the clock of the deadlines. A stream's end stays in the inbox.
    pub(crate) fn take(&mut self, now: u64) -> Head {
        while let Some(event) = self.events.front().copied() {
            match event {
                Event::Offer(offer) if offer.deadline < now => return Head::Expired(offer.deadline),
                Event::Offer(offer) => {
                    self.events.pop_front();
                    self.epoch.number = offer.epoch;
                    self.epoch.is_loaded = false;
                    return Head::Offer(offer);
                }
                Event::EpochEnd(epoch) => {
                    self.events.pop_front();
                    if epoch >= self.epoch.number {
                        self.epoch.number = epoch + 1;
                        // The rest of a loaded epoch may have no batch, by bad records that its state did not know of.
                        if self.epoch.is_loaded {
                            continue;
                        }
                        self.epoch.is_joined = false;
                        return Head::EpochEnd(epoch);
                    }
                }
                Event::Done => {
                    self.epoch.is_joined = false;
                    return Head::Done;
                }
            }
        }
        Head::Nothing
    }

    /// A batch that was taken last waits again, before everything else.
    pub(crate) fn put_back(&mut self, offer: Offer) {
        self.events.push_front(Event::Offer(offer));
    }

    /// The caller was never told of this epoch's end: it is still in that epoch.
    pub(crate) fn put_back_end(&mut self, epoch: u64) {
        self.events.push_front(Event::EpochEnd(epoch));
        self.epoch.number = epoch;
        self.epoch.is_joined = true;
    }

    /// The run went back, or left its epoch, and continues at this one. Batches that were offered before are void, and are
    /// removed and returned. Ends of this epoch and later ones, and failures, no longer hold and are dropped.
    pub(crate) fn fence(&mut self, epoch: u64) -> Vec<Offer> {
        let offers = self.take_offers();
        self.events.retain(|event| matches!(event, Event::EpochEnd(ended) if *ended < epoch));
        self.epoch.number = self.epoch.number.min(epoch);
        self.reports.fence();
        offers
    }

    /// Offers that wait, in order, taken out: the run was restored, or the caller closes.
    pub(crate) fn take_offers(&mut self) -> Vec<Offer> {
        let mut offers = Vec::new();
        self.events.retain(|event| match event {
            Event::Offer(offer) => {
                offers.push(*offer);
                false
            }
            Event::EpochEnd(_) | Event::Done => true,
        });
        offers
    }

    /// The run continues from a state that was loaded, in this epoch. The caller gets no end of an epoch before it has had a
    /// batch, so that its first loop is not empty.
    pub(crate) fn restart(&mut self, epoch: u64) {
        *self = Self::new(epoch);
        self.epoch.is_loaded = true;
    }

    /// The epoch that the caller is in. After the end of an epoch it is the next one.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.number
    }

    /// The epoch that the caller has begun and not been told the end of.
    pub(crate) fn epoch_begun(&self) -> Option<u64> {
        self.epoch.is_joined.then_some(self.epoch.number)
    }

    /// The caller has ended this epoch itself: the word of its end, which may still come, is no news. Answers what was
    /// offered of it; batches of the next epoch stay.
    pub(crate) fn leave(&mut self, epoch: u64) -> Vec<Offer> {
        let mut offers = Vec::new();
        self.events.retain(|event| match event {
            Event::Offer(offer) if offer.epoch <= epoch => {
                offers.push(*offer);
                false
            }
            Event::EpochEnd(ended) => *ended > epoch,
            Event::Offer(_) | Event::Done => true,
        });
        self.epoch.number = self.epoch.number.max(epoch + 1);
        (self.epoch.is_joined, self.epoch.is_loaded) = (false, false);
        offers
    }

    /// A new daemon has taken over, and is in this epoch. The old daemon's offers are void. If the old daemon died before it
    /// reported an epoch's end, the end is reported now.
    pub(crate) fn take_over(&mut self, epoch: u64) {
        self.events.retain(|event| matches!(event, Event::EpochEnd(_)));
        self.reports.take_over();
        let told = self.events.iter().fold(self.epoch.number, |told, event| match event {
            Event::EpochEnd(ended) => told.max(ended + 1),
            Event::Offer(_) | Event::Done => told,
        });
        if epoch > told {
            self.events.push_back(Event::EpochEnd(epoch - 1));
        }
    }

    /// An offer waits to be handed out.
    pub(crate) fn has_offer(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::Offer(_)))
    }
}
