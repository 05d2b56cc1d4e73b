//! What `forebay audit` reports. Its text and its JSON are made from the same structs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use forebay_plan::{EpochAudit, GroupAudit, GroupVerdict, RecoveryAudit, RunAudit, SourceAudit, Verdict};
use forebay_printable::printable;
use serde::Serialize;

use super::Audited;

/// All ledgers, and the runs in lockstep.
#[derive(Serialize)]
pub(super) struct AuditReport<'a> {
    streams: Vec<LedgerAuditReport<'a>>,
    runs: Vec<RunReport<'a>>,
}

/// A ledger.
#[derive(Serialize)]
pub(super) struct LedgerAuditReport<'a> {
    name: &'a str,
    epochs: Vec<EpochReport<'a>>,
    recoveries: Vec<RecoveryReport<'a>>,
}

#[derive(Serialize)]
struct RecoveryReport<'a> {
    #[serde(skip)]
    line: &'a RecoveryAudit,
    generation: u64,
    snapshot_taken: u64,
}

/// All ranks of a run together.
#[derive(Serialize)]
struct RunReport<'a> {
    #[serde(skip)]
    line: &'a RunAudit,
    name: &'a str,
    segments: Vec<SegmentReport>,
    epochs: Vec<EpochReport<'a>>,
}

#[derive(Serialize)]
struct SegmentReport {
    world_size: u32,
    from_epoch: u64,
    from_step: u64,
}

/// An epoch. Of the sums of records, these are the counts.
#[derive(Serialize)]
struct EpochReport<'a> {
    #[serde(skip)]
    line: &'a EpochAudit,
    epoch: u64,
    from_position: u64,
    until_position: Option<u64>,
    verdict: &'static str,
    answer: Option<&'static str>,
    records: u64,
    accounted: u64,
    delivered: u64,
    delivered_by_state: u64,
    dropped: u64,
    quarantined: u64,
    abandoned: u64,
    /// By cause.
    possibly_repeated: BTreeMap<&'static str, u64>,
    sources: Vec<SourceReport<'a>>,
    groups: Vec<GroupAuditReport<'a>>,
    checksum: String,
    checksum_expected: String,
}

#[derive(Serialize)]
struct SourceReport<'a> {
    #[serde(skip)]
    line: &'a SourceAudit,
    source: &'a str,
    records: u64,
    positions: u64,
    repeats: u64,
    accounted: u64,
    delivered: u64,
    dropped: u64,
    quarantined: u64,
    abandoned: u64,
    possibly_repeated: u64,
}

#[derive(Serialize)]
struct GroupAuditReport<'a> {
    #[serde(skip)]
    line: &'a GroupAudit,
    group: Option<&'a str>,
    pid: Option<u32>,
    verdict: &'static str,
    records: u64,
    first_batch: Option<u64>,
    last_batch: Option<u64>,
    missed: Option<MissedReport>,
    checksum: String,
}

#[derive(Serialize)]
struct MissedReport {
    from_batch: u64,
    to_batch: u64,
    records: u64,
}

impl<'a> AuditReport<'a> {
    pub(super) fn new(ledgers: &'a [Audited<'a>], runs: &'a [RunAudit]) -> Self {
        Self {
            streams: ledgers.iter().map(LedgerAuditReport::new).collect(),
            runs: runs.iter().map(RunReport::new).collect(),
        }
    }

    /// Lines for each ledger and each run.
    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        for LedgerAuditReport { name, epochs, recoveries } in &self.streams {
            writeln!(out, "stream {name}")?;
            recoveries.iter().try_for_each(|recovery| writeln!(out, "  {}", recovery.line))?;
            epochs.iter().try_for_each(|epoch| epoch.text(out, "  "))?;
        }
        for RunReport { line, name, epochs, .. } in &self.runs {
            writeln!(out, "all ranks of {}: {line}", printable(name))?;
            epochs.iter().try_for_each(|epoch| epoch.text(out, "  "))?;
        }
        Ok(())
    }
}

