//! The checked settings of a stream, as plain structs. The crate above this one reads them from a file or a message.

mod buckets;
mod cache;
mod decode;
mod duration;
mod key;
mod lanes;
mod patches;
mod placement;
mod prefetch;
mod remote;
mod ring;
mod shuffle;
mod step_form;
mod steps;
mod value;

use std::num::NonZero;
use std::time::Duration;

use forebay_pixels::document::{flag, whole};
use forebay_pixels::{Annotated, Mixing, Recipe, View};
pub use forebay_plan::LastBatchPolicy;
use forebay_plan::{EpochPart, EpochWeights};
use forebay_proto::v1::{LockstepRank, StaticShard};

pub use buckets::BucketSettings;
pub use cache::{CacheKind, CacheSettings};
pub use decode::{DecodeSettings, JpegDecoder, SeekKeeping};
pub use duration::parse_duration;
pub use forebay_delivery::{DeliverySettings, GroupPolicy, Slow};
use key::settings;
pub use key::{Home, Key, Values, Who};
pub use lanes::Lanes;
pub use patches::{NoRoomForPatches, PatchSettings};
pub use placement::Placement;
pub use prefetch::PrefetchSettings;
pub use remote::RemoteSettings;
pub use ring::{Numa, RingSettings};
pub use shuffle::Shuffle;
pub use step_form::StepForm;
pub use steps::StepSettings;
pub use value::{Keyword, Written, duration, fraction, word};
use value::{max_failures, placement};

