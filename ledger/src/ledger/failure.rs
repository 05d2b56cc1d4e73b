//! When a run has failed, for the trainers of all nodes: at one bad record too many (semantics rule 41).

use forebay_proto::v1::{BadRecord, policies::OnError};

use super::{Ledger, tallies::cut};

impl Ledger {
    /// Decides whether the run fails at this bad record, which a worker has found and which is in the quarantine. The first
    /// failure is the one that is kept. A shard or a rank has one daemon, which decides by itself; only how many records were
    /// bad over its restarts, the ledger alone knows.
    pub(super) fn judge(&mut self, worker: &str, epoch: u64, bad: &BadRecord) {
        let is_shared = self.plan.part().is_none();
        let Some(policies) = self.policies.filter(|_| self.failure.why.is_empty()) else { return };
        let count = self.bad.len();
        let records = self.plan.epoch_records(epoch);
        let of_epoch = self.tallies.get(epoch).map_or(0, |tallies| tallies.quarantined.count);
        let words = if is_shared && policies.on_error() == OnError::Fail {
            "The stream stops at a bad record because on_error is \"fail\"; \"skip\" or \"replace\" go on".to_owned()
        } else if let Some(limit) = policies.max_failures.filter(|limit| count > *limit) {
            let nodes = if is_shared { " on all nodes" } else { "" };
            format!("{count} bad records{nodes} are more than max_failures ({limit})")
        } else if is_shared && of_epoch >= records {
            format!("Every record of epoch {epoch} is bad, {records} in all. Mend the dataset, and begin a new run")
        } else {
            return;
        };
        let BadRecord { record, file, reason, .. } = bad;
        let (file, reason) = (cut(file), cut(reason.trim_end_matches('.')));
        self.failure.why = format!("record {record} ({file}), which node {worker:?} has read: {reason}. {words}");
        self.failure.number += 1;
        self.touch();
    }

    /// A restore, a reset or another opening ends a failure.
    pub(super) fn go_on_after_failure(&mut self) {
        if !self.failure.why.is_empty() {
            self.failure.why.clear();
            self.failure.number += 1;
            self.touch();
        }
    }
}
