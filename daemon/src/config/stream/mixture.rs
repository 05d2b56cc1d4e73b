//! `source`, `weights` and `repeats`: which sources a dataset is made of, and how often an epoch has their records.

use std::num::NonZero;

use forebay_pipeline::keys;
use forebay_pipeline::settings::{Home, Key};
use forebay_plan::EpochWeights;
use serde_json::Value;

use super::super::table::Table;
use super::super::value::{text, whole};

/// Most sources of a dataset.
const SOURCES: usize = 4096;
/// Most repeats of a record.
const REPEATS: u32 = 1 << 15;

/// The keys beside `source`.
pub(super) const KEYS: &[Key] = keys! {
    /// The shares of the sources in an epoch, if `source` is a list: [0.7, 0.3] for two sources. Shares that change are a list of
    /// first epochs with their shares: [[0, [0.7, 0.3]], [10, [0.5, 0.5]]]. Left out: each record once.
    weights: "Sequence[float]", example: "[1.0]", home: Home::Other;
    /// How many times an epoch has each record, with other random choices each time. With weights, the epoch is that many times
    /// longer.
    repeats: "int" = "1", in_python: "The column `batch.repeats` tells the turns of a record apart.";
};

/// The shares of sources, and how long an epoch is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mixture {
    pub weights: Option<Vec<EpochWeights>>,
    pub repeats: NonZero<u32>,
}

/// One source, or a list of them.
pub(super) fn sources(value: &Value) -> Result<Vec<String>, String> {
    let wrong = || "the path of a dataset, or a list of such paths".to_owned();
    match value {
        Value::Array(sources) if sources.len() > SOURCES => {
            Err(format!("at most {SOURCES} sources; patterns such as train-*.tar name many files as one source"))
        }
        Value::Array(sources) if !sources.is_empty() => {
            sources.iter().map(|source| text(source).map_err(|_| wrong())).collect()
        }
        Value::String(_) => Ok(vec![text(value).map_err(|_| wrong())?]),
        _ => Err(wrong()),
    }
}

/// Reads `weights` and `repeats`. `sources` is how many sources there are, if that is known.
pub(super) fn read(table: &mut Table<'_, '_>, sources: Option<usize>) -> Mixture {
    let weights = table.take("weights", weights);
    let repeats = table.take("repeats", whole(1..=REPEATS)).and_then(NonZero::new).unwrap_or(NonZero::<u32>::MIN);
    if let (Some(weights), Some(sources)) = (&weights, sources)
        && let Some(from) = weights.iter().find(|from| from.weights.len() != sources)
    {
        let problem = format!("has {} numbers for {sources} sources; give each source one.", from.weights.len());
        table.mistake("weights", problem);
    } else if let Some(Err(problem)) = weights.as_deref().map(EpochWeights::check) {
        table.mistake("weights", format!("cannot be used. {problem}"));
    }
    Mixture { weights, repeats }
}

/// Weights of all epochs, or of the epochs from some on.
fn weights(value: &Value) -> Result<Vec<EpochWeights>, String> {
    let wrong = || {
        "a list of numbers above 0, one for each source, such as [0.7, 0.3], or a list of first epochs with their weights, \
         such as [[0, [0.7, 0.3]], [10, [0.5, 0.5]]]"
            .to_owned()
    };
    let all = value.as_array().ok_or_else(wrong)?;
    let of_epoch = |from: &Value| {
        let [epoch, weights] = &from.as_array()?[..] else { return None };
        Some(EpochWeights { epoch: epoch.as_u64()?, weights: numbers(weights.as_array()?)? })
    };
    let changing = || all.iter().map(of_epoch).collect::<Option<Vec<_>>>();
    let constant =
        numbers(all).filter(|weights| weights.iter().all(|weight| *weight > 0.0)).map(EpochWeights::constant);
    let weights = constant.or_else(changing).filter(|weights| !weights.is_empty()).ok_or_else(wrong)?;
    Ok(weights)
}

fn numbers(values: &[Value]) -> Option<Vec<f64>> {
    let numbers: Option<Vec<f64>> = values.iter().map(Value::as_f64).collect();
    numbers.filter(|numbers| !numbers.is_empty())
}
