//! What a ledger shows of itself and of its workers, for `forebay status`.

use forebay_proto::v1::{LedgerStatus, WorkerStatus};

use super::{Ledger, Worker};

impl Ledger {
    /// How it is, under its name.
    pub(crate) fn status(&mut self, name: &str, now: u64) -> LedgerStatus {
        let workers = self.workers.iter().map(|(name, worker)| worker.status(name, now)).collect();
        LedgerStatus {
            name: name.to_owned(),
            spec: Some(self.plan.spec().clone()),
            shard_size: self.shard_size,
            epochs: self.epochs,
            returned: self.returned.iter().map(|back| back.end - back.start).sum(),
            delivered: self.tallies.values().map(|tallies| tallies.delivered.count).sum(),
            quarantined: self.tallies.values().map(|tallies| tallies.quarantined.count).sum(),
            workers,
            progress: Some(self.progress()),
        }
    }
}

impl Worker {
    /// How long nothing came from it, in milliseconds.
    pub(super) fn silent(&self, now: u64) -> u64 {
        now.saturating_sub(self.heard)
    }

    /// Which process it is, in words.
    pub(super) fn whereabouts(&self) -> String {
        match &self.process {
            Some(process) => format!("process {} on host {:?}", process.pid, process.host),
            None => "a process that did not say where it runs".to_owned(),
        }
    }

    fn status(&self, name: &str, now: u64) -> WorkerStatus {
        let open = self.leases.values().flat_map(|held| held.open.iter());
        WorkerStatus {
            name: name.to_owned(),
            process: self.process.clone(),
            incarnation: self.incarnation,
            leases: self.leases.len() as u64,
            positions: open.map(|span| span.end - span.start).sum(),
            silent_ms: self.silent(now),
        }
    }
}
