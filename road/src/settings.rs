//! The checked settings of a stream, as plain structs. The crate above this one reads them from a file or a message.

mod cache;
mod decode;
mod lanes;
mod placement;
mod prefetch;
mod ring;
mod shuffle;

use std::num::NonZero;
use std::time::Duration;

use forebay_pixels::{Annotated, Mixing, Recipe, View};
use forebay_plan::EpochPart;
pub use forebay_plan::LastBatchPolicy;
use forebay_proto::v1::{LockstepRank, StaticShard};

pub use cache::{CacheKind, CacheSettings};
pub use decode::{DecodeSettings, JpegDecoder, SeekKeeping};
pub use forebay_delivery::{DeliverySettings, Mode, Slow};
pub use lanes::Lanes;
pub use placement::Placement;
pub use prefetch::PrefetchSettings;
pub use ring::{Numa, RingSettings};
pub use shuffle::Shuffle;

/// The settings of a stream: how its batches are made, and how they are handed out. They do not include its dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSettings {
    /// Places in a batch.
    pub batch_size: u32,
    /// What is done to each picture, and the form of the output.
    pub recipe: Recipe,
    /// What else is made of each picture: columns of their own.
    pub views: Vec<View>,
    /// How pictures of a finished batch are mixed, if they are.
    pub mixing: Option<Mixing>,
    /// All pictures of a batch are mixed by the draws of the first one.
    pub mixing_per_batch: bool,
    /// The order of epochs.
    pub shuffle: Shuffle,
    /// The seed of all random choices.
    pub seed: u64,
    /// The shares of the dataset's sources, if the user gave them.
    pub weights: Option<Vec<f64>>,
    /// How many times an epoch has each record; with weights, how many times the dataset's records an epoch has.
    pub repeats: NonZero<u32>,
    /// The dataset's columns that batches have beside pictures and labels. `None` means all.
    pub columns: Option<Vec<String>>,
    /// An object is dropped from its columns if less of its box is in the transformed picture: a part of its area from 0 to 1.
    /// What is not shown at all is dropped in any case.
    pub min_visible: f64,
    /// The picture whose pixels boxes and points count.
    pub annotated: Annotated,
    /// The number of what a mask does not show. Without it, the largest of its type, or 0 for a mask of segments.
    pub mask_fill: Option<u16>,
    /// Passes over the dataset. `None` means without end.
    pub epochs: Option<u64>,
    /// Who reads what.
    pub sharding: Sharding,
    /// Which trainers get a batch.
    pub delivery: DeliverySettings,
    /// How an epoch's last batch is handled.
    pub last_batch_policy: LastBatchPolicy,
    /// Records per lease, if the user gave a number; see [`shard_size`](Self::shard_size).
    pub wanted_shard_size: Option<u64>,
    /// Slots beyond those that trainers hold.
    pub prefetch_queue_depth: u32,
    /// Where pixels should be.
    pub placement: Placement,
    /// Trainers may page-lock the ring if pixels are on the host, and so can write to it.
    pub pin_memory: bool,
    /// The GPU whose lanes decode, if the user chose one.
    pub decode_gpu: Option<i32>,
    /// Decode threads, if the user gave a number.
    pub num_threads: Option<usize>,
    /// The form of the dataset that is kept in memory for later epochs.
    pub cache: Option<CacheSettings>,
    /// How a bad record is handled.
    pub on_error: OnError,
    /// Bad records that fail the stream.
    pub max_failures: Option<MaxFailures>,
    /// Number of trainers of a group that the ring is sized for; in `split`, all are one group.
    pub trainers: u32,
    /// Batches that one trainer may hold.
    pub credits: u32,
    /// How long the end of an epoch waits for a held batch.
    pub epoch_end_timeout: Duration,
    /// How long one read may take.
    pub read_timeout: Duration,
    /// How long trainers wait for storage that returns nothing.
    pub storage_timeout: Duration,
}

