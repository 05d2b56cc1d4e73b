//! How the other commands reach a running daemon: over its control socket.

mod control_socket;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forebay_client::SettingNames;
use forebay_daemon::config::{Environment, parse_duration};
use forebay_daemon::{Entry, control, is_listened_at, private_daemons};
use forebay_printable::printable;
use forebay_proto::v1::control_client::ControlClient;
use forebay_ring::is_own_socket_dir;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use tonic::Code;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::failure::Failure;
use crate::progress;
use control_socket::ControlSocket;

/// What a question is asked with.
pub(crate) type Client = ControlClient<Channel>;

/// What the commands that are trainers call the settings that an error names.
pub(crate) const NAMES: SettingNames = SettingNames { socket: "--socket-dir", wait: None };

/// Which daemon is meant.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Daemon {
    /// Folder of the daemon's sockets. Left out: that of the user's daemon, or else of the service.
    #[arg(long, value_name = "FOLDER")]
    socket_dir: Option<PathBuf>,
    /// The private daemon of the Loaders of this process, or the private daemon with this process number.
    #[arg(long, value_name = "PID", conflicts_with = "socket_dir")]
    pid: Option<u32>,
    /// How long the daemon may take to answer.
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    timeout: Duration,
    /// The one that was found.
    #[arg(skip)]
    found: Option<Entry>,
}

/// Why a daemon does not serve yet.
enum Unready {
    /// Why it cannot be asked.
    NotThere(String),
    /// Its streams are being opened.
    Opening,
}

/// Longest answer, in bytes: a status of tens of thousands of streams.
const ANSWER: usize = 64 << 20;
/// How soon a daemon that is not there is looked for again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

impl fmt::Display for Unready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThere(why) => f.write_str(why),
            Self::Opening => f.write_str("it is still opening its streams; its log says what it waits for"),
        }
    }
}

