//! The Forebay daemon as a process: its configuration, its streams by name, the sockets for trainers and commands, and
//! its logs and metrics.
#![forbid(unsafe_code)]

mod accepting;
pub mod config;
mod connection;
mod connection_limits;
pub mod control;
pub mod coordinate;
mod daemon;
pub mod decoder;
mod descriptors;
mod door;
pub mod drawing;
mod earlier;
mod folder;
mod group;
mod http;
mod registry;
pub mod serve;
mod service_manager;
mod signals;
mod socket_name;
pub mod suspects;
mod telemetry;
pub mod verdict;
pub mod website;

pub use daemon::ledgers::{LEDGERS, LedgersError, forget_run};
pub use daemon::{DEFAULT_RUN, DaemonError, OpenError, open_dataset};
pub use registry::{Entry, is_listened_at, private_daemons};
pub use telemetry::{LogError, LogFlush, start_logs};
