//! Workers that do not number their commands. They send no heartbeats, so it is unknown whether they live.

use forebay_proto::v1::OpenRequest;

use crate::ledger::Ledger;

/// Their incarnation. They have no other.
pub(crate) const UNNUMBERED: u64 = 1;

/// Makes such a worker known.
pub(super) fn join(ledger: &mut Ledger, worker: &str, now: u64) {
    let request = OpenRequest {
        worker: worker.to_owned(),
        incarnation: UNNUMBERED,
        // It knows tasks alone.
        ledger_version: u32::MAX,
        ..OpenRequest::default()
    };
    ledger.register(&request, now);
}

/// Whether a worker numbers its commands, and so sends heartbeats.
pub(super) fn sends_heartbeats(ledger: &Ledger, worker: &str) -> bool {
    ledger.incarnation(worker) > UNNUMBERED
}
