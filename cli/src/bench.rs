//! `forebay bench`: measures how fast this machine processes a dataset, and finds the bottleneck.

mod figures;
mod stop;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use forebay_client::{AttachError, Next, NextError, Options, Session, Target};
use forebay_daemon::config::{Config, Surroundings, store_of};
use forebay_daemon::serve::{self, EndedBy};
use forebay_proto::printable;
use forebay_proto::v1::{QuarantineRequest, StatusReply, StatusRequest, StreamQuarantine};
use forebay_ring::SocketError;
use forebay_road::threads;

use crate::bad::BadPictures;
use crate::daemon::{Client, Daemon};
use crate::failure::Failure;
use crate::progress;
use figures::{Figures, Measured};
use stop::Stop;

#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// Path of a dataset: a folder, a .csv file, or one of the formats of docs/sources.md.
    path: String,
    /// Paths of further datasets. Forebay reads all of them as one dataset.
    #[arg(value_name = "PATH2")]
    more: Vec<String>,
    /// How long to measure, after a second of warming up.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    seconds: u64,
    /// Pictures in a batch.
    #[arg(long, default_value_t = 64)]
    batch_size: u32,
    /// Height and width of a picture.
    #[arg(long, default_value_t = 224)]
    size: u32,
    /// Measure evaluation: resize and centre crop, in order. Without it, training is measured: shuffled, with random crops
    /// and flips.
    #[arg(long)]
    evaluation: bool,
    /// Measure training with random crops whose area is between MIN and MAX of the picture's, such as 0.02,0.1.
    /// Left out: 0.08,1.
    #[arg(long, value_name = "MIN,MAX", conflicts_with = "evaluation", value_parser = scale)]
    scale: Option<[f64; 2]>,
    /// Leave out the first COUNT epochs, or the first second if that is longer. With 1, caches and seek points are complete
    /// when the measurement begins.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    after_epochs: u64,
    /// Where seek points are kept: memory or off, as in `seek` of `[decode]`.
    #[arg(long, value_parser = ["memory", "off"], default_value = "memory")]
    seek: String,
    /// Decode threads. Left out: one per usable core.
    #[arg(long)]
    threads: Option<usize>,
    /// What decodes: auto, fixed, or names of lanes with commas between them, as in `lanes` of `[decode]`.
    #[arg(long, value_delimiter = ',', default_value = "cpu")]
    lanes: Vec<String>,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
}

impl BenchArgs {
    fn paths(&self) -> Vec<String> {
        [&self.path].into_iter().chain(&self.more).cloned().collect()
    }
}

/// A measurement that gave something.
struct Measurement {
    measured: Measured,
    before: StatusReply,
    after: StatusReply,
    bad: BadPictures,
}

const WARMING_UP: Duration = Duration::from_secs(1);
const STREAM: &str = "bench";
/// How long a daemon may take to say why it ends.
const ENDING: Duration = Duration::from_secs(5);

pub(crate) fn run(args: &BenchArgs) -> Result<(), Failure> {
    let folder = Folder::new()?;
    let config = configuration(args, &folder.0)?;
    threads::room_for(2).map_err(|error| Failure::Failed(format!("{error}.")))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut surroundings = Surroundings::of_process();
    surroundings.local_world_size = None;
    let mut stop = Stop::at_signals(&runtime)?;
    let service = runtime.spawn(serve::service(config, None, surroundings, EndedBy::Owner));
    let measured = measure(args, &folder.0, &mut stop, || service.is_finished());
    // Where the trainer's side failed, the daemon may be about to end, with the reason.
    let patience = if measured.is_err() && stop.signal().is_none() { ENDING } else { Duration::ZERO };
    let ended = runtime.block_on(async { tokio::time::timeout(patience, service).await });
    // What reads a dataset that does not answer is not waited for.
    runtime.shutdown_background();
    if let Ok(Ok(Err(error))) = ended {
        return Err(Failure::Failed(error.to_string()));
    }
    let Measurement { measured, before, after, bad } = measured?;
    let figures = Figures { measured, before: &before, after: &after, bad: &bad };
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{:#}", figures.json())?;
    } else {
        figures.text(&mut out)?;
    }
    match stop.signal() {
        Some(signal) => Err(Failure::Interrupted(signal, "The figures cover the time until then.")),
        None => Ok(()),
    }
}

