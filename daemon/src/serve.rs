//! Runs a daemon from start to end. It starts the sockets first, then the streams, then the work, and stops them in
//! reverse order.

mod observed;

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use forebay_pipeline::threads;
use forebay_proto::v1::ClosedStream;
use forebay_ring::{BindError, Listener, Socket, inherited, socket_dir};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, getppid, pidfd_open};
use sd_notify::NotifyState;
use thiserror::Error;
use tokio::signal::unix::{Signal, SignalKind};
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};

use crate::config::{Config, Environment};
use crate::daemon::ledgers::{LEDGERS, Ledgers, LedgersError, NoFolder, ledgers_folder};
use crate::daemon::{Daemon, DaemonError, DaemonKind};
use crate::earlier::Earlier;
use crate::folder::{self, FolderError, Whose};
use crate::registry::Registration;
use crate::service_manager::{notify, watch};
pub use crate::signals::EndedBy;
use crate::signals::{Signals, listen};
use crate::telemetry::{EndpointError, MetricsEndpoint};
use crate::{control, descriptors, door, group};
use observed::{PrivateObserved, ServiceObserved};

/// Name of the trainers' socket in the folder of sockets.
pub const SOCKET: &str = "forebay.sock";

/// Why a daemon ends with an error.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The trainers' socket.
    #[error("{0}")]
    Bind(#[from] BindError),
    /// The streams.
    #[error("{0}")]
    Daemon(#[from] DaemonError),
    /// Its ledgers.
    #[error("{0}")]
    Ledgers(#[from] LedgersError),
    /// The metrics' socket.
    #[error("{0}")]
    Metrics(#[from] EndpointError),
    /// The folder of sockets, or of ledgers.
    #[error("{0}")]
    Folder(#[from] FolderError),
    /// A group that the configuration names.
    #[error(
        "there is no group \"{0}\" on this machine; {remedy}, in control.unix_group and in the unix_group of a stream",
        remedy = group::REMEDY
    )]
    Group(String),
    /// The folder of its ledgers.
    #[error("{0}")]
    NoFolder(#[from] NoFolder),
    /// Its end took too long.
    #[error(
        "{0} before trainers had handed everything in, and the daemon did not wait longer. Nothing that was acknowledged is \
         lost. When the daemon is started again, it hands out again what trainers held"
    )]
    Unfinished(String),
    /// The system.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

/// How long the end of the streams may take in addition to the trainers' time. A private daemon's parent waits a little
/// longer.
const FAREWELL: Duration = Duration::from_secs(4);

/// The folder of a service's sockets.
#[derive(Debug)]
struct ServiceFolder {
    folder: PathBuf,
    whose: Whose,
    mode: u32,
    group: Option<u32>,
}

/// Serves configured streams until the daemon is ended. On SIGTERM or SIGINT, it drains (semantics rule 21). On SIGHUP,
/// it reads the configuration file again, if there is one.
///
/// # Errors
/// Something that the configuration requires is not available. Nothing has been served then.
pub async fn service(
    config: Config,
    configuration: Option<PathBuf>,
    environment: Environment,
    ended_by: EndedBy,
) -> Result<(), ServeError> {
    let mut signals = Signals::new(ended_by).map_err(no_signals)?;
    descriptors::raise_limit();
    // Without a file there is nothing to read again, and the signal means what it means to every program.
    let hangups = configuration.as_ref().map(|_| listen(SignalKind::hangup())).transpose().map_err(no_signals)?;
    let place = ServiceFolder::of(&config, &environment)?;
    let (listener, path) = place.listen()?;
    let ledgers = match &config.coordinator.remote {
        Some(remote) => Ledgers::Remote(remote.clone()),
        None => Ledgers::File(ledgers_folder(config.coordinator.path.as_deref(), &environment)?.join(LEDGERS)),
    };
    let metrics = MetricsEndpoint::bind(&config.metrics, &place.folder)?;
    let control = place.control()?;
    let daemon = Daemon::new(config, DaemonKind::Service { ledgers, configuration }, &environment)?;

    // Trainers are let in before all streams are open: one whose dataset does not answer holds up no other.
    let mut door = tokio::spawn(door::listen(Arc::clone(&daemon), listener));
    let earlier = Arc::<Earlier>::default();
    let mut control = tokio::spawn(control::serve(Arc::clone(&daemon), control, path.clone(), Arc::clone(&earlier)));
    let observed = Arc::new(ServiceObserved::new(Arc::clone(&daemon), earlier, place.folder.join(control::SOCKET)));
    let kept = Arc::clone(&observed);
    let gauges = tokio::spawn(async move { kept.keep().await });
    let metrics = tokio::spawn(metrics.serve(Arc::clone(&observed)));
    let watchdog = tokio::spawn(watch());
    let reloads = tokio::spawn(reload(Arc::clone(&daemon), hangups));

    let (cause, served) = tokio::select! {
        signal = signals.come() => (signal, Ok(())),
        failed = open(&daemon, &path) => ("no stream can be opened", Err(failed.into())),
        ended = &mut door => broke("the trainers' socket broke", ended),
        ended = &mut control => broke("the control socket broke", ended),
    };
    let drain = daemon.config().drain_timeout;
    observed.say_ending();
    tracing::info!(cause, seconds = drain.as_secs(), "draining: trainers may finish what they hold");
    let ((), ended) = tokio::join!(notify(NotifyState::Stopping), end(&daemon, drain, &mut signals));
    stop(door).await;
    stop(control).await;
    for task in [gauges, metrics, watchdog, reloads] {
        stop(task).await;
    }
    served.and(ended)
}

/// Ends all streams: trainers may finish what they hold for as long as `drain`, the rest is given back. A second signal
/// cuts the wait short, not the work: a stage that is given up in the middle would keep its leases. But nothing holds the end
/// up for more than [`FAREWELL`] (semantics rule 21).
///
/// # Errors
/// Something was still to be handed in.
async fn end(daemon: &Arc<Daemon>, drain: Duration, signals: &mut Signals) -> Result<(), ServeError> {
    let closing = Arc::clone(daemon);
    let drained = tokio::spawn(async move { closing.close(drain).await });
    let late = tokio::select! {
        _ended = drained => return all_reported(daemon),
        () = tokio::time::sleep(drain.saturating_add(FAREWELL)) => true,
        _second = signals.come() => false,
    };
    if !late {
        tracing::warn!("a second signal: what trainers hold is returned at once");
        tokio::select! {
            () = daemon.close(Duration::ZERO) => return all_reported(daemon),
            () = hopeless(daemon) => {}
            _third = signals.come() => {}
        }
    }
    let outage = daemon.outage().map(|outage| outage.to_string());
    Err(ServeError::Unfinished(outage.unwrap_or_else(|| "the streams did not end".to_owned())))
}

/// Whether the ledger got all receipts. If a coordinator in another process does not answer, this does not wait for it.
fn all_reported(daemon: &Daemon) -> Result<(), ServeError> {
    let outage = daemon.outage().filter(|_| daemon.config().coordinator.remote.is_some());
    outage.map_or(Ok(()), |outage| Err(ServeError::Unfinished(outage.to_string())))
}

/// Returns when there is no use in waiting for the end of the streams any longer.
async fn hopeless(daemon: &Daemon) {
    if daemon.outage().is_none() {
        tokio::time::sleep(FAREWELL).await;
    }
}

/// Opens the streams and says when the daemon is ready. Returns where none can be opened.
async fn open(daemon: &Arc<Daemon>, socket: &Path) -> DaemonError {
    if let Err(error) = daemon.open_streams().await {
        return error;
    }
    daemon.say_ready();
    let closed = daemon.closed();
    let count = |is: fn(&ClosedStream) -> bool| closed.iter().filter(|stream| is(stream)).count();
    let (failed, opening) = (count(|stream| !stream.failure.is_empty()), count(|stream| stream.opening));
    tracing::info!(socket = %socket.display(), streams = daemon.streams().len(), failed, opening, "ready");
    notify(NotifyState::Ready).await;
    std::future::pending().await
}

/// Reads the configuration again at each of these signals.
async fn reload(daemon: Arc<Daemon>, hangups: Option<Signal>) {
    let Some(mut hangups) = hangups else { return };
    while hangups.recv().await.is_some() {
        match daemon.reload().await {
            Ok(_told) => tracing::info!("the configuration was read again"),
            Err(error) => tracing::error!(reason = error.to_string(), "nothing was changed"),
        }
    }
}

/// A task that ends only if its socket breaks.
fn broke(what: &'static str, ended: Result<std::io::Result<()>, JoinError>) -> (&'static str, Result<(), ServeError>) {
    let ended = ended.unwrap_or_else(|error| Err(error.into()));
    (what, ended.map_err(|source| ServeError::System { what, source }))
}

/// Ends a task, and waits until all that it had is gone: sockets go with theirs.
async fn stop<T>(task: JoinHandle<T>) {
    task.abort();
    // One that has ended was asked for its outcome already.
    if !task.is_finished() {
        let _aborted = task.await;
    }
}

/// Serves the Loaders of the parent process until the parent closes the socket or dies.
///
/// # Errors
/// `socket` is not the socket that the parent passes.
pub async fn private(socket: i32, config: Config, environment: Environment) -> Result<(), ServeError> {
    let what = "a private daemon is started by its trainer, with a socket";
    let system = |source| ServeError::System { what, source };
    let parent = getppid().ok_or_else(|| system(std::io::Error::other("the parent is gone")))?;
    let alive = pidfd_open(parent, PidfdFlags::empty()).map_err(|error| system(error.into()))?;
    let parents_end = ends(alive).map_err(system)?;
    let socket = inherited(socket).map_err(system)?;
    let socket = Socket::from_fd(socket).map_err(|error| system(std::io::Error::other(error)))?;
    let mut signals = Signals::new(EndedBy::Signals).map_err(no_signals)?;
    descriptors::raise_limit();
    let runs = environment.state_dir().map(|folder| folder.join("runs"));
    let daemon = Daemon::new(config, DaemonKind::Private { runs }, &environment)?;
    daemon.say_ready();
    let parent = u32::try_from(parent.as_raw_nonzero().get()).unwrap_or(0);
    let asked = tokio::spawn(be_asked(Arc::clone(&daemon), environment.user_sockets.clone(), parent));
    let cause = tokio::select! {
        signal = signals.come() => signal,
        // The thread that watches lives as long as the parent: it says so, or it never does.
        _died = parents_end => "the trainer's process has ended",
        ended = door::serve_parent(Arc::clone(&daemon), socket) => {
            ended.map_err(system)?;
            "the trainer has closed its Loaders"
        }
    };
    tracing::info!(cause, "ending");
    stop(asked).await;
    end(&daemon, Duration::ZERO, &mut signals).await
}

/// Lets the user's commands ask a private daemon how it is.
async fn be_asked(daemon: Arc<Daemon>, sockets: PathBuf, loader: u32) {
    // After `su`, XDG_RUNTIME_DIR may be the folder of another user, and the name of a socket must not be long.
    let entered = Registration::of(&sockets, loader)
        .or_else(|error| Registration::of(&socket_dir(None), loader).map_err(|_also| error));
    let (registration, control, metrics) = match entered {
        Ok(entered) => entered,
        Err(error) => {
            tracing::info!(%error, "commands such as `forebay status` do not find this private daemon");
            return;
        }
    };
    tracing::debug!(folder = %registration.folder().display(), "commands find this private daemon here");
    let earlier = Arc::<Earlier>::default();
    let observed = Arc::new(PrivateObserved { daemon: Arc::clone(&daemon), earlier: Arc::clone(&earlier) });
    tokio::select! {
        // Its trainers come over their parent's socket, which has no name.
        served = control::serve(Arc::clone(&daemon), control, PathBuf::new(), earlier) => if let Err(error) = served {
            tracing::warn!(%error, "the control socket broke");
        },
        () = metrics.serve(observed) => {}
    }
}

/// Tells when a process has ended.
fn ends(process: OwnedFd) -> std::io::Result<oneshot::Receiver<()>> {
    let (told, ended) = oneshot::channel();
    threads::start("forebay-parent", move || {
        while poll(&mut [PollFd::new(&process, PollFlags::IN)], None) == Err(Errno::INTR) {}
        // The receiver may have ended before.
        let _late = told.send(());
    })?;
    Ok(ended)
}

impl ServiceFolder {
    fn of(config: &Config, environment: &Environment) -> Result<Self, ServeError> {
        let group = match &config.control.unix_group {
            Some(name) => Some(group::number(name).ok_or_else(|| ServeError::Group(name.clone()))?),
            None => None,
        };
        let mode = if group.is_some() { 0o660 } else { 0o600 };
        let folder = config.control.dir.clone().unwrap_or_else(|| environment.socket_dir());
        let whose = match &*folder {
            managed if environment.runtime_directory.as_deref() == Some(managed) => Whose::Managed,
            own if own == environment.user_sockets => Whose::Exposed,
            _ => Whose::Chosen,
        };
        folder::own(&folder, group, whose)?;
        Ok(Self { folder, whose, mode, group })
    }

    /// The service manager's socket, or one of our own.
    fn listen(&self) -> Result<(Listener, PathBuf), ServeError> {
        let path = self.folder.join(SOCKET);
        let passed = sd_notify::listen_fds().ok().and_then(|mut fds| fds.next());
        let listener = match passed {
            Some(number) => {
                let fd = inherited(number)
                    .map_err(|source| ServeError::System { what: "the service manager's socket", source })?;
                Listener::from_fd(fd)?
            }
            None => Listener::bind(&path, self.mode)?,
        };
        if passed.is_none() {
            self.give_to_group(&path)?;
        }
        Ok((listener, path))
    }

    fn control(&self) -> Result<control::ControlEndpoint, ServeError> {
        let endpoint = control::ControlEndpoint::bind(&self.folder.join(control::SOCKET), self.mode)
            .map_err(|source| ServeError::System { what: "the control socket cannot be made", source })?;
        self.give_to_group(&self.folder.join(control::SOCKET))?;
        Ok(endpoint)
    }

    fn give_to_group(&self, path: &Path) -> Result<(), ServeError> {
        Ok(self.group.map_or(Ok(()), |group| folder::give_to_group(path, group))?)
    }
}

impl Drop for ServiceFolder {
    fn drop(&mut self) {
        if self.whose == Whose::Exposed {
            // Another daemon may have its sockets there already: then it stays.
            let _removed = std::fs::remove_dir(&self.folder);
        }
    }
}

fn no_signals(source: std::io::Error) -> ServeError {
    ServeError::System { what: "signals", source }
}
