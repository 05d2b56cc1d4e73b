//! Who this daemon is for its ledgers (semantics rule 33).

use std::fs;

use forebay_pipeline::Node;
use forebay_proto::v1::WorkerProcess;

/// The only daemon that has its ledgers. The machine's name does not matter: a container has a new one at each start.
pub(super) fn local() -> Node {
    Node { name: "local".into(), process: None }
}

/// One of several daemons of a coordinator: the name that it was given, or the machine's.
pub(super) fn remote(name: Option<String>) -> Node {
    let host = host();
    // It only tells boots apart: without it, each process is taken for one of the same boot.
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let process = WorkerProcess { host: host.clone(), pid: std::process::id(), boot: boot.trim().to_owned() };
    Node { name: name.unwrap_or(host), process: Some(process) }
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
