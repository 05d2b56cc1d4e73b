//! Trainers that wait for a batch: what they wait for, here or on another node, and what is given back to those who wait
//! elsewhere (semantics rules 11 and 35). Pure.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use forebay_proto::v1::LastHolder;
use forebay_ring::{ConsumerId, ConsumerState, Exchange, GroupState};

use crate::consumers::epoch_end::EpochEnd;
use crate::handover::StageWait;
use crate::ledger_event::Others;

/// Trainers that wait for a batch of the open epoch, or for its end.
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

/// What they wait for.
#[derive(Debug)]
pub(in crate::consumers) enum Holding {
    /// A free slot. The trainer that has the most slots in its hands has this batch.
    Slot { keeper: Option<(ConsumerState, u64)> },
    /// Something that this daemon does.
    Daemon(Doing),
    /// A trainer here, with a batch.
    Here { holder: ConsumerId, batch: u64 },
    /// A group here that has not taken its batches. It may have no trainer.
    Group(GroupState),
    /// Other daemons; there is one at least.
    Elsewhere(Vec<LastHolder>),
}

/// What a daemon does while its trainers wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::consumers) enum Doing {
    /// It reads records.
    Reading,
    /// It decodes pictures, or mixes them.
    Decoding,
    /// It asks the ledger for positions.
    Leasing,
    /// It waits until the ledger says that the epoch is complete.
    Completing,
}

/// Since when trainers have waited, each with how many batches it had consumed.
#[derive(Debug, Default)]
struct Asking(BTreeMap<ConsumerId, (u64, Instant)>);

/// What trainers wait for, and since when.
#[derive(Debug, Default)]
pub(in crate::consumers) struct Waits {
    /// What other daemons have and want.
    others: Others,
    /// What the batch stage waits for.
    stage: StageWait,
    /// Since when trainers have waited for a batch.
    asking: Asking,
    /// Since when trainers have had nothing to do here, because only other daemons have positions of the epoch left.
    idle: Option<Instant>,
}

impl Holding {
    /// One word for each kind.
    fn kind(&self) -> &'static str {
        match self {
            Self::Slot { .. } => "slot",
            Self::Daemon(Doing::Reading) => "reading",
            Self::Daemon(Doing::Decoding) => "decoding",
            Self::Daemon(Doing::Leasing) => "lease",
            Self::Daemon(Doing::Completing) => "ledger",
            Self::Here { .. } => "trainer",
            Self::Group(_) => "group",
            Self::Elsewhere(_) => "node",
        }
    }
}

impl Asking {
    /// Since when the one of these trainers has waited that has waited for longest.
    fn since(&mut self, waiting: &[ConsumerId], exchange: &Exchange, now: Instant) -> Option<Instant> {
        let states = exchange.consumers().filter(|state| waiting.contains(&state.id));
        let known = std::mem::take(&mut self.0);
        let entry = |ConsumerState { id, delivered, .. }| {
            let since = known.get(&id).filter(|(before, _)| *before == delivered).map_or(now, |(_, since)| *since);
            (id, (delivered, since))
        };
        self.0 = states.map(entry).collect();
        self.0.values().map(|(_, since)| *since).min()
    }
}

impl Waits {
    /// What the batch stage waits for by now.
    pub(in crate::consumers) fn stage_waits(&mut self, wait: StageWait) {
        self.stage = wait;
    }

    /// What other daemons have and want.
    pub(in crate::consumers) fn hear_of(&mut self, others: Others) {
        self.others = others;
    }

    /// Whether trainers of other daemons wait for this epoch.
    pub(super) fn is_wanted_elsewhere(&self, epoch: u64) -> bool {
        self.others.want && self.others.epoch == epoch
    }

    /// Whether trainers have had nothing to do for so long that nothing of the epoch can be on its way to them from here.
    pub(in crate::consumers) fn is_idle(&self, now: Instant, patience: Duration) -> bool {
        self.idle.is_some_and(|since| now.saturating_duration_since(since) >= patience)
    }