fn configuration(args: &BenchArgs, folder: &Path) -> Result<Config, Failure> {
    let paths = args.paths();
    let stores: Vec<toml::Value> = paths.iter().filter_map(|path| store_of(path)).map(Into::into).collect();
    let mut values = toml::Table::new();
    let mut stream = toml::Table::new();
    let mut set = |key: &str, value: toml::Value| drop(stream.insert(key.to_owned(), value));
    set("source", paths.into());
    set("batch_size", i64::from(args.batch_size).into());
    match args.scale {
        None => set("size", i64::from(args.size).into()),
        Some(scale) => set("transform", crops(args.size, scale).into()),
    }
    set("shuffle", (!args.evaluation).into());
    set("on_error", "skip".into());
    let table = |key: &str, value: toml::Value| toml::Value::Table(toml::Table::from_iter([(key.to_owned(), value)]));
    values.insert("streams".into(), table(STREAM, toml::Value::Table(stream)));
    if !stores.is_empty() {
        values.insert("sources".into(), table("objects", toml::Value::Array(stores)));
    }
    values.insert("control".into(), table("dir", folder.display().to_string().into()));
    values.insert("coordinator".into(), table("path", folder.display().to_string().into()));
    let mut decode = toml::Table::new();
    if let Some(threads) = args.threads {
        decode.insert("threads".into(), i64::try_from(threads).unwrap_or(i64::MAX).into());
    }
    let lanes = match &*args.lanes {
        [word] if matches!(&**word, "auto" | "fixed") => word.clone().into(),
        names => names.to_vec().into(),
    };
    decode.insert("lanes".into(), lanes);
    decode.insert("seek".into(), args.seek.as_str().into());
    values.insert("decode".into(), toml::Value::Table(decode));
    Ok(Config::from_table(values, "the command line")?)
}

