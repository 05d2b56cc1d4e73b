//! The steps of a random history.

use proptest::prelude::*;

use super::WORKERS;

/// One step of a history; the numbers choose among what there is.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Acquire(usize),
    /// A receipt for a part of one of the leases that the worker thinks it has, or had.
    Ack(usize, usize, u64, u64),
    Nack(usize, usize, u64),
    Return(usize, usize, u64, u64),
    /// The same request once more: its reply was lost.
    Repeat(usize),
    /// A copy of the last Acquire comes late, and nobody hears its reply.
    Delayed(usize),
    /// The daemon is killed and comes back.
    Reborn(usize),
    /// The reborn daemon's consumer still holds a part of an old lease.
    Reclaim(usize, usize, u64, u64),
    /// The worker is cut off for longer than its leases last.
    Silence(usize),
    Wait,
    CoordinatorRestarts,
    Snapshot,
    Restore(usize),
    /// The worker gives up a part of a lease that fills no batch, and settles the lease's epoch.
    Settle(usize, usize, u64, u64),
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let (who, which, at, len) = (0..WORKERS, 0..4usize, 0..8u64, 0..8u64);
    let part = (who.clone(), which, at, len);
    prop_oneof![
        8 => who.clone().prop_map(Step::Acquire),
        12 => part.clone().prop_map(|(a, b, c, d)| Step::Ack(a, b, c, d)),
        2 => part.clone().prop_map(|(a, b, c, _)| Step::Nack(a, b, c)),
        3 => part.clone().prop_map(|(a, b, c, d)| Step::Return(a, b, c, d)),
        2 => who.clone().prop_map(Step::Repeat),
        2 => who.clone().prop_map(Step::Delayed),
        2 => who.clone().prop_map(Step::Reborn),
        3 => part.clone().prop_map(|(a, b, c, d)| Step::Reclaim(a, b, c, d)),
        6 => part.prop_map(|(a, b, c, d)| Step::Settle(a, b, c, d)),
        1 => who.clone().prop_map(Step::Silence),
        1 => Just(Step::Wait),
        2 => Just(Step::CoordinatorRestarts),
        1 => Just(Step::Snapshot),
        1 => who.prop_map(Step::Restore),
    ]
}
