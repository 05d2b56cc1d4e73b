//! Decoders on other machines: where they are, and what is proved to them (semantics rule 60).

use std::path::PathBuf;

use forebay_ledger_client::{Address, CertificateFiles};

use crate::ByteSize;

/// Where decoders are, and what is proved to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSettings {
    /// Their addresses. A name may lead to several.
    pub addresses: Vec<Address>,
    /// Memory for answers under way, for each decoder and stream.
    pub memory: ByteSize,
    /// A file with the token that they ask for.
    pub token: Option<PathBuf>,
    /// The certificates of those who may sign theirs. Required by an address with `https`.
    pub authority: Option<PathBuf>,
    /// The certificate that they are shown.
    pub certificate: Option<CertificateFiles>,
}
