//! The daemon's own reports: log lines for people, metrics for Prometheus, and answers for supervisors.

mod certificates;
mod endpoint;
mod health;
mod log_lines;
mod process;

use std::ffi::OsStr;
use std::io::{IsTerminal as _, stderr};
use std::{env, fmt, io};

use forebay_printable::printable;
use serde_json::json;
use thiserror::Error;
use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::fmt::format::{Writer, debug_fn};

pub(crate) use certificates::show_certificates;
pub(crate) use endpoint::{EndpointError, MetricsEndpoint};
pub(crate) use health::{Observed, Pulse};
pub use log_lines::LogFlush;
use log_lines::LogLines;
pub(crate) use process::process;

/// The environment variable that filters log lines.
pub(crate) const LOG_FILTER: &str = "FOREBAY_LOG";

/// The environment variable that says how log lines are written.
pub(crate) const LOG_FORMAT: &str = "FOREBAY_LOG_FORMAT";

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LogFormat {
    /// For people.
    Text,
    /// Each line is a JSON object: `timestamp`, `level`, `message`, and the fields of the message.
    Json,
}

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
    /// The environment's format is wrong.
    #[error("{LOG_FORMAT} is \"{}\", which is no format: give text or json", printable(.0))]
    Format(String),
    /// Something else in this process already writes log lines.
    #[error("log lines are set up already")]
    SetUp,
    /// No thread can write them.
    #[error("{0}")]
    Thread(#[from] io::Error),
}

/// Sends log lines to stderr, from `level` on or as `FOREBAY_LOG` says, in the format of `FOREBAY_LOG_FORMAT`. They are coloured
/// only on a terminal, and not if `NO_COLOR` is set. Keep the result until the process ends: it waits for the last lines.
///
/// # Errors
/// The filter or the format is wrong, or there is no room for the thread that writes.
pub fn start_logs(level: &str) -> Result<LogFlush, LogError> {
    let text = env::var(LOG_FILTER).unwrap_or_else(|_| level.to_owned());
    let filter = EnvFilter::try_new(&text)
        .map_err(|error| LogError::Filter { text: text.clone(), problem: error.to_string() })?;
    let format = LogFormat::parse(env::var_os(LOG_FORMAT).as_deref())?;
    let colour = stderr().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let lines = LogLines::start(stderr(), move |lost| format.lost(lost))?;
    let flush = lines.flush_at_end();
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(lines).with_target(false);
    let started = match format {
        LogFormat::Text => logs.fmt_fields(debug_fn(field).delimited(" ")).with_ansi(colour).try_init(),
        LogFormat::Json => logs.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init(),
    };
    started.map_err(|_| LogError::SetUp)?;
    Ok(flush)
}

impl LogFormat {
    /// Text if the variable is not set, or empty.
    fn parse(variable: Option<&OsStr>) -> Result<Self, LogError> {
        match variable.and_then(OsStr::to_str) {
            Some("json") => Ok(Self::Json),
            Some("text" | "") => Ok(Self::Text),
            _ => match variable {
                Some(other) => Err(LogError::Format(other.to_string_lossy().into_owned())),
                None => Ok(Self::Text),
            },
        }
    }

    /// The line that says how many lines were lost.
    fn lost(self, lines: u64) -> String {
        let message = format!("{lines} lines of the log could not be written here");
        match self {
            Self::Text => format!("forebay: {message}\n"),
            Self::Json => format!("{}\n", json!({"level": "WARN", "message": message, "lines": lines})),
        }
    }
}

/// A field of a log line. Whatever is in it, the line stays one line and the terminal obeys none of it.
fn field(out: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    let value = format!("{value:?}");
    match field.name() {
        "message" => write!(out, "{}", printable(&value)),
        name => write!(out, "{name}={}", printable(&value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_text_or_json_and_each_says_how_many_lines_are_lost() {
        let parse = |text: &str| LogFormat::parse(Some(OsStr::new(text))).map_err(|error| error.to_string());
        assert_eq!(
            (LogFormat::parse(None).unwrap(), parse(""), parse("text")),
            (LogFormat::Text, Ok(LogFormat::Text), Ok(LogFormat::Text))
        );
        assert_eq!(parse("json"), Ok(LogFormat::Json));
        assert_eq!(
            parse("xml\n"),
            Err("FOREBAY_LOG_FORMAT is \"xml\\n\", which is no format: give text or json".to_owned())
        );
        assert_eq!(LogFormat::Text.lost(3), "forebay: 3 lines of the log could not be written here\n");
        let json: serde_json::Value = serde_json::from_str(&LogFormat::Json.lost(3)).unwrap();
        assert_eq!((json["lines"].as_u64(), json["level"].as_str()), (Some(3), Some("WARN")));
    }
}
