//! One batch on its way to its groups. Each group gets it once: a [`Share`] says how far that is. Pure, and without a slot.
//!
//! ```text
//! unshared -> shared: a share per group that was there -> over
//!    ^           |   waiting -> held -> acked -> let go
//!    |           |      ^--------'  its trainer ended without an ack, and the group continues
//!    '-----------'  every group has ended, and none has acked
//! ```

use super::{BatchId, ConsumerId, GroupId};

/// The batch, and how far each of its groups is.
#[derive(Clone, Debug, Hash)]
pub(super) struct Delivery {
    pub(super) batch: BatchId,
    /// Groups that are not done with it; nothing before the first offer.
    shares: Option<Vec<Share>>,
    /// A trainer that has acked it.
    acked: Option<ConsumerId>,
    /// The exchange has said so.
    told: bool,
    /// A claim of it is lost: it is not offered again.
    void: bool,
    /// How often it was offered, before it had the shares that it has now.
    before: u32,
    /// Trainers of groups that have ended may have seen it, and the ledger was not told.
    seen: bool,
    /// Sightings that were reported, but that the ledger has not yet noted durably. Until it has, no group that was offered
    /// the batch gets it again.
    unnoted: u32,
}

/// A group's share of a batch.
#[derive(Clone, Debug, Hash)]
struct Share {
    group: GroupId,
    /// How often the group was offered it.
    offers: u32,
    /// Which of the group's trainers had it last.
    last: Option<ConsumerId>,
    hand: Hand,
}

/// Where a share is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Hand {
    Empty,
    Holds { consumer: ConsumerId, acked: bool },
}

/// How a consumer lets go of a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct LetGo {
    /// It may have seen it.
    pub(super) seen: bool,
    /// Its group ends with it.
    pub(super) ends: bool,
}

/// What has become of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Groups still need it, or a trainer still reads it.
    Open,
    /// No group needs it any more. A trainer has acked it, or it is void.
    Over {
        /// If no trainer has acked it: whether a trainer may have seen it.
        dropped: Option<bool>,
    },
}

/// A batch that a group may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    /// Those that were offered before come first.
    is_new: bool,
    seq: u64,
    /// It waits for the ledger.
    pub(super) unnoted: bool,
}

impl Delivery {
    pub(super) fn new(batch: BatchId) -> Self {
        Self { batch, shares: None, acked: None, told: false, void: false, before: 0, seen: false, unnoted: 0 }
    }

    fn shares(&self) -> impl Iterator<Item = &Share> {
        self.shares.iter().flatten()
    }

    fn share_of(&mut self, consumer: ConsumerId) -> Option<&mut Share> {
        self.shares.iter_mut().flatten().find(|share| share.holder() == Some(consumer))
    }

    // Offers.

    /// Whether the group may get it, and when it is its turn.
    pub(super) fn turn(&self, group: GroupId) -> Option<Due> {
        let offers = match &self.shares {
            None => self.before,
            Some(shares) => shares.iter().find(|share| share.group == group && share.hand == Hand::Empty)?.offers,
        };
        let unnoted = self.unnoted > 0 && (offers > 0 || self.shares.is_none());
        Some(Due { is_new: offers == 0, seq: self.batch.seq, unnoted })
    }

    /// Which of the group's trainers had it last.
    pub(super) fn last(&self, group: GroupId) -> Option<ConsumerId> {
        self.shares().find(|share| share.group == group).and_then(|share| share.last)
    }

    /// Offers it to this trainer of the group. It is for the groups that exist at its first offer. Returns how often the
    /// group was offered it before.
    pub(super) fn offer(
        &mut self,
        group: GroupId,
        consumer: ConsumerId,
        present: impl Iterator<Item = GroupId>,
    ) -> u32 {
        let offers = self.before;
        let shares = self.shares.get_or_insert_with(|| {
            present.map(|group| Share { group, offers, last: None, hand: Hand::Empty }).collect()
        });
        let share = shares.iter_mut().find(|share| share.group == group).expect("the group's turn was looked up");
        share.hand = Hand::Holds { consumer, acked: false };
        share.last = Some(consumer);
        share.offers += 1;
        share.offers - 1
    }

    /// Whether any group was ever offered it.
    pub(super) fn was_offered(&self) -> bool {
        self.shares.is_some() || self.before > 0
    }

    /// The ledger has durably noted one reported sighting.
    pub(super) fn noted(&mut self) {
        self.unnoted = self.unnoted.saturating_sub(1);
    }

    /// Sightings are no longer confirmed one by one; they are reported with the batch's outcome.
    pub(super) fn keep_sights(&mut self) {
        self.seen |= self.unnoted > 0;
    }

    // Receipts.

    /// Whether the consumer holds it, and whether it has acked it.
    pub(super) fn held_by(&self, consumer: ConsumerId) -> Option<bool> {
        self.shares().find_map(|share| match share.hand {
            Hand::Holds { consumer: holder, acked } if holder == consumer => Some(acked),
            _ => None,
        })
    }

