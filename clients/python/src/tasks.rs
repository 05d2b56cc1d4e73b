//! A worker that reads the data itself, for Python. Its waits release the interpreter's lock, and signals end them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forebay_ledger_client::{
    Address, CallError, CertificateFiles, GivenTask, Outage, Pending, Remote, TaskWorker as Client,
};
use forebay_proto::v1::report_task_reply::Outcome;
use forebay_proto::v1::{RegisterTasksRequest, WorkerProcess};
use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::error::{Raise, closed_client, forked, outage, setting};
use crate::log::warn;

/// How long a wait may go on before it looks for signals.
const SLICE: Duration = Duration::from_millis(50);
/// After how long of an outage the log says so.
const TOLD: Duration = Duration::from_secs(10);

/// A worker of a dataset of tasks.
#[pyclass(frozen, module = "forebay._native")]
#[derive(Debug)]
pub(crate) struct TaskWorker {
    client: Mutex<Option<Arc<Client>>>,
    task_size: u64,
    pid: u32,
}

/// Addresses, and the files of a token, an authority, a certificate and its key.
type CoordinatorPlace = (String, Option<PathBuf>, Option<PathBuf>, Option<PathBuf>, Option<PathBuf>);
/// Name, records, batch size, epochs, batches per shard, whether records and whether shards are shuffled, kind of task.
type TaskDataset = (String, u64, u64, u64, u64, bool, bool, i32);
/// After how many restores it was given, id, epoch, first record and the one behind the last, and all of them if they are
/// shuffled.
type GivenShard = (u64, i32, u64, u64, u64, Vec<u64>);

#[pymethods]
impl TaskWorker {
    /// Joins a dataset under this name of a worker, as the process on this host.
    #[staticmethod]
    fn join(
        py: Python<'_>,
        place: CoordinatorPlace,
        worker: String,
        host: String,
        dataset: TaskDataset,
    ) -> PyResult<Self> {
        let handle = remote(place).and_then(|remote| remote.connect().map_err(|error| error.to_string()));
        let handle = handle.map_err(|message| setting(py, message))?;
        let (dataset, records, batch_size, epochs, batches_per_shard, shuffle, shuffle_shards, kind) = dataset;
        let pid = std::process::id();
        // Which boot it is matters only for names that move between machines, and such a name is never taken here.
        let process = Some(WorkerProcess { host, pid, boot: String::new() });
        let request = RegisterTasksRequest {
            dataset,
            records,
            batch_size,
            epochs,
            batches_per_shard,
            shuffle,
            shuffle_shards,
            kind,
            worker,
            process,
            ..RegisterTasksRequest::default()
        };
        let (client, joined) = Client::start(handle, request)?;
        let client = Arc::new(client);
        let task_size = wait(py, &client, joined, None)?.map_err(|error| error.raise(py))?;
        Ok(Self { client: Mutex::new(Some(client)), task_size, pid })
    }

    /// Records of a shard.
    #[getter]
    fn task_size(&self) -> u64 {
        self.task_size
    }

    /// How often this worker has restored a state. Shards from before the last restore are no longer valid.
    #[getter]
    fn restores(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.client(py)?.restores())
    }

    /// The next shard, or None at the end of the data. It waits for one, also during an outage.
    #[pyo3(signature = (timeout))]
    fn fetch(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Option<GivenShard>> {
        let until = until(py, timeout)?;
        loop {
            let more = self.ask(py, until, Client::fetch)?;
            if !more {
                return Ok(None);
            }
            // Another thread may have taken it.
            if let Some(GivenTask { task, restores }) = self.client(py)?.take() {
                return Ok(Some((restores, task.id, task.epoch, task.start, task.end, task.records)));
            }
        }
    }

    /// Ends a shard. False if it belonged to another worker by then: its records were given out again.
    fn report(&self, py: Python<'_>, task: i32, error: String) -> PyResult<bool> {
        let outcome = self.ask(py, None, |client| client.report(task, error))?;
        Ok(outcome != Outcome::Late)
    }

    /// The state of the dataset's shards as JSON.
    fn checkpoint(&self, py: Python<'_>) -> PyResult<String> {
        self.ask(py, None, Client::checkpoint)
    }

    /// Goes back to such a state, or to the beginning if it is empty.
    fn restore(&self, py: Python<'_>, checkpoint: String, load_id: String) -> PyResult<()> {
        self.ask(py, None, |client| client.restore(checkpoint, load_id))
    }

    /// Gives back what was not reported. A forked child does nothing: the worker is its parent's.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if std::process::id() != self.pid {
            return Ok(());
        }
        let Some(client) = self.client.lock().take() else { return Ok(()) };
        let closed = client.close();
        wait(py, &client, closed, None)?.map_err(|error| error.raise(py))
    }
}

impl TaskWorker {
    fn client(&self, py: Python<'_>) -> PyResult<Arc<Client>> {
        let used_in = std::process::id();
        if used_in != self.pid {
            // This comes before the lock: another thread of the parent may have held it at the fork.
            return Err(forked(py, self.pid, used_in));
        }
        self.client.lock().clone().ok_or_else(|| closed_client(py))
    }

    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        until: Option<Instant>,
        ask: impl FnOnce(&Client) -> Pending<T>,
    ) -> PyResult<T> {
        let client = self.client(py)?;
        let answer = wait(py, &client, ask(&client), until)?;
        // Another thread may have closed it meanwhile.
        self.client(py)?;
        answer.map_err(|error| error.raise(py))
    }
}

impl Drop for TaskWorker {
    fn drop(&mut self) {
        let client = self.client.get_mut().take();
        // In a forked child there is no thread that could be told, and the parent's must not be.
        if std::process::id() != self.pid {
            std::mem::forget(client);
        }
    }
}

/// How the coordinator is reached.
fn remote((addresses, token, authority, certificate, key): CoordinatorPlace) -> Result<Remote, String> {
    let addresses = Address::list(&addresses).map_err(|error| error.to_string())?;
    let certificate = match (certificate, key) {
        (Some(certificate), Some(key)) => Some(CertificateFiles { certificate, key }),
        (None, None) => None,
        _ => return Err("tls_certificate and tls_key belong together: give both, or none".to_owned()),
    };
    Ok(Remote { token, authority, certificate, ..Remote::at(addresses) })
}

/// Waits for an answer until then, and checks for signals meanwhile. An outage is logged once.
fn wait<T: Send>(
    py: Python<'_>,
    client: &Client,
    mut pending: Pending<T>,
    until: Option<Instant>,
) -> PyResult<Result<T, CallError>> {
    let mut is_told = false;
    loop {
        let left = until.map_or(SLICE, |until| until.saturating_duration_since(Instant::now()).min(SLICE));
        let answer;
        (pending, answer) = py.detach(move || {
            let answer = pending.wait(left);
            (pending, answer)
        });
        if let Some(answer) = answer {
            return Ok(answer);
        }
        py.check_signals()?;
        let out = client.outage();
        if until.is_some_and(|until| Instant::now() >= until) {
            return Err(outage(py, out.as_ref()));
        }
        let is_long = |out: &Outage| !out.follows && out.lasts() >= TOLD;
        if let Some(out) = out.filter(|out| !is_told && is_long(out)) {
            warn(py, &format!("waiting for the coordinator: {out}"));
            is_told = true;
        }
    }
}

/// None for a wait without end.
fn until(py: Python<'_>, timeout: Option<f64>) -> PyResult<Option<Instant>> {
    let timeout = crate::session::limit(py, timeout)?;
    Ok(timeout.and_then(|timeout| Instant::now().checked_add(timeout)))
}
