//! Leases that a delayed copy of an Acquire was granted: no daemon knows of them, so that no heartbeat names them.

use crate::scene::TTL;

/// See the module.
#[derive(Default)]
pub(super) struct Unheard {
    /// Milliseconds that have passed.
    elapsed: u64,
    /// Each with the moment at which it expires.
    leases: Vec<(u64, u64)>,
}

impl Unheard {
    pub(super) fn granted(&mut self, lease: u64) {
        self.leases.push((lease, self.elapsed + TTL));
    }

    /// Time passes. Gives those that have expired.
    pub(super) fn pass(&mut self, millis: u64) -> Vec<u64> {
        self.elapsed += millis;
        let late = self.leases.extract_if(.., |(_, until)| *until <= self.elapsed);
        late.map(|(lease, _)| lease).collect()
    }

    /// The coordinator was restarted: each lease has its full time again.
    pub(super) fn begin_again(&mut self) {
        self.leases.iter_mut().for_each(|(_, until)| *until = self.elapsed + TTL);
    }
}
