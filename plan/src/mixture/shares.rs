//! How many positions of an epoch each source has: from weights, or from its records (semantics rules 57 and 58).

use forebay_proto::Turn;
use forebay_proto::v1::{LedgerSpec, ShareChange, SourceShare};

use crate::classes::CLASS_PERMUTATION;
use crate::grains::{CHANGING_GRAIN_PERMUTATION, GRAIN_MIXTURE_PERMUTATION};
use crate::mixture::EpochWeights;
use crate::mixture::problem::{MAX_CHANGED, MAX_POSITIONS, MAX_REPEATS, MAX_SOURCES, MixtureProblem};
use crate::selection::{SELECTED, dataset_records};

/// The version of the permutation of a mixture.
pub const MIXTURE_PERMUTATION: u32 = 3;
/// The version of the permutation of a mixture whose shares change between epochs.
pub const CHANGING_MIXTURE_PERMUTATION: u32 = 6;
/// The largest weight becomes this number, and the others in proportion.
const UNIT: f64 = 1_099_511_627_776.0;

/// How many positions of an epoch each source has, from its number of records: in epoch 0, and from each later epoch on that
/// changes them. Without weights each record has `repeats` positions. With weights the epoch is as long, and shared out by the
/// weights: what is left after rounding down goes to the sources that lost most by it.
///
/// ```
/// use forebay_plan::{EpochWeights, shares};
/// assert_eq!(shares(&[500, 1000], None, 1)?.0, [500, 1000]);
/// let weights = [EpochWeights { epoch: 0, weights: vec![0.7, 0.3] }, EpochWeights { epoch: 4, weights: vec![0.0, 1.0] }];
/// let (first, changes) = shares(&[500, 1000], Some(&weights), 1)?;
/// assert_eq!(first, [1050, 450]);
/// assert_eq!((changes[0].epoch, &changes[0].positions[..]), (4, &[0, 1500][..]));
/// # Ok::<(), forebay_plan::MixtureProblem>(())
/// ```
///
/// # Errors
/// The weights cannot be used.
pub fn shares(
    records: &[u64],
    weights: Option<&[EpochWeights]>,
    repeats: u32,
) -> Result<(Vec<u64>, Vec<ShareChange>), MixtureProblem> {
    let repeats = u64::from(repeats.max(1));
    let all = records.iter().try_fold(0_u64, |sum, records| sum.checked_add(*records));
    let positions = all.and_then(|all| all.checked_mul(repeats)).filter(|all| *all <= MAX_POSITIONS);
    let positions = positions.ok_or(MixtureProblem::TooLong)?;
    let Some(all) = weights else {
        return Ok((records.iter().map(|records| records * repeats).collect(), Vec::new()));
    };
    EpochWeights::check(all)?;
    let weights = all[0].weights.len();
    if weights != records.len() {
        return Err(MixtureProblem::Weights { weights, sources: records.len() });
    }
    if all.len().saturating_mul(weights) > MAX_CHANGED {
        return Err(MixtureProblem::Changes(all.len()));
    }
    let mut changes = Vec::with_capacity(all.len());
    for from in all {
        changes.push(ShareChange { epoch: from.epoch, positions: shared(from, positions)? });
    }
    changes.dedup_by(|later, earlier| later.positions == earlier.positions);
    let first = changes.remove(0).positions;
    Ok((first, changes))
}

/// The positions of an epoch, shared out by its weights.
fn shared(EpochWeights { epoch, weights }: &EpochWeights, positions: u64) -> Result<Vec<u64>, MixtureProblem> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let parts: Vec<u128> = weights.iter().map(|weight| whole(weight / largest * UNIT)).collect();
    let sum: u128 = parts.iter().sum();
    let exact = |part: &u128| part * u128::from(positions);
    let narrow = |number: u128| u64::try_from(number).expect("a share of a u64");
    let mut shares: Vec<u64> = parts.iter().map(|part| narrow(exact(part) / sum)).collect();
    let mut by_loss: Vec<usize> = (0..parts.len()).collect();
    by_loss.sort_by_key(|&number| std::cmp::Reverse(exact(&parts[number]) % sum));
    let left = positions - shares.iter().sum::<u64>();
    for number in by_loss.into_iter().take(usize::try_from(left).unwrap_or(usize::MAX)) {
        shares[number] += 1;
    }
    match shares.iter().zip(weights).position(|(share, weight)| *share == 0 && *weight > 0.0) {
        Some(number) => Err(MixtureProblem::Nothing { number, epoch: *epoch, positions }),
        None => Ok(shares),
    }
}

