//! `forebay bench`: how fast a dataset goes through on this machine, and what holds it up.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use forebay::config::{Config, Surroundings};
use forebay::{cores, serve};
use forebay_client::{Next, Options, Patient, Session, Target};
use forebay_proto::printable;
use forebay_proto::v1::{StageStatus, StatusReply, StatusRequest, StreamStatus};
use indicatif::{ProgressBar, ProgressStyle};

use super::Failure;
use super::daemon::Daemon;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Folder, .csv file or .txt list.
    path: String,
    /// How long to measure, after a second of warming up.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    seconds: u64,
    /// Pictures in a batch.
    #[arg(long, default_value_t = 64)]
    batch_size: u32,
    /// Height and width of a picture.
    #[arg(long, default_value_t = 224)]
    size: u32,
    /// As evaluation sees pictures: resize and centre crop in order, instead of random crops, flips and shuffle.
    #[arg(long)]
    evaluation: bool,
    /// Decode threads; left out, one per usable core.
    #[arg(long)]
    threads: Option<usize>,
    /// Ways to decode, as `decode.lanes`: auto, fixed, or some of its names.
    #[arg(long, value_delimiter = ',', default_value = "cpu")]
    lanes: Vec<String>,
}

/// What was measured.
#[derive(Clone, Copy)]
struct Measured {
    pictures: u64,
    time: Duration,
    /// Time that the trainer's side waited for a batch.
    waited: Duration,
    /// Processor time of all threads, the trainer's among them.
    processor: Duration,
}

const WARMING_UP: Duration = Duration::from_secs(1);
const STREAM: &str = "bench";
/// How long a daemon may take to say why it ends.
const ENDING: Duration = Duration::from_secs(5);

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let folder = Folder::new()?;
    let config = configuration(args, &folder.0)?;
    let threads = config.decode.threads.unwrap_or_else(cores::usable);
    let readers = config.prefetch.threads;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut surroundings = Surroundings::of_process();
    surroundings.local_world_size = None;
    let service = runtime.spawn(serve::service(config, surroundings));
    let measured = measure(args, &folder.0, || service.is_finished());
    // Where the trainer's side failed, the daemon may be about to end, with the reason.
    let patience = if measured.is_err() { ENDING } else { Duration::ZERO };
    let ended = runtime.block_on(async { tokio::time::timeout(patience, service).await });
    if let Ok(Ok(Err(error))) = ended {
        return Err(Failure::Failed(error.to_string()));
    }
    let (measured, before, after) = measured?;
    lanes(&before, &after)?;
    let only = |mut reply: StatusReply| reply.streams.pop().unwrap_or_default();
    report(&measured, &Stages::between(&only(before), &only(after)), threads, readers)
}

fn configuration(args: &Args, folder: &Path) -> Result<Config, Failure> {
    let path = std::path::absolute(&args.path)?;
    let mut values = toml::Table::new();
    let mut stream = toml::Table::new();
    let mut set = |key: &str, value: toml::Value| drop(stream.insert(key.to_owned(), value));
    set("source", path.display().to_string().into());
    set("batch_size", i64::from(args.batch_size).into());
    set("size", i64::from(args.size).into());
    set("shuffle", (!args.evaluation).into());
    set("on_error", "skip".into());
    let table = |key: &str, value: toml::Value| toml::Value::Table(toml::Table::from_iter([(key.to_owned(), value)]));
    values.insert("streams".into(), table(STREAM, toml::Value::Table(stream)));
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
    values.insert("decode".into(), toml::Value::Table(decode));
    Ok(Config::parse(&values.to_string(), "the command line")?)
}

fn measure(
    args: &Args,
    folder: &Path,
    mut service_ended: impl FnMut() -> bool,
) -> Result<(Measured, StatusReply, StatusReply), Failure> {
    let fail = |error: &dyn std::fmt::Display| Failure::Failed(error.to_string());
    let socket = folder.join(serve::SOCKET);
    let mut watch = Patient;
    let mut session = loop {
        // Looked at before: it may come while the attempt fails.
        let there = socket.exists();
        let target = Target::Stream { socket: Some(socket.clone()), name: STREAM.into(), settings: None };
        match Session::attach(target, Options::default(), &mut watch) {
            Ok(session) => break session,
            Err(error) if service_ended() || there => return Err(fail(&error)),
            // The daemon is still looking at the dataset's files.
            Err(_) => std::thread::park_timeout(Duration::from_millis(50)),
        }
    };
    let daemon = Daemon::in_folder(folder);
    let bar = ProgressBar::new(args.seconds.max(1));
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} s  {msg}");
    bar.set_style(style.expect("the template has only known keys"));
    let mut before = None;
    let nothing = Measured { pictures: 0, time: Duration::ZERO, waited: Duration::ZERO, processor: Duration::ZERO };
    let mut measured = nothing;
    let mut start = Instant::now();
    let mut processor = processor_time();
    loop {
        let asked = Instant::now();
        let next = session.next(None, &mut watch).map_err(|error| fail(&error))?;
        measured.waited += asked.elapsed();
        if let Next::Batch(batch) = next {
            measured.pictures += batch.valid() as u64;
        }
        if before.is_none() && start.elapsed() >= WARMING_UP {
            before = Some(daemon.ask(|mut client| async move { client.status(StatusRequest {}).await })?);
            (measured, processor) = (nothing, processor_time());
            start = Instant::now();
        }
        measured.time = start.elapsed();
        measured.processor = processor_time().saturating_sub(processor);
        if before.is_some() {
            bar.set_position(measured.time.as_secs());
            bar.set_message(format!("{:.0} pictures/s", rate(&measured)));
            if measured.time.as_secs() >= args.seconds {
                break;
            }
        }
    }
    bar.finish_and_clear();
    let after = daemon.ask(|mut client| async move { client.status(StatusRequest {}).await })?;
    session.close().map_err(|error| fail(&error))?;
    Ok((measured, before.unwrap_or_default(), after))
}

