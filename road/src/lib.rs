//! The path from leases to batches, and of receipts back: its stages, what they share, and a stream that connects them.
//! Nothing here listens on a socket, reads a configuration or handles a signal.
#![forbid(unsafe_code)]

mod ack;
mod attendance;
mod batch;
mod blamed;
mod box_column;
mod byte_size;
mod cache;
mod clock;
mod consumers;
pub mod cores;
mod decode;
mod follow;
mod gpu_ring;
mod gpu_threads;
mod hand_in;
mod handover;
pub mod incarnation;
mod last_resort;
mod later;
mod lease;
mod memory;
mod meter;
mod metric;
mod mosaic;
mod news;
mod place;
mod placement;
mod prefetch;
mod presence;
mod publish;
mod reason;
mod receipt;
mod record;
mod replay;
mod samples;
mod seek;
pub mod settings;
mod sheet;
mod standing;
mod stream;
mod stream_ring;
mod targets;
mod thread_class;
mod upload;
mod watch;
mod worker;

/// Target of the log lines that trainers are told as well, as an exception or a notice. The private daemon of a Loader does not
/// write them: its user has heard them already, or has caught them.
pub const TOLD: &str = "forebay::told";

pub use box_column::NoBoxes;
pub use byte_size::{ByteSize, NoSize};
pub use cache::{CacheError, Caches};
pub use decode::lanes::{LaneMissing, cuda_driver, places};
pub use decode::suspects::make_suspects;
pub use decode::{DECODE_THREAD, LaneReport, Pool, Pools, PoolsError, SwitchedOff};
pub use follow::{NotFollowed, PictureMaps};
pub use forebay_threads as threads;
pub use gpu_ring::Gpus;
pub use hand_in::HandIns;
pub use memory::Promises;
pub use metric::{Metric, MetricType};
pub use placement::{Credentials, PixelPlace, PlacementRefusal};
pub use replay::{ReplayError, ReplayedView, replay};
pub use samples::{Registry, Samples};
pub use seek::SeekStores;
pub use stream::{AttachRequest, Identity, Node, Opening, RingMemory, Stream, StreamError, Surplus};
pub use targets::{UnknownColumn, unnamed};
