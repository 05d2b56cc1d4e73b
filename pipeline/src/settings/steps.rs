//! How a stream runs its functions in Python (semantics rule 59).

use std::path::PathBuf;
use std::time::Duration;

use crate::ByteSize;

/// The child processes that call the functions of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepSettings {
    /// How many children. 0: a Loader's process calls the functions. `None`: half as many as decode threads, and at least one.
    pub workers: Option<usize>,
    /// How long a call may take.
    pub timeout: Duration,
    /// Memory for data that a child may take.
    pub memory: ByteSize,
    /// The Python that runs them, or the socket of the Loader that calls the functions. `None`: `python3`.
    pub interpreter: Option<PathBuf>,
    /// Where modules are searched first.
    pub path: Vec<PathBuf>,
}

impl Default for StepSettings {
    fn default() -> Self {
        Self {
            workers: None,
            timeout: Duration::from_secs(60),
            memory: ByteSize(4 << 30),
            interpreter: None,
            path: Vec::new(),
        }
    }
}