/// The transforms of training, with crops of this share of a picture.
fn crops(size: u32, scale: [f64; 2]) -> Vec<toml::Value> {
    let table = |pairs: Vec<(&str, toml::Value)>| {
        toml::Value::Table(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    };
    let crop = vec![("size", i64::from(size).into()), ("scale", scale.to_vec().into())];
    vec![
        table(vec![("random_resized_crop", table(crop))]),
        table(vec![("random_horizontal_flip", table(vec![("p", 0.5.into())]))]),
    ]
}

/// Reads `--scale`. Whether a picture has such parts is for the configuration to say.
fn scale(text: &str) -> Result<[f64; 2], String> {
    let numbers: Vec<f64> = text.split(',').filter_map(|number| number.trim().parse().ok()).collect();
    numbers.try_into().map_err(|_| "give two numbers with a comma between them, such as 0.02,0.1".to_owned())
}

fn measure(
    args: &BenchArgs,
    folder: &Path,
    stop: &mut Stop,
    service_ended: impl FnMut() -> bool,
) -> Result<Measurement, Failure> {
    let sign = progress::sign("looking through the dataset");
    let session = attach(&folder.join(serve::SOCKET), stop, service_ended);
    sign.finish_and_clear();
    let mut session = session?;
    let daemon = Daemon::in_folder(folder);
    let status = || daemon.ask(|mut client| async move { client.status(StatusRequest {}).await });
    let bar = progress::bar(args.seconds.max(1), "{wide_bar} {pos} of {len} s  {msg}");
    let mut before = None;
    let mut measured = Measured::default();
    let mut start = Instant::now();
    let mut processor = processor_time();
    let (mut batches, mut epochs) = (0_u64, 0);
    loop {
        let asked = Instant::now();
        let next = match session.next(None, stop) {
            Ok(next) => next,
            Err(_) if stop.signal().is_some() => break,
            // The daemon names one bad picture of many.
            Err(failed @ NextError::Failed(_)) => return Err(Failure::Failed(bad(&daemon)?.beside(&failed))),
            Err(error) => return Err(Failure::Failed(error.to_string())),
        };
        measured.waited += asked.elapsed();
        match next {
            Next::Batch(batch) => {
                measured.pictures += batch.valid() as u64;
                batches += 1;
            }
            // An epoch without one batch: the next is like it.
            Next::EpochEnd(_) | Next::Done if batches == 0 => break,
            Next::EpochEnd(_) | Next::Done => (batches, epochs) = (0, epochs + 1),
        }
        if before.is_none() && start.elapsed() >= WARMING_UP && epochs >= args.after_epochs {
            before = Some(status()?);
            (measured, processor) = (Measured::default(), processor_time());
            start = Instant::now();
        }
        measured.time = start.elapsed();
        measured.processor = processor_time().saturating_sub(processor);
        if before.is_some() {
            bar.set_position(measured.time.as_secs());
            bar.set_message(format!("{:.0} pictures/s", measured.rate()));
            if measured.time.as_secs() >= args.seconds {
                break;
            }
        }
    }
    bar.finish_and_clear();
    let Some(before) = before.filter(|_| measured.pictures > 0) else {
        return Err(match stop.signal() {
            Some(signal) => Failure::Interrupted(signal, "Nothing was measured until then."),
            None => {
                Failure::Failed(format!("No picture of \"{}\" was delivered.", printable(&args.paths().join(", "))))
            }
        });
    };
    let (after, bad) = (status()?, bad(&daemon)?);
    session.close().map_err(|error| Failure::Failed(error.to_string()))?;
    Ok(Measurement { measured, before, after, bad })
}

fn attach(socket: &Path, stop: &mut Stop, mut service_ended: impl FnMut() -> bool) -> Result<Session, Failure> {
    loop {
        // Looked at before: it may come while the attempt fails.
        let there = socket.exists();
        let target = Target::Stream { socket: Some(socket.to_owned()), name: STREAM.into(), settings: None };
        let refused = match Session::attach(target, Options::default(), stop) {
            Ok(session) => return Ok(session),
            Err(error) => error,
        };
        if let Some(signal) = stop.signal() {
            return Err(Failure::Interrupted(signal, "Nothing was measured until then."));
        }
        if service_ended() || (there && !is_about_to_listen(&refused)) {
            return Err(Failure::Failed(refused.to_string()));
        }
        // The daemon is about to make its socket.
        std::thread::park_timeout(Duration::from_millis(50));
    }
}

/// Whether a daemon has made its socket, and does not listen there yet.
fn is_about_to_listen(error: &AttachError) -> bool {
    let AttachError::Connect { source: SocketError::Io(cause), .. } = error else { return false };
    cause.kind() == io::ErrorKind::ConnectionRefused
}

/// The pictures that were left out.
fn bad(daemon: &Daemon) -> Result<BadPictures, Failure> {
    let mut bad = BadPictures::default();
    let request = QuarantineRequest { stream: STREAM.into() };
    let ask = |mut client: Client| async move { client.list_quarantine(request).await };
    daemon.ask_pages(ask, |page: StreamQuarantine| {
        for each in page.records {
            bad.add(each.record, each.file, each.reason);
        }
        Ok(())
    })?;
    Ok(bad)
}

/// Of this process.
fn processor_time() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(spent).unwrap_or_default()
}

/// A folder for sockets and ledger, gone with the measurement.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, Failure> {
        let made = forebay_ring::make_temporary_dir(&std::env::temp_dir());
        made.map(Self).map_err(|error| Failure::Failed(error.to_string()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, folder = %printable(&self.0), "a temporary folder is left");
        }
    }
}
