//! With `slow = "evict"`: a group that makes others wait, and consumes nothing for too long, is to be ended (semantics
//! rule 44). Pure.

use std::time::{Duration, Instant};

use forebay_ring::{ConsumerState, Exchange, GroupId, GroupState};

use crate::consumers::epoch_end::EpochEnd;
use crate::settings::Slow;

/// How long the group that makes others wait has consumed nothing.
#[derive(Debug)]
pub(super) struct Eviction {
    slow: Slow,
    /// The group, how many batches it had consumed, and since when it has been so.
    since: Option<(GroupId, u64, Instant)>,
}

impl Eviction {
    pub(super) fn new(slow: Slow) -> Self {
        Self { slow, since: None }
    }

    /// The group that is to be ended, and how long it has made others wait.
    pub(super) fn overstaying(
        &mut self,
        exchange: &Exchange,
        end: &EpochEnd,
        now: Instant,
    ) -> Option<(GroupState, Duration)> {
        let Slow::Evict { after } = self.slow else { return None };
        let Some(group) = in_the_way(exchange, end) else {
            self.since = None;
            return None;
        };
        let known = self.since.filter(|(id, delivered, _)| (*id, *delivered) == (group.id, group.delivered));
        let (.., since) = *self.since.insert(known.unwrap_or((group.id, group.delivered, now)));
        let waited = now.saturating_duration_since(since);
        (waited >= after).then_some((group, waited))
    }
}

/// The group that others wait for: the ring is full of what it has not had, or the epoch cannot end. One without a
/// trainer is left to `group_timeout`.
fn in_the_way(exchange: &Exchange, end: &EpochEnd) -> Option<GroupState> {
    let group = exchange.held_up().map(|(group, _)| group).or_else(|| at_the_end_of_the_epoch(exchange, end));
    group.filter(|group| !group.members.is_empty())
}

fn at_the_end_of_the_epoch(exchange: &Exchange, end: &EpochEnd) -> Option<GroupState> {
    let epoch = exchange.open();
    let is_done = |trainer: ConsumerState| trainer.attached && exchange.is_done_with(trainer.id, epoch);
    let waits = end.only_held_left(epoch) && exchange.consumers().any(is_done);
    let behind = exchange.groups().filter(|group| group.behind > 0);
    behind.max_by_key(|group| group.behind).filter(|_| waits)
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::Progress;
    use forebay_ring::{Action, BatchId, ConsumerId, HeldBatch, Join, Membership, SlotId};

    use super::super::Deliveries;
    use super::*;
    use crate::settings::{DeliverySettings, GroupPolicy};

    const SECOND: Duration = Duration::from_secs(1);
    const SLOW: ConsumerId = ConsumerId(1);
    const FAST: ConsumerId = ConsumerId(2);

    fn evicting(slow: Slow) -> Deliveries {
        let settings = DeliverySettings { groups: GroupPolicy::Each, slow, ..DeliverySettings::default() };
        let mut deliveries = Deliveries::unordered(None, 600 * SECOND, settings);
        deliveries.add_ring(0, 3);
        (0..3).for_each(|slot| deliveries.populated(SlotId { ring: 0, slot }));
        deliveries.attach(SLOW, 1, Membership { group: Some("slow".into()), join: Join::Next }).unwrap();
        deliveries.attach(FAST, 1, Membership::default()).unwrap();
        deliveries
    }

    fn publish(deliveries: &mut Deliveries, seq: u64) {
        let slot = deliveries.claim().expect("there is room");
        deliveries.exchange.publish(slot, BatchId { seq, epoch: 0 });
    }

    /// The trainer reads the batch, which it was offered just now.
    fn read(deliveries: &mut Deliveries, trainer: ConsumerId, offers: &mut Vec<(ConsumerId, HeldBatch)>) {
        offers.extend(deliveries.exchange.drain().filter_map(|action| match action {
            Action::Offer { consumer, slot, batch, generation, .. } => {
                Some((consumer, HeldBatch { seq: batch.seq, slot, generation }))
            }
            _ => None,
        }));
        let at = offers.iter().position(|(consumer, _)| *consumer == trainer).expect("it was offered one");
        let (_, held) = offers.remove(at);
        assert!(deliveries.exchange.ack(trainer, held) && deliveries.exchange.release(trainer, held, false));
        deliveries.credit(trainer, 1);
    }

    #[test]
    fn rule_44_a_group_that_holds_a_full_ring_and_consumes_nothing_is_to_be_ended() {
        let mut deliveries = evicting(Slow::Evict { after: 30 * SECOND });
        let (start, mut offers) = (Instant::now(), Vec::new());
        for seq in 1..=3 {
            publish(&mut deliveries, seq);
            assert!(deliveries.overstaying(start).is_none(), "the fast one has something to read");
            read(&mut deliveries, FAST, &mut offers);
        }
        assert!(deliveries.overstaying(start).is_none() && deliveries.overstaying(start + 29 * SECOND).is_none());
        read(&mut deliveries, SLOW, &mut offers);
        publish(&mut deliveries, 4);
        read(&mut deliveries, FAST, &mut offers);
        assert!(deliveries.overstaying(start + 31 * SECOND).is_none(), "it has consumed one");
        let (group, waited) = deliveries.overstaying(start + 61 * SECOND).unwrap();
        assert_eq!((group.name.as_deref(), group.behind, waited), (Some("slow"), 3, 30 * SECOND));
        deliveries.evict(SLOW);
        deliveries.end_group(&group);
        assert!(deliveries.overstaying(start + 100 * SECOND).is_none(), "nobody waits any more");
        assert_eq!(deliveries.exchange.groups().count(), 1);
        publish(&mut deliveries, 5);
        read(&mut deliveries, FAST, &mut offers);
    }

    #[test]
    fn rule_44_a_group_that_an_epoch_s_end_waits_for_is_to_be_ended_unless_it_has_no_trainer() {
        let mut deliveries = evicting(Slow::Evict { after: 30 * SECOND });
        let (start, mut offers) = (Instant::now(), Vec::new());
        publish(&mut deliveries, 1);
        read(&mut deliveries, FAST, &mut offers);
        assert!(deliveries.overstaying(start).is_none(), "more of the epoch is to come");
        deliveries.heard(Progress { floor: 0, drained: 1, generation: 1, failed: false });
        assert!(deliveries.overstaying(start + 1 * SECOND).is_none());
        assert!(deliveries.overstaying(start + 31 * SECOND).is_some());
        deliveries.gone(SLOW);
        assert!(deliveries.overstaying(start + 90 * SECOND).is_none(), "it may come back within group_timeout");
    }

    #[test]
    fn rule_44_no_group_is_ended_where_slow_ones_block() {
        let (mut deliveries, start) = (evicting(Slow::Block), Instant::now());
        publish(&mut deliveries, 1);
        read(&mut deliveries, FAST, &mut Vec::new());
        deliveries.heard(Progress { floor: 0, drained: 1, generation: 1, failed: false });
        assert!(deliveries.overstaying(start).is_none() && deliveries.overstaying(start + 600 * SECOND).is_none());
    }
}
