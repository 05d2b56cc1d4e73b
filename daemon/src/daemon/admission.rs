//! Decides which trainer may attach to which stream. A request is read and checked before anything is opened for it.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use forebay_cuda::Uuid;
use forebay_pipeline::settings::{AskedPart, GroupPolicy, Sharding};
use forebay_pipeline::{Credentials, ResumedClaims, Stream, threads};
use forebay_plan::check_rank;
use forebay_proto::v1::LockstepRank;
use forebay_ring::{
    Attach, Bulk, BulkError, Join, Membership, Memory, MessageKind, Peer, Socket, attach_join, text, text_code,
};
use thiserror::Error;

use crate::config::StreamSection;
use crate::daemon::gates::StreamKey;
use crate::daemon::private_ledger::private_ledger;
use crate::daemon::streams::{Entered, Streams, leave_unfit};
use crate::daemon::wanted::Wanted;
use crate::group::{self, Unnamed};

/// A request to attach, as it was received.
#[derive(Debug)]
pub(crate) struct Request {
    /// The fixed part.
    pub head: Box<Attach>,
    /// Bulk JSON.
    pub settings: Option<OwnedFd>,
    /// Bulk paths.
    pub files: Option<OwnedFd>,
    /// Bulk [`ResumedClaim`](forebay_ring::ResumedClaim)s.
    pub resume: Option<OwnedFd>,
    /// Bulk names of columns.
    pub columns: Option<OwnedFd>,
}

/// Why a trainer is refused: a code for its program, and a sentence.
pub(crate) type AdmissionRefusal = (u32, String);

/// A trainer that may come in.
pub(super) struct Admitted {
    /// The stream.
    pub(super) entered: Entered,
    /// The group that it joins.
    pub(super) membership: Membership,
    /// What it brings.
    pub(super) resumed_claims: ResumedClaims,
}

/// A list of files that is not read.
#[derive(Debug, Error)]
enum ListError {
    /// Its memory is not sealed or is too long, or the kernel refuses to map it.
    #[error(transparent)]
    Bulk(#[from] BulkError),
    /// There is too little memory for it.
    #[error("the list of files takes {needed} MiB of memory, and {limited_by} leaves {left} MiB")]
    NoRoom {
        /// MiB that it takes.
        needed: u64,
        /// Who sets the bound.
        limited_by: String,
        /// MiB that are left.
        left: u64,
    },
    /// The system does not say how much memory there is.
    #[error(transparent)]
    System(#[from] std::io::Error),
}

/// Longest settings document. In memory, JSON may take a hundred times as much as written.
const SETTINGS_LIMIT: u64 = 64 << 10;
/// Longest list of columns: as many as a batch can have, and the names that every batch has.
const COLUMNS_LIMIT: u64 = 64 << 10;
/// Longest list of files, which only a trainer of the daemon's own process sends.
const LIST_LIMIT: u64 = 4 << 30;
/// What a path takes in memory beside its bytes: where it ends, how large its file is.
const PATH: u64 = 16;

/// A trainer that asks to come in.
struct Admission<'a> {
    streams: &'a Arc<Streams>,
    peer: &'a Peer,
    head: &'a Attach,
    trainer: Credentials,
}

/// The stream that a trainer asks for, where it may come in, and what it brings. Nothing that the peer passed is read before
/// it may attach.
pub(super) async fn admit(streams: &Arc<Streams>, peer: &Peer, request: Request) -> Result<Admitted, AdmissionRefusal> {
    let Request { head, settings, files, resume, columns } = request;
    let trainer = Credentials { uid: peer.uid(), gpus: head.gpus().iter().copied().map(Uuid).collect() };
    let admission = Admission { streams, peer, head: &head, trainer };
    let is_service = !streams.configuration().is_private();
    if is_service {
        admission.may_attach()?;
    }
    let given = read(settings, SETTINGS_LIMIT, text_code::SETTINGS).await?;
    let resumed_claims = admission.resumed_claims(resume)?;
    let (served, stays) = if is_service {
        admission.service_stream(given.as_deref()).await?
    } else {
        let files = list(files).await?;
        admission.private_stream(given.as_deref().unwrap_or(b"{}"), files).await?
    };
    // Another trainer may have opened it, for a place of its own.
    let columns = read(columns, COLUMNS_LIMIT, text_code::SETTINGS).await?;
    has_columns(&served.stream, columns.as_deref())?;
    let open_to = served.stream.open_to(&admission.trainer);
    open_to.map_err(|refusal| (refusal.code(), format!("{}: {refusal}", refusal.key())))?;
    let membership = membership(&head, admission.name(), served.stream.settings().delivery.groups)?;
    Ok(Admitted { entered: (served, stays), membership, resumed_claims })
}

impl Admission<'_> {
    /// What it calls the stream.
    fn name(&self) -> &str {
        self.head.stream_name().unwrap_or_default()
    }