impl StreamSettings {
    /// The defaults. A configuration has the same ones.
    pub fn new(batch_size: u32, recipe: Recipe) -> Self {
        Self {
            batch_size,
            recipe,
            views: Vec::new(),
            mixing: None,
            mixing_per_batch: false,
            shuffle: Shuffle::default(),
            seed: 0,
            weights: None,
            repeats: NonZero::<u32>::MIN,
            columns: None,
            min_visible: 0.0,
            annotated: Annotated::default(),
            mask_fill: None,
            epochs: None,
            sharding: Sharding::Dynamic,
            delivery: DeliverySettings::default(),
            last_batch_policy: LastBatchPolicy::default(),
            wanted_shard_size: None,
            prefetch_queue_depth: 2,
            placement: Placement::default(),
            pin_memory: false,
            decode_gpu: None,
            num_threads: None,
            cache: None,
            on_error: OnError::default(),
            max_failures: None,
            trainers: 2,
            credits: 2,
            epoch_end_timeout: Duration::from_secs(600),
            read_timeout: Duration::from_secs(60),
            storage_timeout: Duration::from_secs(600),
        }
    }

    /// The settings for a trainer's part. A rank's batch is its part of a step.
    #[must_use]
    pub fn of_part(&self, asked: Option<AskedPart>) -> Self {
        let mut settings = self.clone();
        if let (Sharding::Lockstep { global_batch, .. }, Some(rank)) = (self.sharding, self.sharding.part(asked)) {
            settings.batch_size = (global_batch / rank.count.max(1)).max(1);
        }
        settings
    }

    /// Records per lease: the user's number, or four batches by default.
    pub fn shard_size(&self) -> u64 {
        self.wanted_shard_size.unwrap_or_else(|| u64::from(self.batch_size) * 4)
    }

    /// Slots of the stream's ring: the ring itself needs two beyond the credits of a group's trainers.
    pub fn slots(&self) -> u32 {
        self.prefetch_queue_depth.max(2) + self.credits * self.trainers
    }
}

/// Who reads what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharding {
    /// The next worker that asks gets the next span.
    Dynamic,
    /// DALI's split and rotation (semantics rule 13).
    Static {
        /// Which shard; nothing in a configuration, where each trainer names its own as it attaches.
        shard_id: Option<u32>,
        /// How many shards.
        num_shards: u32,
        /// The shard is the same in every epoch.
        stick_to_shard: bool,
        /// Every shard has the same number of batches.
        pad_last_batch: bool,
    },
    /// All ranks read the same step (semantics rule 40).
    Lockstep {
        /// Positions of a step of all ranks.
        global_batch: u32,
        /// Which rank; nothing in a configuration, where each trainer names its own as it attaches.
        rank: Option<AskedPart>,
    },
}

/// The shard or rank that a trainer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AskedPart {
    /// Counted from 0.
    pub number: u32,
    /// How many there are.
    pub count: u32,
}

impl Sharding {
    /// The part of who asks for this one, or for none; nothing where there are no parts.
    pub fn part(self, asked: Option<AskedPart>) -> Option<AskedPart> {
        match self {
            Self::Dynamic => None,
            Self::Static { shard_id, num_shards: count, .. } => {
                Some(asked.unwrap_or_else(|| AskedPart { number: shard_id.unwrap_or(0), count }))
            }
            Self::Lockstep { rank, .. } => Some(asked.or(rank).unwrap_or(AskedPart { number: 0, count: 1 })),
        }
    }

    /// The same, as the ledger's spec has it.
    pub fn epoch_part(self, asked: Option<AskedPart>) -> Option<EpochPart> {
        let AskedPart { number, count } = self.part(asked)?;
        match self {
            Self::Dynamic => None,
            Self::Static { stick_to_shard, .. } => {
                Some(EpochPart::Shard(StaticShard { shard_id: number, num_shards: count, stick_to_shard }))
            }
            Self::Lockstep { global_batch, .. } => Some(EpochPart::Rank(LockstepRank {
                global_batch: global_batch.into(),
                rank: number,
                world_size: count,
            })),
        }
    }
}

/// How a bad record is handled (semantics rule 7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// It fails the stream.
    #[default]
    Fail,
    /// The next record takes its place.
    Skip,
    /// A copy of a good record takes its place.
    Replace,
}

/// The number of bad records that is too many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MaxFailures {
    /// More than this many.
    Count(u64),
    /// More than this part of the dataset, 0 to 1.
    Fraction(f64),
}