    /// Looks whether trainers of those that are `here` have nothing to do in the open epoch, for long enough to say so. The time
    /// of an outage does not count.
    pub(super) fn overdue(
        &mut self,
        here: impl Iterator<Item = ConsumerId>,
        exchange: &Exchange,
        end: &mut EpochEnd,
        is_outage: bool,
        now: Instant,
    ) -> Option<Overdue> {
        let epoch = exchange.open();
        let is_last = end.only_held_left(epoch);
        let waits = |id: &ConsumerId| (is_last || exchange.may_get(*id, epoch)) && exchange.is_done_with(*id, epoch);
        let waiting: Vec<_> = here.filter(waits).collect();
        self.idle = (is_last && !waiting.is_empty()).then(|| self.idle.unwrap_or(now));
        let counts = !is_outage && end.done().is_none();
        let since = self.asking.since(if counts { &waiting } else { &[] }, exchange, now);
        let holding = self.holding(exchange, is_last);
        let (for_how_long, expired) = end.waits(since, now, holding.kind())?;
        Some(Overdue { epoch, holding, for_how_long, expired, waiting })
    }

    /// What trainers wait for that have nothing to do: first what keeps this daemon from making a batch for them.
    fn holding(&self, exchange: &Exchange, is_last: bool) -> Holding {
        match self.stage {
            StageWait::Slot => return Holding::Slot { keeper: exchange.keeper() },
            StageWait::Decoding => return Holding::Daemon(Doing::Decoding),
            StageWait::Reading => return Holding::Daemon(Doing::Reading),
            StageWait::Nothing if !is_last => return Holding::Daemon(Doing::Leasing),
            StageWait::Nothing => {}
        }
        let epoch = exchange.open();
        let behind = exchange.groups().filter(|group| group.behind > 0).max_by_key(|group| group.behind);
        match (exchange.holders(epoch).first(), behind) {
            (Some(holder), _) => Holding::Here { holder: holder.consumer, batch: holder.seq },
            (None, Some(group)) => Holding::Group(group),
            (None, None) if self.others.epoch == epoch && !self.others.holders.is_empty() => {
                Holding::Elsewhere(self.others.holders.clone())
            }
            (None, None) => Holding::Daemon(Doing::Completing),
        }
    }
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::Progress;
    use forebay_ring::{Action, BatchId, HeldBatch, Join, Membership, SlotId};

    use super::super::Deliveries;
    use super::*;
    use crate::settings::{DeliverySettings, GroupPolicy};

    const SECOND: Duration = Duration::from_secs(1);
    const ANNA: ConsumerId = ConsumerId(1);

    fn drained() -> Deliveries {
        drained_to(1)
    }

    fn drained_to(drained: u64) -> Deliveries {
        let mut deliveries = Deliveries::unordered(None, 600 * SECOND, DeliverySettings::default());
        deliveries.add_ring(0, 4);
        deliveries.attach(ANNA, 1, Membership::default()).unwrap();
        deliveries.heard(Progress { floor: 0, drained, generation: 1, failed: false });
        deliveries
    }

    fn others(epoch: u64) -> Others {
        let holders = vec![LastHolder { worker: "slow".into(), process: None }];
        Others { epoch, holders, want: false }
    }

    #[test]
    fn rule_11_an_epoch_that_waits_for_another_node_is_told_with_its_name() {
        let (mut deliveries, start) = (drained(), Instant::now());
        let look = |deliveries: &mut Deliveries, second: u32| {
            deliveries.overdue([ANNA].into_iter(), false, start + second * SECOND)
        };
        assert!(look(&mut deliveries, 0).is_none());
        let overdue = look(&mut deliveries, 20).expect("no node is known to have it, which is worth a word too");
        assert!(matches!(overdue.holding, Holding::Daemon(Doing::Completing)), "{overdue:?}");
        deliveries.waits.hear_of(others(0));
        assert!(look(&mut deliveries, 21).is_none(), "so soon after the last word");
        let overdue = look(&mut deliveries, 31).unwrap();
        let Holding::Elsewhere(holders) = &overdue.holding else { panic!("{overdue:?}") };
        assert_eq!((holders[0].worker.as_str(), overdue.epoch, &overdue.waiting[..]), ("slow", 0, &[ANNA][..]));
        assert!(!overdue.expired && look(&mut deliveries, 32).is_none());
        assert!(look(&mut deliveries, 621).unwrap().expired);
    }

