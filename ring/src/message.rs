//! The messages on the ring's socket: small fixed little-endian structs, one per packet.
//!
//! A packet is one struct, of the [`MessageKind`] that its first word names, and for some kinds a tail: ACK carries a sum
//! per claim, REFUSED, FAILED and EVICT carry a text, HELD names of a node, CALL and ANSWER carry protobuf bytes. Larger things
//! travel as sealed memory beside the packet ([`crate::Bulk`]). `docs/ring.md` has every byte.

mod attach;

use bytemuck::{Pod, Zeroable};

use crate::pixels::Pixels;
pub use attach::{Attach, attach_flags, attach_join};

#[cfg(target_endian = "big")]
compile_error!("the ring's messages and tensors are little-endian; a big-endian machine would need swaps");

/// Longest stream name in bytes.
pub const NAME_LEN: usize = 64;
/// Longest packet, head and tail.
pub const PACKET_LEN: usize = 32 * 1024;
/// Claim sums in one ACK packet; a batch with more sends several.
pub const SUMS_PER_ACK: usize = 1024;
/// UUIDs of GPUs in an [`Attach`].
pub const DEVICES: usize = 16;
/// Ring number in the ACK and RELEASE of a batch that was handed in from an earlier incarnation. Such a batch is in no ring
/// of this incarnation. The slot is then zero, and the generation is the trainer's own number for the batch,
/// [`ResumedClaim::held`].
pub const NO_RING: u32 = u32::MAX;

/// First word of each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum MessageKind {
    /// Trainer to daemon: [`Attach`].
    Attach = 1,
    /// Daemon to trainer: [`Welcome`], with two descriptors: the ring (opened read-only, unless it is pinnable) and a bulk
    /// `StreamInfo`; and a third if the pixels are in memory of a GPU.
    Welcome = 2,
    /// Daemon to trainer: [`Text`] with the reason; the daemon closes the socket.
    Refused = 3,
    /// Daemon to trainer: [`Offer`].
    Offer = 4,
    /// Trainer to daemon: [`Ack`] and a tail of [`ClaimSum`]: the batch was consumed, and its slot may be free.
    Ack = 5,
    /// Trainer to daemon: [`Release`]: no view of the slot is left.
    Release = 6,
    /// Trainer to daemon: [`Number`]: that many more offers may be sent.
    Credit = 7,
    /// Daemon to trainer: [`Number`]: this epoch is complete, every record accounted for.
    EpochEnd = 8,
    /// Daemon to trainer: [`Number`] (epochs in all): the stream has no further epoch.
    Done = 9,
    /// Daemon to trainer: [`Text`]: the stream has failed; the socket stays open for calls.
    Failed = 10,
    /// Daemon to trainer: [`Text`]: the consumer is evicted; its slots are kept until it exits.
    Evict = 11,
    /// Trainer to daemon: [`Call`] and a protobuf `CallRequest` as tail or as bulk.
    Call = 12,
    /// Daemon to trainer: [`Call`] and a protobuf `CallReply` as tail or as bulk.
    Answer = 13,
    /// Daemon to trainer: [`Held`]: an epoch waits for a batch that a trainer or another node holds.
    Held = 14,
    /// Daemon to trainer: [`NewRing`] with one descriptor, and a second one if its pixels are in memory of a GPU: later
    /// offers may name this ring.
    Ring = 15,
    /// Trainer to daemon: [`Number`] (unused): every view is gone, offers on their way will not be read, the socket closes.
    Bye = 16,
    /// Trainer to private daemon, on the parent's socket: [`Number`] (unused) with two descriptors: the daemon's end
    /// of a new trainer's socket, and the memory in which the daemon keeps its ledgers.
    Connect = 17,
    /// Daemon to trainer: [`Number`]: all claims offered so far may be handed out until this `CLOCK_BOOTTIME`
    /// nanosecond.
    Deadline = 18,
    /// Daemon to trainer: [`Number`], the epoch at which the stream continues: the run went back or left its epoch, and
    /// every batch offered before is void.
    Fenced = 19,
    /// Daemon to trainer: [`Number`], of a ring: it has no batch, and will have none.
    Retired = 20,
    /// Daemon to trainer: [`Text`] for the user: why no batches come at this moment, or that they come again.
    Notice = 21,
    /// Daemon to trainer: [`Text`]: the dataset's storage has given nothing for so long that `next()` raises.
    Stalled = 22,
    /// Daemon to trainer: [`Number`], of a batch that it was offered: it is returned unless it was handed out already.
    Void = 23,
    /// Daemon to trainer: [`Missed`]: its group did not get some batches, and never will.
    Missed = 24,
    /// Trainer to daemon: [`Number`]: nanoseconds that its caller waited in `next()` since it last said so.
    Waited = 25,
}

