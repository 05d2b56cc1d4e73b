//! Delivers the finished batches of a stream to its trainers, and tells the stream's ledger what became of them.
//!
//! A [`Delivery`] owns the published batches, the trainers and their groups, the receipts and the rings. The stages that make batches
//! give it what [`Handover`] says: above all a [`FinishedBatch`], with its slot and its claims. They get slots to fill, and the
//! numbers of batches that gave way. Nothing here knows how a batch is made: no pixels, no sources, no GPU.
#![forbid(unsafe_code)]

mod admission;
mod attendance;
mod blamed;
mod clock;
mod consumers;
mod delivery;
mod handover;
mod later;
mod lease_range;
mod ledger_client;
mod ledger_event;
mod ledger_tasks;
mod missed;
mod outcomes;
mod presence;
pub mod receipt;
mod resumed_claims;
mod settings;
mod step_length;
mod stream_ring;

/// Target of the log lines that trainers are told as well, as an exception or a notice. The private daemon of a Loader does not
/// write them: its user has heard them already, or has caught them.
pub const TOLD: &str = "forebay::told";

pub use admission::{AttachRequest, ledger_code};
pub use consumers::{Asked, Counters, NoCall, RingStatus};
pub use delivery::{Delivery, DeliveryEnds, DeliveryError, DeliveryTerms, Inlet, RingStart};
pub use handover::{BadPlace, FinishedBatch, Handover, StageWait};
pub use later::{EpochPosition, LaterBatches, Way, Youngest};
pub use ledger_client::{LeasePermit, LedgerClient, LedgerCounts, LedgerUpdates, OpenedLedger};
pub use outcomes::{BatchReceipts, DeliveryOutcome, OutcomeSender, SettledEpoch};
pub use resumed_claims::{ResumeError, ResumedClaims};
pub use settings::{DeliverySettings, GroupPolicy, Slow};
pub use stream_ring::{LockSlot, NoRing, StreamRing};
