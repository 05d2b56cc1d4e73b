//! Memory for decoding: one budget for all threads. A picture that needs more than all of it queues for it alone.

use parking_lot::{Condvar, Mutex};

/// The budget.
#[derive(Debug)]
pub struct Budget {
    total: u64,
    used: Mutex<u64>,
    freed: Condvar,
}

/// Memory that a picture has; dropping it gives it back.
#[derive(Debug)]
#[must_use]
pub struct Share<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Budget {
    /// A budget of `total` bytes.
    pub fn new(total: u64) -> Self {
        Self { total, used: Mutex::new(0), freed: Condvar::new() }
    }

    /// Takes `bytes`, waiting until others have given enough back. More than the total is granted when nobody else
    /// has any.
    pub fn take(&self, bytes: u64) -> Share<'_> {
        let mut used = self.used.lock();
        while *used > 0 && used.saturating_add(bytes) > self.total {
            self.freed.wait(&mut used);
        }
        *used = used.saturating_add(bytes);
        Share { budget: self, bytes }
    }

    /// Bytes that are taken.
    pub fn used(&self) -> u64 {
        *self.used.lock()
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        *self.budget.used.lock() -= self.bytes;
        self.budget.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_31_a_picture_larger_than_the_budget_is_decoded_alone() {
        let budget = Budget::new(100);
        let small = budget.take(60);
        let other = budget.take(40);
        std::thread::scope(|scope| {
            let large = scope.spawn(|| {
                let share = budget.take(1000);
                let used = budget.used();
                drop(share);
                used
            });
            drop(small);
            assert!(budget.used() <= 1000);
            drop(other);
            assert_eq!(large.join().unwrap(), 1000, "it has everything, and nobody else has anything");
        });
        assert_eq!(budget.used(), 0);
    }
}
