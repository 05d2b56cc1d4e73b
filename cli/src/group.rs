//! How trainers and groups of them are named.

use forebay_printable::printable;

/// The name of a group.
pub(crate) fn members(name: &str, pids: &[u32]) -> String {
    if name.is_empty() {
        format!("of process {}", pids.first().unwrap_or(&0))
    } else {
        let trainers = if pids.len() == 1 { "1 trainer".to_owned() } else { format!("{} trainers", pids.len()) };
        format!("{} ({trainers})", printable(name))
    }
}

/// A trainer's process.
pub(crate) fn process(pid: u32, foreign: bool) -> String {
    // The number names no process, or another one, where the daemon runs.
    if foreign { format!("process {pid} in a container of its own") } else { format!("process {pid}") }
}

/// A number of batches, in words.
pub(crate) fn in_batches(count: impl Into<u64>) -> String {
    match count.into() {
        1 => "1 batch".to_owned(),
        count => format!("{count} batches"),
    }
}
