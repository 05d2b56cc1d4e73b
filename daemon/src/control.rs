//! The control socket. It serves status, quarantine, audit and new runs to the `forebay` command, and gRPC health
//! checks.

mod connections;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forebay_ledger_client::CallError;
use forebay_pipeline::{LatestTurns, Stream};
use forebay_pixels::Limits;
use forebay_proto::v1::control_server::{Control, ControlServer};
use forebay_proto::v1::{
    ClosedStream, DrawingReply, DrawingRequest, DrawnTurn, LedgerOutage, ListQuarantineReply, QuarantineRequest,
    QuarantinedRecord, ReloadReply, ReloadRequest, RenewRunReply, RenewRunRequest, StatusReply, StatusRequest,
    StreamAudit, StreamAuditRequest, StreamQuarantine,
};
use tokio::net::UnixListener;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::server::NamedService as _;
use tonic::{Request, Response, Status};
use tonic_health::ServingStatus;

use crate::connection::SIGN_OF_LIFE;
use crate::daemon::Daemon;
use crate::descriptors::Shares;
use crate::earlier::{Earlier, decoders};
use crate::socket_name::SocketName;
use connections::ControlUser;

/// Name of the control socket in the folder of sockets.
pub const SOCKET: &str = "control.sock";

/// Longest request: a stream's name is all that one says.
const REQUEST: usize = 16 << 10;
/// Requests of one connection at a time.
const AT_ONCE: usize = 8;

/// The service.
#[derive(Debug)]
struct Service {
    daemon: Arc<Daemon>,
    socket: PathBuf,
    earlier: Arc<Earlier>,
}

/// A socket that waits for the daemon to be ready. Its name is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct ControlEndpoint {
    listener: UnixListener,
    name: SocketName,
}

/// Takes the pages of a reply, one at a time: the next is made when the caller has taken the last.
struct Pages<T>(mpsc::Sender<Result<T, Status>>);

/// Why no further page is made.
enum NoPage {
    /// The ledger cannot answer.
    Refused(CallError),
    /// The caller has hung up.
    Unwanted,
}

impl ControlEndpoint {
    /// Makes the socket.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn bind(path: &Path, mode: u32) -> std::io::Result<Self> {
        // Only the daemon that holds the lock of the trainers' socket comes here, or one whose number the name has: what is
        // there is a dead one's.
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(path)?;
        let endpoint = Self { listener, name: SocketName(path.to_owned()) };
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
        Ok(endpoint)
    }

    /// The same with another name, in place of what has that name.
    ///
    /// # Errors
    /// The folder is gone.
    pub(crate) fn renamed(mut self, path: PathBuf) -> std::io::Result<Self> {
        std::fs::rename(&self.name.0, &path)?;
        self.name.0 = path;
        Ok(self)
    }
}

/// Serves the control socket until it is cancelled, and keeps `earlier` current. `ring` is the trainers' socket, for the status.
///
/// # Errors
/// The socket broke.
pub(crate) async fn serve(
    daemon: Arc<Daemon>,
    endpoint: ControlEndpoint,
    ring: PathBuf,
    earlier: Arc<Earlier>,
) -> std::io::Result<()> {
    let ControlEndpoint { listener, name: _name } = endpoint;
    let (reporter, health) = tonic_health::server::health_reporter();
    let (ready, watched) = (Arc::clone(&daemon), Arc::clone(&daemon));
    let readiness = async move {
        for status in [ServingStatus::NotServing, ServingStatus::Serving] {
            for service in ["", ControlServer::<Service>::NAME] {
                reporter.set_service_status(service, status).await;
            }
            ready.ready().await;
        }
        std::future::pending().await
    };
    let service = ControlServer::new(Service { daemon, socket: ring, earlier: Arc::clone(&earlier) })
        .max_decoding_message_size(REQUEST);
    let connections = connections::connections(listener, Shares::of_process().control());
    let served = tonic::transport::Server::builder()
        .concurrency_limit_per_connection(AT_ONCE)
        .max_concurrent_streams(u32::try_from(AT_ONCE).ok())
        .http2_keepalive_interval(Some(SIGN_OF_LIFE))
        .http2_keepalive_timeout(Some(SIGN_OF_LIFE))
        .add_service(health)
        .add_service(service)
        .serve_with_incoming(connections);
    tokio::select! {
        ended = served => ended.map_err(std::io::Error::other),
        never = readiness => never,
        never = earlier.keep(&watched) => match never {},
    }
}

