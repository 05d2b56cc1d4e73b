//! The words of the exchange: numbers that name things, what it wants done, and what it tells.

use crate::message::{Ack, NO_RING, Release};

/// Number of a consumer, never used twice by an incarnation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConsumerId(pub u64);

/// Number of a group of trainers, never used twice by an incarnation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u64);

/// Which group a trainer joins. In `split`, all are in one, whatever this says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Membership {
    /// Trainers that give the same name share each batch's delivery. Without a name, a trainer is a group by itself.
    pub group: Option<String>,
    /// From when on a group takes part that begins with this trainer.
    pub join: Join,
}

/// From when on a late group takes part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Join {
    /// From the next batch that no trainer was offered yet.
    #[default]
    Next,
    /// From the next epoch, if batches of this one have been offered.
    Epoch,
}

/// What a trainer gets as it attaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// Offers that it may have at once.
    pub credits: u32,
    /// First epoch whose batches it gets, if that is still to be opened, and else 0.
    pub epoch: u64,
}

/// A slot of one of the stream's rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId {
    /// Number of the ring.
    pub ring: u32,
    /// Number of the slot in its ring.
    pub slot: u32,
}

/// What the exchange knows of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BatchId {
    /// Number of the batch, never used twice by an incarnation.
    pub seq: u64,
    /// Epoch of its records.
    pub epoch: u64,
}

/// A batch that a trainer says it holds, as it was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HeldBatch {
    /// Number of the batch.
    pub seq: u64,
    /// Where it stood; ring [`NO_RING`] for a batch handed in from an earlier incarnation.
    pub slot: SlotId,
    /// How often the slot had been filled; the consumer's own number of a batch that was handed in.
    pub generation: u64,
}

/// A batch of an earlier incarnation that a consumer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Adopted {
    /// The consumer that holds it.
    pub consumer: ConsumerId,
    /// The consumer's own number of it: it may hold batches of several incarnations, whose numbers are the same.
    pub hold: u64,
    /// Its number in the earlier incarnation, and its epoch.
    pub batch: BatchId,
}

/// What the daemon is to do. Every published batch ends in exactly one [`Acked`](Self::Acked) or
/// [`Dropped`](Self::Dropped), every adopted one in [`AdoptedAcked`](Self::AdoptedAcked) or [`Orphaned`](Self::Orphaned).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Send an OFFER.
    Offer {
        /// To whom.
        consumer: ConsumerId,
        /// The slot with the batch.
        slot: SlotId,
        /// Which batch.
        batch: BatchId,
        /// Of the slot.
        generation: u64,
        /// How often it was offered before.
        redelivered: u32,
    },
    /// The batch was consumed: its receipts go to the ledger. Each of its groups has acked it, or has ended.
    Acked {
        /// By whom: the last one.
        consumer: ConsumerId,
        /// Which batch.
        batch: BatchId,
    },
    /// A consumer that may have seen the batch ended, or let go of it, without an ack. Once
    /// [`Exchange::noted`](crate::Exchange::noted) says that the ledger has noted this durably, the batch is offered again,
    /// before all batches that no trainer has seen.
    Seen(BatchId),
    /// An adopted batch was consumed. Its number is of the earlier incarnation, and may be that of another one too.
    AdoptedAcked(Adopted),
    /// The batch was void and is gone: claims of it that are not lost are given back.
    Dropped {
        /// Which batch.
        batch: BatchId,
        /// The consumer that had it ended without an ack, and may have seen it. Earlier sightings were reported as
        /// [`Seen`](Self::Seen).
        seen: bool,
    },
    /// An adopted batch was let go of, or its consumer is gone: its claims are given back.
    Orphaned {
        /// Which batch, and who held it.
        adopted: Adopted,
        /// The consumer has not returned it: it may have seen it.
        seen: bool,
    },
    /// The slot can be claimed.
    Free(SlotId),
    /// Send an end of epoch.
    EpochEnd {
        /// To whom.
        consumer: ConsumerId,
        /// The epoch that is over.
        epoch: u64,
    },
    /// Nothing is left of the consumer: its pidfd need not be watched any more.
    Gone(ConsumerId),
    /// No trainer uses the retired ring: its memory may be freed.
    RingEmpty(u32),
}

