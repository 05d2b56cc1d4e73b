//! What a ledger shows of itself and of its workers, for `forebay status`.

use forebay_proto::v1::{LedgerStatus, WorkerStatus};

use super::{Ledger, Worker};

impl Ledger {
    /// How it is, under its name, with its workers or without.
    pub(crate) fn status(&mut self, name: &str, with_workers: bool, now: u64) -> LedgerStatus {
        let progress = self.progress();
        // While something of the epoch is left to lease, nobody is waited for.
        let last = (progress.drained > progress.floor).then_some(progress.floor);
        let listed = self.workers.iter().take_while(|_| with_workers);
        let workers = listed.map(|(name, worker)| worker.status(name, last, now)).collect();
        LedgerStatus {
            name: name.to_owned(),
            spec: Some(self.plan.spec().clone()),
            shard_size: self.shard_size,
            epochs: self.epochs,
            returned: self.unleased().map(|back| back.end - back.start).sum(),
            delivered: self.tallies.values().map(|tallies| tallies.delivered.count).sum(),
            quarantined: self.tallies.values().map(|tallies| tallies.quarantined.count).sum(),
            workers,
            progress: Some(progress),
            lease_ttl_ms: self.times.lease_ttl,
            // Of tasks, their dataset knows.
            late_reports: 0,
            open_at_end: 0,
            worker_count: self.index.len() as u64,
            leased: self.index.positions(),
        }
    }
}

impl Worker {
    /// How long nothing came from it, in milliseconds.
    pub(super) fn silent(&self, now: u64) -> u64 {
        now.saturating_sub(self.heard)
    }

    /// Positions in its leases that are not complete.
    pub(super) fn positions(&self) -> u64 {
        self.leases.values().flat_map(|held| held.open.iter()).map(|span| span.end - span.start).sum()
    }

    /// Which process it is, in words.
    pub(super) fn whereabouts(&self) -> String {
        match &self.process {
            Some(process) => format!("process {} on host {:?}", process.pid, process.host),
            None => "a process that did not say where it runs".to_owned(),
        }
    }

    /// `last` is an epoch of which nothing is left to lease.
    fn status(&self, name: &str, last: Option<u64>, now: u64) -> WorkerStatus {
        WorkerStatus {
            name: name.to_owned(),
            process: self.process.clone(),
            incarnation: self.incarnation,
            leases: self.leases.len() as u64,
            positions: self.positions(),
            silent_ms: self.silent(now),
            waits: self.waits,
            has_last: last.is_some_and(|epoch| self.leases.values().any(|held| held.lease.epoch == epoch)),
            // Of tasks, their dataset knows.
            gone_after_ms: 0,
        }
    }
}
