//! A session for Python. Its waits release the interpreter's lock, and signals and `close()` end them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use forebay_client::{
    Broken, Join, Next, Options, PrivateDaemon, Session as Client, Shard, State, StreamInfo, Target, Watch,
};
use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::batch::Batch;
use crate::error::{Raise, busy, closed, overtaken, setting};
use crate::ring::Ring;
use crate::step_door::{StepDoor, StepHost};
use crate::untaken::{HandOut, Untaken};
use crate::waiting::waiting;

/// The private daemon of this process, for as long as a session uses it (semantics rule 26).
static DAEMON: Mutex<Weak<PrivateDaemon>> = Mutex::new(Weak::new());

/// One trainer's attachment to a stream.
#[pyclass(frozen, module = "forebay._native")]
#[derive(Debug)]
pub(crate) struct Session {
    client: Mutex<Option<Client>>,
    untaken: Mutex<Untaken>,
    info: StreamInfo,
    /// The columns that the caller reads, if it named any.
    columns: Option<Arc<[String]>>,
    pid: u32,
    closing: AtomicBool,
    /// Calls functions of the user for the daemon while `next()` waits.
    steps: Option<StepHost>,
}

/// The number of an answer that is no batch.
const NOTHING: u64 = 0;

/// Record, file, reason, epochs.
type Quarantined = (u64, String, String, Vec<u64>);
/// A private daemon: its binary, its options, and folders of Python packages in which it looks for libraries.
type Wanted = (PathBuf, Vec<(String, String)>, Vec<PathBuf>);
/// Epoch, delivered, dropped, quarantined, abandoned, repeats by cause, complete, `adds_up`.
type EpochAudit = (u64, u64, u64, u64, u64, BTreeMap<&'static str, u64>, bool, Option<bool>, u64);

#[pymethods]
impl Session {
    /// Attaches to a source of this process's private daemon.
    #[staticmethod]
    #[pyo3(signature = (daemon, settings, files, shard, gpus, steps))]
    fn private(
        py: Python<'_>,
        daemon: Wanted,
        settings: String,
        files: Option<Vec<u8>>,
        shard: Option<(u32, u32)>,
        gpus: Vec<[u8; 16]>,
        steps: Option<(Py<StepDoor>, Py<PyAny>)>,
    ) -> PyResult<Self> {
        let daemon = private_daemon(daemon).map_err(|message| setting(py, message))?;
        let number = daemon.number();
        let options = Options { shard: of_two(shard), gpus, ..Options::default() };
        let steps = steps.map(|(door, serve)| StepHost { door, serve });
        Self::attach(py, Target::Private { daemon, number, settings, files }, options, steps)
    }

    /// Attaches to a stream of a running daemon.
    #[staticmethod]
    #[pyo3(signature = (socket, name, settings, shard, gpus, columns, group, late, wait))]
    #[expect(clippy::too_many_arguments, reason = "one class of our own calls it, with the fields of a request")]
    fn stream(
        py: Python<'_>,
        socket: Option<PathBuf>,
        name: String,
        settings: Option<String>,
        shard: Option<(u32, u32)>,
        gpus: Vec<[u8; 16]>,
        columns: Option<Vec<String>>,
        group: Option<String>,
        late: bool,
        wait: Duration,
    ) -> PyResult<Self> {
        let join = if late { Join::Epoch } else { Join::Next };
        let options =
            Options { shard: of_two(shard), gpus, columns, group, join, daemon_wait: wait, ..Options::default() };
        Self::attach(py, Target::Stream { socket, name, settings }, options, None)
    }

    #[getter]
    fn records(&self) -> u64 {
        self.info.records
    }

    #[getter]
    fn batches_per_epoch(&self) -> u64 {
        self.info.batches_per_epoch
    }

    #[getter]
    fn classes(&self) -> Vec<String> {
        self.info.classes.clone()
    }

    /// The epoch that the caller is in. After the end of an epoch it is the next one.
    fn epoch(&self, py: Python<'_>) -> PyResult<u64> {
        self.look(py, Client::epoch)
    }

    /// Slots that this trainer may hold at once.
    fn credits(&self, py: Python<'_>) -> PyResult<u32> {
        self.look(py, Client::credits)
    }

    /// Slots that still have views.
    fn viewed(&self, py: Python<'_>) -> PyResult<usize> {
        self.look(py, Client::viewed)
    }

    /// How often the rings have changed.
    fn ring_changes(&self, py: Python<'_>) -> PyResult<u64> {
        self.look(py, Client::ring_changes)
    }

    /// The rings that may have batches now.
    fn rings(&self, py: Python<'_>) -> PyResult<Vec<Ring>> {
        self.look(py, |client| client.rings().map(Ring::new).collect())
    }

    /// The next batch, or None at the end of an epoch and of the stream. Before it is the number to store in `taken`, and
    /// behind it how often the rings have changed: the caller needs both for each batch, and a call costs more than a number.
    #[pyo3(signature = (timeout))]
    fn next(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<(u64, Option<Py<Batch>>, u64)> {
        let timeout = limit(py, timeout)?;
        let next = |client: &mut Client, watch: &mut dyn Watch| {
            client.next(timeout, watch).map(|next| (next, client.ring_changes()))
        };
        let (next, changes) = self.ask_and_serve(py, next, self.steps.as_ref())?;
        match next {
            Next::Batch(batch) => {
                let batch = Py::new(py, Batch::new(batch, self.columns.clone()))?;
                Ok((self.untaken.lock().hand_out(HandOut::Batch(batch.clone_ref(py))), Some(batch), changes))
            }
            Next::EpochEnd(epoch) => Ok((self.untaken.lock().hand_out(HandOut::EpochEnd(epoch)), None, changes)),
            Next::Done => Ok((NOTHING, None, changes)),
        }
    }

    /// The caller of `next()` has taken over the batch with this number. `CPython` looks for signals after calls and at
    /// the end of loops, but not after an attribute was stored.
    #[setter]
    fn set_taken(&self, py: Python<'_>, number: u64) -> PyResult<()> {
        let taken = self.untaken.lock().take(number);
        match taken {
            _ if self.closing.load(Ordering::Relaxed) => Err(closed(py)),
            None if number != NOTHING => Err(overtaken(py)),
            _ => Ok(()),
        }
    }

    /// Epoch, cursor and the snapshot's bytes.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<(u64, u64, Bound<'py, PyBytes>)> {
        let state = self.ask(py, Client::state)?;
        Ok((state.epoch(), state.cursor(), PyBytes::new(py, &state.to_bytes())))
    }

    fn restore(&self, py: Python<'_>, epoch: u64, cursor: u64, snapshot: &[u8], load_id: &str) -> PyResult<()> {
        let state = State::from_bytes(snapshot).map_err(|error| error.raise(py))?;
        let (own_epoch, own_cursor) = (state.epoch(), state.cursor());
        if (epoch, cursor) != (own_epoch, own_cursor) {
            return Err(setting(
                py,
                format!(
                    "this state was changed: it says epoch {epoch} and cursor {cursor}, but its snapshot is of epoch \
                     {own_epoch} and cursor {own_cursor}; give it as state_dict() made it"
                ),
            ));
        }
        self.ask(py, |client, watch| client.load(&state, load_id, watch))
    }

    /// Restarts at the beginning of an epoch. The batches that this session holds are returned.
    fn begin(&self, py: Python<'_>, epoch: u64) -> PyResult<()> {
        let state = self.ask(py, Client::state)?.at(epoch);
        self.ask(py, |client, watch| client.restore(&state, watch))
    }

    fn path(&self, py: Python<'_>, record: u64) -> PyResult<OsString> {
        self.ask(py, |client, watch| client.path(record, watch)).map(PathBuf::into_os_string)
    }

    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.ask(py, Client::reset)
    }

    fn quarantine(&self, py: Python<'_>) -> PyResult<Vec<Quarantined>> {
        let list = self.ask(py, Client::quarantine)?;
        Ok(list.into_iter().map(|bad| (bad.record, bad.file, bad.reason, bad.epochs)).collect())
    }

    fn audit(&self, py: Python<'_>) -> PyResult<Vec<EpochAudit>> {
        let epochs = self.ask(py, Client::audit)?;
        let row = |e: forebay_client::EpochAudit| {
            let repeats = e.repeats.named().into_iter().filter(|(.., count)| *count > 0);
            let repeats = repeats.map(|(cause, _, count)| (cause, count)).collect();
            (e.epoch, e.delivered, e.dropped, e.quarantined, e.abandoned, repeats, e.complete, e.adds_up, e.by_state)
        };
        Ok(epochs.into_iter().map(row).collect())
    }

    /// Returns the batch in hand and detaches from the daemon. If a call of another thread waits here, or one that a
    /// signal handler has interrupted, that call ends its wait and does this. A forked child does nothing: the session is
    /// its parent's.
    fn close(&self, py: Python<'_>) {
        if std::process::id() == self.pid {
            self.closing.store(true, Ordering::Relaxed);
            self.let_go(py);
        }
    }
}