/// The daemon accepts a trainer.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Welcome {
    /// [`MessageKind::Welcome`].
    pub kind: u32,
    /// The version that the two sides speak from here on: the newest that both know.
    pub protocol: u32,
    /// The daemon's incarnation; another one after each start.
    pub incarnation: u64,
    /// Number of this consumer, never used twice by an incarnation.
    pub consumer: u64,
    /// Offers that may be sent at once: what the daemon grants of the credits asked for.
    pub credits: u32,
    /// Ring number of the descriptor that comes along.
    pub ring: u32,
    /// Where its pixels are.
    pub pixels: Pixels,
}

/// A batch may be read.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Offer {
    /// [`MessageKind::Offer`].
    pub kind: u32,
    /// Ring that the slot is in.
    pub ring: u32,
    /// Number of the batch, never used twice by an incarnation.
    pub seq: u64,
    /// Rises each time the slot is filled.
    pub generation: u64,
    /// Epoch of the batch's records.
    pub epoch: u64,
    /// Place in the ring.
    pub slot: u32,
    /// How many places the user sees as `batch.images` (semantics rule 6).
    pub shown: u32,
    /// How many places are this epoch's own records.
    pub valid: u32,
    /// How many [`Claim`]s are in the slot.
    pub claims: u32,
    /// How often the batch was offered before.
    pub redelivered: u32,
    /// Height of its pictures; 0 if they have the size that the ring's header says. With a size of their own, the slot's images are
    /// those of the `shown` places alone, without a gap.
    pub height: u16,
    /// Width of its pictures; 0 if they have the size that the ring's header says.
    pub width: u16,
    /// `CLOCK_BOOTTIME` nanosecond after which the batch may not be handed out; `u64::MAX` for never.
    pub deadline: u64,
    /// `CLOCK_MONOTONIC` nanosecond at which the batch was ready.
    pub ready: u64,
}

/// What a batch answers for: a range of positions counted from a lease's start. Claims are in the slot, in the order of the
/// batch's own places: the first claim is for the first `len` places whose mask is set, and so on. A bare claim is for no
/// place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Claim {
    /// Lease id.
    pub lease: u64,
    /// First position, counted from the lease's start.
    pub start: u64,
    /// How many positions.
    pub len: u32,
    /// 1: the batch has no record of these positions to show, a bad one or none at all.
    pub bare: u32,
}

impl Claim {
    /// Of positions whose records the batch shows.
    pub const fn new(lease: u64, start: u64, len: u32) -> Self {
        Self { lease, start, len, bare: 0 }
    }

    /// For positions without a record in the batch.
    pub const fn bare(lease: u64, start: u64, len: u32) -> Self {
        Self { lease, start, len, bare: 1 }
    }

    /// The batch shows no record of it.
    pub const fn is_bare(&self) -> bool {
        self.bare != 0
    }

    /// Places of the batch that it is for, and records of the trainer's receipt.
    pub const fn places(&self) -> u64 {
        if self.is_bare() { 0 } else { self.len as u64 }
    }

    /// The first position behind it.
    pub const fn end(&self) -> u64 {
        self.start.saturating_add(self.len as u64)
    }
}

/// The batch was consumed. The tail holds sums of claims `first..first + count`; the last packet of a batch has
/// `last` set.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Ack {
    /// [`MessageKind::Ack`].
    pub kind: u32,
    /// Place in the ring.
    pub slot: u32,
    /// As offered.
    pub seq: u64,
    /// As offered; with [`NO_RING`] the trainer's own number of the batch.
    pub generation: u64,
    /// Claim that the first sum is of.
    pub first: u32,
    /// Sums in the tail.
    pub count: u32,
    /// 1 in the batch's last ACK packet, else 0.
    pub last: u32,
    /// Ring that the slot is in.
    pub ring: u32,
    /// 1: no view of the slot is left, as if a RELEASE followed. Only in the last packet.
    pub freed: u32,
    /// How many more offers may be sent, as if a CREDIT followed. Only in the last packet.
    pub more: u32,
}

/// Sum of `record_hash` over the record numbers of one claim, as the trainer saw them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ClaimSum {
    /// Upper half.
    pub high: u64,
    /// Lower half.
    pub low: u64,
}

