//! `[streams.NAME]`, and the settings that a Loader sends. Both use one struct and one parser.

mod agreement;
mod cache;
mod columns;
mod delivery;
mod mixing;
mod mixture;
mod pictures;
mod placement;
mod sharding;
mod shuffle;
mod views;

use std::path::PathBuf;

use forebay_pixels::{Annotated, Recipe};
use forebay_road::settings::{LastBatchPolicy, MaxFailures, OnError, StreamSettings};
use forebay_sources::{ColumnMap, Labels, Options, OwnOptions};
use serde_json::{Map, Value};

use super::mistake::{Mistake, Mistakes};
use super::ring::{CREDITS, Ring, TRAINERS};
use super::table::Table;
use super::value::{choice, duration, flag, group, path, text, whole};

pub(super) const EXAMPLE: &str = r#"# One table per stream. A trainer attaches by the name: forebay.Loader("stream:train").
# [streams.train]
# Required. A folder of pictures or of class folders, a .csv file, a .txt file with one path per line, or another source of
# docs/sources.md, such as COCO's annotations, tar, TFRecord and parquet. Patterns such as train-{000..999}.tar name several
# files. A list of sources makes one dataset of them: docs/sources.md, "Several sources".
# source = "/data/imagenet/train"
# The shares of the sources in an epoch, if `source` is a list: [0.7, 0.3] for two sources. Left out: each record once.
# weights = [1.0]
# How many times an epoch has each record, with other random choices each time. With weights, the epoch is that many times
# longer.
# repeats = 1
# The folder that relative paths of a CSV or list start from. Left out: the folder of the CSV or list.
# root = "/data/imagenet"
# "auto": labels are class folders, or a CSV's second column. "text": a CSV's labels are never numbers. "none": all are -1.
# labels = "auto"
# The columns of batches beside pictures and labels. A list names some of the dataset's columns, or parts of a record that become
# columns of the same names, such as the column "caption" of a table. A table says which part of
# a record becomes which column: a member of an archive, a feature, a column of a table. Left out: all columns that the
# dataset has. docs/sources.md lists them.
# columns = { images = "jpg;png", labels = "cls", caption = "txt" }
# Masks that become columns: names of columns, each with the folder of its masks (files with the names of the pictures), or
# with a column of the dataset that has their paths, or with the part of a record that has the mask: a member of a tar, a
# column of a table. See docs/sources.md, "Masks". Left out: no masks.
# masks = { segmentation = "SegmentationClass" }
# The number of the pixels that a mask does not show, from 0 to 65535. Left out: the largest number of masks of 8 or 16 bits,
# 255 or 65535, and 0 of masks in colours.
# mask_fill = 255
# The fraction of an object's box, from 0.0 to 1.0, that the transformed picture must show. If it shows less, the object is
# dropped from all its columns. An object is always dropped if nothing of its box is shown. Raise it if objects at the edge
# of a crop are too small to learn from.
# min_visible = 0.0
# The picture to which the dataset's boxes and points refer: "seen" (with its EXIF orientation applied) or "stored" (without
# it). Set it to "stored" if the boxes were made by a program that ignores EXIF orientations.
# annotated = "seen"
# Options of the source. docs/sources.md lists them. Left out: their defaults.
# source_options = { payload = "picture" }
# The index of the dataset, a file that `forebay index --output` wrote. It must fit the dataset. "none": the dataset is
# scanned each time. Left out: an index is written after a long scan, and used from then on. docs/sources.md explains indexes.
# index = "/data/imagenet.arrow"
# Which trainers get a batch. "split": one of them. "each": one of each group, for several jobs that each need the whole
# dataset. Cannot be combined with shards or lockstep. See docs/trainers.md.
# mode = "split"
# With mode = "each": how long batches are kept for a named group that has no trainer.
# group_timeout = "60s"
# With mode = "each": what happens if a group of trainers makes the others wait. "block": they wait. "evict": the group is
# ended, and its trainers get an error. Set it to "evict" if one stuck job must not stop the others.
# slow = "block"
# With slow = "evict": how long a group may make others wait without consuming a batch.
# evict_after = "60s"
# Required, except in lockstep. The number of records in a batch.
# batch_size = 256
# Required: size, a list of transforms, or a recipe. With shuffle, size means RandomResizedCrop(224) and a random flip. Without
# shuffle, it means Resize(256) and CenterCrop(224). A recipe has the transforms of published training code: a name, or a table
# of the name and parameters. `forebay config --recipe NAME` prints the transforms, and docs/recipes.md lists the recipes. If a
# recipe normalises, dtype is "float32" unless you give it.
# size = 224
# transform = [{ random_resized_crop = { size = 224 } }, { random_horizontal_flip = { p = 0.5 } }]
# recipe = { name = "timm_train", size = 224, auto_augment = "rand-m9-mstd0.5-inc1" }
# How resizes calculate. "pillow": as Pillow, to the byte. "torch": as torchvision on a GPU, with a uint8 tensor and
# antialias=True. "torch" is slower on the CPU, and has bilinear and bicubic filters only.
# match = "pillow"
# The type of the values: "uint8", "float16", "bfloat16" or "float32".
# dtype = "uint8"
# The order of the axes: "NHWC" or "NCHW".
# layout = "NHWC"
# The colour behind transparent pixels: red, green, blue.
# fill = [0, 0, 0]
# Turns pictures as their EXIF orientation says. Set it to false to leave them as stored, like Pillow and torchvision.
# adjust_orientation = true
# Decodes a large JPEG at 1/2, 1/4 or 1/8 of its size, if each side keeps this many times the result's pixels. Set it to 2.0
# for speed; the result is hard to tell from an exact one. Not allowed with a decoded cache. Left out: full size.
# reducing_gap = 2.0
# Short for reducing_gap = 2.0.
# fast = false
# Further views of each picture: columns with a size or transforms of their own. A picture is read and decoded once for all
# views. match, dtype and layout are those of images, unless a view has its own. Cannot be
# combined with reducing_gap or fast. Left out: only images.
# views = { local = { transform = [{ random_resized_crop = { size = 96, scale = [0.05, 0.32] } }] } }
# Mixes each picture of a finished batch with the one before it: mix_up, cut_mix, or a random_choice of them. Batches then
# also have the columns mixed_labels and mix. See docs/transforms.md. Left out: pictures are not mixed.
# mixing = { random_choice = { transforms = [{ mix_up = { alpha = 0.2 } }, { cut_mix = { alpha = 1.0 } }] } }
# With mixing: all pictures of a batch get the same weight, as in torchvision.
# mixing_per_batch = false
# true gives each epoch its own random order. "shard" is for datasets that are read in grains, such as chunks or row groups:
# it shuffles grains, and the records within windows of grains. Each grain is then read once per epoch, if the source can
# keep the grains of a window. See docs/operating.md, "Shuffling a dataset that is read in grains".
# shuffle = false
# With shuffle = "shard": the number of grains whose records are shuffled together. Raise it to mix records better. Lower it
# if a source cannot keep so many grains.
# shuffle_window = 16
# The seed of the order and of all random transforms.
# seed = 0
# Passes over the dataset. Left out: no end.
# epochs = 90
# The name of the run. Left out: the current run continues. `forebay run new train` starts another one.
# run = "august"
# How trainers share an epoch. "dynamic": a batch goes to any trainer that asks for one. "static": each trainer has one of
# num_shards shards. "lockstep": all ranks of a training job read the same step, whatever their number. Left out: "static" with
# num_shards, and "dynamic" without. See docs/distributed.md.
# assignment = "lockstep"
# Required in lockstep. The number of records in a step of all ranks, a multiple of their number. A rank's batch is its part.
# global_batch = 1024
# Splits the dataset into this many shards, one per trainer, as DDP needs it. Left out: a batch goes to any trainer that asks
# for one.
# num_shards = 8
# With num_shards: each trainer reads the same shard in every epoch. Set it if you use a cache.
# stick_to_shard = false
# With num_shards: all shards have the same number of batches.
# pad_last_batch = true
# The last batch of an epoch has fewer records ("partial"), repeats its last record ("fill"), or is left out ("drop").
# last_batch_policy = "partial"
# Records per lease. A run keeps the value that it began with. Left out: 4 batches.
# shard_size = 1024
# Batches that are kept ready, beyond those that trainers hold.
# prefetch_queue_depth = 2
# Keeps the dataset in memory after the first epoch: files ("encoded"), or decoded pictures ("decoded"), shrunk if they are
# larger than max_side. See docs/operating.md, "Keeping a dataset in memory". Left out: nothing is kept.
# cache = { keep = "decoded", memory = "20gb", max_side = 512 }
# Where the pixels of batches are: "host" (shared memory), "gpu:0" (that GPU of the daemon), or "auto" (the first trainer's
# GPU, or else the host). Trainers must belong to the daemon's user to map a GPU. See docs/operating.md, "Pixels in a GPU".
# placement = "host"
# Lets trainers page-lock the ring. Set it if they copy batches to a GPU. Then only the daemon's own user may attach.
# pin_memory = false
# The GPU that decodes for this stream beside the CPU, if [decode] lanes has GPU lanes. Set it to the trainer's own GPU if
# trainers share a machine. Left out: the GPU that the pixels are in, or all GPUs.
# decode_gpu = 0
# Decode threads of this stream alone. Left out: it shares the pool of [decode].
# num_threads = 8
# A picture that cannot be read or decoded fails the stream ("fail"), is skipped ("skip"), or is replaced by a copy of a good
# one ("replace"). `forebay status --quarantine` lists such pictures.
# on_error = "fail"
# The stream fails if more records are bad: a count, or a fraction of the dataset. Left out: no limit.
# max_failures = 0.01
# Trainers that the ring has room for. With mode = "each": trainers of one group. Left out: as in [ring].
# trainers = 2
# Batches that one trainer may hold. Left out: as in [ring].
# credits = 2
# A group whose members may attach, by name or number. Left out: only the daemon's own user.
# group = "trainers"
# How long the end of an epoch waits for a batch that a trainer holds, before next() raises EpochHeld.
# epoch_end_timeout = "10m"
# A read that takes longer is a bad record, if other files can be read meanwhile.
# read_timeout = "60s"
# How long next() waits while no file can be read, before it raises StorageStalled. Reads are retried in any case.
# storage_timeout = "10m"
"#;

