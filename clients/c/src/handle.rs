//! Handles: what C has in place of an address. A handle is a number that is never used twice, with the process that made it.

use std::collections::BTreeMap;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::failure::{Failure, Status};

/// Bits of a handle that count. The others are the process's id, which has at most 22 bits in Linux.
const COUNTED: u32 = 42;

/// Counts the handles of all kinds, so that a session's is never a batch's.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// What is open, of one kind.
#[derive(Debug)]
pub(crate) struct Handles<T> {
    /// "session" or "batch", for messages.
    kind: &'static str,
    open: Mutex<BTreeMap<u64, Arc<T>>>,
}

impl<T> Handles<T> {
    pub(crate) const fn new(kind: &'static str) -> Self {
        Self { kind, open: Mutex::new(BTreeMap::new()) }
    }

    pub(crate) fn add(&self, value: T) -> u64 {
        let count = NEXT.fetch_add(1, Ordering::Relaxed) & ((1 << COUNTED) - 1);
        let handle = u64::from(process::id()) << COUNTED | count;
        self.open.lock().insert(handle, Arc::new(value));
        handle
    }

    pub(crate) fn get(&self, handle: u64) -> Result<Arc<T>, Failure> {
        self.check(handle)?;
        self.open.lock().get(&handle).cloned().ok_or_else(|| self.not_open())
    }

    /// Closes the handle. A call that uses its value at this moment keeps the value for as long as it lasts.
    pub(crate) fn take(&self, handle: u64) -> Result<Arc<T>, Failure> {
        self.check(handle)?;
        self.open.lock().remove(&handle).ok_or_else(|| self.not_open())
    }

    /// How many this process has open.
    pub(crate) fn count(&self) -> usize {
        self.open.lock().keys().filter(|handle| is_of_this_process(**handle)).count()
    }

    /// This comes before the lock: another thread of a forked child's parent may have held it at the fork.
    fn check(&self, handle: u64) -> Result<(), Failure> {
        if handle == 0 {
            return Err(Failure::invalid(format!("the {} is NULL", self.kind)));
        }
        if is_of_this_process(handle) { Ok(()) } else { Err(self.not_open()) }
    }

    fn not_open(&self) -> Failure {
        let message = format!(
            "this is no open {} of process {}: it was closed, or it is of the process that has forked this one, which must \
             attach anew",
            self.kind,
            process::id()
        );
        Failure::new(Status::Closed, message)
    }
}

fn is_of_this_process(handle: u64) -> bool {
    handle >> COUNTED == u64::from(process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_names_its_value_until_it_is_taken() {
        let (ours, others) = (Handles::new("session"), Handles::new("batch"));
        let (first, second) = (ours.add("first"), ours.add("second"));
        assert_eq!((ours.get(first).as_deref(), ours.count()), (Ok(&"first"), 2));
        assert_eq!(ours.take(first).as_deref(), Ok(&"first"));
        for gone in [ours.get(first), ours.take(first), others.get(second)] {
            assert_eq!(gone.map_err(|failure| failure.status), Err(Status::Closed));
        }
        assert_eq!((ours.get(second).as_deref(), ours.count(), others.count()), (Ok(&"second"), 1, 0));
        assert_ne!(ours.add("third"), first);
    }

    #[test]
    fn null_and_handles_of_other_processes_are_told_apart() {
        let handles = Handles::new("session");
        let handle = handles.add(());
        let status = |handle| handles.get(handle).map_err(|failure| failure.status);
        assert_eq!((status(0), status(handle)), (Err(Status::Invalid), Ok(Arc::new(()))));
        let of_another = handle & ((1 << COUNTED) - 1) | u64::from(process::id() ^ 1) << COUNTED;
        assert_eq!((status(of_another), status(u64::MAX)), (Err(Status::Closed), Err(Status::Closed)));
    }
}
