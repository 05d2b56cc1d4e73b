//! Objects of stores: S3 and what speaks its protocol, Google Cloud Storage, Azure, the Hugging Face Hub, and plain
//! HTTP servers.
//!
//! A [`Store`] lists objects and reads ranges of them, with deadlines and bounded retries. An [`Object`] is pinned to
//! its version: if it changed, that is an error, never other bytes. Nothing here knows a format.
#![forbid(unsafe_code)]

mod address;
mod backend;
mod blocks;
mod cache;
mod client;
mod content_range;
mod fault;
mod fault_slot;
mod fetch;
mod listing;
mod object;
mod pace;
mod permits;
mod repository;
mod retries;
mod retry_after;
mod runtime;
mod secret;
mod settings;
mod store;
mod throttle;
mod workers;

pub use address::{Address, Scheme, is_object_url, shown};
pub use cache::{Cache, CacheError, CacheFull, CacheKey, CacheMaker, RetainedEntries};
pub use object::Object;
pub use retries::Retries;
pub use secret::Secret;
pub use settings::{Credentials, Settings, WebSettings};
pub use store::{PendingRead, Store};
pub use workers::Workers;
