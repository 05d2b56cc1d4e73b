//! Stores against real servers on the loopback: what is listed and read, and what happens when a server fails.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "the objects of tests are small")]

#[path = "stores/azure.rs"]
mod azure;
#[path = "stores/cached.rs"]
mod cached;
#[path = "stores/failures.rs"]
mod failures;
#[path = "stores/faults.rs"]
mod faults;
#[path = "stores/google.rs"]
mod google;
#[path = "stores/hostile.rs"]
mod hostile;
#[path = "stores/hub.rs"]
mod hub;
#[path = "stores/hub_server.rs"]
mod hub_server;
#[path = "stores/object_map.rs"]
mod object_map;
#[path = "stores/s3.rs"]
mod s3;
#[path = "stores/server.rs"]
mod server;
#[path = "stores/tls.rs"]
mod tls;
#[path = "stores/web.rs"]
mod web;