#[tonic::async_trait]
impl Control for Service {
    async fn status(&self, _: Request<StatusRequest>) -> Result<Response<StatusReply>, Status> {
        let running = self.daemon.streams();
        let streams = futures_util::future::join_all(running.iter().map(|stream| stream.status())).await;
        let ledger_outage = self.daemon.outage().map(|outage| LedgerOutage {
            for_ms: u64::try_from(outage.lasts().as_millis()).unwrap_or(u64::MAX),
            cause: outage.cause,
        });
        Ok(Response::new(StatusReply {
            version: env!("CARGO_PKG_VERSION").into(),
            pid: std::process::id(),
            uptime_ms: u64::try_from(self.daemon.uptime().as_millis()).unwrap_or(u64::MAX),
            socket: self.socket.display().to_string(),
            streams,
            ledger_outage,
            closed: self.daemon.closed(),
            ready: self.daemon.is_ready(),
            lanes: self.daemon.shared().lane_status(),
            gpus: self.daemon.shared().gpu_status(),
            switched_off: self.daemon.shared().switched_off(),
            decoders: decoders(&self.daemon),
            earlier: self.earlier.reading(),
        }))
    }

    type ListQuarantineStream = ReceiverStream<Result<StreamQuarantine, Status>>;

    async fn list_quarantine(
        &self,
        request: Request<QuarantineRequest>,
    ) -> Result<Response<Self::ListQuarantineStream>, Status> {
        let streams = self.named(&request.get_ref().stream)?;
        Ok(pages(async move |pages| {
            for stream in streams {
                let mut after = None;
                loop {
                    let ListQuarantineReply { records, more, quarantined } = stream.quarantine(after).await?;
                    after = records.last().map(QuarantinedRecord::key);
                    pages
                        .give(StreamQuarantine { stream: stream.identity().to_string(), records, quarantined })
                        .await?;
                    if !more {
                        break;
                    }
                }
            }
            Ok(())
        }))
    }

    type ListAuditsStream = ReceiverStream<Result<StreamAudit, Status>>;

    async fn list_audits(
        &self,
        request: Request<StreamAuditRequest>,
    ) -> Result<Response<Self::ListAuditsStream>, Status> {
        let streams = self.named(&request.get_ref().stream)?;
        Ok(pages(async move |pages| {
            for stream in streams {
                let mut from_epoch = Some(0);
                while let Some(epoch) = from_epoch {
                    let audit = stream.audit(epoch).await?;
                    from_epoch = audit.next_epoch();
                    pages.give(StreamAudit { ledger: stream.identity().to_string(), audit: Some(audit) }).await?;
                }
            }
            Ok(())
        }))
    }

    async fn drawing(&self, request: Request<DrawingRequest>) -> Result<Response<DrawingReply>, Status> {
        if !request.extensions().get::<ControlUser>().is_some_and(|user| user.is_own()) {
            return Err(Status::permission_denied(
                "Pictures are shown to the user of the daemon and to root alone. Run the page as that user.",
            ));
        }
        let name = &request.get_ref().stream;
        let streams = self.daemon.streams();
        let stream = streams.iter().find(|stream| stream.identity().to_string() == *name);
        let stream = stream.ok_or_else(|| absent(name, &self.daemon.closed()))?;
        let (settings, LatestTurns { epoch, turns }) = stream.drawing();
        let Limits { pixels, bytes, scans, .. } = self.daemon.decode_limits();
        let turns =
            turns.iter().map(|turn| DrawnTurn { record: turn.record(), repeat: turn.repeat().into() }).collect();
        Ok(Response::new(DrawingReply { settings: settings.to_owned(), pixels, bytes, scans, epoch, turns }))
    }

    async fn renew_run(&self, request: Request<RenewRunRequest>) -> Result<Response<RenewRunReply>, Status> {
        self.is_service()?;
        let run = self.daemon.new_run(&request.get_ref().stream).await.map_err(|error| refused(&error))?;
        Ok(Response::new(RenewRunReply { run }))
    }

    async fn reload(&self, _: Request<ReloadRequest>) -> Result<Response<ReloadReply>, Status> {
        self.is_service()?;
        self.daemon.reload().await.map(Response::new).map_err(|error| refused(&error))
    }
}

/// What was asked for was not done.
fn refused(error: &impl std::error::Error) -> Status {
    Status::failed_precondition(error.to_string())
}

