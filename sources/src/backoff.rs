//! How long to wait before another attempt. Waits grow, and those who failed together do not come back together.

use std::time::Duration;

/// Waits that double from the first one to the longest one.
///
/// ```
/// use std::time::Duration;
/// use forebay_sources::Backoff;
///
/// let backoff = Backoff { first: Duration::from_millis(100), longest: Duration::from_secs(1) };
/// assert_eq!(backoff.after(1, 1.0), Duration::from_millis(100));
/// assert_eq!(backoff.after(3, 0.0), Duration::from_millis(200));
/// assert_eq!(backoff.after(u32::MAX, 1.0), Duration::from_secs(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The wait after the first failure.
    pub first: Duration,
    /// No wait is longer.
    pub longest: Duration,
}

impl Backoff {
    /// The wait after this many failures in a row, counted from 1. `draw`, from 0 to 1, chooses a part of it, from half to
    /// all.
    pub fn after(&self, failures: u32, draw: f64) -> Duration {
        let doublings = failures.saturating_sub(1).min(31);
        let whole = self.first.saturating_mul(1 << doublings).min(self.longest);
        whole.mul_f64(0.5 + draw.clamp(0.0, 1.0) / 2.0)
    }
}
