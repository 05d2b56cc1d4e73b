//! The end of an epoch that waits for somebody: who holds it up, here or on another node, and what is given back to those who
//! wait elsewhere (semantics rules 11 and 35). Pure.

use std::time::{Duration, Instant};

use forebay_proto::v1::LastHolder;
use forebay_ring::{ConsumerId, GroupState, Voided};

use super::Deliveries;
use crate::worker::Others;

/// An epoch's end that waits.
#[derive(Debug)]
pub(in crate::consumers) struct Overdue {
    pub(in crate::consumers) epoch: u64,
    pub(in crate::consumers) holding: Holding,
    pub(in crate::consumers) for_how_long: Duration,
    /// It has been too long.
    pub(in crate::consumers) expired: bool,
    /// Who has nothing to do meanwhile.
    pub(in crate::consumers) waiting: Vec<ConsumerId>,
}

/// Who holds it up.
#[derive(Debug)]
pub(in crate::consumers) enum Holding {
    /// A trainer here, with a batch.
    Here { holder: ConsumerId, batch: u64 },
    /// A group here that has not taken its batches. It may have no trainer.
    Group(GroupState),
    /// Other daemons; there is one at least.
    Elsewhere(Vec<LastHolder>),
}

impl Deliveries {
    /// What other daemons have and want.
    pub(in crate::consumers) fn hear_of(&mut self, others: Others) {
        self.others = others;
    }

    /// Looks whether the open epoch's end waits for somebody while others of those that are `here` have nothing to do. Nothing
    /// where that is not worth a word.
    pub(in crate::consumers) fn overdue(
        &mut self,
        here: impl Iterator<Item = ConsumerId>,
        now: Instant,
    ) -> Option<Overdue> {
        let epoch = self.exchange.open();
        let holders = self.exchange.holders(epoch);
        let waiting: Vec<_> = if self.end.only_held_left(epoch) {
            here.filter(|id| self.exchange.is_done_with(*id, epoch)).collect()
        } else {
            Vec::new()
        };
        self.idle = (!waiting.is_empty()).then(|| self.idle.unwrap_or(now));
        let elsewhere = if self.others.epoch == epoch { self.others.holders.as_slice() } else { &[] };
        let behind = self.exchange.groups().filter(|group| group.behind > 0).max_by_key(|group| group.behind);
        let somebody_has_it = !holders.is_empty() || behind.is_some() || !elsewhere.is_empty();
        let waits = !waiting.is_empty() && somebody_has_it;
        let (for_how_long, expired) = self.end.waits(waits, now)?;
        let holding = match (holders.first(), behind) {
            (Some(holder), _) => Holding::Here { holder: holder.consumer, batch: holder.seq },
            (None, Some(group)) => Holding::Group(group),
            (None, None) => Holding::Elsewhere(elsewhere.to_vec()),
        };
        Some(Overdue { epoch, holding, for_how_long, expired, waiting })
    }

    /// Whether trainers have had nothing to do for so long that nothing of the epoch can be on its way to them from here.
    pub(in crate::consumers) fn is_idle(&self, now: Instant, patience: Duration) -> bool {
        self.idle.is_some_and(|since| now.saturating_duration_since(since) >= patience)
    }

    /// If trainers of other daemons wait for the open epoch: takes its batches back that were ready before this moment
    /// (`CLOCK_MONOTONIC` nanosecond). Gives those that were offered, each once: their trainers are to be told, and may have
    /// taken them.
    pub(in crate::consumers) fn recall(&mut self, ready_before: u64) -> Vec<(ConsumerId, u64)> {
        let epoch = self.exchange.open();
        if !self.others.want || self.others.epoch != epoch {
            return Vec::new();
        }
        let mut offered = Vec::new();
        for seq in self.claims.recall(epoch, ready_before) {
            if let Voided::Held(holders) = self.exchange.void(seq) {
                offered.extend(holders.into_iter().map(|consumer| (consumer, seq)));
            }
        }
        offered
    }
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::Progress;
    use forebay_ring::{Action, BatchId, HeldBatch, Join, Membership, SlotId};

    use super::*;
    use crate::settings::{DeliverySettings, Mode};

    const SECOND: Duration = Duration::from_secs(1);
    const ANNA: ConsumerId = ConsumerId(1);

