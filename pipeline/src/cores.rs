//! The cores that this process may use: their number, one core for each pinned thread, and the cores near a device.

mod near;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

pub(crate) use near::{Near, node_of};

/// Cores that a system may have, for these calls.
const MOST: usize = CpuSet::MAX_CPU;

/// Numbers of threads that are pinned, in a row over all that have this: no core gets a second thread before each has one.
#[derive(Debug, Default)]
pub struct Pins(AtomicUsize);

impl Pins {
    /// The next thread's number.
    pub(crate) fn next(&self) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// How many cores the calling thread may keep busy: those of its affinity, and no more than the quota of its control
/// groups (`cpu.max`) pays for, rounded down; at least 1.
pub fn usable() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Binds the calling thread to one of the cores that it may run on: threads with numbers in a row get cores in a row,
/// from the first again after the last. Where the system refuses, it stays free: only speed depends on it.
pub(crate) fn pin(number: usize) {
    if let Err(error) = try_to_pin(number) {
        tracing::warn!(number, %error, "a decode thread is not pinned");
    }
}

fn try_to_pin(number: usize) -> rustix::io::Result<()> {
    let cores = allowed()?;
    match cores.get(number % cores.len().max(1)) {
        Some(core) => bind([*core]),
        None => Ok(()),
    }
}

/// The cores that the calling thread may run on.
fn allowed() -> rustix::io::Result<Vec<usize>> {
    let allowed = sched_getaffinity(None)?;
    Ok((0..MOST).filter(|core| allowed.is_set(*core)).collect())
}

/// Lets the calling thread run on these cores alone.
fn bind(cores: impl IntoIterator<Item = usize>) -> rustix::io::Result<()> {
    let mut set = CpuSet::new();
    for core in cores {
        set.set(core);
    }
    sched_setaffinity(None, &set)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The cores that the calling thread may run on.
    pub(crate) fn allowed() -> Vec<usize> {
        super::allowed().unwrap()
    }

    #[test]
    fn threads_are_pinned_to_the_allowed_cores_in_turn() {
        let all = allowed();
        for number in 0..=2 * all.len() {
            let pinned = thread::spawn(move || {
                pin(number);
                allowed()
            });
            assert_eq!(pinned.join().unwrap(), [all[number % all.len()]]);
        }
        assert_eq!(allowed(), all, "other threads stay free");
    }

    #[test]
    fn rule_04_a_thread_that_may_use_one_core_counts_one() {
        let counted = thread::spawn(|| {
            pin(1);
            usable()
        });
        assert_eq!(counted.join().unwrap(), 1);
    }
}
