//! A group that is so far behind that the ring is full of what it has not had, while others wait (semantics rule 44). Pure.

use std::time::{Duration, Instant};

use forebay_ring::{ConsumerId, GroupId, GroupState};

/// Since when which group holds up others.
#[derive(Debug, Default)]
pub(super) struct Lag {
    since: Option<(GroupId, Instant)>,
    told: bool,
}

/// A wait that is shorter is not worth a word.
const WORTH_A_WORD: Duration = Duration::from_secs(10);

impl Lag {
    /// The group that others wait for now, with who waits, once they have waited for long enough to be told. Once for each
    /// wait.
    pub(super) fn lagging(
        &mut self,
        held_up: Option<(GroupState, Vec<ConsumerId>)>,
        now: Instant,
    ) -> Option<(GroupState, Vec<ConsumerId>)> {
        let Self { since, told } = self;
        let by = held_up.as_ref().map(|(group, _)| group.id);
        if since.map(|(group, _)| group) != by {
            (*since, *told) = (by.map(|group| (group, now)), false);
        }
        let is_long = since.is_some_and(|(_, since)| now.saturating_duration_since(since) >= WORTH_A_WORD);
        let tell = is_long && !std::mem::replace(told, is_long);
        held_up.filter(|_| tell)
    }
}

#[cfg(test)]
mod tests {
    use forebay_ring::{Action, BatchId, HeldBatch, Join, Membership, SlotId};

    use super::super::Deliveries;
    use super::*;
    use crate::settings::{DeliverySettings, GroupPolicy};

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn rule_44_those_that_wait_for_a_slow_group_are_told_after_ten_seconds_and_once() {
        let settings = DeliverySettings { groups: GroupPolicy::Each, ..DeliverySettings::default() };
        let mut deliveries = Deliveries::unordered(None, 600 * SECOND, settings);
        deliveries.add_ring(0, 3);
        (0..3).for_each(|slot| deliveries.populated(SlotId { ring: 0, slot }));
        let (anna, bela) = (ConsumerId(1), ConsumerId(2));
        deliveries.attach(anna, 1, Membership { group: Some("slow".into()), join: Join::Next }).unwrap();
        for seq in 1..=3 {
            let slot = deliveries.claim().unwrap();
            deliveries.exchange.publish(slot, BatchId { seq, epoch: 0 });
        }
        deliveries.attach(bela, 1, Membership::default()).unwrap();
        let start = Instant::now();
        for _ in 0..2 {
            assert!(deliveries.lagging(start).is_none(), "she has some to read");
            let offered = deliveries.exchange.drain().find_map(|action| match action {
                Action::Offer { consumer, slot, batch, generation, .. } if consumer == bela => {
                    Some(HeldBatch { seq: batch.seq, slot, generation })
                }
                _ => None,
            });
            let held = offered.expect("it is for both groups");
            assert!(deliveries.exchange.ack(bela, held) && deliveries.exchange.release(bela, held, false));
            deliveries.credit(bela, 1);
        }
        assert!(deliveries.lagging(start).is_none() && deliveries.lagging(start + 9 * SECOND).is_none());
        let (group, waiting) = deliveries.lagging(start + 10 * SECOND).unwrap();
        assert_eq!((group.name.as_deref(), group.behind, waiting), (Some("slow"), 3, vec![bela]));
        assert!(deliveries.lagging(start + 60 * SECOND).is_none());
    }
}
