//! What `forebay status --coordinator` prints: the ledgers of a coordinator, and the daemons that it knows.

use std::io::{self, Write};
use std::time::Duration;

use forebay_printable::printable;
use forebay_proto::v1::{LedgerStatus, WorkerStatus};
use serde_json::{Value, json};

use crate::span::span;

pub(super) fn text(out: &mut impl Write, ledgers: &[LedgerStatus]) -> io::Result<()> {
    if ledgers.is_empty() {
        writeln!(out, "no daemon has opened a ledger yet")?;
    }
    for ledger in ledgers {
        let records = ledger.spec.as_ref().map_or(0, |spec| spec.records);
        let progress = ledger.progress.unwrap_or_default();
        let epochs = if ledger.epochs == 0 { String::new() } else { format!(" of {}", ledger.epochs) };
        writeln!(out, "ledger {}: {records} records, leases of {}", printable(&ledger.name), ledger.shard_size)?;
        writeln!(
            out,
            "  epoch    {}{epochs}; {} records delivered, {} bad records, {} positions returned",
            progress.floor, ledger.delivered, ledger.quarantined, ledger.returned
        )?;
        if ledger.open_at_end > 0 {
            let open = ledger.open_at_end;
            writeln!(
                out,
                "  ENDED    the workers were given the end of the data, and {open} records are not reported"
            )?;
        }
        for WorkerStatus { name, process, leases, positions, silent_ms, .. } in &ledger.workers {
            let place = process.as_ref().map_or_else(String::new, |process| {
                format!(" (process {} on {})", process.pid, printable(&process.host))
            });
            writeln!(
                out,
                "  worker   {}{place}: {leases} leases with {positions} open positions, heard {} ago",
                printable(name),
                span(Duration::from_millis(*silent_ms))
            )?;
        }
    }
    Ok(())
}

/// docs/operating.md has the fields: they keep their names and meanings, and new ones may be added.
pub(super) fn json(ledgers: &[LedgerStatus]) -> Value {
    let worker = |worker: &WorkerStatus| {
        let process = worker.process.as_ref();
        json!({
            "name": worker.name,
            "host": process.map(|process| &process.host),
            "pid": process.map(|process| process.pid),
            "leases": worker.leases,
            "positions": worker.positions,
            "silent_seconds": Duration::from_millis(worker.silent_ms).as_secs_f64(),
        })
    };
    let ledger = |ledger: &LedgerStatus| {
        json!({
            "name": ledger.name,
            "records": ledger.spec.as_ref().map_or(0, |spec| spec.records),
            "epoch": ledger.progress.unwrap_or_default().floor,
            "epochs": (ledger.epochs > 0).then_some(ledger.epochs),
            "delivered": ledger.delivered,
            "bad": ledger.quarantined,
            "returned": ledger.returned,
            "open_at_end": ledger.open_at_end,
            "workers": ledger.workers.iter().map(worker).collect::<Value>(),
        })
    };
    json!({ "ledgers": ledgers.iter().map(ledger).collect::<Value>() })
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
            shard_size: 16,
            epochs: 2,
            delivered: 12,
            workers: vec![worker],
            ..Default::default()
        }];
        let mut shown = Vec::new();
        text(&mut shown, &ledgers).unwrap();
        assert_eq!(
            String::from_utf8(shown).unwrap(),
            "ledger default/train/all: 60 records, leases of 16\n  \
               epoch    0 of 2; 12 records delivered, 0 bad records, 0 positions returned\n  \
               worker   train-1 (process 42 on a): 2 leases with 20 open positions, heard 3 s ago\n"
        );
        let json = json(&ledgers);
        assert_eq!(json["ledgers"][0]["workers"][0]["silent_seconds"], 3.5);
        assert_eq!(json["ledgers"][0]["epochs"], 2);
        let mut shown = Vec::new();
        text(&mut shown, &[]).unwrap();
        assert_eq!(shown, b"no daemon has opened a ledger yet\n");
    }
}
