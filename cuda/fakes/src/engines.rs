//! Engines that decode beside their stream, without regard to its order, and their memory, which no allocator of the caller gives.

use std::thread::{self, JoinHandle};

use parking_lot::{Condvar, Mutex};

use crate::dial::{Count, Knob};

/// The GPU memory that the driver's video library has for one state: a number of surfaces, and buffers for as many files, as
/// wide, as high and as long as the largest so far.
#[derive(Default)]
pub(crate) struct EngineMemory {
    width: usize,
    height: usize,
    file: usize,
    taken: i64,
}

impl EngineMemory {
    /// Makes it large enough for a picture; whether the GPU has so much.
    pub(crate) fn grow(&mut self, slots: usize, width: usize, height: usize, file: usize) -> bool {
        self.width = self.width.max(width);
        self.height = self.height.max(height);
        self.file = self.file.max(file);
        let bytes = slots * (3 * self.width * self.height + self.file);
        let more = i64::try_from(bytes).unwrap_or(i64::MAX) - self.taken;
        if Count::DeviceBytes.get().saturating_add(more) > Knob::Memory.get() {
            return false;
        }
        Count::DeviceBytes.add(more);
        self.taken += more;
        true
    }
}

impl Drop for EngineMemory {
    fn drop(&mut self) {
        Count::DeviceBytes.add(-self.taken);
    }
}

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
