//! Named groups whose trainers have all left: batches wait for them for a while, so that a restarted job finds what it missed
//! (semantics rule 43). Pure.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use forebay_ring::{GroupId, GroupState};

/// The groups without a trainer, and since when.
#[derive(Debug)]
pub(super) struct Absence {
    timeout: Duration,
    since: BTreeMap<GroupId, Instant>,
}

impl Absence {
    pub(super) fn new(timeout: Duration) -> Self {
        Self { timeout, since: BTreeMap::new() }
    }

    /// Those of the stream's groups that have had no trainer for too long.
    pub(super) fn late(&mut self, groups: impl Iterator<Item = GroupState>, now: Instant) -> Vec<GroupState> {
        let Self { timeout, since } = self;
        let absent: Vec<_> = groups.filter(|group| group.members.is_empty()).collect();
        since.retain(|id, _| absent.iter().any(|group| group.id == *id));
        let is_late =
            |group: &GroupState| now.saturating_duration_since(*since.entry(group.id).or_insert(now)) >= *timeout;
        absent.into_iter().filter(is_late).collect()
    }
}

#[cfg(test)]
mod tests {
    use forebay_ring::{ConsumerId, Join, Membership};

    use super::super::Deliveries;
    use super::*;
    use crate::settings::{DeliverySettings, GroupPolicy};

    const SECOND: Duration = Duration::from_secs(1);
    const ANNA: ConsumerId = ConsumerId(1);
    const BELA: ConsumerId = ConsumerId(2);

    #[test]
    fn rule_43_a_named_group_ends_when_it_has_had_no_trainer_for_too_long() {
        let settings =
            DeliverySettings { groups: GroupPolicy::Each, group_timeout: 60 * SECOND, ..DeliverySettings::default() };
        let mut deliveries = Deliveries::unordered(None, 600 * SECOND, settings);
        deliveries.add_ring(0, 4);
        let vision = Membership { group: Some("vision".into()), join: Join::Next };
        deliveries.attach(ANNA, 1, vision.clone()).unwrap();
        let start = Instant::now();
        assert_eq!(deliveries.end_absent(start), [], "somebody is in it");
        deliveries.gone(ANNA);
        assert_eq!(deliveries.end_absent(start + SECOND), []);
        assert_eq!(deliveries.end_absent(start + 60 * SECOND), [], "not yet a minute");
        deliveries.attach(BELA, 1, vision).unwrap();
        assert_eq!(deliveries.end_absent(start + 70 * SECOND), [], "it is back");
        deliveries.gone(BELA);
        assert_eq!(deliveries.end_absent(start + 80 * SECOND), []);
        let ended = deliveries.end_absent(start + 140 * SECOND);
        assert_eq!(ended.iter().map(|group| group.name.as_deref()).collect::<Vec<_>>(), [Some("vision")]);
        assert_eq!(deliveries.end_absent(start + 300 * SECOND), []);
    }
}
