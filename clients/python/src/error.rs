//! From the client's errors to the classes of `forebay.errors`: the one place that knows both.

use forebay_client::{AttachError, Broken, CallError, NextError, Refusal, SettingNames, StateError, text_code};
use forebay_ledger_client::{CallError as CoordinatorError, Outage};
use forebay_pixels::Fault;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;

/// What the Loader calls the settings that an error names.
const NAMES: SettingNames = SettingNames { socket: "socket=", wait: Some("wait=") };

/// An error that has a class in Python.
pub(crate) trait Raise: Send {
    fn raise(self, py: Python<'_>) -> PyErr;

    /// The caller gave up, by a signal or by closing the Loader.
    fn is_interruption(&self) -> bool;
}

impl Raise for AttachError {
    fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Refused(refusal) => refused(py, refusal),
            Self::Broken(broken) => broken.raise(py),
            other => make(py, "AttachError", (other.in_words_of(&NAMES),)),
        }
    }

    fn is_interruption(&self) -> bool {
        matches!(self, Self::Broken(broken) if broken.is_interruption())
    }
}

impl Raise for NextError {
    fn raise(self, py: Python<'_>) -> PyErr {
        let message = self.to_string();
        match self {
            Self::Failed(refusal) if refusal.code == text_code::DATASET => make(py, "DatasetError", (message,)),
            Self::Failed(_) => make(py, "RecordError", (message,)),
            Self::EpochHeld(held) => {
                let (node, host) = held.node.map(|node| (node.name, node.host)).unwrap_or_default();
                let about = (message, held.epoch, held.seq, held.pid, held.held_for.as_secs_f64(), node, host);
                make(py, "EpochHeld", about)
            }
            Self::Missed { epoch, from, to, records } => make(py, "MissedBatches", (message, epoch, from, to, records)),
            Self::Stalled(_) => make(py, "StorageStalled", (message,)),
            Self::Evicted(_) => make(py, "Evicted", (message,)),
            Self::SlotsHeld { granted } => {
                let message = format!(
                    "views of earlier batches fill all {granted} slots that this trainer may hold; keep batch.copy() instead of \
                     the views; the table of a stream may also give more credits"
                );
                make(py, "SlotsHeld", (message,))
            }
            Self::Timeout { .. } => PyTimeoutError::new_err(message),
            Self::Outage { .. } => make(py, "Outage", (message,)),
            Self::Broken(broken) => broken.raise(py),
            _ => make(py, "Error", (message,)),
        }
    }

    fn is_interruption(&self) -> bool {
        matches!(self, Self::Broken(broken) if broken.is_interruption())
    }
}

impl Raise for CallError {
    fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Broken(broken) => broken.raise(py),
            Self::Timeout { .. } => PyTimeoutError::new_err(self.to_string()),
            Self::Outage { .. } => make(py, "Outage", (self.to_string(),)),
            other => make(py, "Error", (other.to_string(),)),
        }
    }

    fn is_interruption(&self) -> bool {
        matches!(self, Self::Broken(broken) if broken.is_interruption())
    }
}

impl Raise for Broken {
    fn raise(self, py: Python<'_>) -> PyErr {
        let class = if matches!(self, Self::Forked { .. }) { "ForkError" } else { "Error" };
        make(py, class, (self.to_string(),))
    }

    fn is_interruption(&self) -> bool {
        matches!(self, Self::Interrupted)
    }
}

impl Raise for StateError {
    fn raise(self, py: Python<'_>) -> PyErr {
        make(py, "SettingsError", (self.to_string(),))
    }

    fn is_interruption(&self) -> bool {
        false
    }
}

impl Raise for CoordinatorError {
    fn raise(self, py: Python<'_>) -> PyErr {
        let message = self.to_string();
        let class = match self {
            Self::Unavailable(_) | Self::NotLeader { .. } => "Outage",
            Self::Invalid(_) | Self::SpecMismatch(_) => "SettingsError",
            Self::Fenced(_) => {
                let message = format!("{message} For a client, that name is its argument `worker`.");
                return make(py, "Evicted", (message,));
            }
            _ => "Error",
        };
        make(py, class, (message,))
    }

    fn is_interruption(&self) -> bool {
        false
    }
}

/// A wait was too long, because the coordinator could not be asked or because it had nothing to give.
pub(crate) fn outage(py: Python<'_>, outage: Option<&Outage>) -> PyErr {
    match outage {
        Some(outage) => make(py, "Outage", (outage.to_string(),)),
        None => PyTimeoutError::new_err("there was no shard in time, and the data has not ended; ask again"),
    }
}

/// A client of the coordinator in a forked child.
pub(crate) fn forked(py: Python<'_>, made_in: u32, used_in: u32) -> PyErr {
    let message = format!(
        "the client was made in process {made_in} and is used in process {used_in}, its forked child; make a new one in the \
         child"
    );
    make(py, "ForkError", (message,))
}

/// A client of the coordinator that was closed, by this thread or another one.
pub(crate) fn closed_client(py: Python<'_>) -> PyErr {
    make(py, "ClosedError", ("the client is closed",))
}

/// An argument without a meaning.
pub(crate) fn setting(py: Python<'_>, message: String) -> PyErr {
    make(py, "SettingsError", (message,))
}

/// The Loader is closed. This thread may have closed it before, or another one during the call.
pub(crate) fn closed(py: Python<'_>) -> PyErr {
    make(py, "ClosedError", ("the Loader is closed",))
}

/// Two threads use one Loader, or a signal handler has interrupted a call of it.
pub(crate) fn busy(py: Python<'_>) -> PyErr {
    let message = "another thread is using this Loader, or this signal handler has interrupted a call of it; only close() \
                   may be called then";
    make(py, "Error", (message,))
}

/// A batch was put back before the caller of `next()` had it.
pub(crate) fn overtaken(py: Python<'_>) -> PyErr {
    let message = "another thread or a signal handler used this Loader during next(), so the batch was put back; call \
                   next() again";
    make(py, "Error", (message,))
}

/// A picture that gives no pixels, with the file's name and what to do.
pub(crate) fn picture(py: Python<'_>, name: &str, fault: &Fault) -> PyErr {
    let remedy = match fault {
        Fault::TooLarge { .. } | Fault::TooMuchMemory { .. } => "Set pixel_limit to change the limit.",
        Fault::TooManyBytes { .. } => "Set byte_limit to change the limit.",
        _ => "Replace the file, or catch forebay.PictureError to go on without it.",
    };
    make(py, "PictureError", (format!("{name}: {fault} {remedy}"),))
}

/// A ring that cannot be page-locked.
pub(crate) fn unlockable(py: Python<'_>, error: &Broken) -> PyErr {
    make(py, "GpuError", (format!("the ring cannot be page-locked: {error}"),))
}

fn refused(py: Python<'_>, refusal: Refusal) -> PyErr {
    let class = match refusal.code {
        text_code::SETTINGS => "SettingsError",
        text_code::DATASET => "DatasetError",
        text_code::RECORD => "RecordError",
        _ => "AttachError",
    };
    make(py, class, (refusal.message,))
}

/// An exception of `forebay.errors`. If that module cannot be imported, the import's error is raised instead.
fn make<'py>(py: Python<'py>, class: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let exception = || -> PyResult<Bound<'py, PyAny>> { py.import("forebay.errors")?.getattr(class)?.call1(arguments) };
    exception().map_or_else(|error| error, PyErr::from_value)
}
