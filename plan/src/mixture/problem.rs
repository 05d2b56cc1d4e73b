//! What is wrong with the shares of sources, and their limits.

use forebay_proto::Turn;

/// Most sources of a dataset.
pub(super) const MAX_SOURCES: usize = 4096;
/// Most turns of a record in an epoch.
pub(super) const MAX_REPEATS: u64 = 1 << 15;
/// Keeps sums of positions far from overflow.
pub(super) const MAX_POSITIONS: u64 = 1 << 56;
/// Most shares of a list of changes, over all sources.
pub(super) const MAX_CHANGED: usize = 1 << 20;

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
    /// The epochs of weights do not rise from 0.
    #[error("The weights are for the epochs {0:?}; these must begin with 0 and rise.")]
    Epochs(Vec<u64>),
    /// No source has a weight.
    #[error("All weights of epoch {0} are 0; give at least one source a weight.")]
    NoWeight(u64),
    /// A list that takes too much memory.
    #[error("The weights have {0} changes for each source, which is more than {MAX_CHANGED} numbers for all sources.")]
    Changes(usize),
    /// A weight that says nothing.
    #[error(
        "The weight of source {number} is {weight}; weights are numbers above 0, or 0 for some epochs. Leave out a source \
         that is not wanted."
    )]
    Weight {
        /// From 0.
        number: usize,
        /// As given.
        weight: f64,
    },
    /// A share below one position.
    #[error(
        "The weight of source {number} in epoch {epoch} gives it less than one of the {positions} positions of an epoch. Give it a larger \
         weight, or leave the source out."
    )]
    Nothing {
        /// From 0.
        number: usize,
        /// The first one with this weight.
        epoch: u64,
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