/// A weight of at most [`UNIT`] as a whole number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to UNIT, and cut on purpose")]
fn whole(weight: f64) -> u128 {
    weight.round() as u128
}

/// Whether an epoch has each record of these sources once.
pub(crate) fn is_plain(sources: &[SourceShare]) -> bool {
    sources.iter().all(|source| source.positions == source.records)
}

/// Whether epochs of this version of the permutation have shares of sources.
pub(crate) const fn is_mixture(version: u32) -> bool {
    matches!(version, MIXTURE_PERMUTATION | GRAIN_MIXTURE_PERMUTATION) || is_changing(version)
}

/// Whether these shares change between epochs.
const fn is_changing(version: u32) -> bool {
    matches!(version, CHANGING_MIXTURE_PERMUTATION | CHANGING_GRAIN_PERMUTATION)
}

/// Checks that the turns of a spec from outside have numbers of their own, whatever its records are.
pub(crate) fn check_turns(spec: &LedgerSpec) -> Result<(), MixtureProblem> {
    let (records, order) = (dataset_records(spec), spec.permutation % SELECTED);
    if (is_mixture(order) || spec.classes.is_some()) && records >= Turn::RECORDS {
        return Err(MixtureProblem::TooLarge(records));
    }
    Ok(())
}

/// Checks the sources of a spec from outside.
pub(crate) fn check(spec: &LedgerSpec) -> Result<(), MixtureProblem> {
    let sources = &spec.sources;
    if sources.len() > MAX_SOURCES {
        return Err(MixtureProblem::TooMany(sources.len()));
    }
    let wrong = || MixtureProblem::Spec { records: spec.records, version: spec.permutation };
    let records = sum(sources.iter().map(|source| source.records));
    let first: Vec<u64> = sources.iter().map(|source| source.positions).collect();
    // With classes, the positions follow from the table.
    let has_classes = spec.permutation == CLASS_PERMUTATION;
    let may_be_empty = has_classes || is_changing(spec.permutation);
    let empty = sources.iter().any(|source| source.records == 0 || source.positions == 0 && !may_be_empty);
    let fits = (sources.is_empty() || records == Some(spec.records)) && !empty;
    let is_plain_or_mixed = is_changing(spec.permutation) || is_mixture(spec.permutation) != is_plain(sources);
    if !fits || !has_classes && !is_plain_or_mixed {
        return Err(wrong());
    }
    let positions = sum(first.iter().copied()).filter(|positions| *positions <= MAX_POSITIONS);
    let positions = positions.ok_or(MixtureProblem::TooLong)?;
    check_often(sources, &first)?;
    let changes = &spec.share_changes;
    if changes.is_empty() == is_changing(spec.permutation) {
        return Err(wrong());
    }
    if changes.len().saturating_mul(sources.len()) > MAX_CHANGED {
        return Err(MixtureProblem::Changes(changes.len()));
    }
    let mut before = 0;
    for change in changes {
        let is_whole =
            change.positions.len() == sources.len() && sum(change.positions.iter().copied()) == Some(positions);
        if change.epoch <= before || !is_whole || positions == 0 {
            return Err(wrong());
        }
        check_often(sources, &change.positions)?;
        before = change.epoch;
    }
    Ok(())
}

/// Checks that no record has too many turns in an epoch in which the sources have these positions.
fn check_often(sources: &[SourceShare], positions: &[u64]) -> Result<(), MixtureProblem> {
    let often = |(source, positions): (&SourceShare, &u64)| positions.div_ceil(source.records) >= MAX_REPEATS;
    match sources.iter().zip(positions).position(often) {
        Some(number) => {
            Err(MixtureProblem::Repeats { number, records: sources[number].records, positions: positions[number] })
        }
        None => Ok(()),
    }
}

fn sum(mut numbers: impl Iterator<Item = u64>) -> Option<u64> {
    numbers.try_fold(0_u64, u64::checked_add)
}
