//! Which tasks a worker may not have received. The calls of such a worker have no ids. So this is inferred from how many
//! unreported tasks it has whenever it asks for another one. Pure.
//!
//! A worker reads ahead by a number of tasks, its *depth*. Its reports show the depth: a task that is reported was in the
//! worker's hands whenever the worker asked in between. If it asks with more unreported tasks than its depth, the reply with one of
//! them was lost, or the call was doubled.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Moments that are kept of each worker.
const MOMENTS: usize = 64;

/// What is known of all workers.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceivedTasks {
    workers: BTreeMap<String, WorkerDepth>,
    /// Tasks that were given twice, by their leases, and to whom first.
    doubled: BTreeMap<u64, String>,
}

#[derive(Clone, Debug, Default)]
struct WorkerDepth {
    depth: usize,
    moments: VecDeque<Moment>,
}

/// A worker asked while it had unreported tasks, and was given one.
#[derive(Clone, Debug)]
struct Moment {
    unreported: BTreeSet<u64>,
    /// The one of them that it was given for the second time.
    again: Option<u64>,
    /// How many of them it certainly had.
    had: usize,
}

impl ReceivedTasks {
    /// Which of these unreported tasks, in the order in which a worker was given them, it is given again. None is given a third
    /// time.
    pub(super) fn missing(&self, worker: &str, unreported: &[u64]) -> Option<u64> {
        let depth = self.workers.get(worker).map_or(0, |known| known.depth);
        let surplus = unreported.get(depth..).unwrap_or_default();
        surplus.iter().copied().find(|task| !self.doubled.contains_key(task))
    }

    /// Whether a task was given twice.
    pub(super) fn is_doubled(&self, task: u64) -> bool {
        self.doubled.contains_key(&task)
    }

    /// A task of this worker is given for the second time, perhaps to another one.
    pub(super) fn double(&mut self, worker: &str, task: u64) {
        self.doubled.insert(task, worker.to_owned());
    }

    /// A worker that has these unreported tasks is given one; `again`: it is one of them.
    pub(super) fn gives(&mut self, worker: &str, unreported: &[u64], again: Option<u64>) {
        if unreported.is_empty() {
            return;
        }
        let known = self.workers.entry(worker.to_owned()).or_default();
        known.moments.truncate(MOMENTS - 1);
        known.moments.push_front(Moment { unreported: unreported.iter().copied().collect(), again, had: 0 });
    }

    /// A task was reported, `first`: for the first time. Its worker had it by then.
    pub(super) fn reported(&mut self, worker: Option<&str>, task: u64, first: bool) {
        let Some(worker) = worker.map(str::to_owned).or_else(|| self.doubled.get(&task).cloned()) else { return };
        let Some(known) = self.workers.get_mut(&worker) else { return };
        for moment in known.moments.iter_mut().filter(|moment| moment.unreported.contains(&task)) {
            // A single report of a task that was given twice does not say that both replies arrived.
            if (moment.again == Some(task)) != first {
                moment.had += 1;
                known.depth = known.depth.max(moment.had);
            }
        }
    }

    /// Forgets what is about none of these tasks, which are out.
    pub(super) fn keep(&mut self, out: &BTreeSet<u64>) {
        let named: BTreeSet<u64> =
            self.workers.values().flat_map(|known| &known.moments).filter_map(|moment| moment.again).collect();
        self.doubled.retain(|task, _| out.contains(task) || named.contains(task));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A worker that asks for a task when it has fewer than `depth` + 1, and then uses up and reports the oldest. Of its calls, some
    /// replies are lost and some calls arrive twice. Gives how often each task was used.
    fn run(depth: usize, tasks: u64, lost: impl Fn(u64) -> bool, doubled: impl Fn(u64) -> bool) -> BTreeMap<u64, u32> {
        let (mut received, mut out, mut next, mut calls) = (ReceivedTasks::default(), Vec::<u64>::new(), 0, 0);
        let (mut hand, mut used) = (VecDeque::<u64>::new(), BTreeMap::<u64, u32>::new());
        let mut give = |received: &mut ReceivedTasks, out: &mut Vec<u64>| {
            let again = received.missing("w", out).or_else(|| {
                // At the end, each task that is open is given once more.
                (next == tasks).then(|| out.iter().copied().find(|task| !received.is_doubled(*task))).flatten()
            });
            if again.is_none() && next == tasks {
                return None;
            }
            received.gives("w", out, again);
            if let Some(task) = again {
                received.double("w", task);
            } else {
                out.push(next);
                next += 1;
            }
            Some(again.unwrap_or(next - 1))
        };
        loop {
            while hand.len() <= depth {
                calls += 1;
                let first = give(&mut received, &mut out);
                let reply = if doubled(calls) { give(&mut received, &mut out).or(first) } else { first };
                match reply {
                    None => break,
                    Some(_) if lost(calls) => {}
                    Some(task) => hand.push_back(task),
                }
            }
            let Some(task) = hand.pop_front() else { return used };
            *used.entry(task).or_default() += 1;
            received.reported(Some("w"), task, out.contains(&task));
            out.retain(|open| *open != task);
        }
    }

    #[test]
    fn a_worker_that_uses_up_each_task_before_it_asks_gets_each_once_and_a_lost_one_again() {
        assert!(run(0, 50, |_| false, |_| false).values().eq(&[1; 50]));
        for call in 1..=50 {
            assert!(run(0, 50, |at| at == call, |_| false).values().eq(&[1; 50]), "call {call} is lost");
            assert!(run(0, 50, |_| false, |at| at == call).values().eq(&[1; 50]), "call {call} is doubled");
        }
    }

    #[test]
    fn no_reply_that_is_lost_or_doubled_loses_a_task_however_far_a_worker_reads_ahead() {
        for depth in 0..6 {
            let calm = run(depth, 60, |_| false, |_| false);
            assert_eq!(calm.len(), 60, "none is lost");
            let repeats = |used: &BTreeMap<u64, u32>| used.values().map(|count| count - 1).sum::<u32>();
            let most = u32::try_from(2 * depth * (depth + 1)).unwrap();
            assert!(repeats(&calm) <= most, "depth {depth}: {calm:?}");
            for call in 1..=60 {
                for used in [run(depth, 60, |at| at == call, |_| false), run(depth, 60, |_| false, |at| at == call)] {
                    assert_eq!(used.len(), 60, "depth {depth}, call {call}");
                    assert!(used.values().all(|count| *count <= 2), "depth {depth}, call {call}: {used:?}");
                }
            }
        }
    }
}
