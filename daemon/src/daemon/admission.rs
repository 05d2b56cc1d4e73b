//! Who may come in, and to which stream: a trainer's request is read and checked before anything is opened for it.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use forebay_ring::{Attach, Bulk, HandIn, Kind as Word, Peer, Socket, text, text_code};

use crate::config;
use crate::config::stream::Sharding;
use crate::daemon::{Daemon, Kind, Ledgers};
use crate::group;
use crate::stream::Stream;

/// A request to attach, as it came.
#[derive(Debug)]
pub struct Request {
    /// The fixed part.
    pub head: Attach,
    /// Bulk JSON.
    pub settings: Option<OwnedFd>,
    /// Bulk paths.
    pub files: Option<OwnedFd>,
    /// Bulk [`HandIn`]s.
    pub resume: Option<OwnedFd>,
}

/// Why a trainer is refused: a code for its program, and a sentence.
type Refusal = (u32, String);

/// Longest settings document.
const SETTINGS_LIMIT: u64 = 1 << 20;
/// Longest list of files, and of hand-ins.
const LIST_LIMIT: u64 = 4 << 30;
impl Daemon {
    /// Lets a trainer in, or sends it away with the reason.
    pub async fn attach(self: &Arc<Self>, socket: Socket, request: Request) {
        let peer = match Peer::of(&socket) {
            Ok(peer) => peer,
            Err(error) => return refuse(&socket, &(text_code::PERMISSION, error.to_string())),
        };
        let (head, resume) = (request.head, read_resume(&request));
        let stream = match resume {
            Ok(hand_ins) => self.stream_for(&peer, request).await.map(|stream| (stream, hand_ins)),
            Err(refusal) => Err(refusal),
        };
        match stream {
            Ok((stream, hand_ins)) => stream.attach(socket, peer, head.credits, &hand_ins).await,
            Err(refusal) => {
                tracing::info!(pid = peer.pid(), uid = peer.uid(), reason = refusal.1, "a trainer was refused");
                refuse(&socket, &refusal);
            }
        }
    }

    async fn stream_for(self: &Arc<Self>, peer: &Peer, request: Request) -> Result<Arc<Stream>, Refusal> {
        let settings = read_settings(&request)?;
        match &self.kind {
            Kind::Service { .. } => self.service_stream(peer, &request, settings.as_deref()).await,
            Kind::Private { .. } => self.private_stream(request, settings.as_deref().unwrap_or(b"{}")).await,
        }
    }

    async fn service_stream(
        self: &Arc<Self>,
        peer: &Peer,
        request: &Request,
        given: Option<&[u8]>,
    ) -> Result<Arc<Stream>, Refusal> {
        let name = request.head.stream_name().unwrap_or_default();
        if name.is_empty() {
            let known: Vec<&str> = self.config.streams.keys().map(String::as_str).collect();
            let known = known.join(", ");
            let reason = format!(
                "this daemon serves only its configured streams ({known}); a path is read by a daemon of the trainer's \
                 own process"
            );
            return Err((text_code::PERMISSION, reason));
        }
        let Some(settings) = self.config.streams.get(name).cloned() else {
            return Err((text_code::NOT_FOUND, self.no_stream(name)));
        };
        if peer.uid() != self.uid && !settings.group.as_deref().is_some_and(|name| group::has(name, peer)) {
            let who = settings.group.as_ref().map_or_else(
                || "only the daemon's own user may attach; the stream's settings may name a group".to_owned(),
                |group| format!("only members of group \"{group}\" may attach"),
            );
            return Err((text_code::PERMISSION, format!("stream \"{name}\" is not for user {}: {who}", peer.uid())));
        }
        if let Some(given) = given {
            let given = serde_json::from_slice(given)
                .map_err(|error| (text_code::SETTINGS, format!("the settings are no JSON: {error}")))?;
            settings.agree(&given).map_err(|mistakes| (text_code::SETTINGS, mistakes.to_string()))?;
        }
        let shard = shard(name, settings.sharding, &request.head)?;
        self.configured(name, settings, shard).await.map_err(|error| (error.code(), error.to_string()))
    }