/// `[streams.NAME]`, checked: where the dataset is, what the stream does with it, and who may attach.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSection {
    /// Path or URL of the dataset, or of each source that it is made of. `None` if a Loader sends a list of files.
    pub source: Option<Vec<String>>,
    /// Folder that relative paths of a CSV or list start from.
    pub root: Option<PathBuf>,
    /// What becomes a label.
    pub labels: Labels,
    /// Which parts of a record become columns.
    pub columns: ColumnMap,
    /// Which masks become columns.
    pub masks: ColumnMap,
    /// What belongs to the dataset's scheme alone.
    pub source_options: OwnOptions,
    /// The dataset's index, or "none". `None`: the one in the folder of indexes.
    pub index: Option<PathBuf>,
    /// Name of the run.
    pub run: Option<String>,
    /// Group whose members may attach: its name, or its number as text.
    pub group: Option<String>,
    /// The settings for the stream itself.
    pub settings: StreamSettings,
    /// The keys as they were written, for [`agree`](Self::agree) and [`Change`](super::Change).
    pub(super) written: Map<String, Value>,
}

/// Where settings come from; a few keys belong to one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    Configuration,
    Loader,
}

/// The document's name in [`Mistakes`].
const LOADER: &str = "the Loader's settings";

impl StreamSection {
    /// Parses the settings that a Loader sends. They are a JSON document with the keys of a `[streams.NAME]` table, and
    /// with `files`, `shard_id`, `rank` and `world_size`, which only a Loader has. `ring` has the defaults of credits and trainers.
    pub(crate) fn from_json(document: &[u8], ring: &Ring) -> Result<Self, Mistakes> {
        let broken = |problem: String| Mistakes {
            document: LOADER.to_owned(),
            list: vec![Mistake { key: String::new(), problem, line: None }],
        };
        let written = match serde_json::from_slice(document) {
            Ok(Value::Object(written)) => written,
            Ok(_) => return Err(broken("they are not a JSON object.".to_owned())),
            Err(error) => return Err(broken(format!("they are not JSON: {error}."))),
        };
        Self::from_object(&written, ring, Writer::Loader)
    }

