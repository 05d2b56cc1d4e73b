//! The permits of a store's requests. [`Throttle`] sets their number, and they are given in the order of asking.

use std::time::{Duration, Instant};

use forebay_sources::Pulse;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::throttle::Throttle;

/// The permits of one store.
#[derive(Debug)]
pub(crate) struct RequestPermits {
    free: Semaphore,
    issued: Mutex<IssuedPermits>,
}

#[derive(Debug)]
struct IssuedPermits {
    throttle: Throttle,
    /// Permits that there are, free and taken.
    count: usize,
}

/// The right to have a request under way, until this is dropped.
#[derive(Debug)]
pub(crate) struct RequestPermit<'a> {
    permits: &'a RequestPermits,
    /// None once it is dropped.
    permit: Option<SemaphorePermit<'a>>,
}

impl RequestPermits {
    /// At most this many permits.
    pub(crate) fn new(most: usize) -> Self {
        let throttle = Throttle::new(most.min(Semaphore::MAX_PERMITS));
        let count = throttle.size();
        Self { free: Semaphore::new(count), issued: Mutex::new(IssuedPermits { throttle, count }) }
    }

    /// Waits for a permit, and beats the pulse meanwhile: the caller waits for other requests of this process, not for the
    /// store.
    pub(crate) async fn take(&self, beat: Duration, pulse: &Pulse) -> RequestPermit<'_> {
        let mut permit = std::pin::pin!(self.free.acquire());
        let permit = loop {
            match timeout(beat, &mut permit).await {
                Ok(permit) => break permit.expect("the semaphore is never closed"),
                Err(_) => pulse.beat(),
            }
        };
        RequestPermit { permits: self, permit: Some(permit) }
    }

    /// A request was answered.
    pub(crate) fn answered(&self) {
        self.change(Throttle::answered);
    }

    /// A request that began at this time has timed out, or was refused for now.
    pub(crate) fn refused(&self, began: Instant) {
        self.change(|throttle| throttle.refused(began, Instant::now()));
    }

    /// Permits that are taken and that are too many end when they are given back.
    fn change(&self, change: impl FnOnce(&mut Throttle)) {
        let mut issued = self.issued.lock();
        change(&mut issued.throttle);
        let size = issued.throttle.size();
        if issued.count < size {
            self.free.add_permits(size - issued.count);
            issued.count = size;
        } else {
            issued.count -= self.free.forget_permits(issued.count - size);
        }
    }
}

impl Drop for RequestPermit<'_> {
    fn drop(&mut self) {
        let Some(permit) = self.permit.take() else { return };
        let mut issued = self.permits.issued.lock();
        if issued.count > issued.throttle.size() {
            issued.count -= 1;
            permit.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    /// A permit, if one is free.
    fn taken(permits: &RequestPermits) -> Option<RequestPermit<'_>> {
        // Without a runtime there is no clock, and nothing that waits for it.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _context = runtime.enter();
        permits.take(Duration::from_secs(1), &Pulse::default()).now_or_never()
    }

    #[test]
    fn rule_54_permits_that_are_too_many_end_when_they_are_given_back() {
        let permits = RequestPermits::new(4);
        let mut held: Vec<RequestPermit<'_>> = std::iter::from_fn(|| taken(&permits)).collect();
        assert_eq!(held.len(), 4);
        let began = Instant::now();
        permits.refused(began);
        held.pop();
        held.pop();
        assert!(taken(&permits).is_none(), "two may be under way, and two are");
        held.pop();
        assert!(taken(&permits).is_some());
        drop(held);
        permits.refused(Instant::now() + Duration::from_secs(1));
        held = std::iter::from_fn(|| taken(&permits)).collect();
        assert_eq!(held.len(), 1, "a permit that is free ends at once");
        drop(held);
        // A round of one answer, one of two, and one of three.
        for (answers, expected) in [(1, 2), (2, 3), (3, 4), (100, 4)] {
            (0..answers).for_each(|_| permits.answered());
            let held: Vec<RequestPermit<'_>> = std::iter::from_fn(|| taken(&permits)).collect();
            assert_eq!(held.len(), expected);
        }
    }
}