impl Session {
    fn attach(py: Python<'_>, target: Target, options: Options, steps: Option<StepHost>) -> PyResult<Self> {
        let asked = options.columns.clone().map(Arc::from);
        let closing = AtomicBool::new(false);
        let client = waiting(py, &closing, None, |watch| Client::attach(target, options, watch))?;
        let info = client.info().clone();
        let untaken = Mutex::default();
        let pid = std::process::id();
        Ok(Self { client: Mutex::new(Some(client)), untaken, info, columns: asked, pid, closing, steps })
    }

    /// Asks the session without the interpreter's lock. A batch that Python never took over is put back first.
    fn ask<T: Send, E: Raise>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut Client, &mut dyn Watch) -> Result<T, E> + Send,
    ) -> PyResult<T> {
        self.ask_and_serve(py, act, None)
    }

    /// As [`ask`](Self::ask), and calls functions of the user meanwhile.
    fn ask_and_serve<T: Send, E: Raise>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut Client, &mut dyn Watch) -> Result<T, E> + Send,
        steps: Option<&StepHost>,
    ) -> PyResult<T> {
        let mut guard = self.enter(py)?;
        let client = &mut *guard;
        let put_back = self.untaken.lock().put_back(client);
        put_back.map_err(|error| error.raise(py))?;
        let answer = waiting(py, &self.closing, steps, |watch| act(client, watch));
        drop(guard);
        if !self.closing.load(Ordering::Relaxed) {
            return answer;
        }
        // `close()` found the session in use. The answer must not outlive the session: nothing could free its slot then.
        let answer = answer.map(drop);
        self.let_go(py);
        answer.and_then(|()| Err(closed(py)))
    }

    /// Reads something that the session knows. `next()` also does that while Python has not taken a batch over yet.
    fn look<T>(&self, py: Python<'_>, read: impl FnOnce(&Client) -> T) -> PyResult<T> {
        Ok(read(&*self.enter(py)?))
    }

    /// Never waits for the lock: if the caller is a signal handler, it may have interrupted the code that has it.
    fn enter(&self, py: Python<'_>) -> PyResult<MappedMutexGuard<'_, Client>> {
        let used_in = std::process::id();
        if used_in != self.pid {
            // This comes before the lock: another thread of the parent may have held it at the fork.
            return Err(Broken::Forked { made_in: self.pid, used_in }.raise(py));
        }
        let Some(guard) = self.client.try_lock() else { return Err(busy(py)) };
        MutexGuard::try_map(guard, Option::as_mut).map_err(|_| closed(py))
    }

    /// Ends the session, unless a call is using it, which then ends it. The interpreter's lock keeps the two apart.
    fn let_go(&self, py: Python<'_>) {
        let Some(mut guard) = self.client.try_lock() else { return };
        let client = guard.take();
        drop(guard);
        // It keeps a slot in use, and a session says goodbye only if none is.
        let untaken = self.untaken.lock().clear();
        drop(untaken);
        py.detach(|| drop(client));
    }
}

