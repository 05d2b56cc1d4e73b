//! `[metrics]`: where Prometheus can read the metrics.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::table::Table;
use super::value::path;

pub(super) const EXAMPLE: &str = r#"[metrics]
# The Unix socket that answers GET /metrics. Left out: metrics.sock beside the control socket.
# socket = "/run/forebay/metrics.sock"
# A TCP address instead of the socket, for a Prometheus that cannot read sockets. Anyone who reaches it can read the metrics.
# Left out: no address.
# address = "127.0.0.1:9464"
"#;

/// The section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Metrics {
    /// `metrics.sock` beside the control socket.
    #[default]
    BesideControl,
    /// A Unix socket.
    Socket(PathBuf),
    /// A TCP address.
    Address(SocketAddr),
}

impl Metrics {
    pub(super) fn read(table: &mut Table<'_, '_>) -> Self {
        let socket = table.take("socket", path);
        let address = table.take("address", |value| {
            let address = value.as_str().and_then(|text| text.parse().ok());
            address.ok_or_else(|| "an address and a port, such as \"127.0.0.1:9464\"".to_owned())
        });
        match (socket, address) {
            (Some(_), Some(_)) => {
                table.mistake("socket", "cannot be combined with address; give one of the two.");
                Self::BesideControl
            }
            (Some(socket), None) => Self::Socket(socket),
            (None, Some(address)) => Self::Address(address),
            (None, None) => Self::BesideControl,
        }
    }
}
