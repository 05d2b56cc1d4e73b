//! Connections that a coordinator refuses, for its log: a daemon with a wrong certificate tries again each second. It is pure.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// The same refusal of the same machine is logged again after this time.
const AGAIN: Duration = Duration::from_secs(600);
/// Most refusals that are kept apart, since the number of addresses has no limit.
const MOST: usize = 256;

/// The refusals of the last minutes.
#[derive(Debug, Default)]
pub(super) struct Refusals(HashMap<(IpAddr, String), Refused>);

#[derive(Debug)]
struct Refused {
    told: Instant,
    /// When it was logged.
    times: u64,
}

impl Refusals {
    /// A connection from this machine was refused for this reason. Gives how often since the last line, if it is worth a line.
    pub(super) fn worth_a_line(&mut self, from: IpAddr, reason: &str, now: Instant) -> Option<u64> {
        self.0.retain(|_, refused| refused.times > 0 || now.saturating_duration_since(refused.told) < AGAIN);
        if self.0.len() >= MOST {
            self.0.clear();
        }
        let key = (from, reason.to_owned());
        let Some(refused) = self.0.get_mut(&key) else {
            self.0.insert(key, Refused { told: now, times: 0 });
            return Some(1);
        };
        refused.times += 1;
        if now.saturating_duration_since(refused.told) < AGAIN {
            return None;
        }
        refused.told = now;
        Some(std::mem::take(&mut refused.times))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn machine(number: u32) -> IpAddr {
        Ipv4Addr::from_bits(number).into()
    }

    #[test]
    fn the_same_refusal_is_told_once_in_ten_minutes_with_its_number() {
        let (mut refusals, begin) = (Refusals::default(), Instant::now());
        let mut told = Vec::new();
        for second in 0..1801 {
            let now = begin + Duration::from_secs(second);
            told.extend(refusals.worth_a_line(machine(7), "expired", now).map(|times| (second, times)));
        }
        assert_eq!(told, [(0, 1), (600, 600), (1200, 600), (1800, 600)]);
        assert_eq!(refusals.worth_a_line(machine(8), "expired", begin), Some(1), "another machine");
        assert_eq!(refusals.worth_a_line(machine(7), "no name", begin), Some(1), "another reason");
    }

    #[test]
    fn machines_without_end_take_no_memory_without_end() {
        let (mut refusals, now) = (Refusals::default(), Instant::now());
        for number in 0..10_000 {
            assert_eq!(refusals.worth_a_line(machine(number), "expired", now), Some(1));
            assert!(refusals.0.len() <= MOST);
        }
    }
}
