//! Pieces of pinned memory that decoded planes are read into: made once, lent to whoever works on the pictures, and back.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use crate::driver::{Context, CudaError, PinnedMemory};

/// The pieces of one worker.
#[derive(Debug)]
pub(super) struct Slabs {
    free: Mutex<Vec<PinnedMemory>>,
    came_back: Condvar,
}

/// A piece that is lent; it goes back when it is dropped.
#[derive(Debug)]
pub(super) struct Slab {
    memory: Option<PinnedMemory>,
    home: Arc<Slabs>,
}

impl Slabs {
    /// So many pieces of `len` bytes.
    pub(super) fn new(context: &Arc<Context>, count: usize, len: usize) -> Result<Arc<Self>, CudaError> {
        let free = (0..count).map(|_| PinnedMemory::new(context, len)).collect::<Result<_, _>>()?;
        Ok(Arc::new(Self { free: Mutex::new(free), came_back: Condvar::new() }))
    }

    /// A piece, once one is free.
    pub(super) fn lend(self: &Arc<Self>) -> Slab {
        let mut free = self.free.lock();
        loop {
            if let Some(memory) = free.pop() {
                return Slab { memory: Some(memory), home: Arc::clone(self) };
            }
            self.came_back.wait(&mut free);
        }
    }
}

impl Deref for Slab {
    type Target = PinnedMemory;

    fn deref(&self) -> &PinnedMemory {
        self.memory.as_ref().expect("it is there until it is dropped")
    }
}

impl DerefMut for Slab {
    fn deref_mut(&mut self) -> &mut PinnedMemory {
        self.memory.as_mut().expect("it is there until it is dropped")
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            self.home.free.lock().push(memory);
            self.home.came_back.notify_one();
        }
    }
}
