//! Whether every record of every epoch is accounted for, by count and checksum (semantics rule 24).
//!
//! The ledger keeps, per epoch, sums over the records that trainers saw. Here the sum over the records that the
//! epoch should have is computed from the spec alone, and the two are compared.

mod group;
mod recovered;
mod run;
mod source;
mod unsummed;

use std::fmt;
use std::ops::Range;

use forebay_proto::{
    RecordSum, Turn,
    v1::{AuditReply, EpochTally, LedgerSpec, Repeats, SourceShare, Tally},
};

use crate::{
    grains::GRAIN_PERMUTATION,
    part::EpochPart,
    plan::{OrderTable, Plan},
    selection::{SELECTED, SelectionTable},
    spec::{PERMUTATION, SpecError},
};
pub use group::{GroupAudit, GroupVerdict};
pub use recovered::RecoveryAudit;
pub use run::{RunAudit, audit_run};
pub use source::SourceAudit;

/// Records between two calls of a progress callback.
const STEP: u64 = 1 << 20;

/// What the audit says of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Complete, and the sums are those of the epoch's records.
    AddsUp,
    /// Records are still out or were not leased yet.
    Incomplete,
    /// A record was counted twice, or another in its place, or one never; or a group of trainers saw other records.
    DoesNotAddUp,
}

/// One epoch's account. Its `Display` is the line that users read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpochAudit {
    /// Which.
    pub epoch: u64,
    /// The position from which on it accounts for the epoch: a run of lockstep that went on from a state accounts for
    /// what follows. 0: from the start.
    pub from: u64,
    /// The position before which it ends: the run went on there with another number of ranks.
    pub until: Option<u64>,
    /// What it says.
    pub verdict: Verdict,
    /// The records that the epoch should have.
    pub expected: RecordSum,
    /// What became of them.
    pub sums: AccountedSums,
    /// Records that may have been seen twice, by cause.
    pub repeats: Repeats,
    /// The same for each source of the dataset, if it has several or repeats one.
    pub sources: Vec<SourceAudit>,
    /// For each group of trainers that has consumed something, if groups each get every batch.
    pub groups: Vec<GroupAudit>,
}

/// The records of an epoch that are accounted for, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccountedSums {
    /// Seen by a trainer.
    pub delivered: RecordSum,
    /// Left out by the policy for the last batch.
    pub dropped: RecordSum,
    /// Could not be read or decoded.
    pub quarantined: RecordSum,
    /// Given up when the epoch was ended early.
    pub abandoned: RecordSum,
    /// Delivered as a state says that was loaded, without a receipt.
    pub by_state: RecordSum,
}

/// What an epoch should have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Over all turns of records.
    pub sum: RecordSum,
    /// For each source its positions, and how many of them repeat a record.
    pub sources: Vec<(u64, u64)>,
}

/// What an epoch should have at these positions, by the plan alone. `progress` is called now and then with the number of
/// positions that were done since its last call, because billions take their time.
pub fn expected(plan: &Plan, epoch: u64, positions: Range<u64>, mut progress: impl FnMut(u64)) -> Expected {
    let order = plan.epoch(epoch);
    let positions = plan.clip(epoch, &positions);
    let mut expected = Expected { sum: RecordSum::default(), sources: vec![(0, 0); plan.sources().len()] };
    // The whole dataset has the same records in any order.
    let whole = positions == (0..plan.spec().records) && plan.is_plain() && plan.selection().is_none();
    for position in positions {
        let turn = if whole { Some(Turn::first(position)) } else { order.own(position) };
        if let Some(turn) = turn {
            expected.sum.add(turn.key());
            if let Some(source) = plan.source(turn.record()) {
                let (positions, repeats) = &mut expected.sources[source];
                *positions += 1;
                *repeats += u64::from(turn.repeat() > 0);
            }
        }
        if (position + 1).is_multiple_of(STEP) {
            progress(STEP);
        }
    }
    expected
}

