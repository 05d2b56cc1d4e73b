//! Engines that decode beside their stream, without regard to its order.

use std::thread::{self, JoinHandle};

use parking_lot::{Condvar, Mutex};

/// Pictures or batches that are under way in them.
static BUSY: Mutex<usize> = Mutex::new(0);
static IDLE: Condvar = Condvar::new();

/// Begins to decode at once.
pub(crate) fn begin(decode: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    *BUSY.lock() += 1;
    thread::spawn(|| {
        decode();
        *BUSY.lock() -= 1;
        IDLE.notify_all();
    })
}

/// Waits until nothing is under way.
pub(crate) fn wait() {
    IDLE.wait_while(&mut BUSY.lock(), |busy| *busy > 0);
}
