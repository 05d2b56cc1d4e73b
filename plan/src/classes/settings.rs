//! What a spec says of its classes, checked as input from outside, and the plan that follows from it and the table.

use std::sync::Arc;

use forebay_proto::v1::class_order::Leftovers as AskedLeftovers;
use forebay_proto::v1::{self, LedgerSpec};

use super::{CLASS_PERMUTATION, ClassPlan, ClassProblem, ClassTable, Leftovers, MAX_CLASSES, MAX_PLACES};
use crate::lockstep::world_sizes;

/// How many numbers of places an error names at most.
const NAMED: usize = 16;
/// Keeps sums of positions far from overflow.
const MAX_POSITIONS: u64 = 1 << 56;
/// Most turns of a record.
const MAX_REPEATS: u32 = 1 << 15;
/// Most steps of one class that follow each other.
const MAX_ACCUMULATED: u32 = 1 << 16;

/// Checks what a spec says of its classes, if it has some.
pub(crate) fn check(spec: &LedgerSpec) -> Result<(), ClassProblem> {
    let is_of_classes = spec.permutation == CLASS_PERMUTATION;
    let Some(classes) = &spec.classes else {
        let problem = ClassProblem::Spec { version: spec.permutation, classes: false };
        return if is_of_classes { Err(problem) } else { Ok(()) };
    };
    let is_whole = classes.digest.len() == 32 && leftovers(classes).is_some() && spec.grains.is_none();
    if !is_of_classes || !is_whole {
        return Err(ClassProblem::Spec { version: spec.permutation, classes: true });
    }
    let (least, most) = bounds(&classes.places);
    if classes.places.len() > MAX_CLASSES || least == 0 || most > MAX_PLACES {
        return Err(ClassProblem::Places { classes: classes.places.len(), least, most });
    }
    let repeats = &classes.repeats;
    let is_known = repeats.is_empty() || repeats.len() == spec.sources.len();
    if !is_known || repeats.iter().any(|repeats| !(1..=MAX_REPEATS).contains(repeats)) {
        return Err(ClassProblem::Sources);
    }
    let is_repeated = leftovers(classes) == Some(Leftovers::Repeat);
    if classes.accumulate > MAX_ACCUMULATED || classes.accumulate > 1 && is_repeated {
        return Err(ClassProblem::Accumulate { steps: classes.accumulate });
    }
    let is_repeated_alone = is_repeated && classes.accumulate <= 1;
    if !classes.lengths.is_empty() && (classes.lengths.len() != classes.places.len() || !is_repeated_alone) {
        return Err(ClassProblem::Lengths { lengths: classes.lengths.len(), places: classes.places.len() });
    }
    if spec.shard.is_some() {
        return Err(ClassProblem::Shard);
    }
    spec.lockstep.as_ref().map_or(Ok(()), |rank| check_ranks(rank, &classes.places))
}

/// Whether ranks can share all steps.
fn check_ranks(rank: &v1::LockstepRank, places: &[u32]) -> Result<(), ClassProblem> {
    let divides = |size: u32| size > 0 && places.iter().all(|places| places.is_multiple_of(size));
    let most = bounds(places).1.into();
    if rank.global_batch != most {
        return Err(ClassProblem::GlobalBatch { global_batch: rank.global_batch, places: most });
    }
    if rank.world_size > 0 && !divides(rank.world_size) {
        let common = places.iter().fold(0, |common, places| greatest_common_divisor(common, *places));
        let mut all: Vec<u64> = places.iter().map(|places| u64::from(*places)).collect();
        all.sort_unstable();
        all.dedup();
        all.truncate(NAMED);
        let fitting = world_sizes(common.into(), rank.world_size).into_iter().map(u64::from).collect();
        return Err(ClassProblem::Ranks { world_size: rank.world_size, places: all, fitting });
    }
    Ok(())
}

/// The smallest and the largest number; 0 if there is none.
fn bounds(places: &[u32]) -> (u32, u32) {
    (places.iter().min().copied().unwrap_or(0), places.iter().max().copied().unwrap_or(0))
}

const fn greatest_common_divisor(one: u32, other: u32) -> u32 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

