//! `forebay bench`: measures how fast this machine processes a dataset or a stream, and finds the bottleneck.

mod figures;
mod folder;
mod measurement;
mod stop;
mod workload;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use forebay_daemon::config::{Environment, parse_lanes};
use forebay_daemon::serve::{self, EndedBy};
use forebay_pipeline::settings::Lanes;
use forebay_pipeline::threads;

use crate::daemon::duration;
use crate::failure::Failure;
use crate::json;
use crate::selection::SelectionArgs;
use figures::Figures;
use folder::Folder;
use measurement::{Length, Measurement, Unmeasured, measure};
use stop::Stop;
use workload::Workload;

#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// Path of a dataset: a folder, a .csv file, or one of the formats of docs/sources.md. Left out: a stream of --config.
    #[arg(required_unless_present = "config", conflicts_with = "config")]
    path: Option<String>,
    /// Paths of further datasets. Forebay reads all of them as one dataset.
    #[arg(value_name = "PATH2", requires = "path")]
    more: Vec<String>,
    /// Measure a stream as this configuration file describes it, with one trainer. The daemon of the measurement is its own: it
    /// takes no part in the stream's run, and neither reads nor writes its ledger.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// With --config: the stream. Left out: the only one.
    #[arg(long, value_name = "NAME", requires = "config")]
    stream: Option<String>,
    /// How long to measure, after a second of warming up.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    seconds: u64,
    /// How long the trainer of the measurement does nothing with each batch, such as 12ms. Set it to the time of your training
    /// step, to see whether loading keeps up with it. Left out: 0.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    step: Option<Duration>,
    /// Pictures in a batch. Left out: 64, or as the stream has it.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    batch_size: Option<u32>,
    /// With a path: height and width of a picture.
    #[arg(long, default_value_t = 224, conflicts_with = "config")]
    size: u32,
    /// With a path: measure evaluation, which has a resize and a centre crop, in order. Without it, training is measured: shuffled, with
    /// random crops and flips.
    #[arg(long, conflicts_with = "config")]
    evaluation: bool,
    /// With a path: measure training with random crops whose area is between MIN and MAX of the picture's, such as 0.02,0.1.
    /// Left out: 0.08,1.
    #[arg(long, value_name = "MIN,MAX", conflicts_with_all = ["evaluation", "config"], value_parser = scale)]
    scale: Option<[f64; 2]>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Leave out the first COUNT epochs, or the first second if that is longer. With 1, caches and seek points are complete
    /// when the measurement begins.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    after_epochs: u64,
    /// Where seek points are kept: memory or off, as in `seek` of `[decode]`. Left out: memory, or as the configuration has it.
    #[arg(long, value_parser = ["memory", "off"])]
    seek: Option<String>,
    /// Decode threads. Left out: one per usable core, or as the configuration has it.
    #[arg(long, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1024))]
    threads: Option<usize>,
    /// What decodes: auto, fixed, or names of lanes with commas between them, as in `lanes` of `[decode]`. Left out: cpu, or as
    /// the configuration has it.
    #[arg(long, value_parser = parse_lanes)]
    lanes: Option<Lanes>,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
}

/// How long a daemon may take to say why it ends.
const ENDING: Duration = Duration::from_secs(5);

pub(crate) fn run(args: &BenchArgs) -> Result<(), Failure> {
    if args.path.is_none() {
        args.selection.refuse("need a path: a stream has its own selection")?;
    }
    let workload = Workload::of(args)?;
    let mut environment = Environment::of_process();
    environment.local_world_size = None;
    let sockets = Folder::temporary()?;
    let beside = workload.ledgers(&environment).map(|folder| Folder::for_ledger(&folder)).transpose()?;
    let config = workload.in_folders(&sockets, beside.as_ref().unwrap_or(&sockets));
    threads::room_for(2).map_err(|error| Failure::Failed(format!("{error}.")))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let folders = [Some(&sockets), beside.as_ref()].into_iter().flatten().map(|folder| folder.path().to_owned());
    let mut stop = Stop::at_signals(&runtime, &folders.collect::<Vec<_>>())?;
    let service = runtime.spawn(serve::service(config, None, environment, EndedBy::Owner));
    let length = Length { time: Duration::from_secs(args.seconds), after_epochs: args.after_epochs, step: args.step };
    let measured = measure(&workload, length, sockets.path(), &mut stop, || service.is_finished());
    let is_ending = matches!(measured, Err(Unmeasured::Other(_))) && stop.signal().is_none();
    let ended = runtime
        .block_on(async { tokio::time::timeout(if is_ending { ENDING } else { Duration::ZERO }, service).await });
    // What reads a dataset that does not answer is not waited for.
    runtime.shutdown_background();
    if let Ok(Ok(Err(error))) = ended {
        return Err(Failure::Failed(error.to_string()));
    }
    let Measurement { measured, before, after, bad, outage } = match measured {
        Ok(measurement) => measurement,
        Err(Unmeasured::Limited(failure) | Unmeasured::Other(failure)) => return Err(failure),
    };
    let figures = Figures::new(&measured, (&before, &after), &bad, &workload.notes);
    let mut out = io::stdout().lock();
    if args.json {
        json::print(&mut out, &figures)?;
    } else {
        figures.text(&mut out)?;
    }
    match (stop.signal(), outage) {
        (Some(signal), _) => Err(Failure::Interrupted(signal, "The figures cover the time until then.")),
        (None, Some(sentence)) => Err(Failure::Failed(sentence)),
        (None, None) => Ok(()),
    }
}

/// Reads `--scale`. Whether a picture has such parts is for the configuration to say.
fn scale(text: &str) -> Result<[f64; 2], String> {
    let numbers: Vec<f64> = text.split(',').filter_map(|number| number.trim().parse().ok()).collect();
    numbers.try_into().map_err(|_| "give two numbers with a comma between them, such as 0.02,0.1".to_owned())
}
