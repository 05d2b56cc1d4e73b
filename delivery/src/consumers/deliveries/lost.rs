//! The leases that this daemon has lost. Records of them may still be on their way through the stages. Pure.

use std::collections::BTreeSet;

use forebay_ring::Claim;

/// How many are remembered; a daemon has far fewer at a time.
const REMEMBERED: usize = 4096;

/// The last leases that were lost.
#[derive(Debug, Default)]
pub(super) struct LostLeases(BTreeSet<u64>);

impl LostLeases {
    /// These are not this daemon's any more.
    pub(super) fn add(&mut self, leases: &[u64]) {
        self.0.extend(leases);
        while self.0.len() > REMEMBERED {
            self.0.pop_first();
        }
    }

    /// Whether some of these claims are on a lost lease.
    pub(super) fn has_any(&self, claims: &[Claim]) -> bool {
        !self.0.is_empty() && claims.iter().any(|claim| self.0.contains(&claim.lease))
    }
}
