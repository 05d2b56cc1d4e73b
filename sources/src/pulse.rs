//! Tells whoever waits for a read that bytes of it arrive, so that a slow read is not taken for one that hangs.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

/// Hears that a read goes on. Clones are the same.
///
/// A thread reads [`during`](Self::during) a pulse, and what is far below it finds the pulse by [`current`](Self::current).
/// Between the two is code of other projects, such as the reader of Parquet files, which would not pass it on.
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

/// The pulses of all who wait for the same read.
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

    /// That of the read that this thread does. Outside of a read, nobody hears it.
    pub fn current() -> Self {
        CURRENT.with_borrow(Self::clone)
    }

    /// Does a read, or begins a request. Both find this pulse.
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
    /// Adds one more who waits.
    pub fn join(&self, pulse: Pulse) {
        self.0.lock().push(pulse);
    }

    /// Nobody waits any more.
    pub fn leave(&self) {
        self.0.lock().clear();
    }

    /// A pulse that all of them hear, also those who join later.
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