    /// The consumer has consumed it. False when it does not hold it un-acked.
    pub(super) fn ack(&mut self, consumer: ConsumerId) -> bool {
        let Some(share) = self.share_of(consumer) else { return false };
        let Hand::Holds { acked: acked @ false, .. } = &mut share.hand else { return false };
        *acked = true;
        self.acked = Some(consumer);
        true
    }

    /// The consumer no longer holds it. An un-acked batch is due to its group again, unless the group ends. Returns true if
    /// the ledger must be told that a trainer may have seen it. The next offer then waits until the ledger has noted that.
    pub(super) fn let_go(&mut self, consumer: ConsumerId, LetGo { seen, ends }: LetGo) -> bool {
        let void = self.void;
        let Some(share) = self.share_of(consumer) else { return false };
        let group = share.group;
        if share.is_acked() {
            self.drop_share(group);
            return false;
        }
        share.hand = Hand::Empty;
        if void || ends {
            self.seen |= seen;
            self.drop_share(group);
            return self.reopen();
        }
        self.unnoted += u32::from(seen);
        seen
    }

    /// The group has ended. True as for [`let_go`](Self::let_go).
    pub(super) fn end(&mut self, group: GroupId) -> bool {
        if !self.shares().any(|share| share.group == group && share.hand == Hand::Empty) {
            return false;
        }
        self.drop_share(group);
        self.reopen()
    }

    fn drop_share(&mut self, group: GroupId) {
        if let Some(shares) = &mut self.shares {
            let share = shares.iter().position(|share| share.group == group).map(|at| shares.remove(at));
            self.before = self.before.max(share.map_or(0, |share| share.offers));
        }
    }

    /// Where no group is left and none has acked it, others get it.
    fn reopen(&mut self) -> bool {
        let is_left = self.shares.as_ref().is_some_and(Vec::is_empty) && self.acked.is_none() && !self.void;
        if !is_left {
            return false;
        }
        self.shares = None;
        let seen = std::mem::take(&mut self.seen);
        self.unnoted += u32::from(seen);
        seen
    }

    /// A claim of it is lost: groups that do not hold it do not get it. Gives those that hold it un-acked.
    pub(super) fn void(&mut self) -> Vec<ConsumerId> {
        self.void = true;
        if let Some(shares) = &mut self.shares {
            shares.retain(|share| share.hand != Hand::Empty);
        }
        self.holders().collect()
    }

    // What has become of it.

    /// Says, once, that each of its groups has acked it or has ended, and that this one has acked it.
    pub(super) fn just_acked(&mut self) -> Option<ConsumerId> {
        let acked = self.acked.filter(|_| !self.told && self.shares().all(Share::is_acked))?;
        self.told = true;
        Some(acked)
    }

    /// Looks whether anybody still needs it or reads it.
    pub(super) fn outcome(&self) -> Outcome {
        let over = self.shares().next().is_none() && (self.void || self.acked.is_some());
        if over { Outcome::Over { dropped: self.acked.is_none().then_some(self.seen) } } else { Outcome::Open }
    }

    /// A group has acked it.
    pub(super) fn is_acked(&self) -> bool {
        self.acked.is_some()
    }

    /// One of its groups has acked or holds it, and others are still due to get it.
    pub(super) fn is_for_more_groups(&self) -> bool {
        self.is_acked() || (self.is_held() && self.shares().count() > 1)
    }

    /// Groups that have not acked it.
    pub(super) fn unacked(&self) -> impl Iterator<Item = GroupId> {
        self.shares().filter(|share| !share.is_acked()).map(|share| share.group)
    }

    /// Those that hold it un-acked.
    pub(super) fn holders(&self) -> impl Iterator<Item = ConsumerId> {
        self.shares().filter(|share| !share.is_acked()).filter_map(Share::holder)
    }

    /// A trainer holds it, acked or not.
    pub(super) fn is_held(&self) -> bool {
        self.shares().any(|share| share.holder().is_some())
    }

    /// Only those that have acked it hold it: nothing but their views keeps it.
    pub(super) fn is_only_viewed(&self) -> bool {
        self.is_held() && self.shares().all(Share::is_acked)
    }

    /// The group waits for it, is due to share it, or has it un-acked.
    pub(super) fn is_unacked_by(&self, group: GroupId) -> bool {
        let has_not_acked = |share: &Share| share.group == group && !share.is_acked();
        self.shares.as_ref().is_none_or(|shares| shares.iter().any(has_not_acked))
    }

    /// The group waits for it, or is due to share it.
    pub(super) fn is_due(&self, group: GroupId) -> bool {
        self.turn(group).is_some()
    }
}

impl Share {
    fn holder(&self) -> Option<ConsumerId> {
        match self.hand {
            Hand::Holds { consumer, .. } => Some(consumer),
            Hand::Empty => None,
        }
    }

    fn is_acked(&self) -> bool {
        matches!(self.hand, Hand::Holds { acked: true, .. })
    }
}
