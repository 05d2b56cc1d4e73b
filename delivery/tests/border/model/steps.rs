//! What happens in the model at each event: at the ledger, in the stage, in the ring, and at the trainers.

use super::*;

fn position((epoch, index): Place) -> EpochPosition {
    EpochPosition { epoch, index }
}

impl Border {
    // The ledger.

    /// The first position that is open. Few are leased ahead.
    pub(super) fn to_lease(&self) -> Option<Place> {
        self.open.first().copied().filter(|place| !self.read.iter().any(|(epoch, _)| *epoch == place.0))
    }

    pub(super) fn lease(&mut self) {
        if let Some(place) = self.to_lease() {
            self.open.remove(&place);
            self.read.push(place);
            self.read.sort_by_key(|(epoch, _)| *epoch);
        }
    }

    pub(super) fn count(&mut self, place: Place, scene: &Scene) {
        if !self.done.insert(place) {
            self.wrong = Some("a position is delivered twice");
        }
        let of = |epoch| self.done.iter().filter(|(of, _)| *of == epoch).count() as u64;
        if of(0) == scene.first + scene.late {
            self.floor = if of(1) == scene.second { 2 } else { 1 };
        }
    }

    // The stage.

    pub(super) fn take_vacancy(&mut self) {
        match self.vacancies.pop_front() {
            Some(Vacancy::GaveWay(batch)) => self.later.gave_way(batch),
            Some(Vacancy::Slot(slot)) => {
                self.later.slot_came();
                self.spare.push(slot);
            }
            None => {}
        }
    }

    pub(super) fn fill(&mut self, scene: &Scene) {
        let Some(place) = self.read.first().copied() else { return };
        if self.later.is_out_of_order(position(place)) {
            self.back.push_back(self.read.remove(0));
        } else if let Some(batch) = self.to_join(scene, place) {
            self.drafts.get_mut(&batch).expect("it was found").places.push(place);
            self.batches.get_mut(&batch).expect("it is in the making").push(place);
            self.read.remove(0);
        } else if self.has_room(scene, place.0) {
            self.later.came(position(place));
            self.later.begin(self.next, position(place));
            let slot = self.spare.pop().expect("there is room");
            self.drafts.insert(self.next, Draft { places: vec![place], slot });
            self.batches.insert(self.next, vec![place]);
            self.next += 1;
            self.read.remove(0);
        } else if place.0 <= self.stage_floor && !matches!(self.policy, Policy::OneFreeSlot | Policy::OneReservedSlot) {
            self.make_way(scene, place.0);
        }
    }

    /// The batch in the making that has a place for this one.
    fn to_join(&self, scene: &Scene, (epoch, _): Place) -> Option<u64> {
        let is_open = |draft: &Draft| draft.places[0].0 == epoch && draft.places.len() < scene.batch;
        self.drafts.iter().find(|(_, draft)| is_open(draft)).map(|(batch, _)| *batch)
    }

    fn has_room(&self, scene: &Scene, epoch: u64) -> bool {
        if self.policy != Policy::OneReservedSlot {
            return LaterBatches::has_room(epoch, self.stage_floor, self.spare.len());
        }
        let is_later = |of: u64| of > self.stage_floor;
        let later = self.batches.values().filter(|places| is_later(places[0].0)).count();
        !self.spare.is_empty() && (!is_later(epoch) || later + 1 < scene.slots as usize)
    }

    fn make_way(&mut self, scene: &Scene, epoch: u64) {
        let last =
            self.drafts.iter().rev().find(|(_, draft)| draft.places[0].0 > epoch).map(|(batch, draft)| (*batch, draft));
        let youngest = match last {
            // What is decoded behind a batch that is not complete waits for it.
            Some((_, draft)) if self.to_decode(scene, draft.places[0].0).is_none() => Youngest::Idle,
            Some(_) => Youngest::Busy,
            None => Youngest::Nothing,
        };
        match (self.later.way(epoch, youngest), last.map(|(batch, _)| batch)) {
            (Way::Withdraw, Some(batch)) => {
                let Some(Draft { places, slot }) = self.drafts.remove(&batch) else { return };
                self.batches.remove(&batch);
                self.gives_way(places);
                self.later.gave_way(batch);
                self.spare.push(slot);
            }
            (Way::Ask, _) => self.made.push_back(Made::NeedsSlot(epoch)),
            _ => {}
        }
    }

