//! `forebay audit`: recomputes each epoch's checksum over the dataset's record numbers and compares it with the ledger's.

use std::io::{self, Write as _};

use forebay_coordinator::{EpochAudit, Verdict, audit};
use forebay_proto::v1::{AuditReply, StreamAudit, StreamAuditRequest};
use indicatif::ProgressDrawTarget;

use super::daemon::{Client, Daemon};
use super::{Failure, progress};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Name of the stream; left out, all of them.
    stream: Option<String>,
    #[command(flatten)]
    daemon: Daemon,
}

/// Below it the sum is there before a bar could be drawn.
const WORTH_A_BAR: u64 = 50_000_000;

pub(super) fn run(args: &Args) -> Result<(), Failure> {
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
    let mut wrong = 0;
    let mut out = io::stdout().lock();
    for (ledger, audit) in ledgers {
        writeln!(out, "stream {ledger}")?;
        for epoch in epochs(&audit)? {
            wrong += usize::from(epoch.verdict == Verdict::DoesNotAddUp);
            writeln!(out, "  {epoch}")?;
        }
    }
    if wrong > 0 {
        return Err(Failure::Failed(format!("{wrong} epochs do not add up: records were lost or counted twice.")));
    }
    Ok(())
}

fn epochs(reply: &AuditReply) -> Result<Vec<EpochAudit>, Failure> {
    let records = reply.spec.as_ref().map_or(0, |spec| spec.records) * reply.epochs.len() as u64;
    let bar = progress::bar(records, "{wide_bar} {human_pos} of {human_len} records, {eta} left");
    if records < WORTH_A_BAR {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let audited = audit(reply, |done| bar.inc(done)).map_err(|error| Failure::Failed(error.to_string()))?;
    bar.finish_and_clear();
    Ok(audited)
}
