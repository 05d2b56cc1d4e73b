//! `forebay plan`: what an epoch of pictures in buckets, in patches or of their own sizes would be, from the sizes of a dataset's pictures. No daemon runs, and only
//! a few headers are read.

mod choice;
mod lengths;
mod ragged;
mod report;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use forebay_daemon::config::Environment;
use forebay_formats::open_all;
use forebay_pipeline::compare_sizes;
use forebay_plan::{Bucket, BucketChoice, Leftovers};
use forebay_sources::{ColumnMap, IndexChoice, Labels, Options, OwnOptions, Source};

use crate::disk_cache::disk_cache;
use crate::failure::Failure;
use crate::json;
use crate::pair::pair;
use crate::selection::SelectionArgs;
use crate::verify::labels;
use choice::BatchChoice;
use lengths::PatchArgs;
use ragged::PlannedRagged;
use report::PlannedEpoch;

#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// Path or URL of the dataset, whose sizes are in its index ("forebay index SOURCE --sizes") or in columns
    /// (--option sizes=height,width). Exit code 1: no plan can be made.
    source: String,
    /// Further sources. Forebay reads all of them as one dataset.
    #[arg(value_name = "SOURCE2")]
    more: Vec<String>,
    /// The buckets: kohya or diffusers for the rule of that package, or sizes such as 1024x1024,832x1216 (height x width). With
    /// ragged, each picture keeps its own size, and the memory for the largest pictures is shown.
    #[arg(long, value_name = "RULE", default_value = "kohya")]
    buckets: String,
    #[command(flatten)]
    patches: PatchArgs,
    /// With kohya and diffusers: a bucket has about this number squared in pixels.
    #[arg(long, value_name = "PIXELS", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(16..=16384))]
    resolution: u32,
    /// With kohya: the shortest side of a bucket.
    #[arg(long, value_name = "PIXELS", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=16384))]
    min: u32,
    /// With kohya: the longest side of a bucket.
    #[arg(long, value_name = "PIXELS", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(1..=16384))]
    max: u32,
    /// With kohya and diffusers: sides are multiples of this number. Left out: 64 for kohya, 16 for diffusers.
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(1..=1024))]
    step: Option<u32>,
    /// With kohya: never enlarge a picture.
    #[arg(long)]
    no_upscale: bool,
    /// Leave out pictures of which more than this share would be cut off, such as 0.2.
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = share)]
    max_crop: f64,
    /// Pictures of a step, on all ranks together.
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    batch_size: u64,
    /// Pixels of a step on all ranks together, instead of a number of pictures: steps of small buckets then have more pictures.
    #[arg(long, value_name = "NUMBER", conflicts_with = "batch_size", value_parser = clap::value_parser!(u64).range(1..=1 << 48))]
    pixels: Option<u64>,
    /// The number of pictures of each step is a multiple of this number, such as the number of ranks.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    divisor: u64,
    /// What becomes of pictures that fill no step of their bucket: neighbour (the next bucket by aspect has them), repeat
    /// (the step is filled with copies) or drop.
    #[arg(long, value_name = "POLICY", default_value = "neighbour")]
    leftovers: Leftovers,
    /// So many steps of one bucket follow each other, as gradients of one shape are accumulated. Not with --leftovers repeat.
    #[arg(long, value_name = "STEPS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1 << 16))]
    accumulate: u64,
    /// How often an epoch has each picture.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeats: u16,
    /// The index of the dataset. Left out: that in the folder of indexes.
    #[arg(long, value_name = "FILE", conflicts_with = "more")]
    index: Option<PathBuf>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// How labels are read: auto, text or none, as for the index.
    #[arg(long, default_value = "auto", value_parser = labels)]
    labels: Labels,
    /// Makes a column from a part of each record, as for the index. May be repeated.
    #[arg(long, value_name = "NAME=PART", value_parser = pair)]
    columns: Vec<(String, String)>,
    /// An option of the source, such as sizes=height,width. May be repeated.
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    option: Vec<(String, String)>,
    /// Print the plan as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &PlanArgs) -> Result<(), Failure> {
    let buckets = BucketChoice {
        rule: &args.buckets,
        resolution: args.resolution,
        sides: (args.min, args.max),
        step: args.step,
        no_upscale: args.no_upscale,
    };
    let rule = (args.buckets != ragged::RULE).then(|| buckets.rule()).transpose();
    let rule = rule.map_err(|error| Failure::Usage(format!("--buckets: {error}")))?;
    let &PlanArgs { batch_size: pictures, pixels, divisor, accumulate, .. } = args;
    let batch = BatchChoice { pictures, pixels, divisor, accumulate };
    if accumulate > 1 && args.leftovers == Leftovers::Repeat {
        let problem =
            "--accumulate cannot be combined with --leftovers repeat, with which whole steps would have copies alone.";
        return Err(Failure::Usage(problem.to_owned()));
    }
    let patches = args.patches.choice()?;
    if rule.is_none() && patches.is_some() {
        return Err(Failure::Usage(
            "--buckets ragged cannot be combined with --patches; leave one of them out.".to_owned(),
        ));
    }
    let source = open(args)?;
    let sizes = source.sizes();
    if sizes.is_empty() && patches.is_none() {
        return Err(Failure::Failed(
            "The sizes of the pictures are not known. Run \"forebay index SOURCE --sizes\", or name the columns that have them: \
             --option sizes=height,width."
                .to_owned(),
        ));
    }
    if !sizes.is_empty() {
        compare_sizes(&*source, &sizes).map_err(|error| Failure::Failed(format!("{error}.")))?;
    }
    let Some(rule) = rule else {
        let planned = PlannedRagged::new(&*source, &sizes, batch, args.repeats)?;
        let mut out = io::stdout().lock();
        return Ok(if args.json { json::print(&mut out, &planned) } else { planned.text(&mut out) }?);
    };
    let mut counts: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let mut without = 0;
    let selected: Box<dyn Iterator<Item = u64> + '_> = match source.selection() {
        Some(selection) => Box::new(selection.iter()),
        None => Box::new(0..source.len()),
    };
    for record in selected {
        match sizes.get(record) {
            Some(size) => *counts.entry((size.height, size.width)).or_default() += 1,
            None => without += 1,
        }
    }
    if let Some(failure) = source.failure() {
        return Err(Failure::Failed(failure));
    }
    if let Some(choice) = patches {
        let records = counts.values().sum::<u64>() + without;
        let counts: Vec<((u32, u32), u64)> = counts.into_iter().collect();
        let planned = args.patches.planned(choice, batch, (records, args.repeats), &counts)?;
        let mut out = io::stdout().lock();
        return Ok(if args.json { json::print(&mut out, &planned) } else { planned.text(&mut out) }?);
    }
    let mut found = FoundClasses { without, ..FoundClasses::default() };
    for ((height, width), records) in counts {
        found.add(rule.bucket_within(height, width, args.max_crop), (height, width), records);
    }
    let planned = PlannedEpoch::new(&found, batch, args.leftovers, args.repeats)?;
    let waste_of = |batch, leftovers| {
        PlannedEpoch::new(&found, batch, leftovers, args.repeats).ok().map(|planned| planned.waste())
    };
    let advice = planned.waste().halved(waste_of, batch, args.leftovers);
    let mut out = io::stdout().lock();
    let report = planned.with_advice(advice);
    Ok(if args.json { json::print(&mut out, &report) } else { report.text(&mut out) }?)
}