    /// How its dataset is opened.
    pub fn options(&self) -> Options {
        let (columns, own) = (self.columns.clone(), self.source_options.clone());
        let masks = self.masks.clone();
        let mut options = Options { labels: self.labels, columns, masks, own, ..Options::default() };
        if let Some(root) = &self.root {
            options.own.set("root", root.to_string_lossy());
        }
        options
    }

    /// The dataset's name for people.
    pub fn dataset(&self) -> String {
        self.source.as_ref().map_or_else(|| "a list of files".into(), |sources| sources.join(", "))
    }

    fn from_object(written: &Map<String, Value>, ring: &Ring, writer: Writer) -> Result<Self, Mistakes> {
        let mut mistakes = Vec::new();
        let mut table = Table::new(written, &mut mistakes);
        let stream = Self::read(&mut table, ring, writer);
        table.finish();
        match stream {
            Some(stream) if mistakes.is_empty() => Ok(stream),
            _ => Err(Mistakes { document: LOADER.to_owned(), list: mistakes }),
        }
    }

    /// Reads a `[streams.NAME]` table.
    pub(super) fn from_table(table: &mut Table<'_, '_>, ring: &Ring) -> Option<Self> {
        Self::read(table, ring, Writer::Configuration)
    }

    /// Nothing if a key that has no default is absent or wrong; then there is a mistake.
    fn read(table: &mut Table<'_, '_>, ring: &Ring, writer: Writer) -> Option<Self> {
        let source = source(table, writer);
        let sharding = sharding::read(table, writer);
        let batch_size = sharding::batch_size(table, sharding);
        let shuffle = shuffle::read(table);
        let recipe = table.recipe(shuffle.is_on());
        let complete = batch_size.is_some() && recipe.is_some();
        let named_views = recipe.as_ref().map(|recipe| table.named_views(recipe)).unwrap_or_default();
        // If one of the two is missing, the other keys are still read, so that all mistakes are reported at once.
        let recipe = recipe.unwrap_or_else(|| Recipe::training(1).expect("its shape is fixed"));
        let default = StreamSettings {
            shuffle,
            trainers: ring.trainers,
            credits: ring.credits,
            sharding,
            delivery: delivery::read(table, sharding),
            ..StreamSettings::new(batch_size.unwrap_or(1), recipe)
        };
        let sources = source.as_ref().map(|source| source.as_ref().map_or(1, Vec::len));
        let mixture::Mixture { weights, repeats } = mixture::read(table, sources);
        let default = StreamSettings { weights, repeats, ..default };
        let columns = table.take("columns", columns::read).unwrap_or_default();
        let views = views::read(table, shuffle.is_on(), &default.recipe, named_views);
        let (mixing, mixing_per_batch) = mixing::read(table);
        let default = StreamSettings { columns: columns.only, views, mixing, mixing_per_batch, ..default };
        let section = Self {
            columns: columns.map,
            masks: table.take("masks", columns::masks).unwrap_or_default(),
            source_options: table.take("source_options", columns::options).unwrap_or_default(),
            index: table.take("index", path),
            root: table.take("root", path),
            labels: table.take_or(
                "labels",
                Labels::Auto,
                choice(&[("auto", Labels::Auto), ("text", Labels::Text), ("none", Labels::None)]),
            ),
            run: table.take("run", text),
            group: table.take("group", group),
            settings: settings(table, default),
            written: table.values().clone(),
            source: source?,
        };
        complete.then_some(section)
    }
}

