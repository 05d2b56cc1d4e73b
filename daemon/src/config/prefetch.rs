//! `[prefetch]`: how files are read ahead, for each stream.

use forebay_pipeline::settings::PrefetchSettings;

use super::table::Table;
use super::value::{size, whole};

pub(super) const EXAMPLE: &str = r#"[prefetch]
# Threads that read files, for each stream. Raise it if reads wait for a network or a disk.
threads = 8
# The most requests that may be under way at a time, for each stream whose source is read by requests and not by threads.
# Forebay sends fewer while an object store refuses requests or answers too late. Object stores take at most 256. See
# docs/performance.md, "Reading".
requests = 256
# Memory for files that are read ahead of decoding, for each stream.
budget = "256mb"
# Leases whose records are read ahead.
leases_ahead = 2
"#;

/// Reads the section.
pub(super) fn read(table: &mut Table<'_, '_>) -> PrefetchSettings {
    let default = PrefetchSettings::default();
    PrefetchSettings {
        threads: table.take_or("threads", default.threads, whole(1..=1024)),
        requests: table.take_or("requests", default.requests, whole(1..=2048)),
        budget: table.take_or("budget", default.budget, size),
        leases_ahead: table.take_or("leases_ahead", default.leases_ahead, whole(1..=64)),
    }
}
