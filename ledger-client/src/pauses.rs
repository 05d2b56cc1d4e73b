//! The pauses between the attempts of a call. They double, and differ from caller to caller: a thousand daemons whose
//! coordinator is back must not all call in the same instant.

use std::time::Duration;

/// See the module.
#[derive(Clone, Debug)]
pub struct Pauses {
    whole: Duration,
    random: u64,
}

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

impl Pauses {
    /// Those of one caller; `seed` tells it from others.
    pub const fn of(seed: u64) -> Self {
        Self { whole: FIRST, random: seed }
    }

    /// The next pause: from half of the doubled one to all of it.
    #[allow(clippy::should_implement_trait, reason = "it has no end, and an iterator's Option would say that it may")]
    pub fn next(&mut self) -> Duration {
        // splitmix64.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let part = u32::try_from((mixed ^ (mixed >> 31)) >> 48).unwrap_or(u32::MAX);
        let half = self.whole / 2;
        self.whole = (self.whole * 2).min(LONGEST);
        half + half * part / (1 << 16)
    }

    /// Whether none was taken yet.
    pub fn is_first(&self) -> bool {
        self.whole == FIRST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_34_pauses_grow_to_two_seconds_and_callers_do_not_pause_alike() {
        let mut pauses = Pauses::of(7);
        assert!(pauses.is_first());
        let mut whole = FIRST;
        for _ in 0..12 {
            let pause = pauses.next();
            assert!(whole / 2 <= pause && pause <= whole, "{pause:?} of {whole:?}");
            whole = (whole * 2).min(LONGEST);
        }
        assert_eq!(whole, LONGEST);
        let first = |seed| Pauses::of(seed).next();
        let distinct: std::collections::BTreeSet<_> = (0..100).map(first).collect();
        assert!(distinct.len() > 90, "{}", distinct.len());
    }
}