/// Judges every epoch that a ledger has a tally of. `progress` as in [`expected`].
///
/// Epochs without records have no tally. Neither have epochs that were complete in the snapshot that began this run.
pub fn audit(reply: &AuditReply, mut progress: impl FnMut(u64)) -> Result<Vec<EpochAudit>, SpecError> {
    let plan = plan(reply)?;
    let floor = reply.progress.unwrap_or_default().floor;
    let begins = |epoch| reply.begins.iter().find(|begin| begin.epoch == epoch).map_or(0, |begin| begin.position);
    let ends = |epoch| reply.ends.filter(|ends| ends.epoch == epoch).map(|ends| ends.position);
    // An account that has ended is complete up to there.
    let floor = reply.ends.map_or(floor, |ends| ends.epoch + 1);
    // Nothing will be added to what the workers have not reported.
    let floor = if reply.has_ended { u64::MAX } else { floor };
    let tallies = unsummed::add_up(&reply.epochs, reply, &mut progress)?;
    let parts = tallies.iter().map(|tally| (tally, (begins(tally.epoch), ends(tally.epoch))));
    Ok(judge(&plan, parts, floor, &mut progress))
}

/// Judges epochs, each from a position on and, if it has such an end, before another one. Those below `floor` are complete.
fn judge<'a>(
    plan: &Plan,
    epochs: impl Iterator<Item = (&'a EpochTally, (u64, Option<u64>))>,
    floor: u64,
    progress: &mut dyn FnMut(u64),
) -> Vec<EpochAudit> {
    let mut whole = None;
    let judge = |(tally, (from, until)): (&EpochTally, (u64, Option<u64>))| {
        let positions = from..until.unwrap_or(u64::MAX);
        let expected = if positions == (0..u64::MAX) && plan.has_equal_epochs() {
            whole.get_or_insert_with(|| expected(plan, tally.epoch, positions, &mut *progress)).clone()
        } else {
            expected(plan, tally.epoch, positions, &mut *progress)
        };
        EpochAudit::new(tally, (from, until), &expected, plan.sources(), tally.epoch < floor)
    };
    epochs.map(judge).collect()
}

/// The plan whose records the ledger has to account for. Those of a whole dataset may be in any order, if an epoch has each
/// once: that ledger's reply comes without a table of grains.
fn plan(reply: &AuditReply) -> Result<Plan, SpecError> {
    let mut spec = reply.spec.clone().unwrap_or_default();
    let table = OrderTable::read(&spec, reply.grains.as_ref(), reply.classes.as_ref())?;
    let of_selected = spec.selection.as_ref().map_or(0, |_| SELECTED);
    match &reply.grains {
        None if EpochPart::of(&spec).is_none() && spec.permutation == GRAIN_PERMUTATION + of_selected => {
            (spec.permutation, spec.grains) = (PERMUTATION + of_selected, None);
        }
        _ => {}
    }
    Plan::with_selection(&spec, table, SelectionTable::of_spec(&spec, reply.selected.as_ref())?)
}

/// The plan of the whole dataset, from what a rank's ledger reports.
fn whole_plan(reply: &AuditReply) -> Result<Plan, SpecError> {
    let spec = reply.spec.clone().map(|spec| LedgerSpec { lockstep: None, ..spec });
    let (grains, classes, selected) = (reply.grains.clone(), reply.classes.clone(), reply.selected.clone());
    plan(&AuditReply { spec, grains, classes, selected, ..AuditReply::default() })
}

