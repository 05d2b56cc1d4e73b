//! `forebay audit`: recomputes each epoch's checksum over the dataset's record numbers, and compares it with the
//! ledger's.

use std::io::{self, Write as _};

use forebay_coordinator::{EpochAudit, RecoveryAudit, SourceAudit, Verdict, audit};
use forebay_proto::v1::{AuditReply, LedgerSpec, StreamAudit, StreamAuditRequest};
use indicatif::ProgressDrawTarget;
use serde_json::{Value, json};

use crate::daemon::{Client, Daemon};
use crate::failure::Failure;
use crate::progress;
use crate::remote::{Coordinator, CoordinatorArgs};

#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {
    /// Name of the stream. Left out: all streams.
    stream: Option<String>,
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Daemon,
    #[command(flatten)]
    coordinator: CoordinatorArgs,
}

/// What there is to say of a ledger.
struct Audited<'a> {
    ledger: &'a str,
    epochs: Vec<EpochAudit>,
    recoveries: Vec<RecoveryAudit>,
}

/// Below it the sum is there before a bar could be drawn.
const WORTH_A_BAR: u64 = 50_000_000;

pub(crate) fn run(args: &AuditArgs) -> Result<(), Failure> {
    let ledgers = match args.coordinator.coordinator(&args.daemon)? {
        Some(coordinator) => of_coordinator(args, &coordinator)?,
        None => of_daemon(args)?,
    };
    let audited: Vec<Audited<'_>> = ledgers.iter().map(Audited::new).collect::<Result<_, Failure>>()?;
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{:#}", json(&audited))?;
    } else {
        for Audited { ledger, epochs, recoveries } in &audited {
            writeln!(out, "stream {ledger}")?;
            recoveries.iter().try_for_each(|recovery| writeln!(out, "  {recovery}"))?;
            for epoch in epochs {
                writeln!(out, "  {epoch}")?;
                epoch.sources.iter().try_for_each(|source| writeln!(out, "    {source}"))?;
            }
        }
    }
    let all = audited.iter().flat_map(|audited| &audited.epochs);
    let wrong = all.filter(|epoch| epoch.verdict == Verdict::DoesNotAddUp).count();
    if wrong > 0 {
        return Err(Failure::Failed(format!("{wrong} epochs do not add up: records were lost or counted twice.")));
    }
    Ok(())
}

impl<'a> Audited<'a> {
    fn new((ledger, reply): &'a (String, AuditReply)) -> Result<Self, Failure> {
        let recoveries = reply.recoveries.iter().map(RecoveryAudit::from).collect();
        Ok(Self { ledger, epochs: epochs(reply)?, recoveries })
    }
}

/// The ledgers of a coordinator, with their tallies.
fn of_coordinator(args: &AuditArgs, coordinator: &Coordinator) -> Result<Vec<(String, AuditReply)>, Failure> {
    let mut audits = Vec::new();
    for ledger in coordinator.ledgers(args.stream.as_deref())? {
        let audit = coordinator.audit(&ledger.name)?;
        audits.push((ledger.name, audit));
    }
    Ok(audits)
}

/// The ledgers of a daemon's streams, with their tallies.
fn of_daemon(args: &AuditArgs) -> Result<Vec<(String, AuditReply)>, Failure> {
    let request = StreamAuditRequest { stream: args.stream.clone().unwrap_or_default() };
    let mut ledgers: Vec<(String, AuditReply)> = Vec::new();
    let ask = |mut client: Client| async move { client.list_audits(request).await };
    args.daemon.ask_pages(ask, |StreamAudit { ledger, audit }| {
        let page = audit.unwrap_or_default();
        match ledgers.last_mut().filter(|(last, _)| *last == ledger) {
            Some((_, audit)) => audit.append(page),
            None => ledgers.push((ledger, page)),
        }
        Ok(())
    })?;
    Ok(ledgers)
}

fn epochs(reply: &AuditReply) -> Result<Vec<EpochAudit>, Failure> {
    let records = reply.spec.as_ref().map_or(0, positions).saturating_mul(reply.epochs.len() as u64);
    let bar = progress::bar(records, "{wide_bar} {human_pos} of {human_len} records, {eta} left");
    if records < WORTH_A_BAR {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let audited = audit(reply, |done| bar.inc(done)).map_err(|error| Failure::Failed(error.to_string()))?;
    bar.finish_and_clear();
    Ok(audited)
}

/// How many positions an epoch of the whole dataset has.
fn positions(spec: &LedgerSpec) -> u64 {
    match &*spec.sources {
        [] => spec.records,
        sources => sources.iter().fold(0, |sum, source| sum.saturating_add(source.positions)),
    }
}

/// docs/operating.md has the fields: they keep their names and meanings, and new ones may be added.
fn json(ledgers: &[Audited<'_>]) -> Value {
    let source = |source: &SourceAudit| {
        json!({
            "source": source.name,
            "records": source.records,
            "positions": source.positions,
            "repeats": source.repeats,
            "accounted": source.accounted(),
            "delivered": source.delivered,
            "dropped": source.dropped,
            "quarantined": source.quarantined,
            "abandoned": source.abandoned,
            "possibly_repeated": source.possibly_repeated,
        })
    };
    let epoch = |audit: &EpochAudit| {
        let verdict = match audit.verdict {
            Verdict::AddsUp => "adds_up",
            Verdict::Incomplete => "incomplete",
            Verdict::DoesNotAddUp => "does_not_add_up",
        };
        let accounted = audit.accounted();
        let repeated = audit.repeats.named().into_iter().map(|(cause, _, count)| (cause.to_owned(), count.into()));
        json!({
            "epoch": audit.epoch,
            "verdict": verdict,
            "records": audit.expected.count,
            "accounted": accounted.count,
            "delivered": audit.delivered.count,
            "dropped": audit.dropped.count,
            "quarantined": audit.quarantined.count,
            "abandoned": audit.abandoned.count,
            "possibly_repeated": Value::Object(repeated.collect()),
            "sources": audit.sources.iter().map(source).collect::<Value>(),
            "checksum": format!("{:032x}", accounted.sum),
            "checksum_expected": format!("{:032x}", audit.expected.sum),
        })
    };
    let recovery =
        |recovery: &RecoveryAudit| json!({ "generation": recovery.generation, "snapshot_taken": recovery.taken });
    let ledger = |audited: &Audited<'_>| {
        json!({
            "name": audited.ledger,
            "epochs": audited.epochs.iter().map(epoch).collect::<Value>(),
            "recoveries": audited.recoveries.iter().map(recovery).collect::<Value>(),
        })
    };
    json!({ "streams": ledgers.iter().map(ledger).collect::<Value>() })
}
