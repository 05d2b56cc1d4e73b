//! The client of ledgers, in this process or in another one.
//!
//! A [`Handle`] takes every [`Request`] and gives its reply after the durable commit. A coordinator in this process makes
//! one with the thread that answers; [`Remote`] makes one for a coordinator elsewhere, with TLS, a token, deadlines and
//! several addresses. A caller with a handle does not know the difference. [`TaskWorker`] is a worker that reads the data
//! itself.
#![forbid(unsafe_code)]

mod address;
mod call;
mod call_error;
mod certificate_ends;
mod dial;
mod handle;
mod line;
mod other_end;
mod outage;
mod pauses;
mod procedures;
mod remote;
mod request;
mod secret;
mod task_worker;
mod tls;
mod token;
mod update_channels;
mod updates;

pub use address::{Address, NoAddress};
pub use call::{Call, call};
pub use call_error::CallError;
pub use certificate_ends::CertificateEnds;
pub use dial::{Wire, channel, dial};
pub use handle::{CallQueue, Handle, QUEUE};
pub use line::Line;
pub use outage::{Outage, Outages};
pub use pauses::Pauses;
pub use remote::{Remote, RemoteError};
pub use request::Request;
pub use secret::{SecretError, check_closed, read};
pub use task_worker::{GivenTask, Pending, TaskWorker};
pub use tls::{CertificateFiles, ClientTls, ServerTls};
pub use token::TokenFile;
pub use update_channels::UpdateChannels;
pub use updates::UpdateFeed;