    fn gives_way(&mut self, mut places: Vec<Place>) {
        if self.policy == Policy::HalfReturned {
            places.truncate(1);
        }
        self.back.extend(places);
        self.gave_way += 1;
    }

    fn is_starved(&self, scene: &Scene, (epoch, index): Place) -> bool {
        epoch == 1 && scene.starved == Some(index) && self.stage_floor == 0
    }

    /// Batches of an epoch are handed on in the order of their numbers.
    pub(super) fn to_decode(&self, scene: &Scene, epoch: u64) -> Option<u64> {
        let first = self.drafts.iter().find(|(_, draft)| draft.places[0].0 == epoch);
        let is_whole = |draft: &Draft| draft.places.len() == scene.batch && !self.is_starved(scene, draft.places[0]);
        first.filter(|(_, draft)| is_whole(draft)).map(|(batch, _)| *batch)
    }

    pub(super) fn decoded(&mut self, scene: &Scene, epoch: u64) {
        if let Some(batch) = self.to_decode(scene, epoch) {
            let draft = self.drafts.remove(&batch).expect("it was found");
            self.made.push_back(Made::Ready(batch, draft.slot));
        }
    }

    // The ring.

    pub(super) fn hear(&mut self) {
        match self.made.pop_front() {
            Some(Made::Ready(seq, slot)) => {
                let places = &self.batches[&seq];
                if self.done.contains(&places[0]) {
                    // Its lease is lost.
                    self.batches.remove(&seq);
                    self.exchange.give_up(slot);
                } else {
                    let epoch = places[0].0;
                    self.exchange.publish(slot, BatchId { seq, epoch });
                }
            }
            Some(Made::NeedsSlot(epoch)) if self.vacancies.is_empty() => {
                let batches = self.discard(epoch);
                self.vacancies.extend(batches.into_iter().map(Vacancy::GaveWay));
            }
            _ => {}
        }
    }

    /// What gives way to a batch of this epoch.
    fn discard(&mut self, epoch: u64) -> Vec<u64> {
        let is_ready = |seq: &u64| {
            let is_on_its_way = |made: &Made| matches!(made, Made::Ready(other, _) if other == seq);
            !self.drafts.contains_key(seq) && !self.made.iter().any(is_on_its_way)
        };
        let later = |after: u64| move |(_, places): &(&u64, &Vec<Place>)| places[0].0 > after;
        let (asked, border) = (later(epoch), later(epoch.max(self.exchange.open())));
        let batch = match self.policy {
            Policy::EvenOffered => {
                let ready = self.batches.iter().filter(asked).map(|(seq, _)| *seq).filter(is_ready);
                ready.max_by_key(|seq| (self.was_offered.contains(seq), *seq))
            }
            Policy::Oldest => self.batches.iter().filter(border).map(|(seq, _)| *seq).filter(is_ready).min(),
            _ => return self.exchange.give_way(epoch).iter().map(|batch| batch.seq).collect(),
        };
        let Some(batch) = batch else { return Vec::new() };
        if let Voided::Held(_) = self.exchange.void(batch) {
            self.wrong = Some("a batch gives way that was offered");
        }
        vec![batch]
    }

    /// Does what the exchange has decided.
    pub(super) fn act(&mut self, scene: &Scene) {
        loop {
            let actions: Vec<Action> = self.exchange.drain().collect();
            let is_still = actions.is_empty();
            for action in actions {
                self.act_on(scene, action);
            }
            let took = (0..self.trainers.len()).any(|number| self.take(scene, number));
            if is_still && !took {
                break;
            }
        }
        if self.gave_way > self.came_back {
            self.wrong = Some("more batches give way than positions came back");
        }
        // A state has each position as consumed or as open. One that expired here is another node's.
        if scene.expiries == 0 && self.known() != scene.first + scene.late + scene.second {
            self.wrong = Some("a state does not have each position once");
        }
        let slots = self.vacancies.iter().filter(|vacancy| matches!(vacancy, Vacancy::Slot(_))).count();
        let ready = self.made.iter().filter(|made| matches!(made, Made::Ready(..))).count();
        if self.exchange.counts().filling as usize != self.spare.len() + self.drafts.len() + slots + ready {
            self.wrong = Some("a slot is lost");
        }
    }

