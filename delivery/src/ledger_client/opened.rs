//! What the ledger said when it was opened.

use forebay_plan::EpochPart;
use forebay_proto::v1::OpenReply;

use crate::step_length::StepLength;

/// See the module. All of it stays as it is.
#[derive(Debug)]
pub struct OpenedLedger {
    /// Names what the ledger is about.
    pub spec_hash: Vec<u8>,
    /// The ledger has no summary of the dataset, for other nodes.
    pub wants_summary: bool,
    /// Others may change the ledger: daemons of other nodes, or the other ranks of a run.
    pub(crate) is_changed_by_others: bool,
    /// How many positions the steps of its classes have.
    pub(crate) steps: StepLength,
    /// Groups of trainers that were there when the last incarnation ended.
    pub(crate) former_groups: Vec<String>,
}

impl OpenedLedger {
    /// Of a stream that is all of a run or this part, as other daemons may have the ledger or not.
    pub(super) fn new(reply: OpenReply, part: Option<EpochPart>, steps: StepLength, has_others: bool) -> Self {
        Self {
            spec_hash: reply.spec_hash,
            wants_summary: reply.wants_summary && has_others,
            is_changed_by_others: has_others || matches!(part, Some(EpochPart::Rank(_))),
            steps,
            former_groups: reply.groups,
        }
    }
}