fn of_two(shard: Option<(u32, u32)>) -> Option<Shard> {
    shard.map(|(id, count)| Shard { id, count })
}

/// The longest wait. None, infinity and numbers that no clock counts to are without end.
pub(crate) fn limit(py: Python<'_>, timeout: Option<f64>) -> PyResult<Option<Duration>> {
    match timeout {
        Some(seconds) if seconds.is_nan() || seconds < 0.0 => {
            Err(setting(py, format!("timeout={seconds}: give seconds, at least 0, or None to wait without end")))
        }
        Some(seconds) => Ok(Duration::try_from_secs_f64(seconds).ok()),
        None => Ok(None),
    }
}

/// The daemon of this process, whose options are those of its first session.
fn private_daemon((binary, options, packages): Wanted) -> Result<Arc<PrivateDaemon>, String> {
    let mut shared = DAEMON.lock();
    // In a forked child the parent's daemon is still known here, but it is not the child's.
    if let Some(daemon) = shared.upgrade().filter(|daemon| daemon.is_of_this_process()) {
        for (name, wanted) in options {
            if daemon.option(&name) != Some(&wanted) {
                return Err(format!(
                    "config={wanted}: the Loaders of a process share one daemon, and this one's was started with another \
                     configuration. Give the first Loader this config, or close the Loaders that are open"
                ));
            }
        }
        return Ok(daemon);
    }
    let daemon = PrivateDaemon::new(binary).with_packages(packages);
    let daemon = options.into_iter().fold(daemon, |daemon, (name, value)| daemon.with_option(name, value));
    let daemon = Arc::new(daemon);
    *shared = Arc::downgrade(&daemon);
    Ok(daemon)
}

impl Drop for Session {
    /// Lets the other threads run: the last session of the process waits for the end of its daemon.
    fn drop(&mut self) {
        let client = self.client.get_mut().take();
        // If no interpreter is left, the closure is dropped, and the client with it.
        let _dropped = Python::try_attach(|py| py.detach(|| drop(client)));
    }
}
