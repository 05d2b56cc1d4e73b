//! The path from leases to finished batches: its stages, what they share, and a stream that connects them with its delivery.
//! Nothing here listens on a socket, reads a configuration or handles a signal.
#![forbid(unsafe_code)]

mod batch;
mod batch_metadata;
mod box_column;
mod byte_size;
mod cache;
mod classes;
pub mod cores;
mod declared_columns;
mod decode;
mod fill;
mod follow;
mod gpu_ring;
mod gpu_threads;
pub mod incarnation;
mod last_resort;
mod latest_batch;
mod lease;
mod mask_numbers;
mod memory;
mod meter;
mod metric;
mod mosaic;
mod place;
mod placement;
mod prefetch;
mod publish;
mod reason;
mod record;
pub mod remote;
mod remote_pictures;
mod replay;
mod returned;
mod samples;
mod seek;
pub mod seen_size;
mod selected;
pub mod settings;
mod size_check;
mod spare;
mod step_columns;
mod step_lists;
mod stream;
mod targets;
mod thread_class;
mod upload;
mod watch;
mod worked_batch;

pub use box_column::NoBoxes;
pub use byte_size::{ByteSize, NoSize};
pub use cache::{CacheError, Caches};
pub use classes::{ClassError, LargestResults};
pub use decode::lanes::{LaneMissing, cuda_driver, places};
pub use decode::steps::StepError;
pub use decode::suspects::make_suspects;
pub use decode::{DECODE_THREAD, LaneReport, Pool, Pools, PoolsError, SwitchedOff};
pub use follow::{NotFollowed, PictureMaps};
pub use forebay_delivery::{AttachRequest, ResumedClaims, TOLD};
pub use forebay_threads as threads;
pub use gpu_ring::Gpus;
pub use latest_batch::LatestTurns;
pub use memory::Promises;
pub use metric::{Metric, MetricType};
pub use placement::{Credentials, PixelPlace, PlacementRefusal};
pub use remote_pictures::{PictureThread, RemotePictures, RemoteThreads, answer_len, not_remote};
pub use replay::{Replay, ReplayError, ReplayedView};
pub use samples::{Registry, Samples};
pub use seek::SeekStores;
pub use size_check::{WrongSizes, compare_sizes};
pub use stream::{
    Decoders, Identity, LedgerAccess, Node, OpenDataset, Opening, RingMemory, SharedResources, Stream, StreamError,
    Surplus,
};
pub use targets::{UnknownColumn, unnamed};