/// A reply that is made page by page.
fn pages<T: Send + 'static, F: Future<Output = Result<(), NoPage>> + Send + 'static>(
    make: impl FnOnce(Pages<T>) -> F,
) -> Response<ReceiverStream<Result<T, Status>>> {
    let (sender, taken) = mpsc::channel(1);
    let made = make(Pages(sender.clone()));
    tokio::spawn(async move {
        if let Err(NoPage::Refused(error)) = made.await {
            // A caller that has hung up needs no error.
            sender.send(Err(error.into())).await.ok();
        }
    });
    Response::new(ReceiverStream::new(taken))
}

impl<T> Pages<T> {
    async fn give(&self, page: T) -> Result<(), NoPage> {
        self.0.send(Ok(page)).await.map_err(|_| NoPage::Unwanted)
    }
}

impl From<CallError> for NoPage {
    fn from(error: CallError) -> Self {
        Self::Refused(error)
    }
}

impl Service {
    /// Whether it may be asked for changes.
    fn is_service(&self) -> Result<(), Status> {
        let private = "This is the private daemon of a Loader, which has no configuration and no streams of its own. \
                       Change the Loader instead.";
        if self.daemon.is_private() { Err(Status::failed_precondition(private)) } else { Ok(()) }
    }

    /// The streams of this name, or all of them. None is left out because it is still being opened.
    fn named(&self, name: &str) -> Result<Vec<Arc<Stream>>, Status> {
        // Asked before the list is made: what is open by then is in it.
        all_open(name, &self.daemon.closed())?;
        let mut streams = self.daemon.streams();
        streams.retain(|stream| name.is_empty() || stream.identity().stream == name);
        if streams.is_empty() && !name.is_empty() {
            return Err(absent(name, &self.daemon.closed()));
        }
        Ok(streams)
    }
}

/// That streams are still being opened passes, as an outage does.
fn still_opening(name: &str) -> Status {
    Status::unavailable(format!(
        "The stream \"{name}\" is still being opened. Try again later, or name another stream."
    ))
}

/// Refuses to speak of a stream while it or a shard of it is being opened, and of all streams while any is: it would be left out.
fn all_open(name: &str, closed: &[ClosedStream]) -> Result<(), Status> {
    let is_meant = |stream: &&ClosedStream| {
        let rest = stream.name.strip_prefix(name);
        stream.opening && rest.is_some_and(|rest| name.is_empty() || rest.is_empty() || rest.starts_with(" ("))
    };
    closed.iter().find(is_meant).map_or(Ok(()), |stream| Err(still_opening(&stream.name)))
}

/// Why no stream of this name is open.
fn absent(name: &str, closed: &[ClosedStream]) -> Status {
    match closed.iter().find(|stream| stream.name == name) {
        Some(stream) if stream.opening => still_opening(name),
        Some(stream) if stream.failure.is_empty() => {
            Status::failed_precondition(format!("The stream \"{name}\" is opened when its first trainer attaches."))
        }
        Some(stream) => Status::failed_precondition(format!("The stream \"{name}\" is not open: {}", stream.failure)),
        None => Status::not_found(format!("No stream \"{name}\" runs here.")),
    }
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    #[test]
    fn a_stream_that_is_not_open_yet_is_not_said_to_be_missing() {
        let stream = |name: &str, opening, failure: &str| ClosedStream {
            name: name.to_owned(),
            opening,
            failure: failure.to_owned(),
            ..ClosedStream::default()
        };
        let closed = [
            stream("slow", true, ""),
            stream("idle", false, ""),
            stream("gone", false, "There is no folder \"/gone\"."),
        ];
        for (name, told) in [
            ("slow", "The stream \"slow\" is still being opened. Try again later, or name another stream."),
            ("gone", "The stream \"gone\" is not open: There is no folder \"/gone\"."),
            ("idle", "The stream \"idle\" is opened when its first trainer attaches."),
            ("other", "No stream \"other\" runs here."),
        ] {
            assert_eq!(absent(name, &closed).message(), told);
        }
        assert_eq!(absent("slow", &closed).code(), Code::Unavailable, "it passes, so `audit --follow` waits for it");
        let shard = [stream("slow (shard 1 of 2)", true, "")];
        for (name, closed, is_left_out) in [
            ("", &closed[..], true),
            ("slow", &closed, true),
            ("gone", &closed, false),
            ("slow", &shard, true),
            ("slo", &shard, false),
            // Those that failed, or wait for a trainer, have nothing to tell.
            ("", &closed[1..], false),
        ] {
            let refused = all_open(name, closed).err().map(|refused| refused.code());
            assert_eq!(refused, is_left_out.then_some(Code::Unavailable), "{name}");
        }
    }
}
