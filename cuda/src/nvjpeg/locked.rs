//! Page-locked memory of the host that nvJPEG takes: counted with all other of its GPU's lanes, and never more than its states
//! are allowed.
#![allow(unsafe_code, reason = "gives libnvjpeg its memory")]

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

use parking_lot::Mutex;

use super::sys::Allocator;
use crate::driver::sys::RawStream;
use crate::driver::{Context, PinnedMemory};

/// What nvJPEG has of the host on behalf of one GPU.
#[derive(Debug)]
pub(crate) struct PageLocked {
    context: Arc<Context>,
    state: Mutex<LockedPieces>,
}

#[derive(Debug, Default)]
struct LockedPieces {
    allowed: usize,
    used: usize,
    /// By address.
    pieces: HashMap<usize, PinnedMemory>,
}

impl PageLocked {
    pub(super) fn new(context: &Arc<Context>) -> Self {
        Self { context: Arc::clone(context), state: Mutex::default() }
    }

    /// Bytes that nvJPEG may still take, which it does as pictures come that need them.
    pub(super) fn untaken(&self) -> usize {
        let state = self.state.lock();
        state.allowed.saturating_sub(state.used)
    }

    /// Raises the limit by `bytes`.
    pub(super) fn allow(&self, bytes: usize) {
        self.state.lock().allowed += bytes;
    }

    /// Lowers the limit by `bytes`.
    pub(super) fn disallow(&self, bytes: usize) {
        self.state.lock().allowed -= bytes;
    }

    /// The functions with which nvJPEG allocates its memory. They may be used as long as this value lives and is not moved.
    pub(super) fn allocator(&self) -> Allocator {
        Allocator { malloc: give, free: take_back, giver: (&raw const *self).cast_mut().cast() }
    }

    fn take(&self, len: usize) -> Option<*mut u8> {
        let mut state = self.state.lock();
        let used = state.used.checked_add(len).filter(|used| *used <= state.allowed)?;
        let mut piece = PinnedMemory::new(&self.context, len).ok()?;
        let at = piece.as_mut_ptr();
        state.used = used;
        state.pieces.insert(at as usize, piece);
        Some(at)
    }

    fn give_back(&self, at: *mut c_void) -> bool {
        let mut state = self.state.lock();
        let Some(piece) = state.pieces.remove(&(at as usize)) else { return false };
        state.used -= piece.len();
        true
    }
}

/// nvJPEG asks for memory. Anything but 0 is a refusal, which it answers with "allocator failure".
unsafe extern "C" fn give(locked: *mut c_void, to: *mut *mut c_void, len: usize, _stream: RawStream) -> c_int {
    // SAFETY: `PageLocked::allocator` has set it, and the account that it is in outlives what nvJPEG makes.
    let locked = unsafe { &*locked.cast::<PageLocked>() };
    let at = if len == 0 { Some(null_mut()) } else { locked.take(len) };
    let Some(at) = at else { return 1 };
    // SAFETY: nvJPEG gives a place for the pointer.
    unsafe { to.write(at.cast()) };
    0
}

/// nvJPEG gives memory back. No copy of it is under way, since nvJPEG has waited for its own copies.
unsafe extern "C" fn take_back(locked: *mut c_void, at: *mut c_void, _len: usize, _stream: RawStream) -> c_int {
    // SAFETY: as in `give`.
    let locked = unsafe { &*locked.cast::<PageLocked>() };
    c_int::from(!at.is_null() && !locked.give_back(at))
}