impl<'a> LedgerAuditReport<'a> {
    pub(super) fn new(audited: &'a Audited<'a>) -> Self {
        let recovery =
            |line: &'a RecoveryAudit| RecoveryReport { line, generation: line.generation, snapshot_taken: line.taken };
        Self {
            name: audited.ledger,
            epochs: audited.epochs.iter().map(EpochReport::new).collect(),
            recoveries: audited.recoveries.iter().map(recovery).collect(),
        }
    }

    /// Lines for each epoch, which name the ledger: those of several ledgers follow each other.
    pub(super) fn follow_text(&self, out: &mut impl Write) -> io::Result<()> {
        self.epochs.iter().try_for_each(|epoch| epoch.text(out, &format!("{}: ", self.name)))
    }
}

impl<'a> RunReport<'a> {
    fn new(line: &'a RunAudit) -> Self {
        let segments = line.segments.iter().map(|segment| SegmentReport {
            world_size: segment.world_size,
            from_epoch: segment.epoch,
            from_step: segment.step,
        });
        Self {
            line,
            name: &line.stream,
            segments: segments.collect(),
            epochs: line.epochs.iter().map(EpochReport::new).collect(),
        }
    }
}

impl<'a> EpochReport<'a> {
    fn new(line: &'a EpochAudit) -> Self {
        let (verdict, answer) = match line.verdict {
            Verdict::AddsUp if line.bad() > 0 => ("adds_up", Some("complete_but_for_bad")),
            Verdict::AddsUp => ("adds_up", Some("whole")),
            Verdict::Incomplete => ("incomplete", None),
            Verdict::DoesNotAddUp => ("does_not_add_up", Some("does_not_add_up")),
        };
        let accounted = line.accounted();
        Self {
            line,
            epoch: line.epoch,
            from_position: line.from,
            until_position: line.until,
            verdict,
            answer,
            records: line.expected.count,
            accounted: accounted.count,
            delivered: line.sums.delivered.count,
            delivered_by_state: line.sums.by_state.count,
            dropped: line.sums.dropped.count,
            quarantined: line.sums.quarantined.count,
            abandoned: line.sums.abandoned.count,
            possibly_repeated: line.repeats.named().into_iter().map(|(cause, _, count)| (cause, count)).collect(),
            sources: line.sources.iter().map(SourceReport::new).collect(),
            groups: line.groups.iter().map(GroupAuditReport::new).collect(),
            checksum: checksum(accounted.sum),
            checksum_expected: checksum(line.expected.sum),
        }
    }

    /// A line behind `lead`, and one for each of its sources and groups.
    fn text(&self, out: &mut impl Write, lead: &str) -> io::Result<()> {
        writeln!(out, "{lead}{}", self.line)?;
        self.sources.iter().try_for_each(|source| writeln!(out, "    {}", source.line))?;
        self.groups.iter().try_for_each(|group| writeln!(out, "    {}", group.line))
    }
}

impl<'a> SourceReport<'a> {
    fn new(line: &'a SourceAudit) -> Self {
        Self {
            line,
            source: &line.name,
            records: line.records,
            positions: line.positions,
            repeats: line.repeats,
            accounted: line.accounted(),
            delivered: line.delivered,
            dropped: line.dropped,
            quarantined: line.quarantined,
            abandoned: line.abandoned,
            possibly_repeated: line.possibly_repeated,
        }
    }
}

impl<'a> GroupAuditReport<'a> {
    fn new(line: &'a GroupAudit) -> Self {
        let verdict = match line.verdict {
            GroupVerdict::Whole => "whole",
            GroupVerdict::Part => "part",
            GroupVerdict::Differs => "differs",
        };
        let missed = |(from_batch, to_batch, records)| MissedReport { from_batch, to_batch, records };
        Self {
            line,
            group: line.name.as_deref(),
            pid: (line.pid > 0).then_some(line.pid),
            verdict,
            records: line.consumed.count,
            first_batch: line.batches.map(|(first, _)| first),
            last_batch: line.batches.map(|(_, last)| last),
            missed: line.missed.map(missed),
            checksum: checksum(line.consumed.sum),
        }
    }
}

