//! How many positions of an epoch each source has: from weights, or from its records (semantics rules 57 and 58).

use forebay_proto::Turn;
use forebay_proto::v1::{LedgerSpec, SourceShare};

use crate::classes::CLASS_PERMUTATION;
use crate::grains::GRAIN_MIXTURE_PERMUTATION;
use crate::selection::{SELECTED, dataset_records};

/// The version of the permutation of a mixture.
pub const MIXTURE_PERMUTATION: u32 = 3;
/// Most sources of a dataset.
const MAX_SOURCES: usize = 4096;
/// Most turns of a record in an epoch.
const MAX_REPEATS: u64 = 1 << 15;
/// Keeps sums of positions far from overflow.
const MAX_POSITIONS: u64 = 1 << 56;
/// The largest weight becomes this number, and the others in proportion.
const UNIT: f64 = 1_099_511_627_776.0;

/// What is wrong with the shares of sources.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MixtureProblem {
    /// One weight for each source.
    #[error("There are {weights} weights for {sources} sources; give each source one.")]
    Weights {
        /// As given.
        weights: usize,
        /// As given.
        sources: usize,
    },
    /// A weight that says nothing.
    #[error(
        "The weight of source {number} is {weight}; weights are numbers above 0. Leave out a source that is not wanted."
    )]
    Weight {
        /// From 0.
        number: usize,
        /// As given.
        weight: f64,
    },
    /// A share below one position.
    #[error(
        "The weight of source {number} gives it less than one of the {positions} positions of an epoch. Give it a larger \
         weight, or leave the source out."
    )]
    Nothing {
        /// From 0.
        number: usize,
        /// Of an epoch.
        positions: u64,
    },
    /// Sources beyond the limit.
    #[error("The dataset has {0} sources; it may have at most {MAX_SOURCES}.")]
    TooMany(usize),
    /// A record has too many turns.
    #[error(
        "Source {number} has {records} records and {positions} positions of an epoch, so that an epoch would have records \
         of it more than {MAX_REPEATS} times. Give it a smaller weight, or set fewer repeats."
    )]
    Repeats {
        /// From 0.
        number: usize,
        /// It has.
        records: u64,
        /// It would have.
        positions: u64,
    },
    /// An epoch beyond any count.
    #[error("An epoch would have more than {MAX_POSITIONS} positions. Set fewer repeats.")]
    TooLong,
    /// More records than repeats leave room for.
    #[error("The dataset has {0} records; one with weights or repeats has fewer than {limit}.", limit = Turn::RECORDS)]
    TooLarge(u64),
    /// The spec contradicts itself.
    #[error("The order's sources do not fit its {records} records and permutation version {version}.")]
    Spec {
        /// Of the dataset.
        records: u64,
        /// Of the permutation.
        version: u32,
    },
}

/// How many positions of an epoch each source has, from its number of records. Without weights each record has `repeats`
/// positions. With weights the epoch is as long, and shared out by the weights: what is left after rounding down goes to the
/// sources that lost most by it.
///
/// ```
/// use forebay_plan::shares;
/// assert_eq!(shares(&[500, 1000], None, 1)?, [500, 1000]);
/// assert_eq!(shares(&[500, 1000], Some(&[0.7, 0.3]), 1)?, [1050, 450]);
/// # Ok::<(), forebay_plan::MixtureProblem>(())
/// ```
///
/// # Errors
/// The weights cannot be used.
pub fn shares(records: &[u64], weights: Option<&[f64]>, repeats: u32) -> Result<Vec<u64>, MixtureProblem> {
    let repeats = u64::from(repeats.max(1));
    let all = records.iter().try_fold(0_u64, |sum, records| sum.checked_add(*records));
    let positions = all.and_then(|all| all.checked_mul(repeats)).filter(|all| *all <= MAX_POSITIONS);
    let positions = positions.ok_or(MixtureProblem::TooLong)?;
    let Some(weights) = weights else { return Ok(records.iter().map(|records| records * repeats).collect()) };
    if weights.len() != records.len() {
        return Err(MixtureProblem::Weights { weights: weights.len(), sources: records.len() });
    }
    if let Some(number) = weights.iter().position(|weight| !weight.is_finite() || *weight <= 0.0) {
        return Err(MixtureProblem::Weight { number, weight: weights[number] });
    }
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
    match shares.iter().position(|share| *share == 0) {
        Some(number) => Err(MixtureProblem::Nothing { number, positions }),
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
    matches!(version, MIXTURE_PERMUTATION | GRAIN_MIXTURE_PERMUTATION)
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
    let is_mixed = is_mixture(spec.permutation);
    let sum = |of: fn(&SourceShare) -> u64| sources.iter().try_fold(0_u64, |sum, source| sum.checked_add(of(source)));
    let records = sum(|source| source.records);
    // With classes, the positions follow from the table.
    let has_classes = spec.permutation == CLASS_PERMUTATION;
    let empty = sources.iter().any(|source| source.records == 0 || source.positions == 0 && !has_classes);
    let fits = (sources.is_empty() || records == Some(spec.records)) && !empty;
    let fits = fits && (has_classes || is_mixed != is_plain(sources));
    if !fits {
        return Err(MixtureProblem::Spec { records: spec.records, version: spec.permutation });
    }
    if sum(|source| source.positions).is_none_or(|positions| positions > MAX_POSITIONS) {
        return Err(MixtureProblem::TooLong);
    }
    let often = |source: &SourceShare| source.positions.div_ceil(source.records) >= MAX_REPEATS;
    match sources.iter().position(often) {
        Some(number) => {
            let SourceShare { records, positions, .. } = sources[number];
            Err(MixtureProblem::Repeats { number, records, positions })
        }
        None => Ok(()),
    }
}