    async fn private_stream(self: &Arc<Self>, request: Request, settings: &[u8]) -> Result<Arc<Stream>, Refusal> {
        let name = request.head.stream_name().unwrap_or_default().to_owned();
        let settings = config::Stream::from_json(settings, &self.config.ring)
            .map_err(|mistakes| (text_code::SETTINGS, mistakes.to_string()))?;
        let files = match request.files {
            Some(fd) => Some(bulk(fd, LIST_LIMIT).map_err(|reason| (text_code::SETTINGS, reason))?),
            None => None,
        };
        let (ledgers, run, stream) = self.private_ledger(&name, &settings, files.as_deref())?;
        let opened = self.private(&stream, run, settings, files, ledgers).await;
        opened.map_err(|error| (error.code(), error.to_string()))
    }

    /// A Loader without a run has a ledger of its own in the trainer's memory; a named run has a file, in which the
    /// dataset's path tells one Loader's ledger from another's.
    fn private_ledger(
        &self,
        name: &str,
        settings: &config::Stream,
        files: Option<&[u8]>,
    ) -> Result<(Ledgers, String, String), Refusal> {
        let Some(run) = &settings.run else { return Ok((Ledgers::Kept, "private".into(), name.into())) };
        if run.contains(['/', '\0']) || run.starts_with('.') {
            let reason = format!("run \"{run}\" is no name for a file; leave slashes and a leading dot out");
            return Err((text_code::SETTINGS, reason));
        }
        let Kind::Private { runs: Some(folder) } = &self.kind else {
            let reason = "a named run needs a folder for its ledger: set XDG_STATE_HOME or HOME".to_owned();
            return Err((text_code::SETTINGS, reason));
        };
        let source = files.or_else(|| settings.source.as_deref().map(str::as_bytes)).unwrap_or_default();
        let stream = blake3::hash(source).to_hex()[..16].to_owned();
        Ok((Ledgers::File(folder.join(format!("{run}.redb"))), run.clone(), stream))
    }
}

fn shard(name: &str, sharding: Sharding, head: &Attach) -> Result<Option<u32>, Refusal> {
    match (sharding, head.num_shards) {
        (Sharding::Dynamic, 0) => Ok(None),
        (Sharding::Dynamic, asked) => Err((
            text_code::SETTINGS,
            format!(
                "stream \"{name}\" has no shards, but num_shards={asked} was given; leave shard_id and num_shards out"
            ),
        )),
        (Sharding::Static { num_shards, .. }, 0) => Err((
            text_code::SETTINGS,
            format!(
                "stream \"{name}\" is split over {num_shards} shards; give shard_id=0..{} and num_shards={num_shards}",
                num_shards - 1
            ),
        )),
        (Sharding::Static { num_shards, .. }, asked) if asked != num_shards || head.shard_id >= num_shards => Err((
            text_code::SETTINGS,
            format!(
                "stream \"{name}\" has the shards 0 to {} of {num_shards}, not {} of {asked}",
                num_shards - 1,
                head.shard_id
            ),
        )),
        (Sharding::Static { .. }, _) => Ok(Some(head.shard_id)),
    }
}

fn read_settings(request: &Request) -> Result<Option<Vec<u8>>, Refusal> {
    let Some(fd) = &request.settings else { return Ok(None) };
    let fd = fd.try_clone().map_err(|error| (text_code::OTHER, error.to_string()))?;
    bulk(fd, SETTINGS_LIMIT).map(Some).map_err(|reason| (text_code::SETTINGS, reason))
}

fn read_resume(request: &Request) -> Result<Vec<HandIn>, Refusal> {
    let Some(fd) = &request.resume else { return Ok(Vec::new()) };
    let fd = fd.try_clone().map_err(|error| (text_code::OTHER, error.to_string()))?;
    let bytes = bulk(fd, LIST_LIMIT).map_err(|reason| (text_code::OTHER, reason))?;
    if bytes.len() % size_of::<HandIn>() != 0 {
        return Err((text_code::PROTOCOL, "the list of held batches is cut in the middle".into()));
    }
    Ok(bytes.chunks_exact(size_of::<HandIn>()).map(bytemuck::pod_read_unaligned).collect())
}

fn bulk(fd: OwnedFd, limit: u64) -> Result<Vec<u8>, String> {
    Bulk::accept(fd).and_then(|bulk| bulk.read(limit)).map_err(|error| error.to_string())
}

fn refuse(socket: &Socket, (code, reason): &Refusal) {
    if let Err(error) = socket.send(&text(Word::Refused, *code, reason), &[]) {
        tracing::debug!(%error, "who was refused is gone already");
    }
}