/// How long each stage waited while it was measured.
struct Stages {
    /// Readers waited for work or room.
    readers_idle: Duration,
    /// Decode threads waited for pictures.
    decoders_idle: Duration,
    /// The batch thread waited for a free slot.
    no_slot: Duration,
}

impl Stages {
    fn between(before: &StreamStatus, after: &StreamStatus) -> Self {
        let find = |status: &StreamStatus, name: &str| -> StageStatus {
            status.stages.iter().find(|stage| stage.name == name).cloned().unwrap_or_default()
        };
        let waited = |name: &str, end: fn(&StageStatus) -> u64| {
            Duration::from_micros(end(&find(after, name)).saturating_sub(end(&find(before, name))))
        };
        Self {
            readers_idle: waited("prefetch", |stage| stage.writer_wait_us + stage.reader_wait_us),
            decoders_idle: waited("decode", |stage| stage.reader_wait_us),
            no_slot: waited("batch", |stage| stage.writer_wait_us),
        }
    }
}

fn report(measured: &Measured, stages: &Stages, threads: usize, readers: usize) -> Result<(), Failure> {
    let share = |time: Duration, of: usize| {
        time.as_secs_f64() / (measured.time.as_secs_f64() * f64::from(u32::try_from(of.max(1)).unwrap_or(u32::MAX)))
    };
    let reading = 1.0 - share(stages.readers_idle, readers).min(1.0);
    let decoding = 1.0 - share(stages.decoders_idle, threads).min(1.0);
    let no_slot = share(stages.no_slot, 1).min(1.0);
    let waiting = share(measured.waited, 1).min(1.0);
    let percent = |share: f64| format!("{:>3.0} %", share * 100.0);
    let mut out = io::stdout().lock();
    writeln!(out, "{:.0} pictures/s ({} in {:.1} s)", rate(measured), measured.pictures, measured.time.as_secs_f64())?;
    writeln!(out, "  {} of the time {readers} reader threads were at work", percent(reading))?;
    writeln!(out, "  {} of the time {threads} decode threads were at work", percent(decoding))?;
    writeln!(out, "  {} of the time no slot was free for a batch", percent(no_slot))?;
    writeln!(out, "  {} of the time the trainer waited for a batch", percent(waiting))?;
    let (used, cores) =
        (measured.processor.as_secs_f64(), measured.processor.as_secs_f64() / measured.time.as_secs_f64());
    writeln!(out, "processor: {used:.2} s, {cores:.2} cores")?;
    Ok(writeln!(out, "{}", bottleneck(reading, decoding, waiting))?)
}

/// What each lane has decoded meanwhile, and what was taken of GPUs for it.
fn lanes(before: &StatusReply, after: &StatusReply) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    for (before, after) in before.lanes.iter().zip(&after.lanes) {
        writeln!(out, "{}: {} pictures", after.name, after.pictures - before.pictures)?;
    }
    for gpu in &after.gpus {
        writeln!(out, "GPU {}: {} MiB taken for decoding at most", gpu.gpu, gpu.memory_peak >> 20)?;
    }
    Ok(())
}

/// Of this process.
fn processor_time() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(spent).unwrap_or_default()
}

/// One sentence on what to change.
fn bottleneck(reading: f64, decoding: f64, waiting: f64) -> &'static str {
    match () {
        () if waiting < 0.5 => {
            "The bottleneck is the trainer: batches lay ready while it was busy. Nothing is to be gained here."
        }
        () if decoding > 0.85 => {
            "The bottleneck is decoding: its threads hardly ever waited. More cores or smaller pictures would help."
        }
        () if reading > 0.85 => {
            "The bottleneck is reading: decoders waited for files. A faster disk or more prefetch.threads would help."
        }
        () => {
            "Nothing is busy all the time: other work takes this machine's cores, or batches are too small to keep it going."
        }
    }
}

fn rate(measured: &Measured) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "a count of pictures, far below 2^53")]
    let pictures = measured.pictures as f64;
    pictures / measured.time.as_secs_f64().max(f64::EPSILON)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_the_stage_that_never_waits() {
        assert!(bottleneck(0.1, 0.99, 0.9).contains("decoding"));
        assert!(bottleneck(0.95, 0.2, 0.9).contains("reading"));
        assert!(bottleneck(0.5, 0.5, 0.1).contains("trainer"));
        assert!(bottleneck(0.5, 0.5, 0.9).contains("other work"));
    }
}