/// The settings that have a default.
fn settings(table: &mut Table<'_, '_>, default: StreamSettings) -> StreamSettings {
    StreamSettings {
        seed: table.take_or("seed", default.seed, whole(0..=u64::MAX)),
        epochs: table.take("epochs", whole(1..=u64::MAX)),
        last_batch_policy: table.take_or(
            "last_batch_policy",
            default.last_batch_policy,
            choice(&[
                ("fill", LastBatchPolicy::Fill),
                ("drop", LastBatchPolicy::Drop),
                ("partial", LastBatchPolicy::Partial),
            ]),
        ),
        mask_fill: table.take("mask_fill", whole(0..=u16::MAX)),
        min_visible: table.take_or("min_visible", default.min_visible, fraction),
        annotated: table.take_or(
            "annotated",
            default.annotated,
            choice(&[("seen", Annotated::AsSeen), ("stored", Annotated::AsStored)]),
        ),
        wanted_shard_size: table.take("shard_size", whole(1..=1 << 32)),
        prefetch_queue_depth: table.take_or("prefetch_queue_depth", default.prefetch_queue_depth, whole(1..=1024)),
        placement: table.take_or("placement", default.placement, placement::read),
        pin_memory: table.take_or("pin_memory", default.pin_memory, flag),
        decode_gpu: table.take("decode_gpu", whole(0..=1023)),
        num_threads: table.take("num_threads", whole(1..=1024)),
        cache: cache::read(table, &default.recipe),
        on_error: table.take_or(
            "on_error",
            default.on_error,
            choice(&[("fail", OnError::Fail), ("skip", OnError::Skip), ("replace", OnError::Replace)]),
        ),
        max_failures: table.take("max_failures", max_failures),
        trainers: table.take_or("trainers", default.trainers, whole(TRAINERS)),
        credits: table.take_or("credits", default.credits, whole(CREDITS)),
        epoch_end_timeout: table.take_or("epoch_end_timeout", default.epoch_end_timeout, duration),
        read_timeout: table.take_or("read_timeout", default.read_timeout, duration),
        storage_timeout: table.take_or("storage_timeout", default.storage_timeout, duration),
        ..default
    }
}