/// The private daemons that there are, in a part of a sentence.
fn listed(entries: &[Entry]) -> String {
    let each = |entry: &Entry| format!("{} (daemon {})", entry.loader, entry.daemon);
    match entries {
        [] => "and no other process of this user has one".to_owned(),
        entries => {
            format!("but processes of this user have some: {}", entries.iter().map(each).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A time above 0, such as 10s.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).filter(|time| !time.is_zero()).ok_or_else(|| "give a duration, such as 10s or 5m".into())
}

impl Daemon {
    /// The one with its sockets in this folder.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self { socket_dir: Some(folder.to_owned()), pid: None, timeout: Duration::from_secs(30), found: None }
    }

    /// All daemons that the user means: the user's daemon or the service, and the private daemons of the user's Loaders. At
    /// least one, which may not run.
    pub(crate) fn all(&self) -> Result<Vec<Self>, Failure> {
        if self.socket_dir.is_some() {
            return Ok(vec![self.clone()]);
        }
        let private = private_daemons(&Environment::of_process().user_sockets);
        let found = |entry| Self { found: Some(entry), ..self.clone() };
        if let Some(pid) = self.pid {
            let of = private.iter().find(|entry| [entry.loader, entry.daemon].contains(&pid));
            let entry = of.ok_or_else(|| {
                Failure::Unavailable(format!("No private daemon of process {pid} runs, {}.", listed(&private)))
            })?;
            return Ok(vec![found(entry.clone())]);
        }
        let service = private.is_empty() || is_listened_at(&self.socket(control::SOCKET));
        let service = service.then(|| self.clone());
        Ok(service.into_iter().chain(private.into_iter().map(found)).collect())
    }

    /// Whether one was named.
    pub(crate) fn is_one(&self) -> bool {
        self.pid.is_some() || self.socket_dir.is_some()
    }

    /// The process whose Loaders it serves, if it is a private one.
    pub(crate) fn loader(&self) -> Option<u32> {
        self.found.as_ref().map(|entry| entry.loader)
    }

    /// Its own process, if it is a private one.
    pub(crate) fn private(&self) -> Option<u32> {
        self.found.as_ref().map(|entry| entry.daemon)
    }

    /// Where it is asked: the only private daemon is meant where no other one runs.
    fn control(&self) -> Result<ControlSocket, Failure> {
        let all = match &self.found {
            Some(entry) => return Ok(ControlSocket::of_private(&entry.control)),
            None => self.all()?,
        };
        match &*all {
            [Self { found: Some(entry), .. }] => Ok(ControlSocket::of_private(&entry.control)),
            [Self { found: Some(_), .. }, ..] => {
                let entries: Vec<_> = all.iter().filter_map(|daemon| daemon.found.clone()).collect();
                // One that has its sockets where this command looks first is meant before others.
                let mut nearest = entries.iter().filter(|entry| !entry.is_elsewhere);
                if let (Some(entry), None) = (nearest.next(), nearest.next()) {
                    return Ok(ControlSocket::of_private(&entry.control));
                }
                Err(Failure::Unavailable(format!("No service runs, {}. Choose one with --pid.", listed(&entries))))
            }
            _ => Ok(ControlSocket::of_service(self.socket(control::SOCKET))),
        }
    }

    /// How long it may take to answer.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Whether it runs.
    pub(crate) fn answers(&self) -> bool {
        match &self.found {
            Some(entry) => is_listened_at(&entry.control),
            None => is_listened_at(&self.socket(control::SOCKET)),
        }
    }

    /// Asks it something.
    pub(crate) fn ask<R, F>(&self, question: impl FnOnce(Client) -> F) -> Result<R, Failure>
    where
        F: Future<Output = Result<tonic::Response<R>, tonic::Status>>,
    {
        self.reach(async |client| Ok(self.answer(question(client)).await?.into_inner()))
    }

    /// Asks it for something that comes in pages, and takes each as it comes.
    pub(crate) fn ask_pages<P, F>(
        &self,
        question: impl FnOnce(Client) -> F,
        mut take: impl FnMut(P) -> Result<(), Failure>,
    ) -> Result<(), Failure>
    where
        F: Future<Output = Result<tonic::Response<tonic::Streaming<P>>, tonic::Status>>,
    {
        self.reach(async |client| {
            let mut pages = self.answer(question(client)).await?.into_inner();
            while let Some(page) = self.answer(pages.message()).await? {
                take(page)?;
            }
            Ok(())
        })
    }

    fn reach<R>(&self, talk: impl AsyncFnOnce(Client) -> Result<R, Failure>) -> Result<R, Failure> {
        let socket = self.control()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let connected = timeout(self.timeout, connect(&socket)).await.map_err(|_elapsed| self.silent())?;
            let channel = connected.map_err(|error| {
                Failure::Unavailable(format!(
                    "No daemon answers at {}: {}. Is `forebay serve` running?",
                    printable(socket.path()),
                    cause(&error)
                ))
            })?;
            talk(Client::new(channel).max_decoding_message_size(ANSWER)).await
        })
    }

    /// Waits for an answer, or for a page of one.
    async fn answer<T>(&self, answer: impl Future<Output = Result<T, tonic::Status>>) -> Result<T, Failure> {
        let answered = timeout(self.timeout, answer).await.map_err(|_elapsed| self.silent())?;
        answered.map_err(|status| match (connection_lost(&status), status.code()) {
            (Some(cause), _) => {
                Failure::Unavailable(format!("No daemon answers any more: it ended while it was asked ({cause})."))
            }
            // It cannot reach its coordinator.
            (None, Code::Unavailable) => Failure::Unavailable(status.message().to_owned()),
            (None, _) => Failure::Failed(status.message().to_owned()),
        })
    }

    fn silent(&self) -> Failure {
        Failure::Unavailable(format!(
            "The daemon has not answered for {} s: it is stopped, or waits for its storage. See its log, or wait longer \
             with --timeout.",
            self.timeout.as_secs_f32()
        ))
    }

    /// Waits until it serves; one that is not there yet may come.
    pub(crate) fn wait_until_ready(&self, within: Duration) -> Result<(), Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let sign = progress::sign("waiting for the daemon");
        let mut seen = Unready::NotThere("it was not asked yet".to_owned());
        let chosen = if self.pid.is_some() { Some(self.control()?) } else { None };
        // Looked up each time: the user's own daemon may begin meanwhile, and until then the service's socket is meant.
        let socket = || chosen.clone().unwrap_or_else(|| ControlSocket::of_service(self.socket(control::SOCKET)));
        let ready = runtime.block_on(async {
            let looking = async {
                while let Err(unready) = see_it_ready(&socket(), &mut seen).await {
                    seen = unready;
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
            };
            timeout(within, looking).await
        });
        sign.finish_and_clear();
        ready.map_err(|_elapsed| {
            Failure::Failed(format!(
                "No daemon serves at {} within {} s: {seen}.",
                printable(socket().path()),
                within.as_secs_f32()
            ))
        })
    }

    /// One of its sockets.
    pub(crate) fn socket(&self, name: &str) -> PathBuf {
        let environment = Environment::of_process();
        let user = || {
            let folder = environment.socket_dir();
            (is_own_socket_dir(&folder) && folder.join(name).exists()).then_some(folder)
        };
        let folder = self.socket_dir.clone().or_else(user);
        folder.unwrap_or_else(|| PathBuf::from("/run/forebay")).join(name)
    }
}

async fn connect(at: &ControlSocket) -> Result<Channel, tonic::transport::Error> {
    let at = at.clone();
    // The address is not used: the connector knows the socket.
    let endpoint = Endpoint::from_static("http://daemon");
    let connector = tower::service_fn(move |_: Uri| {
        let at = at.clone();
        async move { at.connect().await.map(TokioIo::new) }
    });
    endpoint.connect_with_connector(connector).await
}

/// The innermost cause, which names what the system said; what is around it says only that a transport failed.
fn cause(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), cause)
}

/// What the system said, where no answer came because the connection broke.
fn connection_lost(status: &tonic::Status) -> Option<String> {
    // A status that the daemon sends has no source.
    std::error::Error::source(status).map(cause)
}

/// Returns once it is ready, or when it cannot be asked, or ends. What is seen meanwhile goes to `seen`.
async fn see_it_ready(socket: &ControlSocket, seen: &mut Unready) -> Result<(), Unready> {
    let channel = connect(socket).await;
    let channel = channel.map_err(|error| Unready::NotThere(cause(&error)))?;
    let of_all = HealthCheckRequest { service: String::new() };
    let refused = |status: tonic::Status| {
        Unready::NotThere(connection_lost(&status).unwrap_or_else(|| status.message().to_owned()))
    };
    let mut updates = HealthClient::new(channel).watch(of_all).await.map_err(refused)?.into_inner();
    while let Some(health) = updates.message().await.map_err(refused)? {
        if health.status() == ServingStatus::Serving {
            return Ok(());
        }
        *seen = Unready::Opening;
    }
    Err(Unready::NotThere("it has ended".to_owned()))
}