/// A sum of hashes as programs read it.
fn checksum(sum: u128) -> String {
    format!("{sum:032x}")
}

#[cfg(test)]
mod tests {
    use forebay_plan::{Plan, audit, audit_run, expected};
    use forebay_proto::v1::{
        AuditReply, EpochTally, GroupKey, GroupTally, LedgerSpec, LockstepAudit, LockstepSegment, MissedBatches,
        Progress, Repeats, Tally,
    };

    use super::*;
    use crate::json;

    fn tally(epoch: u64, delivered: Tally, quarantined: u64) -> EpochTally {
        EpochTally {
            epoch,
            delivered: Some(delivered),
            quarantined: Some(Tally { count: quarantined, ..Tally::default() }),
            ..EpochTally::default()
        }
    }

    /// A ledger of four records: a whole epoch that two groups have read, one that does not add up, and one that is not complete.
    fn reply() -> AuditReply {
        let spec = LedgerSpec { fingerprint: vec![1; 32], records: 4, permutation: 1, ..LedgerSpec::default() };
        let whole = expected(&Plan::new(&spec).unwrap(), 0, 0..4, |_| {}).sum;
        let (sum_high, sum_low) = whole.halves();
        let whole = Tally { count: 4, sum_high, sum_low };
        let group = |key, consumed, missed| GroupTally {
            group: Some(key),
            consumed: Some(consumed),
            last_batch: 1,
            missed,
            ..GroupTally::default()
        };
        let missed = MissedBatches { from: 0, to: 0, records: 2, ..MissedBatches::default() };
        let named = GroupKey { name: "probe".to_owned(), ..GroupKey::default() };
        let alone = GroupKey { pid: 7, ..GroupKey::default() };
        let mut first = tally(0, whole, 0);
        first.groups = vec![group(named, whole, None), group(alone, Tally { count: 2, ..whole }, Some(missed))];
        first.repeats = Some(Repeats { trainer_ended: 3, ..Repeats::default() });
        let epochs = vec![first, tally(1, Tally { count: 3, ..whole }, 1), tally(2, Tally::default(), 0)];
        let segments = vec![LockstepSegment { world_size: 2, ..LockstepSegment::default() }];
        let run =
            LockstepAudit { stream: "jobs/train".to_owned(), segments, epochs: vec![tally(0, whole, 0)], floor: 1 };
        let progress = Some(Progress { floor: 2, ..Progress::default() });
        AuditReply { spec: Some(spec), epochs, progress, run: Some(run), ..AuditReply::default() }
    }

    #[test]
    fn an_audit_is_told_as_text_and_as_json() {
        let reply = reply();
        let recoveries = vec![RecoveryAudit { generation: 65_536, taken: 1_795_426_201 }];
        let audited = [Audited { ledger: "train", epochs: audit(&reply, |_| {}).unwrap(), recoveries }];
        let runs = [audit_run(&reply, |_| {}).unwrap().unwrap()];
        let report = AuditReport::new(&audited, &runs);
        let (mut text, mut as_json, mut follow) = (Vec::new(), Vec::new(), Vec::new());
        report.text(&mut text).unwrap();
        json::print(&mut as_json, &report).unwrap();
        report.streams[0].follow_text(&mut follow).unwrap();
        insta::assert_snapshot!("audit_text", String::from_utf8(text).unwrap());
        insta::assert_snapshot!("audit_json", String::from_utf8(as_json).unwrap());
        insta::assert_snapshot!("audit_follow_text", String::from_utf8(follow).unwrap());
    }
}
