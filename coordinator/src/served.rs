//! Time in which the coordinator served, which is the time that leases last. Pure.
//!
//! A worker must not lose its leases because the coordinator could not take its heartbeats: perhaps the store synced for
//! half a minute, or the process was stopped. So no turn counts for longer than a turn of a coordinator that serves.

use std::time::Duration;

/// In a longer turn, in milliseconds, heartbeats were not taken as they arrived.
const LONGEST: u64 = 1000;
/// How long the coordinator may wait for commands in one turn while leases are out. Less than [`LONGEST`], so that a
/// turn that is a little late counts in full.
pub(crate) const TICK: Duration = Duration::from_millis(LONGEST / 2);

/// Milliseconds served, by a clock that is read once per turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    time: u64,
    looked: u64,
}

impl Served {
    /// Begins when the clock shows `clock`.
    pub(crate) const fn new(clock: u64) -> Self {
        Self { time: 0, looked: clock }
    }

    /// The next turn begins when the clock shows `clock`. Gives the time served up to now.
    pub(crate) fn turn(&mut self, clock: u64) -> u64 {
        self.time += clock.saturating_sub(self.looked).min(LONGEST);
        self.looked = clock;
        self.time
    }

    /// The coordinator serves no worker at the time `clock`, so the time since the last turn does not count.
    pub(crate) const fn pause(&mut self, clock: u64) {
        self.looked = clock;
    }

    /// The time served when the last turn began.
    pub(crate) const fn time(&self) -> u64 {
        self.time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_count_as_long_as_they_take_and_a_stall_counts_as_one_of_them() {
        let mut served = Served::new(7_000);
        assert_eq!([7_001, 7_501, 8_501].map(|clock| served.turn(clock)), [1, 501, 1_501]);
        assert_eq!(served.turn(8_501 + 34_000), 2_501, "it was stopped");
        assert_eq!(served.turn(42_600), 2_600);
        assert_eq!(served.turn(42_000), 2_600, "a clock that goes back counts nothing");
    }

    #[test]
    fn pauses_count_for_nothing_however_often_the_clock_is_looked_at() {
        let mut served = Served::new(0);
        assert_eq!(served.turn(500), 500);
        (600..40_000).step_by(200).for_each(|clock| served.pause(clock));
        assert_eq!(served.turn(40_100), 800, "from the last pause on");
    }
}
