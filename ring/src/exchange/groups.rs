//! The groups of trainers: who is in which, and from which epoch on a group takes part. Each batch goes once to each group.
//! In `split` there is one group, which has every trainer and never ends.

use std::collections::{BTreeMap, BTreeSet};

use super::{ConsumerId, GroupId, GroupState, Join, Membership};

/// Groups that a stream may have. Each may keep batches in the ring.
pub(super) const MOST: usize = 64;

/// All groups that have not ended.
#[derive(Clone, Debug, Hash)]
pub(super) struct Groups {
    by_id: BTreeMap<GroupId, Group>,
    /// Every trainer is in the one group.
    split: bool,
    next: u64,
}

#[derive(Clone, Debug, Default, Hash)]
struct Group {
    /// Nothing for a trainer that is a group by itself, and for the one group of `split`.
    name: Option<String>,
    members: BTreeSet<ConsumerId>,
    /// The first epoch whose batches it gets; 0 if it is in every open one.
    from: u64,
    /// Batches that it has acked.
    delivered: u64,
}

/// The one group of `split`.
const ALL: GroupId = GroupId(0);

impl Groups {
    /// The one group of `split`.
    pub(super) fn one() -> Self {
        Self { by_id: BTreeMap::from([(ALL, Group::default())]), split: true, next: 1 }
    }

    /// None yet; each trainer is a group by itself, or joins a named one.
    pub(super) fn many() -> Self {
        Self { by_id: BTreeMap::new(), split: false, next: 1 }
    }

    /// The group that such a trainer would join. Nothing if it would begin one.
    pub(super) fn find(&self, membership: &Membership) -> Option<GroupId> {
        if self.split {
            return Some(ALL);
        }
        let name = membership.group.as_ref()?;
        self.by_id.iter().find(|(_, group)| group.name.as_ref() == Some(name)).map(|(id, _)| *id)
    }

    /// Whether another one may begin.
    pub(super) fn has_room(&self) -> bool {
        self.by_id.len() < MOST
    }

    /// A trainer joins a group, or begins one. `open` is the open epoch; batches of it have been offered if it has `begun`. Such an
    /// epoch may be left to other groups, if there are any in it. Answers the first epoch whose batches the group gets, if that is
    /// still to be opened, and else 0.
    pub(super) fn enter(&mut self, consumer: ConsumerId, membership: Membership, open: u64, begun: bool) -> u64 {
        let id = self.find(&membership).unwrap_or_else(|| {
            let id = GroupId(self.next);
            self.next += 1;
            let is_late = membership.join == Join::Epoch && begun && self.in_epoch(open).next().is_some();
            let from = if is_late { open + 1 } else { 0 };
            self.by_id.insert(id, Group { name: membership.group, from, ..Group::default() });
            id
        });
        let group = self.by_id.get_mut(&id).expect("it was found or begun");
        group.members.insert(consumer);
        group.from
    }

    /// A group begins without a trainer, unless it is there. False if there can be none.
    pub(super) fn expect(&mut self, name: &str) -> bool {
        let membership = Membership { group: Some(name.to_owned()), ..Membership::default() };
        if self.find(&membership).is_none() && self.has_room() {
            self.by_id.insert(GroupId(self.next), Group { name: membership.group.clone(), ..Group::default() });
            self.next += 1;
        }
        !self.split && self.find(&membership).is_some()
    }

    /// A trainer leaves. Gives its group, if that ends with it.
    pub(super) fn leave(&mut self, consumer: ConsumerId) -> Option<GroupId> {
        let id = self.of(consumer)?;
        let group = self.by_id.get_mut(&id).expect("it was just found");
        group.members.remove(&consumer);
        let ends = !self.split && group.members.is_empty() && group.name.is_none();
        if ends {
            self.by_id.remove(&id);
        }
        ends.then_some(id)
    }

    /// Ends a group without trainers. False if it has any.
    pub(super) fn end(&mut self, id: GroupId) -> bool {
        let ends = !self.split && self.by_id.get(&id).is_some_and(|group| group.members.is_empty());
        if ends {
            self.by_id.remove(&id);
        }
        ends
    }

    /// If a group has ended and all others wait for a later epoch, the oldest of them gets the rest of the open one.
    /// Otherwise no group would, and the later epoch would never begin.
    pub(super) fn take_up(&mut self, open: u64) {
        if self.in_epoch(open).next().is_none()
            && let Some(oldest) = self.by_id.values_mut().next()
        {
            oldest.from = open;
        }
    }

    /// The group that a trainer is in.
    pub(super) fn of(&self, consumer: ConsumerId) -> Option<GroupId> {
        self.by_id.iter().find(|(_, group)| group.members.contains(&consumer)).map(|(id, _)| *id)
    }

    /// Its name, if it has one.
    pub(super) fn name(&self, id: GroupId) -> Option<&str> {
        self.by_id.get(&id)?.name.as_deref()
    }

    pub(super) fn members(&self, id: GroupId) -> impl Iterator<Item = ConsumerId> + '_ {
        self.by_id.get(&id).into_iter().flat_map(|group| group.members.iter().copied())
    }

    pub(super) fn ids(&self) -> Vec<GroupId> {
        self.by_id.keys().copied().collect()
    }

    /// The groups that get batches of this epoch.
    pub(super) fn in_epoch(&self, epoch: u64) -> impl Iterator<Item = GroupId> + '_ {
        self.by_id.iter().filter(move |(_, group)| group.from <= epoch).map(|(id, _)| *id)
    }

    /// Whether the group gets batches of this epoch.
    pub(super) fn is_in(&self, id: GroupId, epoch: u64) -> bool {
        self.by_id.get(&id).is_some_and(|group| group.from <= epoch)
    }

    /// The stream continues at this epoch, which may be an earlier one: every group takes part in it.
    pub(super) fn restart_at(&mut self, epoch: u64) {
        for group in self.by_id.values_mut() {
            group.from = group.from.min(epoch);
        }
    }

    pub(super) fn delivered(&mut self, consumer: ConsumerId) {
        if let Some(group) = self.of(consumer).and_then(|id| self.by_id.get_mut(&id)) {
            group.delivered += 1;
        }
    }

    /// All of them; nothing is known here of the batches that they wait for. None in `split`.
    pub(super) fn states(&self) -> impl Iterator<Item = GroupState> + '_ {
        self.by_id.iter().filter(|_| !self.split).map(|(id, group)| GroupState {
            id: *id,
            name: group.name.clone(),
            members: group.members.iter().copied().collect(),
            delivered: group.delivered,
            behind: 0,
        })
    }
}
