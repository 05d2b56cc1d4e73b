//! The process of a worker, as the reports about a coordinator name it.

use std::fmt;

use forebay_printable::printable;
use forebay_proto::v1::WorkerProcess;
use serde::Serialize;

/// Where a worker runs. Its `Display` follows the worker's name, and is empty if the process is not known.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct ProcessReport<'a> {
    host: Option<&'a str>,
    pid: Option<u32>,
}

impl<'a> ProcessReport<'a> {
    pub(super) fn new(process: Option<&'a WorkerProcess>) -> Self {
        Self { host: process.map(|process| &*process.host), pid: process.map(|process| process.pid) }
    }

    /// The other one, if this one is not known.
    pub(super) fn or(self, other: Self) -> Self {
        if self.pid.is_some() { self } else { other }
    }
}

impl fmt::Display for ProcessReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { host: Some(host), pid: Some(pid) } => write!(f, " (process {pid} on {})", printable(host)),
            _ => Ok(()),
        }
    }
}
