//! Memory for decoding: one budget for all threads. A picture that needs more than the whole budget waits until it has
//! the budget alone.

use parking_lot::{Condvar, Mutex};

/// The budget. Threads are served in the order in which they ask, so small pictures never keep a large one waiting
/// forever.
#[derive(Debug)]
pub struct Budget {
    total: u64,
    /// Is told what each picture needs, before the picture has it.
    prepare: Option<fn(u64)>,
    state: Mutex<BudgetState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct BudgetState {
    used: u64,
    /// The number of the next thread that asks, and of the thread that is served next.
    next: u64,
    served: u64,
}

/// Memory that a picture has; dropping it gives it back.
#[derive(Debug)]
#[must_use]
pub(crate) struct BudgetShare<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Budget {
    /// A budget of `total` bytes.
    pub(crate) fn new(total: u64) -> Self {
        Self { total, prepare: None, state: Mutex::default(), changed: Condvar::new() }
    }

    /// A budget without an end. `prepare` is told what each picture needs, before the picture has it.
    pub(crate) fn endless(prepare: fn(u64)) -> Self {
        Self { prepare: Some(prepare), ..Self::new(u64::MAX) }
    }

    /// Bytes of all shares.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Takes `bytes`, and waits until other threads have returned enough. More than the total is granted when no other
    /// thread has a share. A thread must take everything that it needs at once. Otherwise, two threads that each have
    /// what the other needs would wait forever.
    ///
    /// # Panics
    /// In tests, if this thread has a share.
    pub(crate) fn take(&self, bytes: u64) -> BudgetShare<'_> {
        #[cfg(test)]
        tests::begin();
        if let Some(prepare) = self.prepare {
            prepare(bytes);
        }
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        while state.served != number || state.used > 0 && state.used.saturating_add(bytes) > self.total {
            self.changed.wait(&mut state);
        }
        state.served += 1;
        state.used = state.used.saturating_add(bytes);
        drop(state);
        // There may be room for the next one as well.
        self.changed.notify_all();
        BudgetShare { budget: self, bytes }
    }

    /// Bytes that are taken.
    #[cfg(test)]
    pub(crate) fn used(&self) -> u64 {
        self.state.lock().used
    }

    /// How many threads wait.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> u64 {
        let state = self.state.lock();
        state.next - state.served
    }
}

impl Drop for BudgetShare<'_> {
    fn drop(&mut self) {
        self.budget.state.lock().used -= self.bytes;
        self.budget.changed.notify_all();
        #[cfg(test)]
        tests::end();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static HAS_A_SHARE: Cell<bool> = const { Cell::new(false) };
    }

    pub(super) fn begin() {
        let has_one = HAS_A_SHARE.replace(true);
        assert!(!has_one, "a thread that waits for a second share may wait for ever");
    }

    pub(super) fn end() {
        HAS_A_SHARE.set(false);
    }

    #[test]
    fn rule_31_a_picture_larger_than_the_budget_is_decoded_alone_and_those_after_it_wait() {
        let budget = Budget::new(100);
        std::thread::scope(|scope| {
            let [small, other] = [60, 40].map(|bytes| {
                scope
                    .spawn({
                        let budget = &budget;
                        move || budget.take(bytes)
                    })
                    .join()
                    .unwrap()
            });
            let large = scope.spawn(|| {
                let share = budget.take(1000);
                let used = budget.used();
                drop(share);
                used
            });
            while budget.waiting() < 1 {
                std::thread::yield_now();
            }
            drop(small);
            let after = scope.spawn(|| drop(budget.take(10)));
            while budget.waiting() < 2 {
                std::thread::yield_now();
            }
            assert_eq!(budget.used(), 40, "there is room for the small one, but the large one came first");
            drop(other);
            assert_eq!(large.join().unwrap(), 1000, "it has everything, and nobody else has anything");
            after.join().unwrap();
        });
        assert_eq!((budget.used(), budget.waiting()), (0, 0));
    }
}
