//! The account of a lockstep run: what all ranks of all its segments have counted together (semantics rule 40).

use std::fmt;

use forebay_proto::v1::{AuditReply, LockstepSegment};

use super::{EpochAudit, judge, unsummed, whole_plan};
use crate::segments::ranks;
use crate::spec::SpecError;

/// See the module. Its `Display` is the line about its segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunAudit {
    /// `RUN/STREAM`.
    pub stream: String,
    /// By rising step; each lasts until the next one begins.
    pub segments: Vec<LockstepSegment>,
    /// The epochs of the whole dataset.
    pub epochs: Vec<EpochAudit>,
}

/// Judges the epochs of a run from the report of one rank's ledger. Gives nothing for a ledger that is not of a rank.
/// `progress` as in [`expected`](super::expected).
///
/// # Errors
/// No ledger has such a spec.
pub fn audit_run(reply: &AuditReply, mut progress: impl FnMut(u64)) -> Result<Option<RunAudit>, SpecError> {
    let (Some(run), Some(spec)) = (&reply.run, &reply.spec) else { return Ok(None) };
    let global_batch = spec.lockstep.map_or(1, |rank| rank.global_batch);
    let plan = whole_plan(reply)?;
    let first = run.segments.first().copied().unwrap_or_default();
    let from = |epoch| if epoch == first.epoch { first.step.saturating_mul(global_batch) } else { 0 };
    let tallies = unsummed::add_up(&run.epochs, reply, &mut progress)?;
    let parts = tallies.iter().map(|tally| (tally, (from(tally.epoch), None)));
    let epochs = judge(&plan, parts, run.floor, &mut progress);
    Ok(Some(RunAudit { stream: run.stream.clone(), segments: run.segments.clone(), epochs }))
}

impl fmt::Display for RunAudit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lead = "";
        for LockstepSegment { epoch, step, world_size, .. } in &self.segments {
            write!(f, "{lead}{} from step {step} of epoch {epoch}", ranks(*world_size))?;
            lead = ", ";
        }
        Ok(())
    }
}
