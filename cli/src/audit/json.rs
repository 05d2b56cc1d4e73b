//! What `forebay audit --json` prints.

use forebay_plan::{EpochAudit, GroupAudit, GroupVerdict, RecoveryAudit, RunAudit, SourceAudit, Verdict};
use forebay_proto::v1::LockstepSegment;
use serde_json::{Value, json};

use super::Audited;

/// All ledgers, and the runs in lockstep. docs/operating.md has the fields: they keep their names and meanings, and new ones may
/// be added.
pub(super) fn all(ledgers: &[Audited<'_>], runs: &[RunAudit]) -> Value {
    json!({
        "streams": ledgers.iter().map(ledger).collect::<Value>(),
        "runs": runs.iter().map(run).collect::<Value>(),
    })
}

/// All ranks of a run together.
fn run(run: &RunAudit) -> Value {
    let segment = |segment: &LockstepSegment| json!({ "world_size": segment.world_size, "from_epoch": segment.epoch, "from_step": segment.step });
    json!({
        "name": run.stream,
        "segments": run.segments.iter().map(segment).collect::<Value>(),
        "epochs": run.epochs.iter().map(epoch).collect::<Value>(),
    })
}

/// An epoch.
fn epoch(audit: &EpochAudit) -> Value {
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
    let group = |group: &GroupAudit| {
        let verdict = match group.verdict {
            GroupVerdict::Whole => "whole",
            GroupVerdict::Part => "part",
            GroupVerdict::Differs => "differs",
        };
        json!({
            "group": group.name,
            "pid": (group.pid > 0).then_some(group.pid),
            "verdict": verdict,
            "records": group.consumed.count,
            "first_batch": group.batches.map(|(first, _)| first),
            "last_batch": group.batches.map(|(_, last)| last),
            "missed": group.missed.map(|(from, to, records)| {
                json!({ "from_batch": from, "to_batch": to, "records": records })
            }),
            "checksum": format!("{:032x}", group.consumed.sum),
        })
    };
    let verdict = match audit.verdict {
        Verdict::AddsUp => "adds_up",
        Verdict::Incomplete => "incomplete",
        Verdict::DoesNotAddUp => "does_not_add_up",
    };
    let answer = match audit.verdict {
        Verdict::AddsUp if audit.bad() > 0 => Some("complete_but_for_bad"),
        Verdict::AddsUp => Some("whole"),
        Verdict::Incomplete => None,
        Verdict::DoesNotAddUp => Some("does_not_add_up"),
    };
    let accounted = audit.accounted();
    let repeated = audit.repeats.named().into_iter().map(|(cause, _, count)| (cause.to_owned(), count.into()));
    json!({
        "epoch": audit.epoch,
        "from_position": audit.from,
        "until_position": audit.until,
        "verdict": verdict,
        "answer": answer,
        "records": audit.expected.count,
        "accounted": accounted.count,
        "delivered": audit.delivered.count,
        "delivered_by_state": audit.by_state.count,
        "dropped": audit.dropped.count,
        "quarantined": audit.quarantined.count,
        "abandoned": audit.abandoned.count,
        "possibly_repeated": Value::Object(repeated.collect()),
        "sources": audit.sources.iter().map(source).collect::<Value>(),
        "groups": audit.groups.iter().map(group).collect::<Value>(),
        "checksum": format!("{:032x}", accounted.sum),
        "checksum_expected": format!("{:032x}", audit.expected.sum),
    })
}

/// A ledger.
pub(super) fn ledger(audited: &Audited<'_>) -> Value {
    let recovery =
        |recovery: &RecoveryAudit| json!({ "generation": recovery.generation, "snapshot_taken": recovery.taken });
    json!({
        "name": audited.ledger,
        "epochs": audited.epochs.iter().map(epoch).collect::<Value>(),
        "recoveries": audited.recoveries.iter().map(recovery).collect::<Value>(),
    })
}
