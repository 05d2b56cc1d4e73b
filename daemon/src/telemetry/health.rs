//! What supervisors and Prometheus ask of a process over HTTP: whether its loops turn, whether it can work, and its metrics.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// A process that an endpoint shows. A problem is a sentence without a full stop.
pub(crate) trait Observed: Send + Sync + 'static {
    /// The metrics in Prometheus' text format.
    fn metrics(&self) -> impl Future<Output = String> + Send;

    /// Whether its main loops turn. If they do not, only a restart helps.
    ///
    /// # Errors
    /// The problem.
    fn health(&self) -> Result<(), String>;

    /// Whether it can do its work now.
    ///
    /// # Errors
    /// What it waits for.
    fn readiness(&self) -> Result<(), String>;
}

/// When a loop turned last.
#[derive(Clone, Debug)]
pub(crate) struct Pulse(Arc<Mutex<Instant>>);

impl Pulse {
    /// One that has just turned.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    /// The loop turns.
    pub(crate) fn beat(&self) {
        *self.0.lock() = Instant::now();
    }

    /// How long ago it turned, if that is longer than `limit`.
    pub(crate) fn silence(&self, limit: Duration) -> Option<Duration> {
        self.silence_at(Instant::now(), limit)
    }

    fn silence_at(&self, now: Instant, limit: Duration) -> Option<Duration> {
        Some(now.saturating_duration_since(*self.0.lock())).filter(|silence| *silence > limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_silent_when_it_has_not_turned_for_longer_than_the_limit() {
        let (pulse, limit) = (Pulse::new(), Duration::from_secs(30));
        let last = *pulse.0.lock();
        assert_eq!(pulse.silence_at(last + limit, limit), None);
        let late = limit + Duration::from_millis(1);
        assert_eq!(pulse.silence_at(last + late, limit), Some(late));
        pulse.beat();
        assert_eq!(pulse.silence_at(last, limit), None, "it has turned since");
    }
}
