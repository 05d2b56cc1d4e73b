//! The network of a simulation: messages come late, twice or never, and links are cut or held for a while.

use std::collections::BTreeMap;

use crate::suite::Random;

/// From a process to a coordinator, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    Request,
    Reply,
}

/// What becomes of what is sent on a link.
#[derive(Clone, Copy, Debug)]
pub(super) enum Trouble {
    Lost,
    /// It comes when the trouble is over.
    Held,
}

/// Process, coordinator, direction.
type LinkName = (usize, usize, Direction);

/// See the module.
#[derive(Debug)]
pub(super) struct Network {
    /// Until when.
    troubles: BTreeMap<LinkName, (Trouble, u64)>,
    /// Nothing is lost or doubled.
    is_perfect: bool,
}

impl Network {
    pub(super) fn new(is_perfect: bool) -> Self {
        Self { troubles: BTreeMap::new(), is_perfect }
    }

    pub(super) fn trouble(&mut self, link: LinkName, trouble: Trouble, until: u64) {
        self.troubles.insert(link, (trouble, until));
    }

    pub(super) fn heal(&mut self) {
        self.troubles.clear();
        self.is_perfect = true;
    }

    /// When copies of a message arrive that is sent now.
    pub(super) fn arrivals(&self, link: LinkName, now: u64, random: &mut Random) -> Vec<u64> {
        let soon = now + 1 + random.below(20);
        if self.is_perfect {
            return vec![soon];
        }
        if random.once_in(40) {
            return Vec::new();
        }
        let mut arrivals = vec![soon];
        if random.once_in(12) {
            arrivals.push(soon + random.below(8_000));
        }
        match self.troubles.get(&link) {
            Some((Trouble::Lost, until)) if now < *until => Vec::new(),
            Some((Trouble::Held, until)) if now < *until => arrivals.iter().map(|at| at.max(until) + 1).collect(),
            _ => arrivals,
        }
    }
}
