//! Numbers in settings: their defaults, and what is wrong with them. A check gives the rest of a sentence, or nothing.

/// The default of most probabilities.
pub(crate) fn half() -> f64 {
    0.5
}

/// What is wrong with a probability.
pub(crate) fn probability_problem(p: f64) -> Option<String> {
    (!(0.0..=1.0).contains(&p)).then(|| format!("p is {p}, but must be from 0 to 1"))
}

/// What is wrong with the ends of a range of numbers above 0.
pub(crate) fn range_problem(key: &str, [low, high]: [f64; 2]) -> Option<String> {
    let good = low > 0.0 && low <= high && high.is_finite();
    (!good).then(|| format!("{key} is [{low}, {high}], but must be two numbers above 0, the smaller one first"))
}