    /// Whether the stream is configured, and the peer may attach to it.
    fn may_attach(&self) -> Result<(), AdmissionRefusal> {
        let (streams, peer, name) = (self.streams, self.peer, self.name());
        if name.is_empty() {
            let config = streams.configuration().now();
            let known: Vec<&str> = config.streams.keys().map(String::as_str).collect();
            let known = known.join(", ");
            let reason = format!(
                "this daemon serves only its configured streams ({known}); a path is read by a daemon of the trainer's \
                 own process"
            );
            return Err((text_code::PERMISSION, reason));
        }
        let Some(section) = streams.configuration().now().streams.get(name).cloned() else {
            return Err((text_code::NOT_FOUND, streams.configuration().no_stream(name)));
        };
        let certain = Unnamed::users().is_certain(peer.uid());
        let own = peer.uid() == streams.uid() && certain;
        if !own && !section.unix_group.as_deref().is_some_and(|name| group::has(name, peer)) {
            let who = section.unix_group.as_ref().map_or_else(
                || "only the daemon's own user may attach; the stream's table may have a unix_group".to_owned(),
                |group| {
                    format!(
                        "only processes of the Unix group \"{group}\" may attach, and this one has {}",
                        groups(peer)
                    )
                },
            );
            let unnamed = if certain {
                ""
            } else {
                " (a user of another user namespace, who has no number in the daemon's; run both in one user namespace)"
            };
            let reason = format!("stream \"{name}\" is not for user {}{unnamed}: {who}", peer.uid());
            return Err((text_code::PERMISSION, reason));
        }
        Ok(())
    }

    /// What the trainer has from an earlier incarnation. What it had from this one came back when it hung up, and
    /// counts for nothing: receipts for living leases come from those who hold them.
    fn resumed_claims(&self, list: Option<OwnedFd>) -> Result<ResumedClaims, AdmissionRefusal> {
        let Some(list) = list else { return Ok(ResumedClaims::default()) };
        let resumed_claims = ResumedClaims::accept(list).map_err(|error| (text_code::PROTOCOL, error.to_string()))?;
        Ok(if [0, self.streams.incarnation()].contains(&self.head.incarnation) {
            ResumedClaims::default()
        } else {
            resumed_claims
        })
    }

    async fn service_stream(&self, given: Option<&[u8]>) -> Result<Entered, AdmissionRefusal> {
        let (streams, name) = (self.streams, self.name());
        let given: Option<serde_json::Value> = given
            .map(serde_json::from_slice)
            .transpose()
            .map_err(|error| (text_code::SETTINGS, format!("the settings are not JSON: {error}")))?;
        let fits = |section: &StreamSection| -> Result<Option<AskedPart>, AdmissionRefusal> {
            if let Some(given) = &given {
                section.agree(given).map_err(|mistakes| (text_code::SETTINGS, mistakes.to_string()))?;
            }
            part(name, section.settings.sharding, self.head)
        };
        let wanted = streams.configuration().wanted(name, None, Some(self.trainer.clone()));
        let mut wanted = wanted.ok_or_else(|| (text_code::NOT_FOUND, streams.configuration().no_stream(name)))?;
        wanted.shard = fits(&wanted.section)?;
        leave_unfit(streams, &wanted).await;
        let opened = streams.enter(wanted).await;
        let (served, stays) =
            opened.map_err(|error| (error.code(), format!("stream \"{name}\" cannot be opened: {error}")))?;
        // A reload may have changed it while it was waited for.
        self.may_attach()?;
        fits(&served.section)?;
        Ok((served, stays))
    }

