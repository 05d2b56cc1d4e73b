//! What a decoder makes next: one record of each daemon in turn, so that a daemon that asks for much keeps no other one waiting.
//! Pure.

use std::collections::{BTreeMap, VecDeque};

/// Waiting records, by the connection that asks for them.
#[derive(Debug)]
pub(super) struct FairQueue<J> {
    waiting: BTreeMap<u64, VecDeque<J>>,
    /// Connections with waiting records; the first is served next.
    turns: VecDeque<u64>,
}

impl<J> FairQueue<J> {
    pub(super) fn new() -> Self {
        Self { waiting: BTreeMap::new(), turns: VecDeque::new() }
    }

    /// A record waits.
    pub(super) fn push(&mut self, connection: u64, job: J) {
        let waiting = self.waiting.entry(connection).or_default();
        if waiting.is_empty() {
            self.turns.push_back(connection);
        }
        waiting.push_back(job);
    }

    /// The next one.
    pub(super) fn pop(&mut self) -> Option<J> {
        let connection = self.turns.pop_front()?;
        let waiting = self.waiting.get_mut(&connection)?;
        let job = waiting.pop_front();
        if waiting.is_empty() {
            self.waiting.remove(&connection);
        } else {
            self.turns.push_back(connection);
        }
        job
    }

    /// Takes records of a connection out that do not wait any more.
    pub(super) fn take(&mut self, connection: u64, is_out: impl Fn(&J) -> bool) -> Vec<J> {
        let Some(waiting) = self.waiting.get_mut(&connection) else { return Vec::new() };
        let (out, rest) = std::mem::take(waiting).into_iter().partition::<VecDeque<J>, _>(is_out);
        if rest.is_empty() {
            self.waiting.remove(&connection);
            self.turns.retain(|turn| *turn != connection);
        } else {
            *waiting = rest;
        }
        out.into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rule_60_daemons_are_served_in_turn_however_much_one_asks_for() {
        let mut queue = FairQueue::new();
        (0..4).for_each(|job| queue.push(1, (1, job)));
        queue.push(2, (2, 0));
        queue.push(3, (3, 0));
        let served: Vec<(u64, u64)> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(served, [(1, 0), (2, 0), (3, 0), (1, 1), (1, 2), (1, 3)]);
    }

    proptest! {
        #[test]
        fn rule_60_each_record_is_served_once_or_taken_out_once(steps in prop::collection::vec((0..4_u64, 0..5_u8), 0..200)) {
            let (mut queue, mut next, mut waiting) = (FairQueue::new(), 0_u64, Vec::new());
            for (connection, step) in steps {
                match step {
                    0 => {
                        let out = queue.take(connection, |job| job % 3 == 0);
                        let is_out = |(of, job): &(u64, u64)| *of == connection && job % 3 == 0;
                        let expected: Vec<u64> = waiting.iter().filter(|it| is_out(it)).map(|(_, job)| *job).collect();
                        prop_assert_eq!(out, expected);
                        waiting.retain(|it| !is_out(it));
                    }
                    1 => {
                        let popped = queue.pop();
                        prop_assert_eq!(popped.is_none(), waiting.is_empty());
                        if let Some(job) = popped {
                            let place = waiting.iter().position(|(_, waits)| *waits == job).expect("it waits");
                            let (of, _) = waiting.remove(place);
                            prop_assert!(!waiting[..place].iter().any(|(other, _)| *other == of), "in its order");
                        }
                    }
                    _ => {
                        queue.push(connection, next);
                        waiting.push((connection, next));
                        next += 1;
                    }
                }
            }
        }
    }
}