/// What became of a batch whose claim is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Voided {
    /// It was READY and is gone; [`Action::Dropped`] says so too.
    Dropped,
    /// These consumers have it un-acked, handed out or not. It will not be offered again.
    Held(Vec<ConsumerId>),
    /// It is acked, gone, or was never published.
    Unknown,
}

/// Why a trainer cannot attach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPlace {
    /// Its group has no credit left.
    #[error(transparent)]
    Credits(#[from] CreditsTaken),
    /// There are too many groups.
    #[error(
        "the stream has {groups} groups of trainers, which is as many as it may have; let trainers share groups by giving \
         them the same group"
    )]
    Groups {
        /// How many there are.
        groups: usize,
    },
}

/// Every credit of a group is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "all {credits} credits of the ring's {slots} slots are taken by {trainers} trainers; raise trainers in the stream's settings, \
     and restart the daemon"
)]
pub struct CreditsTaken {
    /// Slots in all.
    pub slots: u32,
    /// Credits in all.
    pub credits: u32,
    /// Consumers attached, of this group.
    pub trainers: u32,
}

/// A consumer that holds an un-acked batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Who.
    pub consumer: ConsumerId,
    /// Which batch.
    pub seq: u64,
}

/// Slots by state. Each slot is in exactly one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotCounts {
    /// Without memory yet.
    pub unpopulated: u32,
    /// To be claimed.
    pub free: u32,
    /// Claimed.
    pub filling: u32,
    /// Published, and held by no trainer.
    pub ready: u32,
    /// Held by a consumer, acked or not.
    pub held: u32,
    /// Waiting for the exit of a process that was evicted.
    pub quarantined: u32,
    /// Of a retired ring, unused.
    pub retired: u32,
}

/// One consumer, for the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsumerState {
    /// Its number.
    pub id: ConsumerId,
    /// False: it was evicted, and its process lives.
    pub attached: bool,
    /// Offers that it may have at once.
    pub granted: u32,
    /// Slots that it holds.
    pub held: u32,
    /// Batches that it acked.
    pub delivered: u64,
}

/// One group, for the status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupState {
    /// Its number.
    pub id: GroupId,
    /// Its name; none for a trainer that is a group by itself.
    pub name: Option<String>,
    /// Its trainers.
    pub members: Vec<ConsumerId>,
    /// Batches that it has acked.
    pub delivered: u64,
    /// Batches in the ring that it has not acked, of epochs that are open.
    pub behind: u32,
}

impl HeldBatch {
    /// A batch of an earlier incarnation, with the consumer's own number of it.
    pub fn resumed(hold: u64, seq: u64) -> Self {
        Self { seq, slot: SlotId { ring: NO_RING, slot: 0 }, generation: hold }
    }

    /// True for a batch of an earlier incarnation.
    pub fn is_resumed(&self) -> bool {
        self.slot.ring == NO_RING
    }

    /// The consumer's own number of a batch of an earlier incarnation. It alone says which batch is meant.
    pub fn hold(&self) -> Option<u64> {
        self.is_resumed().then_some(self.generation)
    }
}

impl From<&Ack> for HeldBatch {
    fn from(ack: &Ack) -> Self {
        Self { seq: ack.seq, slot: SlotId { ring: ack.ring, slot: ack.slot }, generation: ack.generation }
    }
}

impl From<&Release> for HeldBatch {
    fn from(release: &Release) -> Self {
        let slot = SlotId { ring: release.ring, slot: release.slot };
        Self { seq: release.seq, slot, generation: release.generation }
    }
}