    async fn private_stream(&self, settings: &[u8], files: Option<Vec<u8>>) -> Result<Entered, AdmissionRefusal> {
        let streams = self.streams;
        let section = StreamSection::from_json(settings, &streams.configuration().now().ring)
            .map_err(|mistakes| (text_code::SETTINGS, mistakes.to_string()))?;
        let runs = streams.configuration().runs();
        let ledger = private_ledger(runs, self.name(), &section, files.as_deref());
        let (ledgers, run, stream) = ledger.map_err(|reason| (text_code::SETTINGS, reason))?;
        let (files, trainer) = (files.map(Arc::new), Some(self.trainer.clone()));
        let shard = section.settings.sharding.part(None);
        suited(streams, Wanted { key: StreamKey { run, stream }, shard, section, files, trainer, ledgers }).await
    }
}

/// The groups of a process, for people. Who was added to a group a moment ago sees that the process has begun before.
fn groups(peer: &Peer) -> String {
    let mut all = vec![peer.gid()];
    all.extend(peer.groups().iter().filter(|group| **group != peer.gid()));
    let shown: Vec<_> = all.iter().take(16).map(u32::to_string).collect();
    let more = if all.len() > shown.len() { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// The stream of a Loader, with the Loader's own settings. A stream of another Loader that has left, or that left while it
/// was opened, is reopened.
async fn suited(streams: &Arc<Streams>, wanted: Wanted) -> Result<Entered, AdmissionRefusal> {
    loop {
        leave_unfit(streams, &wanted).await;
        let (served, stays) = streams.enter(wanted.clone()).await.map_err(|error| (error.code(), error.to_string()))?;
        if served.section == wanted.section {
            return Ok((served, stays));
        }
        drop(stays);
        if !served.stream.is_left().await {
            let reason = format!(
                "another trainer of this process reads run \"{}\" of this dataset with other settings; close it first",
                wanted.key.run
            );
            return Err((text_code::BUSY, reason));
        }
    }
}

/// The shard or rank that a trainer of a service asks for.
fn part(name: &str, sharding: Sharding, head: &Attach) -> Result<Option<AskedPart>, AdmissionRefusal> {
    match (sharding, head.num_shards) {
        (Sharding::Dynamic, 0) => Ok(None),
        (Sharding::Dynamic, asked) => Err((
            text_code::SETTINGS,
            format!(
                "stream \"{name}\" has no shards, but num_shards={asked} was given; set num_shards = {asked} in the \
                 [streams.{name}] table of the daemon's configuration, restart the daemon and begin a new run \
                 (`forebay run new {name}`). Trainers that do not wait for each other may attach without a shard \
                 (in Python: sharding=\"dynamic\")"
            ),
        )),
        (Sharding::Static { num_shards, .. }, 0) => Err((
            text_code::SETTINGS,
            format!(
                "stream \"{name}\" is split over {num_shards} shards; give a shard_id from 0 to {} and num_shards={num_shards} \
                 (in Python: sharding=Shard(shard_id, {num_shards}))",
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
        (Sharding::Static { .. }, count) => Ok(Some(AskedPart { number: head.shard_id, count })),
        (Sharding::Lockstep { .. }, 0) => Err((
            text_code::SETTINGS,
            format!(
                "stream \"{name}\" is in lockstep; attach with a rank and a world_size (in Python: sharding=Lockstep(); in Rust and C as \
                 shard and number of shards)"
            ),
        )),
        (Sharding::Lockstep { global_batch, .. }, count) => {
            let asked = LockstepRank { global_batch: global_batch.into(), rank: head.shard_id, world_size: count };
            check_rank(&asked).map_err(|problem| (text_code::SETTINGS, format!("stream \"{name}\": {problem}")))?;
            Ok(Some(AskedPart { number: head.shard_id, count }))
        }
    }
}

/// The group that a trainer joins.
fn membership(head: &Attach, stream: &str, groups: GroupPolicy) -> Result<Membership, AdmissionRefusal> {
    let group = head.group_name().filter(|group| !group.is_empty()).map(str::to_owned);
    let join = if head.join == attach_join::EPOCH { Join::Epoch } else { Join::Next };
    if groups == GroupPolicy::Each || (group.is_none() && join == Join::Next) {
        return Ok(Membership { group, join });
    }
    let key = if group.is_some() { "group" } else { "join" };
    let reason = format!(
        "stream \"{stream}\" gives each batch to one trainer, so {key} means nothing to it: leave it out, or set groups = \
         \"each\" in the stream's settings, which gives every group each batch"
    );
    Err((text_code::SETTINGS, reason))
}

/// Whether a stream has all columns that a trainer names.
fn has_columns(stream: &Stream, names: Option<&[u8]>) -> Result<(), AdmissionRefusal> {
    let Some(names) = names.filter(|names| !names.is_empty()) else { return Ok(()) };
    let names = std::str::from_utf8(names).map_err(|_| (text_code::SETTINGS, "columns: a name is not UTF-8".into()))?;
    let names: Vec<String> = names.split('\0').map(str::to_owned).collect();
    stream.has_columns(&names).map_err(|unknown| (text_code::SETTINGS, format!("columns: {unknown}")))
}

/// Reads sealed memory on a thread of its own, since a long read would keep other tasks waiting.
async fn read(passed: Option<OwnedFd>, limit: u64, code: u32) -> Result<Option<Vec<u8>>, AdmissionRefusal> {
    let Some(fd) = passed else { return Ok(None) };
    let bytes = threads::beside("forebay-attach", move || Bulk::accept(fd)?.read(limit)).await;
    let bytes = bytes.map_err(|error| (text_code::BUSY, error.to_string()))?;
    bytes.map(Some).map_err(|error| (code, error.to_string()))
}

/// Reads a list of files, unless there is too little memory for it and for what is made of it.
async fn list(passed: Option<OwnedFd>) -> Result<Option<Vec<u8>>, AdmissionRefusal> {
    let Some(fd) = passed else { return Ok(None) };
    let list = threads::beside("forebay-attach", move || {
        let bulk = Bulk::accept(fd)?;
        // As it came, and as it is kept.
        room_for(bulk.len().saturating_mul(2))?;
        let list = bulk.read(LIST_LIMIT)?;
        let paths = list.split(|byte| *byte == 0).count();
        room_for((paths as u64).saturating_mul(PATH) + bulk.len())?;
        Ok(list)
    });
    let list: Result<_, ListError> = list.await.map_err(|error| (text_code::BUSY, error.to_string()))?;
    list.map(Some).map_err(|error| (text_code::SETTINGS, error.to_string()))
}

fn room_for(bytes: u64) -> Result<(), ListError> {
    let Memory { available, limited_by } = Memory::now()?;
    let [needed, left] = [bytes, available].map(|bytes| bytes >> 20);
    if bytes <= available { Ok(()) } else { Err(ListError::NoRoom { needed, limited_by, left }) }
}

/// Sends a trainer away with the reason.
pub(super) fn refuse(socket: &Socket, (code, reason): &AdmissionRefusal) {
    if let Err(error) = socket.send(&text(MessageKind::Refused, *code, reason), &[]) {
        tracing::debug!(%error, "the refused trainer is gone already");
    }
}

#[cfg(test)]
mod tests {
    use super::super::served::Served;
    use super::*;
    use crate::config::{Config, Environment};
    use crate::daemon::configuration::Configuration;
    use crate::daemon::ledgers::Ledgers;
    use crate::daemon::{DaemonKind, Shared};

    #[tokio::test(flavor = "multi_thread")]
    async fn rule_01_a_named_run_that_a_loader_left_is_opened_again_with_the_settings_of_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("0.ppm"), [&b"P6 8 8 255\n"[..], &[7; 192]].concat()).unwrap();
        let kind = DaemonKind::Private { runs: Some(folder.path().to_owned()) };
        let (config, environment) = (Config::default(), Environment::default());
        let shared = Shared::start(&config, &environment).unwrap();
        let streams = Arc::new(Streams::new(1, environment.uid, Configuration::new(config, kind), shared));
        let wanted = |batch_size: u32| {
            let source = folder.path().display();
            let json = format!(r#"{{"source": "{source}", "batch_size": {batch_size}, "size": 8, "run": "r"}}"#);
            Wanted {
                key: StreamKey { run: "r".into(), stream: "s".into() },
                shard: None,
                section: StreamSection::from_json(json.as_bytes(), &streams.configuration().now().ring).unwrap(),
                files: None,
                trainer: None,
                ledgers: Ledgers::File(folder.path().join("r.redb")),
            }
        };
        // No trainer reads it any more, and it has not ended yet.
        let (left, stays) = streams.enter(wanted(4)).await.unwrap();
        drop(stays);
        let (next, stays) = suited(&streams, wanted(8)).await.unwrap();
        drop(stays);
        let places = |served: &Served| served.stream.settings().batch_size;
        assert_eq!((places(&left), places(&next)), (4, 8));
        let (same, _stays) = suited(&streams, wanted(8)).await.unwrap();
        assert!(Arc::ptr_eq(&same, &next), "one with the same settings goes on");
    }
}