/// The dataset: `source`, or from a Loader `files = true`, whose list comes beside the settings. The outer `None` is a
/// mistake.
#[expect(clippy::option_option, reason = "absent and wrong are two things here, and only this file sees both")]
fn source(table: &mut Table<'_, '_>, writer: Writer) -> Option<Option<Vec<String>>> {
    let files = match writer {
        Writer::Loader => table.take_or("files", false, flag),
        Writer::Configuration => false,
    };
    let source = table.take("source", mixture::sources);
    let stream = source.as_ref().and_then(|sources| sources.iter().find(|source| source.starts_with("stream:")));
    match (&source, files) {
        (Some(_), false) if let Some(stream) = stream => {
            table.mistake(
                "source",
                format!("is \"{stream}\", but a stream cannot be the source of another; give a path."),
            );
            None
        }
        (Some(_), true) => {
            table.mistake("source", "cannot be combined with files; give one of the two.");
            None
        }
        (Some(_), false) => Some(source),
        (None, true) => Some(None),
        (None, false) if table.has("source") => None,
        (None, false) => {
            table.mistake("source", "is missing; give the path of a dataset, such as a folder or a .csv file. docs/sources.md lists the formats.");
            None
        }
    }
}

/// A part of something.
fn fraction(value: &Value) -> Result<f64, String> {
    let part = value.as_f64().filter(|part| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "a number from 0.0 to 1.0".to_owned())
}

/// A whole number is a count, a number with a point a part.
fn max_failures(value: &Value) -> Result<MaxFailures, String> {
    if let Some(count) = value.as_u64() {
        return Ok(MaxFailures::Count(count));
    }
    let fraction = value.as_f64().filter(|part| value.is_f64() && (0.0..=1.0).contains(part));
    fraction
        .map(MaxFailures::Fraction)
        .ok_or_else(|| "a count, such as 100, or a fraction of the dataset from 0.0 to 1.0".to_owned())
}
