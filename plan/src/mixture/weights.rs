//! The weights of sources, which may change from an epoch on (semantics rules 58 and 67).

use super::problem::MixtureProblem;

/// The weights that sources have from an epoch on.
///
/// ```
/// use forebay_plan::{EpochWeights, MixtureProblem};
/// let weights = [EpochWeights { epoch: 0, weights: vec![1.0, 0.0] }, EpochWeights { epoch: 8, weights: vec![1.0, 3.0] }];
/// EpochWeights::check(&weights)?;
/// assert_eq!(EpochWeights::check(&weights[1..]), Err(MixtureProblem::Epochs(vec![8])));
/// # Ok::<(), MixtureProblem>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EpochWeights {
    /// The first epoch that has them.
    pub epoch: u64,
    /// One for each source.
    pub weights: Vec<f64>,
}

impl EpochWeights {
    /// The same weights in all epochs.
    pub fn constant(weights: Vec<f64>) -> Vec<Self> {
        vec![Self { epoch: 0, weights }]
    }

    /// Checks what does not depend on the dataset. A weight may be 0 if another one in its epoch, and another one of its source,
    /// is not.
    ///
    /// # Errors
    /// The first thing that cannot be used.
    pub fn check(all: &[Self]) -> Result<(), MixtureProblem> {
        let epochs: Vec<u64> = all.iter().map(|from| from.epoch).collect();
        if epochs.first() != Some(&0) || !epochs.is_sorted_by(|earlier, later| earlier < later) {
            return Err(MixtureProblem::Epochs(epochs));
        }
        let sources = all[0].weights.len();
        for Self { epoch, weights } in all {
            if weights.len() != sources {
                return Err(MixtureProblem::Weights { weights: weights.len(), sources });
            }
            if let Some(number) = weights.iter().position(|weight| !weight.is_finite() || *weight < 0.0) {
                return Err(MixtureProblem::Weight { number, weight: weights[number] });
            }
            if weights.iter().all(|weight| *weight == 0.0) {
                return Err(MixtureProblem::NoWeight(*epoch));
            }
        }
        match (0..sources).find(|&number| all.iter().all(|from| from.weights[number] == 0.0)) {
            Some(number) => Err(MixtureProblem::Weight { number, weight: 0.0 }),
            None => Ok(()),
        }
    }
}
