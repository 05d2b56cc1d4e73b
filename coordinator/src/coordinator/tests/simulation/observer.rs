//! Sees all that happens in a simulation, and holds it against the invariants of every run.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use forebay_plan::Plan;
use forebay_proto::v1::{Lease, Verdict};

use super::daemon::SimulatedDaemon;
use super::stored::Stored;
use super::wire::{Answer, Ask, Message, Told};
use crate::suite::{Invariant, LedgerObserver, Place, Violation, Visits};
use forebay_ledger_client::CallError;

/// See the module.
pub(super) struct Observer {
    plan: Plan,
    epochs: u64,
    history: LedgerObserver,
    pub(super) stored: Stored,
    leases: BTreeMap<u64, Lease>,
    /// Positions that a receipt has named, whatever became of it.
    asked: BTreeSet<Place>,
    /// Receipts whose answer was seen: a repeated one counts once.
    counted: BTreeSet<(usize, u64)>,
    /// The lease in which a position was accepted.
    accepted_in: BTreeMap<Place, u64>,
    /// Positions that were leased for the first time, by epoch.
    issued: BTreeMap<u64, u64>,
    /// What trainers got: where, in which lease, and from which process.
    seen: Vec<(Place, u64, usize)>,
    /// The lowest number whose reply a process has not seen, as the ledgers in memory were told.
    heard: BTreeMap<usize, u64>,
    /// Leases that a restart excuses although nobody knows them: they expire.
    excused: BTreeSet<u64>,
    /// Processes of which such a copy may have been carried out, or may still be.
    unsure: BTreeSet<usize>,
}

impl Observer {
    pub(super) fn new(plan: Plan, epochs: u64) -> Self {
        Self {
            plan,
            epochs,
            history: LedgerObserver::default(),
            stored: Stored::default(),
            leases: BTreeMap::new(),
            asked: BTreeSet::new(),
            counted: BTreeSet::new(),
            accepted_in: BTreeMap::new(),
            issued: BTreeMap::new(),
            seen: Vec::new(),
            heard: BTreeMap::new(),
            excused: BTreeSet::new(),
            unsure: BTreeSet::new(),
        }
    }

    /// A coordinator has read the ledgers: it knows no more than the store.
    pub(super) fn begins_again(&mut self) {
        self.heard.clear();
    }

    /// A coordinator has answered these, and this is what the store has now.
    pub(super) fn turned(
        &mut self,
        answered: &[(Message, Answer)],
        documents: &[(String, Vec<u8>)],
        daemons: &[SimulatedDaemon],
    ) -> Result<(), Violation> {
        for (message, answer) in answered {
            self.answered(message, answer, daemons)?;
        }
        let stored = Stored::read(documents)?;
        self.history.keep(|place, lease, _| stored.held.get(place).is_some_and(|(id, _)| *id == lease));
        let mut fresh: Vec<(Lease, usize)> =
            stored.leases.values().filter(|(lease, _)| self.leases.get(&lease.id) != Some(lease)).copied().collect();
        fresh.retain(|(lease, _)| self.is_fresh(lease));
        fresh.sort_by_key(|(lease, _)| (lease.epoch, lease.start));
        for (lease, worker) in fresh {
            self.history.granted(worker, &lease)?;
            let issued = self.issued.entry(lease.epoch).or_default();
            // What was granted and came back in one turn is not among the leases.
            while stored.open.contains(&(lease.epoch, *issued)) {
                *issued += 1;
            }
            Invariant::Order.check(lease.start <= *issued, || {
                format!("{lease:?} is granted while the epoch is leased up to {issued}")
            })?;
            *issued = lease.end.max(*issued);
            self.leases.insert(lease.id, lease);
        }
        self.stored = stored;
        self.check_complete()?;
        self.check_strays(daemons)
    }

    /// Deaths and marks of a lease may change while it is out. Its positions and its id do not.
    fn is_fresh(&self, lease: &Lease) -> bool {
        let known = self.leases.get(&lease.id);
        known.is_none_or(|known| (known.epoch, known.start, known.end) != (lease.epoch, lease.start, lease.end))
    }