impl EpochAudit {
    fn new(
        tally: &EpochTally,
        (from, until): (u64, Option<u64>),
        expected: &Expected,
        sources: &[SourceShare],
        complete: bool,
    ) -> Self {
        let of_source = |(number, (share, expected)): (usize, (&SourceShare, &(u64, u64)))| {
            SourceAudit::new(share, *expected, tally.sources.get(number).copied().unwrap_or_default())
        };
        let mut audit = Self {
            epoch: tally.epoch,
            from,
            until,
            verdict: Verdict::Incomplete,
            expected: expected.sum,
            sums: AccountedSums::of(tally),
            repeats: tally.repeats.unwrap_or_default(),
            sources: sources.iter().zip(&expected.sources).enumerate().map(of_source).collect(),
            groups: Vec::new(),
        };
        let accounted = audit.accounted();
        if accounted == expected.sum && audit.sources.iter().all(|source| source.accounted() == source.positions) {
            audit.verdict = Verdict::AddsUp;
        } else if complete || accounted.count >= expected.sum.count {
            audit.verdict = Verdict::DoesNotAddUp;
        }
        audit.groups = tally
            .groups
            .iter()
            .map(|group| GroupAudit::new(group, audit.sums.delivered, complete, tally.renumbered))
            .collect();
        if audit.groups.iter().any(|group| group.verdict == GroupVerdict::Differs) {
            audit.verdict = Verdict::DoesNotAddUp;
        }
        audit
    }

    /// How many bad records it lacks, if it is complete but for them. If it adds up and lacks none, it is whole.
    pub const fn bad(&self) -> u64 {
        match self.verdict {
            Verdict::AddsUp => self.sums.quarantined.count,
            Verdict::Incomplete | Verdict::DoesNotAddUp => 0,
        }
    }

    /// All that is accounted for, however.
    pub fn accounted(&self) -> RecordSum {
        self.sums.total()
    }
}

impl AccountedSums {
    /// What the ledger has counted of an epoch.
    fn of(tally: &EpochTally) -> Self {
        Self {
            delivered: sum(tally.delivered),
            dropped: sum(tally.dropped),
            quarantined: sum(tally.quarantined),
            abandoned: sum(tally.abandoned),
            by_state: sum(tally.by_state),
        }
    }

    /// All of them.
    pub fn total(&self) -> RecordSum {
        let mut all = RecordSum::default();
        for part in [self.delivered, self.dropped, self.quarantined, self.abandoned, self.by_state] {
            all += part;
        }
        all
    }
}

impl fmt::Display for EpochAudit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let accounted = self.accounted();
        write!(f, "epoch {}: {} of {} records accounted for (", self.epoch, accounted.count, self.expected.count)?;
        write!(f, "{} delivered", self.sums.delivered.count)?;
        for (sum, what) in [
            (self.sums.by_state, "delivered by the state that was loaded"),
            (self.sums.dropped, "dropped"),
            (self.sums.quarantined, "quarantined"),
            (self.sums.abandoned, "abandoned"),
        ] {
            if sum.count > 0 {
                write!(f, ", {} {what}", sum.count)?;
            }
        }
        match self.verdict {
            Verdict::AddsUp if self.bad() > 0 => write!(f, "), complete but for {} bad", self.bad())?,
            Verdict::AddsUp => write!(f, "), checksum equal")?,
            Verdict::Incomplete => write!(f, "), not complete")?,
            Verdict::DoesNotAddUp => write!(f, "), DOES NOT ADD UP")?,
        }
        if self.from > 0 {
            write!(f, "; from position {} on, where a state was loaded", self.from)?;
        }
        if let Some(until) = self.until {
            write!(f, "; up to position {until}, where other ranks go on")?;
        }
        if self.verdict == Verdict::DoesNotAddUp {
            write!(f, ": checksum {:032x}, expected {:032x}", accounted.sum, self.expected.sum)?;
        }
        let mut lead = "; possibly repeated:";
        for (_, after, count) in self.repeats.named().into_iter().filter(|(.., count)| *count > 0) {
            write!(f, "{lead} {count} {after}")?;
            lead = ",";
        }
        Ok(())
    }
}

fn sum(tally: Option<Tally>) -> RecordSum {
    let Tally { count, sum_high, sum_low } = tally.unwrap_or_default();
    RecordSum::from_halves(count, sum_high, sum_low)
}
