//! `forebay audit`: recomputes each epoch's checksum over the dataset's record numbers, and compares it with the
//! ledger's.

mod follow;
mod report;

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use forebay_plan::{EpochAudit, RecoveryAudit, RunAudit, SpecError, Verdict, audit, audit_run};
use forebay_proto::v1::{AuditReply, LedgerSpec, StreamAudit, StreamAuditRequest};
use indicatif::ProgressDrawTarget;

use crate::daemon::{Client, Daemon, duration};
use crate::failure::Failure;
use crate::remote::{Coordinator, CoordinatorArgs};
use crate::{json, progress};
use report::AuditReport;

#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {
    /// Name of the stream. Left out: all streams.
    stream: Option<String>,
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
    /// Go on, and tell each epoch when it is complete, until all are. With a duration: how often the ledgers are asked.
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true, default_missing_value = "1s",
          value_parser = duration)]
    follow: Option<Duration>,
    #[command(flatten)]
    daemon: Daemon,
    #[command(flatten)]
    coordinator: CoordinatorArgs,
}

/// What the audit reports of a ledger.
struct Audited<'a> {
    ledger: &'a str,
    epochs: Vec<EpochAudit>,
    recoveries: Vec<RecoveryAudit>,
}

/// Below it the sum is there before a bar could be drawn.
const WORTH_A_BAR: u64 = 50_000_000;

pub(crate) fn run(args: &AuditArgs) -> Result<(), Failure> {
    let coordinator = args.coordinator.coordinator(&args.daemon)?;
    let ask = || match &coordinator {
        Some(coordinator) => of_coordinator(args, coordinator),
        None => of_daemon(args),
    };
    if let Some(every) = args.follow {
        return follow::follow(ask, every, args.json);
    }
    let ledgers = ask()?;
    let audited: Vec<Audited<'_>> = ledgers.iter().map(Audited::new).collect::<Result<_, Failure>>()?;
    let runs = runs(&ledgers)?;
    let report = AuditReport::new(&audited, &runs);
    let mut out = io::stdout().lock();
    let printed = if args.json { json::print(&mut out, &report) } else { report.text(&mut out) };
    printed?;
    let all = audited.iter().flat_map(|audited| &audited.epochs).chain(runs.iter().flat_map(|run| &run.epochs));
    let mut answer = AuditAnswer::default();
    all.for_each(|epoch| answer.add(epoch));
    answer.end()
}

/// The accounts of the runs in lockstep, each once.
fn runs(ledgers: &[(String, AuditReply)]) -> Result<Vec<RunAudit>, Failure> {
    let mut by_stream: BTreeMap<&str, &AuditReply> = BTreeMap::new();
    for (_, reply) in ledgers {
        if let Some(run) = &reply.run {
            by_stream.insert(&run.stream, reply);
        }
    }
    let audits = by_stream.into_values().map(|reply| with_bar(reply, |reply, done| audit_run(reply, done)));
    audits.filter_map(Result::transpose).collect()
}

/// The answer of an audit: whole, complete but for bad records, or it does not add up.
#[derive(Debug, Default)]
struct AuditAnswer {
    /// Epochs that do not add up.
    wrong: u64,
    /// Bad records of the others.
    bad: u64,
}

impl AuditAnswer {
    fn add(&mut self, epoch: &EpochAudit) {
        self.wrong += u64::from(epoch.verdict == Verdict::DoesNotAddUp);
        self.bad += epoch.bad();
    }

    /// The end of the audit. Its exit code tells the three answers apart.
    fn end(&self) -> Result<(), Failure> {
        match *self {
            Self { wrong: 0, bad: 0 } => Ok(()),
            Self { wrong: 0, bad } => Err(Failure::LacksBad(bad)),
            Self { wrong, .. } => {
                Err(Failure::Failed(format!("{wrong} epochs do not add up: records were lost or counted twice.")))
            }
        }
    }
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
    with_bar(reply, |reply, done| audit(reply, done))
}

/// Shows how far an audit is that takes its time.
fn with_bar<T>(
    reply: &AuditReply,
    audit: impl FnOnce(&AuditReply, &mut dyn FnMut(u64)) -> Result<T, SpecError>,
) -> Result<T, Failure> {
    let records = reply.spec.as_ref().map_or(0, positions).saturating_mul(reply.epochs.len() as u64);
    let bar = progress::bar(records, "{wide_bar} {human_pos} of {human_len} records, {eta} left");
    if records < WORTH_A_BAR {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let audited = audit(reply, &mut |done| bar.inc(done)).map_err(|error| Failure::Failed(error.to_string()))?;
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
