//! `forebay serve`: runs the daemon, for a folder, for a configuration, or for the trainer that starts it.

mod elasticdl;

use std::env;
use std::path::PathBuf;

use forebay_daemon::config::{Config, Environment, parse_lanes};
use forebay_daemon::serve::{self, EndedBy, ServeError};
use forebay_daemon::{DaemonError, start_logs};
use forebay_pipeline::settings::Lanes;
use forebay_pipeline::{ByteSize, PoolsError, TOLD, threads};

use self::elasticdl::JobArgs;
use crate::failure::Failure;
use crate::panics;

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true).args(WHAT)))]
pub(crate) struct ServeArgs {
    /// Path of a dataset to serve as the stream "default", shuffled, at 224 x 224: a folder, a .csv file, or one of the formats
    /// of docs/sources.md.
    #[arg(conflicts_with_all = ["config", "private"])]
    path: Option<String>,
    /// Paths of further datasets. Forebay reads all of them as one dataset.
    #[arg(value_name = "PATH2", requires = "path")]
    more: Vec<String>,
    /// Configuration file. `forebay config --example` prints one.
    #[arg(long, value_name = "FILE", conflicts_with = "private")]
    config: Option<PathBuf>,
    #[command(flatten)]
    job: JobArgs,
    /// What decodes: "auto" for NVIDIA's JPEG engines and the CPU, or names of lanes with commas between them. The daemon does
    /// not start if a named lane is missing. In a configuration, set `lanes` of `[decode]` instead.
    #[arg(long, value_name = "LANES", conflicts_with = "config", value_parser = parse_lanes)]
    lanes: Option<Lanes>,
    /// Largest picture, in pixels. A larger one is a bad record.
    #[arg(long, value_name = "NUMBER", conflicts_with = "config", value_parser = clap::value_parser!(u32).range(1..))]
    pixel_limit: Option<u32>,
    /// Largest file, such as "2gib". A larger one is a bad record.
    #[arg(long, value_name = "SIZE", conflicts_with = "config")]
    byte_limit: Option<ByteSize>,
    /// Serve the process that starts this one, and end with it.
    #[arg(long, hide = true, requires = "socket_fd")]
    private: bool,
    /// Sections of the configuration as JSON, with --private.
    #[arg(long, hide = true, value_name = "JSON", requires = "private")]
    sections: Option<String>,
    /// The parent's socket, with --private.
    #[arg(long, hide = true, value_name = "NUMBER")]
    socket_fd: Option<i32>,
}

/// What can be served; at least one of these is given.
const WHAT: [&str; 6] = ["path", "config", "private", "training", "validation", "prediction"];

pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let environment = Environment::of_process();
    let level = if args.private { format!("warn,{TOLD}=off") } else { "info".to_owned() };
    let _flush = start_logs(&level).map_err(|error| Failure::Failed(error.to_string()))?;
    panics::end_the_process();
    threads::room_for(2).map_err(|error| Failure::Failed(format!("{error}.")))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = if let Some(socket) = args.socket_fd.filter(|_| args.private) {
        let config = args.sections.as_deref().map_or_else(|| Ok(Config::default()), Config::of_loader)?;
        runtime.block_on(serve::private(socket, with_options(config, args), environment))
    } else {
        let config = configuration(args)?;
        runtime.block_on(serve::service(config, args.config.clone(), environment, EndedBy::Signals))
    };
    // Tasks that still run may wait for ever, on a file system that hangs for example, so this does not wait for them.
    runtime.shutdown_background();
    served.map_err(|error| match error {
        // The Loader starts its daemon again after any other end, and this one would come again.
        ServeError::Daemon(DaemonError::Pools(PoolsError::Lane(missing))) if args.private => {
            Failure::Usage(missing.to_string())
        }
        error => Failure::Failed(error.to_string()),
    })
}

fn configuration(args: &ServeArgs) -> Result<Config, Failure> {
    if let Some(file) = &args.config {
        return crate::config::read(file);
    }
    if args.job.is_given() {
        let job = args.job.job(&env::current_dir()?).map_err(|problem| Failure::Usage(format!("{problem}.")))?;
        let mut config = Config::for_streams(job.streams)?;
        config.sources.python.extend(job.readers);
        return Ok(with_options(config, args));
    }
    Ok(with_options(Config::for_paths(&args.path.iter().chain(&args.more).cloned().collect::<Vec<_>>())?, args))
}

fn with_options(mut config: Config, args: &ServeArgs) -> Config {
    if let Some(lanes) = &args.lanes {
        config.decode.lanes = lanes.clone();
    }
    if let Some(pixels) = args.pixel_limit {
        config.decode.limits.pixels = pixels.into();
    }
    if let Some(bytes) = args.byte_limit {
        config.decode.limits.bytes = bytes.0;
    }
    config
}
