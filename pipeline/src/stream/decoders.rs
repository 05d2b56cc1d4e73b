//! The decoders on other machines that a stream asks (semantics rule 60): [`drive`] is the task that asks, with a [`link`] to each.

mod drive;
mod link;

use std::sync::Arc;

use forebay_ledger_client::{Address, ClientTls, SecretError, TokenFile};
use forebay_pixels::Limits;
use forebay_proto::v1::DecoderSetup;
use forebay_sources::Source;

use crate::remote::{PIXELS_VERSION, REMOTE_VERSION};
use crate::remote_pictures::answer_len;
use crate::settings::{RemoteSettings, StreamSettings};
pub(super) use drive::drive;

/// The decoders of a daemon.
#[derive(Debug)]
pub struct Decoders {
    addresses: Vec<Address>,
    memory: u64,
    token: Option<TokenFile>,
    tls: Option<Arc<ClientTls>>,
    /// Whether the daemon decodes too.
    makes_here: bool,
}

impl Decoders {
    /// Reads the files of the settings. `makes_here` says whether the daemon has decode threads.
    ///
    /// # Errors
    /// A file cannot be used.
    pub fn open(settings: &RemoteSettings, makes_here: bool) -> Result<Self, SecretError> {
        let RemoteSettings { addresses, memory, token, authority, certificate } = settings;
        let tls = authority.as_deref().map(|authority| ClientTls::open(authority, certificate.as_ref()));
        Ok(Self {
            addresses: addresses.clone(),
            memory: memory.0,
            token: token.as_deref().map(TokenFile::open).transpose()?,
            tls: tls.transpose()?.map(Arc::new),
            makes_here,
        })
    }

    /// Whether the daemon decodes too.
    pub(crate) fn makes_here(&self) -> bool {
        self.makes_here
    }
}

/// Keys of a stream that only its daemon needs: a decoder gets numbers of records, has an index of its own, and knows no runs.
const OWN_KEYS: [&str; 5] = ["select", "where", "index", "run", "unix_group"];

/// What decoders are told of a stream, whose keys are in `document`.
pub(crate) fn setup(document: &str, settings: &StreamSettings, source: &dyn Source, limits: &Limits) -> DecoderSetup {
    let mut keys: serde_json::Map<String, serde_json::Value> = serde_json::from_str(document).unwrap_or_default();
    keys.retain(|key, _| !OWN_KEYS.contains(&key.as_str()));
    DecoderSetup {
        version: REMOTE_VERSION,
        pixels_version: PIXELS_VERSION,
        settings: serde_json::Value::Object(keys).to_string(),
        fingerprint: source.fingerprint().to_vec(),
        records: source.len(),
        pixels: limits.pixels,
        bytes: limits.bytes,
        scans: limits.scans,
        time_us: limits.time.map(|time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX)),
        answer_len: answer_len(settings),
        token: String::new(),
    }
}
