//! What a session attaches to.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forebay_ring::Join;

use crate::private::PrivateDaemon;

/// Whose stream it is.
#[derive(Clone, Debug)]
pub enum Target {
    /// A source of this process's own daemon.
    Private {
        /// The daemon, one for all sessions of the process. It is started when it is needed.
        daemon: Arc<PrivateDaemon>,
        /// [`PrivateDaemon::number`] of the session: its ledger is found again by it after the daemon's death.
        number: u64,
        /// JSON with the keys of a `[streams.NAME]` table.
        settings: String,
        /// Paths separated by NUL bytes, if the source is a list of files.
        files: Option<Vec<u8>>,
    },
    /// A configured stream of a daemon that runs.
    Stream {
        /// The daemon's socket. None: the user's, then the service's.
        socket: Option<PathBuf>,
        /// Name of the stream.
        name: String,
        /// JSON with the settings that the stream must agree with.
        settings: Option<String>,
    },
}

/// What a session asks for, whatever the target.
#[derive(Clone, Debug)]
pub struct Options {
    /// Batches that may wait or be in use at once. 0: as many as the stream's `credits`, which is 2 by default. With 1, drop each
    /// batch before you ask for the next one, or copy it.
    pub credits: u32,
    /// The shard of static assignment.
    pub shard: Option<Shard>,
    /// The group that the caller joins, in a stream with `groups = "each"`. `None`: it is a group by itself.
    pub group: Option<String>,
    /// From when on the group takes part, if it begins with this session while the stream runs.
    pub join: Join,
    /// UUIDs of the GPUs whose memory the caller can map, the one that it uses first. Without any, a stream whose ring is in
    /// a GPU refuses it.
    pub gpus: Vec<[u8; 16]>,
    /// The columns that the caller reads, in addition to those of every batch. `None` means all columns of the stream.
    pub columns: Option<Vec<String>>,
    /// How long a daemon is waited for that does not run yet. Zero, the default, is an error at once. A private daemon is
    /// started, and so never waited for.
    pub daemon_wait: Duration,
    /// How long the daemon may take to accept: it may have to look at every file of a large folder first.
    pub attach_timeout: Duration,
    /// How long a daemon that went away is waited for.
    pub reconnect_timeout: Duration,
    /// After how long a wait the caller is first told what it waits for ([`Notice::Waiting`](crate::Notice::Waiting)).
    pub told_after: Duration,
}

/// One of `count` equal parts of the dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 0.
    pub id: u32,
    /// At least 1.
    pub count: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            credits: 0,
            shard: None,
            group: None,
            join: Join::Next,
            gpus: Vec::new(),
            columns: None,
            daemon_wait: Duration::ZERO,
            attach_timeout: Duration::from_secs(3600),
            reconnect_timeout: Duration::from_secs(60),
            told_after: Duration::from_secs(10),
        }
    }
}