fn leftovers(classes: &v1::ClassOrder) -> Option<Leftovers> {
    match classes.leftovers() {
        AskedLeftovers::Unspecified => None,
        AskedLeftovers::Neighbour => Some(Leftovers::Neighbour),
        AskedLeftovers::Repeat => Some(Leftovers::Repeat),
        AskedLeftovers::Drop => Some(Leftovers::Drop),
    }
}

impl Leftovers {
    /// As it is sent.
    const fn message(self) -> AskedLeftovers {
        match self {
            Self::Neighbour => AskedLeftovers::Neighbour,
            Self::Repeat => AskedLeftovers::Repeat,
            Self::Drop => AskedLeftovers::Drop,
        }
    }
}

impl ClassTable {
    /// What a spec has to have, so that its steps have these classes. `places` has the places of a step of each class, `repeats` the
    /// turns of each record by source, and `rule` is for people.
    pub fn order(&self, places: &[u32], leftovers: Leftovers, repeats: &[u32], rule: &str) -> v1::ClassOrder {
        v1::ClassOrder {
            accumulate: 0,
            lengths: Vec::new(),
            digest: self.digest().to_vec(),
            places: places.to_vec(),
            leftovers: leftovers.message().into(),
            repeats: repeats.to_vec(),
            rule: rule.to_owned(),
        }
    }

    /// The table of a spec, as it is stored and sent.
    ///
    /// # Errors
    /// The spec is not about classes, or the table is not one of its dataset.
    pub(crate) fn of_spec(spec: &LedgerSpec, numbers: &v1::ClassNumbers) -> Result<Self, ClassProblem> {
        let classes = spec.classes.as_ref().ok_or(ClassProblem::Missing)?;
        Self::from_numbers(numbers, spec.records, &sources(spec, classes))
    }
}

/// How many records each source has, and how many turns each of them.
fn sources(spec: &LedgerSpec, classes: &v1::ClassOrder) -> Vec<(u64, u16)> {
    let repeats = classes.repeats.iter().copied().chain(std::iter::repeat(1));
    let turns = |repeats: u32| u16::try_from(repeats).unwrap_or(u16::MAX);
    spec.sources.iter().zip(repeats).map(|(source, repeats)| (source.records, turns(repeats))).collect()
}

impl ClassPlan {
    /// The plan of a spec that passes [`check`], with its table.
    ///
    /// # Errors
    /// The table is not the spec's, or no epoch can have these steps.
    pub(crate) fn of_spec(spec: &LedgerSpec, table: Arc<ClassTable>) -> Result<Self, ClassProblem> {
        let classes = spec.classes.as_ref().ok_or(ClassProblem::Missing)?;
        let has_lengths = !classes.lengths.is_empty();
        let is_its =
            table.len() == if has_lengths { 1 } else { classes.places.len() } && table.records() == spec.records;
        if !is_its || table.digest()[..] != classes.digest[..] {
            return Err(ClassProblem::Other);
        }
        let (sources, leftovers) = (sources(spec, classes), leftovers(classes).ok_or(ClassProblem::Other)?);
        let turns = table.turns_by_source();
        let positions = spec.sources.iter().map(|source| source.positions);
        if !sources.is_empty() && (!table.is_of(&sources) || !turns.iter().copied().eq(positions)) {
            return Err(ClassProblem::Sources);
        }
        // The steps of a class that are not full are at most as many as the classes.
        let most = bounds(&classes.places).1;
        let least = bounds(&classes.places).0.max(1);
        let steps = turns.iter().sum::<u64>() / u64::from(least) + classes.places.len() as u64;
        if steps.checked_mul(most.into()).is_none_or(|positions| positions > MAX_POSITIONS) {
            return Err(ClassProblem::TooLong);
        }
        let places: Vec<u64> = classes.places.iter().map(|places| u64::from(*places)).collect();
        let fingerprint = <[u8; 32]>::try_from(&*spec.fingerprint).map_err(|_| ClassProblem::Other)?;
        let group = u64::from(classes.accumulate.max(1));
        let keys = spec.shuffle.then_some((spec.seed, fingerprint));
        if has_lengths && table.turns(0) == 0 {
            return Err(ClassProblem::NoStep);
        }
        let plan = if has_lengths {
            Self::of_lengths(table, &places, keys)
        } else {
            Self::new(table, &places, leftovers, group, keys)
        };
        if plan.layout().steps() == 0 { Err(ClassProblem::NoStep) } else { Ok(plan) }
    }
}
