//! Where the daemon asks this process to call functions of its user. Python accepts the connection and answers. This side knows what
//! to wait for meanwhile.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::prelude::*;

/// A socket that the daemon connects to. One connection at a time is accepted.
#[pyclass(frozen, module = "forebay._native")]
#[derive(Debug)]
pub(crate) struct StepDoor {
    listener: Arc<OwnedFd>,
    /// Accepts from the same socket.
    accepting: UnixListener,
    connection: Mutex<Option<Arc<OwnedFd>>>,
}

/// The door of a session, and what answers there.
#[derive(Debug)]
pub(crate) struct StepHost {
    pub door: Py<StepDoor>,
    /// Answers what was asked so far.
    pub serve: Py<PyAny>,
}

/// What a wait for a batch also waits for.
#[derive(Clone, Debug)]
pub(crate) struct Asked(Arc<OwnedFd>);

#[pymethods]
impl StepDoor {
    /// Listens at a path.
    #[new]
    fn new(path: PathBuf) -> io::Result<Self> {
        let accepting = UnixListener::bind(path)?;
        accepting.set_nonblocking(true)?;
        let listener = Arc::new(accepting.as_fd().try_clone_to_owned()?);
        Ok(Self { listener, accepting, connection: Mutex::default() })
    }

    /// The descriptor of a new connection, which the caller closes. None if there is none yet.
    fn accept(&self) -> io::Result<Option<i32>> {
        let connection = match self.accepting.accept() {
            Ok((connection, _)) => connection,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        };
        connection.set_nonblocking(false)?;
        *self.connection.lock() = Some(Arc::new(connection.as_fd().try_clone_to_owned()?));
        Ok(Some(connection.into_raw_fd()))
    }

    /// The connection has ended: the next one may be accepted.
    fn hang_up(&self) {
        self.connection.lock().take();
    }
}

impl StepDoor {
    /// What can be read once there is something to answer.
    pub(crate) fn asked(&self) -> Asked {
        Asked(self.connection.lock().as_ref().map_or_else(|| Arc::clone(&self.listener), Arc::clone))
    }
}

impl StepHost {
    /// Answers what was asked so far. Gives what to wait for next.
    pub(crate) fn serve(&self, py: Python<'_>) -> PyResult<Asked> {
        self.serve.call0(py)?;
        Ok(self.door.get().asked())
    }
}

impl AsFd for Asked {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