    /// How many positions are consumed, open or leased.
    fn known(&self) -> u64 {
        let of_batches = self.batches.values().map(Vec::len).sum::<usize>();
        let here = self.open.len() + self.back.len() + self.read.len() + of_batches;
        (here + self.elsewhere.len() + self.done.len()) as u64
    }

    fn act_on(&mut self, scene: &Scene, action: Action) {
        match action {
            Action::Offer { consumer, slot, batch, generation, redelivered } => {
                let (epoch, index) = self.batches[&batch.seq][0];
                if epoch > self.floor {
                    self.wrong = Some("a batch of a later epoch is offered");
                }
                if epoch == 1 && redelivered == 0 && scene.in_order {
                    if self.reached.is_some_and(|reached| reached >= index) {
                        self.wrong = Some("batches do not keep their order");
                    }
                    self.reached = Some(index);
                }
                self.was_offered.insert(batch.seq);
                let held = HeldBatch { seq: batch.seq, slot, generation };
                self.trainers[usize::try_from(consumer.0).expect("few")].offered.push_back(held);
            }
            Action::Acked { batch, .. } => {
                self.consumed(batch.seq, scene);
            }
            Action::AdoptedAcked(adopted) => self.consumed(adopted.batch.seq, scene),
            Action::Orphaned { adopted, .. } => {
                self.back.extend(self.batches.remove(&adopted.batch.seq).expect("it is orphaned once"));
            }
            Action::Dropped { batch, .. } => {
                if self.was_offered.contains(&batch.seq) {
                    self.wrong = Some("a batch gives way that was offered");
                }
                let places = self.batches.remove(&batch.seq).expect("it is dropped once");
                self.gives_way(places);
            }
            Action::Seen(batch) => self.exchange.noted(batch.seq),
            Action::Free(_) => {
                while let Some(slot) = self.exchange.claim() {
                    self.vacancies.push_back(Vacancy::Slot(slot));
                }
            }
            _ => {}
        }
    }

    fn consumed(&mut self, batch: u64, scene: &Scene) {
        let places = self.batches.remove(&batch).expect("it is acked once");
        for place in places {
            self.count(place, scene);
        }
    }

    // The trainers.

    pub(super) fn attach(&mut self, scene: &Scene) {
        let number = self.trainers.len();
        let granted =
            self.exchange.attach(consumer(number), scene.trainers[number].credits, Membership::default()).is_ok();
        let presence = if granted { Presence::Attached } else { Presence::Gone };
        let (offered, views) = (VecDeque::new(), VecDeque::new());
        self.trainers.push(Trainer { presence, offered, hand: None, views, asks: false });
    }

    /// It acks what it has in hand, and looks at some of what it had before.
    pub(super) fn ask(&mut self, scene: &Scene, number: usize) {
        let trainer = &mut self.trainers[number];
        trainer.asks = true;
        if let Some(held) = trainer.hand.take() {
            self.exchange.ack(consumer(number), held);
            if !held.is_resumed() {
                trainer.views.push_back(held);
                self.exchange.credit(consumer(number), 1);
            }
        }
        self.drop_views(number, scene.trainers[number].views);
    }

    /// Takes a batch if it asks for one, and was offered one. As a `for` assigns the batch, the variable lets go of the one
    /// before.
    fn take(&mut self, scene: &Scene, number: usize) -> bool {
        let trainer = &mut self.trainers[number];
        if !trainer.asks {
            return false;
        }
        let Some(held) = trainer.offered.pop_front() else { return false };
        trainer.hand = Some(held);
        trainer.asks = false;
        self.drop_views(number, scene.trainers[number].views.saturating_sub(1));
        true
    }

    fn drop_views(&mut self, number: usize, most: usize) {
        while self.trainers[number].views.len() > most {
            let held = self.trainers[number].views.pop_front().expect("there are more");
            self.exchange.release(consumer(number), held, false);
        }
    }

    pub(super) fn leave(&mut self, number: usize, presence: Presence) {
        let trainer = &mut self.trainers[number];
        let was = std::mem::replace(&mut trainer.presence, presence);
        trainer.offered.clear();
        trainer.views.clear();
        trainer.hand = None;
        if presence == Presence::Evicted {
            self.evictions -= 1;
            self.exchange.evict(consumer(number));
        } else {
            self.deaths -= u32::from(was == Presence::Attached);
            self.exchange.gone(consumer(number));
        }
    }
}

pub(super) fn consumer(number: usize) -> ConsumerId {
    ConsumerId(number as u64)
}
