//! The daemon's own reports: log lines for people, metrics for Prometheus, and answers for supervisors.

mod endpoint;
mod health;
mod log_lines;
mod process;

use std::io::{IsTerminal as _, stderr};
use std::{env, fmt, io};

use forebay_printable::printable;
use thiserror::Error;
use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::fmt::format::{Writer, debug_fn};

pub(crate) use endpoint::{EndpointError, MetricsEndpoint};
pub(crate) use health::{Observed, Pulse};
pub use log_lines::LogFlush;
use log_lines::LogLines;
pub(crate) use process::process;

/// The environment variable that filters log lines.
pub(crate) const LOG_FILTER: &str = "FOREBAY_LOG";

/// Log lines cannot be written.
#[derive(Debug, Error)]
pub enum LogError {
    /// The environment's filter is wrong.
    #[error(
        "{LOG_FILTER} is \"{text}\", which is not a filter: {problem}. Write a level such as info, or forebay=debug."
    )]
    Filter {
        /// The variable's value.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Something else in this process already writes log lines.
    #[error("log lines are set up already")]
    SetUp,
    /// No thread can write them.
    #[error("{0}")]
    Thread(#[from] io::Error),
}

/// Sends log lines to stderr, from `level` on or as `FOREBAY_LOG` says. They are coloured only on a terminal, and not
/// if `NO_COLOR` is set. Keep the result until the process ends: it waits for the last lines.
///
/// # Errors
/// The filter is wrong, or there is no room for the thread that writes.
pub fn start_logs(level: &str) -> Result<LogFlush, LogError> {
    let text = env::var(LOG_FILTER).unwrap_or_else(|_| level.to_owned());
    let filter = EnvFilter::try_new(&text)
        .map_err(|error| LogError::Filter { text: text.clone(), problem: error.to_string() })?;
    let colour = stderr().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let lines = LogLines::start(stderr())?;
    let flush = lines.flush_at_end();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(lines)
        .fmt_fields(debug_fn(field).delimited(" "))
        .with_ansi(colour)
        .with_target(false)
        .try_init()
        .map_err(|_| LogError::SetUp)?;
    Ok(flush)
}

/// A field of a log line. Whatever is in it, the line stays one line and the terminal obeys none of it.
fn field(out: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    let value = format!("{value:?}");
    match field.name() {
        "message" => write!(out, "{}", printable(&value)),
        name => write!(out, "{name}={}", printable(&value)),
    }
}