/// A share of a picture.
fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "give a share from 0 to 1".to_owned())
}

/// The dataset, from its index if it has one.
fn open(args: &PlanArgs) -> Result<Box<dyn Source>, Failure> {
    let environment = Environment::of_process();
    let index = match &args.index {
        Some(file) => IndexChoice::File(file.clone()),
        None => environment.index_dir().map_or(IndexChoice::Never, IndexChoice::Folder),
    };
    let options = Options {
        labels: args.labels,
        columns: args.columns.iter().cloned().collect::<ColumnMap>(),
        own: args.option.iter().cloned().collect::<OwnOptions>(),
        cache: disk_cache(&environment)?,
        index,
        select: args.selection.select.clone(),
        condition: args.selection.condition.clone(),
        ..Options::default()
    };
    let datasets: Vec<String> = [&args.source].into_iter().chain(&args.more).cloned().collect();
    open_all(&datasets, &options).map_err(|error| Failure::Failed(error.to_string()))
}

/// The pictures of each bucket.
#[derive(Debug, Default)]
struct FoundClasses {
    /// With their pictures, and the sum of the shares that are cut off of them.
    buckets: Vec<(Bucket, u64, f64)>,
    /// Records whose size is not known.
    without: u64,
    /// Pictures that the rule has no bucket for, or of which it cuts off too much.
    refused: u64,
}

impl FoundClasses {
    /// Adds records whose pictures have this height and width.
    fn add(&mut self, bucket: Option<Bucket>, (height, width): (u32, u32), records: u64) {
        let Some(bucket) = bucket else {
            self.refused += records;
            return;
        };
        #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
        let cut_off = bucket.cut_off(height, width) * records as f64;
        match self.buckets.binary_search_by(|(other, ..)| other.by_aspect(&bucket)) {
            Ok(place) => {
                self.buckets[place].1 += records;
                self.buckets[place].2 += cut_off;
            }
            Err(place) => self.buckets.insert(place, (bucket, records, cut_off)),
        }
    }
}
