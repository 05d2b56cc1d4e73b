//! Tells the waiting readers that bytes of a read arrive, so that a slow read is not mistaken for one that hangs.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

/// A callback for the progress of a read. Clones share it.
///
/// A thread reads [`during`](Self::during) a pulse, and code far down the call stack finds it with
/// [`current`](Self::current). The code between them may belong to other projects, such as the reader of Parquet files, and
/// would not pass it on.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use std::sync::Arc;
/// use forebay_sources::Pulse;
///
/// let beats = Arc::new(AtomicU32::new(0));
/// let heard = Arc::clone(&beats);
/// let pulse = Pulse::new(move || {
///     heard.fetch_add(1, Ordering::Relaxed);
/// });
/// let found = pulse.during(Pulse::current);
/// found.beat();
/// Pulse::current().beat();
/// assert_eq!(beats.load(Ordering::Relaxed), 1, "behind it, there is no pulse");
/// ```
#[derive(Clone, Default)]
pub struct Pulse(Option<Arc<dyn Fn() + Send + Sync>>);

/// The pulses of all readers that wait for the same read.
#[derive(Debug, Default)]
pub struct Pulses(Mutex<Vec<Pulse>>);

thread_local! {
    static CURRENT: RefCell<Pulse> = const { RefCell::new(Pulse(None)) };
}

impl Pulse {
    /// A pulse that calls `heard` at each beat, on the thread where the bytes arrive. It must not block.
    pub fn new(heard: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(heard)))
    }

    /// The pulse of this thread's read. Outside of a read, its beats are ignored.
    pub fn current() -> Self {
        CURRENT.with_borrow(Self::clone)
    }

    /// Does a read, or begins a request. Both use this pulse.
    pub fn during<T>(&self, read: impl FnOnce() -> T) -> T {
        let _before = Before(CURRENT.replace(self.clone()));
        read()
    }

    /// Bytes have arrived.
    pub fn beat(&self) {
        if let Some(heard) = &self.0 {
            heard();
        }
    }
}

impl Pulses {
    /// Adds the pulse of one more waiting reader.
    pub fn join(&self, pulse: Pulse) {
        self.0.lock().push(pulse);
    }

    /// Removes all pulses: no reader waits any more.
    pub fn leave(&self) {
        self.0.lock().clear();
    }

    /// A pulse that beats all of them, including those that join later.
    pub fn all(self: &Arc<Self>) -> Pulse {
        let pulses = Arc::clone(self);
        Pulse::new(move || {
            // A beat takes other locks, so this one is not held meanwhile.
            let joined = pulses.0.lock().clone();
            joined.iter().for_each(Pulse::beat);
        })
    }
}

/// Puts the earlier pulse back, also if the read panics.
struct Before(Pulse);

impl Drop for Before {
    fn drop(&mut self) {
        CURRENT.set(std::mem::take(&mut self.0));
    }
}

impl fmt::Debug for Pulse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pulse").field(&self.0.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    use super::*;

    fn counted() -> (Pulse, Arc<AtomicU32>) {
        let beats = Arc::new(AtomicU32::new(0));
        let heard = Arc::clone(&beats);
        (
            Pulse::new(move || {
                heard.fetch_add(1, Ordering::Relaxed);
            }),
            beats,
        )
    }

    #[test]
    fn a_read_finds_its_own_pulse_and_leaves_the_one_before_it() {
        let ((outer, of_outer), (inner, of_inner)) = (counted(), counted());
        outer.during(|| {
            let panicked = std::panic::catch_unwind(AssertUnwindSafe(|| {
                inner.during(|| {
                    Pulse::current().beat();
                    std::panic::resume_unwind(Box::new("a read that panics"))
                })
            }));
            panicked.unwrap_err();
            Pulse::current().beat();
            thread::spawn(|| Pulse::current().beat()).join().unwrap();
        });
        Pulse::current().beat();
        assert_eq!((of_outer.load(Ordering::Relaxed), of_inner.load(Ordering::Relaxed)), (1, 1));
    }

    #[test]
    fn all_who_wait_for_a_read_hear_it() {
        let pulses = Arc::new(Pulses::default());
        let ((first, of_first), (second, of_second)) = (counted(), counted());
        let all = pulses.all();
        pulses.join(first);
        all.beat();
        pulses.join(second);
        all.beat();
        assert_eq!((of_first.load(Ordering::Relaxed), of_second.load(Ordering::Relaxed)), (2, 1));
    }
}