    #[test]
    fn rule_11_whatever_a_trainer_waits_for_is_told_and_the_time_counts_unless_it_is_an_outage() {
        let doing = |doing| Holding::Daemon(doing).kind();
        let slot = Holding::Slot { keeper: None }.kind();
        for (drained, stage, kind) in [
            (1, StageWait::Slot, slot),
            (0, StageWait::Slot, slot),
            (1, StageWait::Decoding, doing(Doing::Decoding)),
            (0, StageWait::Reading, doing(Doing::Reading)),
            (0, StageWait::Nothing, doing(Doing::Leasing)),
            (1, StageWait::Nothing, doing(Doing::Completing)),
        ] {
            let (mut deliveries, start) = (drained_to(drained), Instant::now());
            deliveries.waits.stage_waits(stage);
            let mut look =
                |outage, second: u32| deliveries.overdue([ANNA].into_iter(), outage, start + second * SECOND);
            assert!(look(false, 0).is_none() && look(true, 50).is_none() && look(false, 51).is_none());
            let overdue = look(false, 61).unwrap();
            assert_eq!(
                (overdue.holding.kind(), overdue.for_how_long, &overdue.waiting[..]),
                (kind, 10 * SECOND, &[ANNA][..])
            );
            assert!(look(false, 651).unwrap().expired);
        }
    }

    #[test]
    fn rule_11_a_trainer_that_gets_batches_does_not_wait_and_none_waits_behind_the_last_epoch() {
        let (mut deliveries, start) = (drained_to(0), Instant::now());
        for second in 0..40 {
            assert!(deliveries.overdue([ANNA].into_iter(), false, start + second * SECOND).is_none());
            if second % 8 == 0 {
                deliveries.populated(SlotId { ring: 0, slot: second / 8 % 4 });
                let (slot, batch) = (deliveries.claim().unwrap(), BatchId { seq: second.into(), epoch: 0 });
                deliveries.exchange.publish(slot, batch);
                let generation = deliveries.exchange.drain().find_map(|action| match action {
                    Action::Offer { generation, .. } => Some(generation),
                    _ => None,
                });
                let held = HeldBatch { seq: batch.seq, slot, generation: generation.unwrap() };
                assert!(deliveries.exchange.ack(ANNA, held) && deliveries.exchange.release(ANNA, held, false));
                deliveries.credit(ANNA, 1);
            }
        }
        let mut over = Deliveries::unordered(Some(1), 600 * SECOND, DeliverySettings::default());
        over.add_ring(0, 4);
        over.attach(ANNA, 1, Membership::default()).unwrap();
        over.heard(Progress { floor: 1, drained: 1, generation: 1, failed: false });
        assert_eq!(over.advance(), Some(0));
        for second in 0..40 {
            assert!(over.overdue([ANNA].into_iter(), false, start + second * SECOND).is_none());
        }
    }

    #[test]
    fn rule_44_an_epoch_that_waits_for_a_group_without_a_trainer_is_told_with_its_name() {
        let settings = DeliverySettings { groups: GroupPolicy::Each, ..DeliverySettings::default() };
        let (mut deliveries, start) = (Deliveries::unordered(None, 600 * SECOND, settings), Instant::now());
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
        let look = |deliveries: &mut Deliveries, second: u32| {
            deliveries.overdue([ANNA].into_iter(), false, start + second * SECOND)
        };
        assert!(look(&mut deliveries, 0).is_none());
        let overdue = look(&mut deliveries, 10).unwrap();
        let Holding::Group(group) = &overdue.holding else { panic!("{overdue:?}") };
        assert_eq!((group.name.as_deref(), group.behind, group.members.len()), (Some("small"), 1, 0));
        assert_eq!(overdue.waiting, [ANNA]);
    }

    #[test]
    fn rule_11_holders_of_another_epoch_hold_up_nothing() {
        let (mut deliveries, start) = (drained(), Instant::now());
        deliveries.waits.hear_of(others(1));
        let told = (0..30).filter_map(|second| deliveries.overdue([ANNA].into_iter(), false, start + second * SECOND));
        let kinds: Vec<_> = told.map(|overdue| overdue.holding.kind()).collect();
        assert_eq!(kinds, [Holding::Daemon(Doing::Completing).kind()], "no node is named");
    }

    #[test]
    fn rule_35_trainers_that_have_had_nothing_to_do_for_a_while_wait_for_others() {
        let (mut deliveries, start) = (drained(), Instant::now());
        deliveries.overdue([ANNA].into_iter(), false, start);
        assert!(
            !deliveries.waits.is_idle(start + 4 * SECOND, 5 * SECOND)
                && deliveries.waits.is_idle(start + 5 * SECOND, 5 * SECOND)
        );
        deliveries.heard(Progress { floor: 0, drained: 0, generation: 1, failed: false });
        deliveries.overdue([ANNA].into_iter(), false, start + 6 * SECOND);
        assert!(!deliveries.waits.is_idle(start + 60 * SECOND, 5 * SECOND), "there is something to lease again");
    }
}