settings! {
    /// The settings of a stream: how its batches are made, and how they are handed out. They do not include its dataset.
    #[derive(Clone, Debug, PartialEq)]
    pub struct StreamSettings(batch_size: u32, recipe: Recipe) {
        plain {
            /// Places in a batch.
            batch_size: u32 = batch_size;
            /// What is done to each picture, and the form of the output.
            recipe: Recipe = recipe;
            /// What else is made of each picture: columns of their own.
            views: Vec<View> = Vec::new();
            /// What the pictures of a step have in common, if that differs by step. `recipe` is that of one of them.
            form: Option<StepForm> = None;
            /// How pictures of a finished batch are mixed, if they are.
            mixing: Option<Mixing> = None;
            /// All pictures of a batch are mixed by the draws of the first one.
            mixing_per_batch: bool = false;
            /// The order of epochs.
            shuffle: Shuffle = Shuffle::default();
            /// The shares of the dataset's sources, if the user gave them, and from which epochs on.
            weights: Option<Vec<EpochWeights>> = None;
            /// How many times an epoch has each record; with weights, how many times the dataset's records an epoch has.
            repeats: NonZero<u32> = NonZero::<u32>::MIN;
            /// The dataset's columns that batches have beside pictures and labels. `None` means all.
            columns: Option<Vec<String>> = None;
            /// Who reads what.
            sharding: Sharding = Sharding::Dynamic;
            /// Which trainers get a batch.
            delivery: DeliverySettings = DeliverySettings::default();
            /// How the functions in Python of the recipe are run.
            steps: StepSettings = StepSettings::default();
            /// The form of the dataset that is kept in memory for later epochs.
            cache: Option<CacheSettings> = None;
        }
        keys {
            /// The number of the pixels that a mask does not show, from 0 to 65535. Left out: the largest number of masks of
            /// 8 or 16 bits, 255 or 65535, and 0 of masks in colours.
            mask_fill: Option<u16> = None, whole(0..=u16::MAX), example: "255", home: Home::Targets;
            /// The fraction of an object's box, from 0.0 to 1.0, that the transformed picture must show. If it shows less, the
            /// object is dropped from all its columns. An object is always dropped if nothing of its box is shown. Raise it
            /// if objects at the edge of a crop are too small to learn from.
            min_visible: f64 = 0.0, fraction, home: Home::Targets;
            /// The picture to which the dataset's boxes and points refer: "seen" (with its EXIF orientation applied) or
            /// "stored" (without it). Set it to "stored" if the boxes were made by a program that ignores EXIF orientations.
            annotated: Annotated = Annotated::default(), word, home: Home::Targets;
            /// Batches have the column "draw": 64 random bits for each record and epoch, for choices of the trainer's own, such as
            /// which captions it drops. They follow from the seed as transforms do, so a run that is resumed has the same.
            draw: bool = false, flag, home: Home::Targets;
            /// The seed of the order and of all random transforms.
            seed: u64 = 0, whole(0..=u64::MAX);
            /// Passes over the dataset. Left out: no end.
            epochs: Option<u64> = None, whole(1..=u64::MAX), example: "90",
                in_python: "After the last one, a `for` yields nothing.";
            /// The last batch of an epoch has fewer records ("partial"), repeats its last record ("fill"), or is left out
            /// ("drop").
            last_batch_policy: LastBatchPolicy = LastBatchPolicy::default(), word,
                in_python: "A `forebay.LastBatchPolicy` is such a word too.";
            /// Records per lease. A run keeps the value that it began with. Left out: 4 batches.
            wanted_lease_size as "lease_size": Option<u64> = None, whole(1..=1 << 32), example: "1024", home: Home::Service;
            /// Batches that are kept ready, beyond those that trainers hold.
            prefetch_queue_depth: u32 = 2, whole(1..=1024), undecided: true;
            /// Where the pixels of batches are: "host" (shared memory), "gpu:0" (that GPU of the daemon), or "auto" (the first
            /// trainer's GPU, or else the host). Trainers must belong to the daemon's user to map a GPU. See
            /// docs/operating.md, "Pixels in a GPU".
            placement: Placement = Placement::default(), placement, undecided: true,
                in_python: "For a stream, the daemon's configuration decides. If its pixels are in a GPU, and PyTorch has \
                    not initialised CUDA yet, give `placement` anyway: the daemon learns of no GPU otherwise. All trainers \
                    that map memory of a GPU can write to it, so they must belong to one user. While a stream has \
                    trainers, it stays where the first of them had it. `loader.placement` says where that is.";
            /// Lets trainers page-lock the ring. Set it if they copy batches to a GPU. Then only the daemon's own user may
            /// attach.
            pin_memory: bool = false, flag,
                in_python: "The Loader calls `pin()` at once. The ring is locked for the GPU that PyTorch uses: call \
                    `torch.cuda.set_device` before. For a stream, the daemon's configuration needs it too. Without a CUDA \
                    driver it warns, as in PyTorch, and locks nothing.";
            /// The GPU that decodes for this stream beside the CPU, if `lanes` of `[decode]` has GPU lanes. Set it to the
            /// trainer's own GPU if trainers share a machine. Left out: the GPU that the pixels are in, or all GPUs.
            decode_gpu: Option<i32> = None, whole(0..=1023), example: "0";
            /// Decode threads of this stream alone. Left out: it shares the pool of `[decode]`.
            num_threads: Option<usize> = None, whole(1..=1024), example: "8",
                in_python: "That pool has all usable cores, divided by `LOCAL_WORLD_SIZE`.";
            /// A picture that cannot be read or decoded fails the stream ("fail"), is skipped ("skip"), or is replaced by a
            /// copy of a good one ("replace"). `forebay status --quarantine` lists such pictures.
            on_error: OnError = OnError::default(), word, in_python: "\"fail\" raises `RecordError`.";
            /// The stream fails if more records are bad: a count, or a fraction of the dataset. Left out: no limit.
            max_failures: Option<MaxFailures> = None, max_failures, example: "0.01",
                in_python: "It fails then even if `on_error` is not \"fail\".";
            /// Trainers that the ring has room for. With `groups = "each"`: trainers of one group. Left out: as in `[ring]`.
            trainers: u32 = 2, whole(1..=1024), home: Home::Service;
            /// Batches that one trainer may hold. Left out: as in `[ring]`.
            credits: u32 = 2, whole(1..=64), home: Home::Service, who: Who::Both;
            /// How long the end of an epoch waits for a batch that a trainer holds, before `next()` raises `EpochHeld`.
            epoch_end_timeout: Duration = Duration::from_secs(600), duration, home: Home::Config;
            /// A read that takes longer is a bad record, if other files can be read meanwhile.
            read_timeout: Duration = Duration::from_secs(60), duration, home: Home::Config;
            /// How long `next()` waits while no file can be read, before it raises `StorageStalled`. Reads are retried in any
            /// case.
            storage_timeout: Duration = Duration::from_secs(600), duration, home: Home::Config;
        }
    }
}

impl StreamSettings {
    /// The settings for a trainer's part. A rank's batch is its part of a step.
    #[must_use]
    pub fn of_part(&self, asked: Option<AskedPart>) -> Self {
        let mut settings = self.clone();
        if let (Sharding::Lockstep { global_batch, .. }, Some(rank)) = (self.sharding, self.sharding.part(asked)) {
            settings.batch_size = (global_batch / rank.count.max(1)).max(1);
        }
        settings
    }

    /// The columns of the dataset that the user names, if any are named. Those of buckets or patches are there anyway.
    pub fn dataset_columns(&self) -> Option<Vec<String>> {
        let mut names = self.columns.clone()?;
        if let Some(form) = &self.form {
            names.retain(|name| !form.columns().contains(&name.as_str()));
        }
        Some(names)
    }

    /// Records per lease: the user's number, or four batches by default.
    pub fn lease_size(&self) -> u64 {
        self.wanted_lease_size.unwrap_or_else(|| u64::from(self.batch_size) * 4)
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