    fn drained() -> Deliveries {
        let mut deliveries = Deliveries::new(0, None, 600 * SECOND, false, DeliverySettings::default());
        deliveries.add_ring(0, 4);
        deliveries.attach(ANNA, 1, Membership::default()).unwrap();
        deliveries.heard(Progress { floor: 0, drained: 1, generation: 1, failed: false });
        deliveries
    }

    fn others(epoch: u64) -> Others {
        let holders = vec![LastHolder { worker: "slow".into(), process: None }];
        Others { epoch, holders, want: false }
    }

    #[test]
    fn rule_11_an_epoch_that_waits_for_another_node_is_told_with_its_name() {
        let (mut deliveries, start) = (drained(), Instant::now());
        let look =
            |deliveries: &mut Deliveries, second: u32| deliveries.overdue([ANNA].into_iter(), start + second * SECOND);
        assert!(look(&mut deliveries, 0).is_none());
        assert!(look(&mut deliveries, 20).is_none(), "nobody is known to have it");
        deliveries.hear_of(others(0));
        assert!(look(&mut deliveries, 21).is_none());
        let overdue = look(&mut deliveries, 31).unwrap();
        let Holding::Elsewhere(holders) = &overdue.holding else { panic!("{overdue:?}") };
        assert_eq!((holders[0].worker.as_str(), overdue.epoch, &overdue.waiting[..]), ("slow", 0, &[ANNA][..]));
        assert!(!overdue.expired && look(&mut deliveries, 32).is_none());
        assert!(look(&mut deliveries, 621).unwrap().expired);
    }

    #[test]
    fn rule_44_an_epoch_that_waits_for_a_group_without_a_trainer_is_told_with_its_name() {
        let settings = DeliverySettings { mode: Mode::Each, ..DeliverySettings::default() };
        let (mut deliveries, start) = (Deliveries::new(0, None, 600 * SECOND, false, settings), Instant::now());
        deliveries.add_ring(0, 4);
        deliveries.populated(SlotId { ring: 0, slot: 0 });
        let small = Membership { group: Some("small".into()), join: Join::Next };
        deliveries.attach(ANNA, 1, Membership::default()).unwrap();
        deliveries.attach(ConsumerId(2), 1, small).unwrap();
        let slot = deliveries.claim().unwrap();
        deliveries.exchange.publish(slot, BatchId { seq: 1, epoch: 0 });
        deliveries.gone(ConsumerId(2));
        let held = deliveries.exchange.drain().find_map(|action| match action {
            Action::Offer { consumer: ANNA, slot, generation, .. } => Some(HeldBatch { seq: 1, slot, generation }),
            _ => None,
        });
        assert!(deliveries.exchange.ack(ANNA, held.unwrap()));
        deliveries.heard(Progress { floor: 0, drained: 1, generation: 1, failed: false });
        let look =
            |deliveries: &mut Deliveries, second: u32| deliveries.overdue([ANNA].into_iter(), start + second * SECOND);
        assert!(look(&mut deliveries, 0).is_none());
        let overdue = look(&mut deliveries, 10).unwrap();
        let Holding::Group(group) = &overdue.holding else { panic!("{overdue:?}") };
        assert_eq!((group.name.as_deref(), group.behind, group.members.len()), (Some("small"), 1, 0));
        assert_eq!(overdue.waiting, [ANNA]);
    }

    #[test]
    fn rule_11_holders_of_another_epoch_hold_up_nothing() {
        let (mut deliveries, start) = (drained(), Instant::now());
        deliveries.hear_of(others(1));
        for second in 0..30 {
            assert!(deliveries.overdue([ANNA].into_iter(), start + second * SECOND).is_none());
        }
    }

    #[test]
    fn rule_35_trainers_that_have_had_nothing_to_do_for_a_while_wait_for_others() {
        let (mut deliveries, start) = (drained(), Instant::now());
        deliveries.overdue([ANNA].into_iter(), start);
        assert!(
            !deliveries.is_idle(start + 4 * SECOND, 5 * SECOND) && deliveries.is_idle(start + 5 * SECOND, 5 * SECOND)
        );
        deliveries.heard(Progress { floor: 0, drained: 0, generation: 1, failed: false });
        deliveries.overdue([ANNA].into_iter(), start + 6 * SECOND);
        assert!(!deliveries.is_idle(start + 60 * SECOND, 5 * SECOND), "there is something to lease again");
    }
}
