//! Tasks that are not reported: after how long, and because of what, they go to other workers.

use std::collections::BTreeSet;

use forebay_proto::v1::{Cause, Lease, LedgerStatus};

use super::{Tasks, UNNUMBERED, sends_heartbeats};
use crate::ledger::Ledger;

/// How often it looks for tasks that take too long, in milliseconds.
const LOOK: u64 = 250;

impl Tasks {
    /// A heartbeat of the worker that has these leases has named them.
    pub(crate) fn heard(&mut self, leases: impl Iterator<Item = u64>, now: u64) {
        self.named.extend(leases.map(|lease| (lease, now)));
    }

    /// Takes away tasks that were not reported in time, or whose worker sends no heartbeats any more.
    pub(crate) fn expire(&mut self, ledger: &mut Ledger, now: u64) {
        if now < self.looked.saturating_add(LOOK) {
            return;
        }
        self.looked = now;
        self.waits.retain(|_, until| *until > now);
        let longest = self.longest();
        // Of tasks from before a restart, the time begins with it.
        let since = |lease: &Lease| self.given.get(&lease.id).copied().unwrap_or(self.loaded);
        let late = |(worker, lease): (&str, &Lease)| {
            let is_slow = now.saturating_sub(since(lease)) >= longest;
            let named = self.named.get(&lease.id).copied().unwrap_or_else(|| since(lease));
            let is_silent = now.saturating_sub(named) >= self.lease_ttl && sends_heartbeats(ledger, worker);
            (is_slow || is_silent).then_some((lease.id, is_silent))
        };
        let late: Vec<(u64, bool)> = ledger.leases().filter_map(late).collect();
        for (lease, is_silent) in late {
            let Some(held) = ledger.held(lease) else { continue };
            let (dataset, worker, task) = (&self.stored.dataset, &held.worker, self.id(lease));
            if is_silent {
                let silent = self.lease_ttl;
                tracing::warn!(dataset, worker, task, silent, "a worker is silent: another worker gets its task");
            } else {
                tracing::warn!(
                    dataset,
                    worker,
                    task,
                    longest,
                    "a task was not reported in time: another worker gets it"
                );
            }
            self.take_away(ledger, lease, &held, Cause::LeaseExpired, now);
        }
        // Other commands may have ended leases.
        let open: BTreeSet<u64> = ledger.leases().map(|(_, lease)| lease.id).collect();
        self.given.retain(|lease, _| open.contains(lease));
        self.named.retain(|lease, _| open.contains(lease));
        self.received.keep(&open);
        self.stir(ledger, now);
    }

    /// How long a task may take.
    fn longest(&self) -> u64 {
        self.timeout.max(self.stored.longest.saturating_mul(3))
    }

    /// Adds what the ledger's own status does not know.
    pub(crate) fn complete(&self, status: &mut LedgerStatus) {
        status.late_reports = self.stored.late_reports;
        status.open_at_end = if self.has_ended() { status.leased + status.returned } else { 0 };
        for worker in &mut status.workers {
            let sends_heartbeats = worker.incarnation > UNNUMBERED;
            worker.gone_after_ms = if sends_heartbeats { self.lease_ttl } else { self.longest() };
        }
    }
}