    fn answered(&mut self, message: &Message, answer: &Answer, daemons: &[SimulatedDaemon]) -> Result<(), Violation> {
        let caller = message.ask.caller();
        match (&message.ask, answer) {
            (Ask::Ack(request), answer) => {
                let sequence = caller.map_or(0, |caller| caller.sequence);
                let verdicts = if let Ok(Told::Verdicts(verdicts)) = answer { &verdicts[..] } else { &[] };
                let is_counted = !verdicts.is_empty() && !self.counted.insert((message.from, sequence));
                for (number, item) in request.items.iter().enumerate() {
                    let Some(lease) = self.leases.get(&item.lease) else { continue };
                    let range = item.range.expect("a receipt has a range");
                    let (epoch, positions) = (lease.epoch, lease.start + range.start..lease.start + range.end);
                    self.asked.extend(positions.clone().map(|position| (epoch, position)));
                    if verdicts.get(number) == Some(&Verdict::Accepted) && !is_counted {
                        self.history.accepted(item.lease, epoch, positions.clone())?;
                        self.accepted_in.extend(positions.map(|position| ((epoch, position), item.lease)));
                    }
                }
            }
            (Ask::Acquire(_), answer) => {
                // Its process has gone on, and no coordinator could know that.
                let sequence = caller.map_or(0, |caller| caller.sequence);
                let continues = daemons[message.from].unseen() > sequence;
                if continues && self.heard.get(&message.from).is_none_or(|unseen| *unseen <= sequence) {
                    match answer {
                        Ok(Told::Acquire(reply)) => self.excused.extend(reply.leases.iter().map(|lease| lease.id)),
                        Err(CallError::Unavailable(_)) => drop(self.unsure.insert(message.from)),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        if answer.is_ok() {
            let heard = self.heard.entry(message.from).or_default();
            *heard = message.unseen.max(*heard);
        }
        Ok(())
    }

    /// What was accepted is complete, and nothing else is.
    fn check_complete(&mut self) -> Result<(), Violation> {
        for place in self.history.done() {
            let is_stored = self.stored.is_complete(*place);
            Invariant::Durable.check(is_stored, || format!("{place:?} was accepted, and the store does not know"))?;
        }
        for (&epoch, &issued) in &self.issued {
            for position in 0..issued {
                let place = (epoch, position);
                let is_lost = self.stored.is_complete(place) && !self.asked.contains(&place) && !self.is_bad(place);
                Invariant::NothingLost.check(!is_lost, || format!("{place:?} is complete, and nobody had it"))?;
            }
        }
        Ok(())
    }

    fn is_bad(&self, place: Place) -> bool {
        self.stored.quarantine.contains(&(place.0, self.plan.record(place.0, place.1)))
    }

    /// A process that waits for no lease knows all that it has.
    fn check_strays(&self, daemons: &[SimulatedDaemon]) -> Result<(), Violation> {
        for (id, (lease, worker)) in &self.stored.leases {
            let incarnation = self.stored.incarnations.get(worker);
            let holder = daemons.iter().position(|daemon| Some(&daemon.incarnation) == incarnation);
            let is_stray = holder.is_some_and(|holder| {
                daemons[holder].is_up() && !daemons[holder].may_know(*id) && !self.unsure.contains(&holder)
            });
            Invariant::Ends.check(!is_stray || self.excused.contains(id), || {
                format!("{lease:?} belongs to worker {worker}, which does not know it")
            })?;
        }
        Ok(())
    }

    /// A trainer gets these from a process. No other one has them at that moment, and nobody has had them before with success.
    pub(super) fn delivers(
        &mut self,
        from: &SimulatedDaemon,
        number: usize,
        lease: Lease,
        positions: Range<u64>,
    ) -> Result<(), Violation> {
        // It may have come back in the turn of its grant.
        self.leases.entry(lease.id).or_insert(lease);
        let Lease { id: lease, epoch, .. } = lease;
        for place in positions.map(|position| (epoch, position)) {
            // One that was replaced offers what it has until it hears of that.
            if self.stored.incarnations.get(&from.worker) == Some(&from.incarnation) {
                let is_done = self.history.done().contains(&place);
                Invariant::RepeatsExplained
                    .check(!is_done, || format!("{place:?} is delivered in lease {lease}, and was accepted before"))?;
                let owner = self.stored.held.get(&place);
                Invariant::Exclusive.check(owner == Some(&(lease, from.worker)), || {
                    format!("worker {} delivers {place:?} in lease {lease}, and it is in {owner:?}", from.worker)
                })?;
            }
            self.seen.push((place, lease, number));
        }
        Ok(())
    }

    pub(super) fn is_over(&self) -> bool {
        let head = &self.stored.head;
        let all = self.plan.epoch_len(self.epochs - 1);
        self.stored.open.is_empty()
            && (head.cursor_epoch, head.cursor) >= (self.epochs - 1, all)
            && !self.stored.incarnations.is_empty()
    }

    /// What each record of each epoch came to, by this order. Gives how many were seen more than once.
    pub(super) fn ends(&self, record: impl Fn(Place) -> u64) -> Result<u64, Violation> {
        let mut visits = Visits::default();
        for (place, lease, daemon) in &self.seen {
            match self.accepted_in.get(place) {
                Some(id) if id == lease => visits.deliver(&format!("process {daemon}"), place.0, record(*place)),
                _ => visits.doubt(place.0, record(*place)),
            }
        }
        for (epoch, bad) in &self.stored.quarantine {
            visits.quarantine(*epoch, *bad);
        }
        visits.check(self.plan.spec().records, 0, self.epochs)?;
        Ok(visits.repeated())
    }
}