/// The slot is free: its batch was acked before, or is given back unread (`returned`).
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Release {
    /// [`MessageKind::Release`].
    pub kind: u32,
    /// Place in the ring.
    pub slot: u32,
    /// As offered.
    pub seq: u64,
    /// As offered; with [`NO_RING`] the trainer's own number of the batch.
    pub generation: u64,
    /// 1: the batch was not consumed and goes to another trainer.
    pub returned: u32,
    /// Ring that the slot is in.
    pub ring: u32,
}

/// A message with one number.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Number {
    /// Any kind that says so.
    pub kind: u32,
    /// Zero.
    pub reserved: u32,
    /// The number.
    pub value: u64,
}

/// A message with a text as its tail.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Text {
    /// Any kind that says so.
    pub kind: u32,
    /// Bytes of UTF-8 that follow.
    pub len: u32,
    /// One of [`text_code`].
    pub code: u32,
    /// Zero.
    pub reserved: u32,
}

/// Why a text was sent, for programs.
pub mod text_code {
    /// No further meaning.
    pub const OTHER: u32 = 0;
    /// The two sides speak different protocol versions.
    pub const PROTOCOL: u32 = 1;
    /// The peer's user may not use this stream.
    pub const PERMISSION: u32 = 2;
    /// The settings are wrong, or do not agree with the stream's; or the run is of another dataset or order.
    pub const SETTINGS: u32 = 3;
    /// No such stream.
    pub const NOT_FOUND: u32 = 4;
    /// Too little memory for the ring.
    pub const MEMORY: u32 = 5;
    /// The dataset is empty or missing.
    pub const DATASET: u32 = 6;
    /// A bad record with `on_error = "fail"`, or more failures than `max_failures`.
    pub const RECORD: u32 = 7;
    /// Every credit of the ring is taken, the shard has its trainer, or the daemon is short of something: asked again,
    /// it may say yes.
    pub const BUSY: u32 = 8;
}

/// A request or its answer.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Call {
    /// [`MessageKind::Call`] or [`MessageKind::Answer`].
    pub kind: u32,
    /// Bytes of protobuf that follow; 0 when they come as bulk.
    pub len: u32,
    /// Chosen by the trainer, repeated in the answer.
    pub id: u64,
}

/// A trainer of this daemon or another node holds the last batches of an epoch. If it is another node, its name and host
/// follow as UTF-8 with a NUL byte between them.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Held {
    /// [`MessageKind::Held`].
    pub kind: u32,
    /// Process that holds the batch; the daemon of another node.
    pub pid: u32,
    /// The epoch that waits.
    pub epoch: u64,
    /// The batch; 0 where another node has it.
    pub seq: u64,
    /// For how long, in milliseconds.
    pub for_ms: u64,
    /// 1: `epoch_end_timeout` has passed, `next()` raises.
    pub expired: u32,
    /// Bytes that follow; 0 for a trainer of this daemon.
    pub len: u32,
}

/// Batches that other groups of trainers have consumed, and that the trainer's own group did not get because the daemon ended
/// (semantics rule 44).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Missed {
    /// [`MessageKind::Missed`].
    pub kind: u32,
    /// Zero.
    pub reserved: u32,
    /// Epoch of the records.
    pub epoch: u64,
    /// Number of the first one.
    pub from: u64,
    /// Number of the last one.
    pub to: u64,
    /// Records of these batches that the group has not had.
    pub records: u64,
}

/// A further ring of the stream.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct NewRing {
    /// [`MessageKind::Ring`].
    pub kind: u32,
    /// Its number.
    pub ring: u32,
    /// Where its pixels are.
    pub pixels: Pixels,
}

/// What a reconnecting trainer consumed or still holds (semantics rule 16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ResumedClaim {
    /// Lease id of the older incarnation.
    pub lease: u64,
    /// First position, counted from the lease's start.
    pub start: u64,
    /// How many positions.
    pub len: u64,
    /// Epoch of the lease.
    pub epoch: u64,
    /// Number of the batch in the older incarnation.
    pub seq: u64,
    /// 0: consumed, the sum is set. Else held: the trainer's own number of the batch, the same for all its claims. A trainer may
    /// hold batches of several incarnations, each of which counts `seq` from the start.
    pub held: u32,
    /// As in the [`Claim`].
    pub bare: u32,
    /// Sum over the records of the range, for what was consumed.
    pub sum: ClaimSum,
}
