//! What `forebay status --coordinator` prints: the ledgers of a coordinator, and the daemons that it knows.

use std::io::{self, Write};

use forebay_printable::printable;
use forebay_proto::v1::{LedgerStatus, WorkerStatus};
use serde::Serialize;

use super::process::ProcessReport;
use crate::json::Seconds;
use crate::span::span;

/// All ledgers.
#[derive(Serialize)]
pub(super) struct LedgersReport<'a> {
    ledgers: Vec<LedgerReport<'a>>,
}

#[derive(Serialize)]
struct LedgerReport<'a> {
    name: &'a str,
    records: u64,
    #[serde(skip)]
    lease_size: u64,
    /// The first one that is not complete.
    epoch: u64,
    epochs: Option<u64>,
    delivered: u64,
    bad: u64,
    /// Positions that belong to no daemon.
    returned: u64,
    /// Positions that workers had not reported when they got the end of the data.
    open_at_end: u64,
    workers: Vec<WorkerReport<'a>>,
}

#[derive(Serialize)]
struct WorkerReport<'a> {
    name: &'a str,
    #[serde(flatten)]
    process: ProcessReport<'a>,
    leases: u64,
    positions: u64,
    #[serde(rename = "silent_seconds")]
    silent: Seconds,
}

impl<'a> LedgersReport<'a> {
    pub(super) fn new(ledgers: &'a [LedgerStatus]) -> Self {
        Self { ledgers: ledgers.iter().map(LedgerReport::new).collect() }
    }

    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        if self.ledgers.is_empty() {
            writeln!(out, "no daemon has opened a ledger yet")?;
        }
        self.ledgers.iter().try_for_each(|ledger| ledger.text(out))
    }
}

impl<'a> LedgerReport<'a> {
    fn new(ledger: &'a LedgerStatus) -> Self {
        Self {
            name: &ledger.name,
            records: ledger.spec.as_ref().map_or(0, |spec| spec.records),
            lease_size: ledger.lease_size,
            epoch: ledger.progress.unwrap_or_default().floor,
            epochs: (ledger.epochs > 0).then_some(ledger.epochs),
            delivered: ledger.delivered,
            bad: ledger.quarantined,
            returned: ledger.returned,
            open_at_end: ledger.open_at_end,
            workers: ledger.workers.iter().map(WorkerReport::new).collect(),
        }
    }

    fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { records, lease_size, epoch, delivered, bad, returned, open_at_end, .. } = self;
        let epochs = self.epochs.map_or_else(String::new, |epochs| format!(" of {epochs}"));
        writeln!(out, "ledger {}: {records} records, leases of {lease_size}", printable(self.name))?;
        writeln!(
            out,
            "  epoch    {epoch}{epochs}; {delivered} records delivered, {bad} bad records, {returned} positions returned"
        )?;
        if *open_at_end > 0 {
            writeln!(
                out,
                "  ENDED    the workers were given the end of the data, and {open_at_end} records are not reported"
            )?;
        }
        for WorkerReport { name, process, leases, positions, silent } in &self.workers {
            let (name, heard) = (printable(name), span(silent.0));
            writeln!(
                out,
                "  worker   {name}{process}: {leases} leases with {positions} open positions, heard {heard} ago"
            )?;
        }
        Ok(())
    }
}

impl<'a> WorkerReport<'a> {
    fn new(worker: &'a WorkerStatus) -> Self {
        Self {
            name: &worker.name,
            process: ProcessReport::new(worker.process.as_ref()),
            leases: worker.leases,
            positions: worker.positions,
            silent: Seconds::of_millis(worker.silent_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::{LedgerSpec, WorkerProcess};

    use super::*;

    #[test]
    fn the_ledgers_and_their_daemons_are_told_in_words_and_as_json() {
        let worker = WorkerStatus {
            name: "train-1".into(),
            process: Some(WorkerProcess { host: "a".into(), pid: 42, boot: String::new() }),
            leases: 2,
            positions: 20,
            silent_ms: 3_500,
            ..Default::default()
        };
        let ledgers = [LedgerStatus {
            name: "default/train/all".into(),
            spec: Some(LedgerSpec { records: 60, ..Default::default() }),
            lease_size: 16,
            epochs: 2,
            delivered: 12,
            workers: vec![worker],
            ..Default::default()
        }];
        let mut shown = Vec::new();
        LedgersReport::new(&ledgers).text(&mut shown).unwrap();
        assert_eq!(
            String::from_utf8(shown).unwrap(),
            "ledger default/train/all: 60 records, leases of 16\n  \
               epoch    0 of 2; 12 records delivered, 0 bad records, 0 positions returned\n  \
               worker   train-1 (process 42 on a): 2 leases with 20 open positions, heard 3 s ago\n"
        );
        let json = serde_json::to_value(LedgersReport::new(&ledgers)).unwrap();
        assert_eq!(json["ledgers"][0]["workers"][0]["silent_seconds"], 3.5);
        assert_eq!(json["ledgers"][0]["epochs"], 2);
        let mut shown = Vec::new();
        LedgersReport::new(&[]).text(&mut shown).unwrap();
        assert_eq!(shown, b"no daemon has opened a ledger yet\n");
    }
}
