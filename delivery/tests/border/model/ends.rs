//! What ends before its time in the model: the rest of an epoch that is too little for a batch, and a daemon.

use super::steps::consumer;
use super::*;

impl Border {
    /// What is left of an epoch, if it is too little for a batch and nothing of it may come from elsewhere.
    pub(super) fn to_drop(&self, scene: &Scene, epoch: u64) -> Vec<Place> {
        if scene.batch == 1 {
            return Vec::new();
        }
        let is_whole = |places: &[Place]| places.len() == scene.batch;
        let of_epoch = |place: &&Place| place.0 == epoch;
        let whole = self.batches.values().filter(|places| is_whole(places) && places[0].0 == epoch).map(Vec::len);
        let gone = self.done.iter().filter(of_epoch).count() + whole.sum::<usize>();
        let all = if epoch == 0 { scene.first + scene.late } else { scene.second };
        let left = usize::try_from(all).expect("few") - gone;
        let here = self.open.iter().chain(&self.read).chain(self.drafts.values().flat_map(|draft| &draft.places));
        let here: Vec<Place> =
            here.filter(|place| place.0 == epoch && !self.is_in_whole(scene, **place)).copied().collect();
        if left < scene.batch && here.len() == left { here } else { Vec::new() }
    }

    fn is_in_whole(&self, scene: &Scene, place: Place) -> bool {
        self.batches.values().any(|places| places.len() == scene.batch && places.contains(&place))
    }

    /// The ledger counts what is left of an epoch as dropped, read or not.
    pub(super) fn drop_rest(&mut self, scene: &Scene, epoch: u64) {
        let dropped = self.to_drop(scene, epoch);
        let of_them = |place: &Place| dropped.contains(place);
        self.open.retain(|place| !of_them(place));
        self.read.retain(|place| !of_them(place));
        let drafts: Vec<u64> =
            self.drafts.iter().filter(|(_, draft)| draft.places.iter().any(of_them)).map(|(batch, _)| *batch).collect();
        for batch in drafts {
            let draft = self.drafts.remove(&batch).expect("it was found");
            self.batches.remove(&batch);
            if self.policy != Policy::KeepsDropped {
                self.spare.push(draft.slot);
            }
        }
        for place in dropped {
            self.count(place, scene);
        }
    }

    /// The daemon dies. What no trainer holds comes back. What they hold they hand in.
    pub(super) fn rebirth(&mut self, scene: &Scene) {
        self.rebirths -= 1;
        let hands = self.trainers.iter().filter(|trainer| trainer.presence == Presence::Attached);
        let held: Vec<u64> = hands.filter_map(|trainer| trainer.hand).map(|held| held.seq).collect();
        let (handed, lost): (BTreeMap<u64, Vec<Place>>, BTreeMap<u64, Vec<Place>>) =
            std::mem::take(&mut self.batches).into_iter().partition(|(batch, _)| held.contains(batch));
        let of_handed = handed.values().flatten().filter(|_| self.policy == Policy::ForgetsResumedClaims);
        let back = lost.values().flatten().chain(&self.back).chain(&self.read).chain(of_handed);
        let back: BTreeSet<Place> = back.copied().filter(|place| !self.done.contains(place)).collect();
        self.came_back += back.iter().filter(|(epoch, _)| *epoch == 0).count() as u64;
        self.open.extend(back);
        (self.batches, self.rings, self.stage_floor, self.reached) = (handed, 0, self.floor, None);
        (self.exchange, self.later) = (exchange(scene, self.floor), later(scene, self.policy));
        self.back.clear();
        self.read.clear();
        self.spare.clear();
        self.drafts.clear();
        self.made.clear();
        self.vacancies.clear();
        self.was_offered.clear();
        self.add_ring(scene);
        for number in 0..self.trainers.len() {
            let is_back = self.trainers[number].presence == Presence::Attached;
            let is_let_in = is_back && {
                let credits = scene.trainers[number].credits;
                self.exchange.attach(consumer(number), credits, Membership::default()).is_ok()
            };
            let trainer = &mut self.trainers[number];
            trainer.offered.clear();
            trainer.views.clear();
            trainer.hand = trainer.hand.take().filter(|_| is_let_in).map(|held| HeldBatch::resumed(held.seq, held.seq));
            if let Some(held) = trainer.hand {
                let epoch = self.batches[&held.seq][0].0;
                self.exchange.adopt(consumer(number), held.seq, BatchId { seq: held.seq, epoch });
            }
            if !is_let_in {
                trainer.presence = Presence::Gone;
            }
        }
        self.begins(scene);
    }
}
