//! The account of a GPU's memory: a hard limit over all that Forebay and nvJPEG take of it. What does not come by its
//! allocator is counted by those who know how much it can be.
#![allow(unsafe_code, reason = "gives libnvjpeg its memory")]

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::locked::PageLocked;
use super::sys::Allocator;
use crate::driver::sys::RawStream;
use crate::driver::{Context, CudaError, DeviceMemory};

/// Memory that may be taken of one GPU, and what has been. Shared by all lanes of the GPU.
#[derive(Debug)]
pub struct Account {
    context: Arc<Context>,
    limit: usize,
    used: AtomicUsize,
    peak: AtomicUsize,
    /// Pieces that nvJPEG has, by address, and their bytes: what it says of them as it gives them back is not relied on.
    pieces: Mutex<HashMap<u64, usize>>,
    locked: PageLocked,
}

impl Account {
    /// An account of `limit` bytes.
    pub fn new(context: &Arc<Context>, limit: usize) -> Arc<Self> {
        Arc::new(Self {
            context: Arc::clone(context),
            limit,
            used: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            pieces: Mutex::default(),
            locked: PageLocked::new(context),
        })
    }

    /// The limit in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Bytes that are taken.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// The most that was ever taken.
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// Bytes of the host's memory that nvJPEG may still page-lock, which it does as pictures come that need them.
    pub fn lockable(&self) -> usize {
        self.locked.untaken()
    }

    /// What nvJPEG has of the host's memory.
    pub(crate) fn locked(&self) -> &PageLocked {
        &self.locked
    }

    /// Takes memory for surfaces; none if the limit does not leave so much.
    ///
    /// # Errors
    /// The GPU has less than the limit says.
    pub(crate) fn take(self: &Arc<Self>, len: usize) -> Result<Option<AccountedMemory>, CudaError> {
        let Some(counted) = self.count(len) else { return Ok(None) };
        Ok(Some(AccountedMemory { memory: DeviceMemory::new(&self.context, len)?, _counted: counted }))
    }

    /// Counts bytes that others take; none if the limit does not leave so much.
    pub(crate) fn count(self: &Arc<Self>, len: usize) -> Option<Counted> {
        self.enter(len).then(|| Counted { account: Arc::clone(self), len })
    }

    /// What nvJPEG takes its memory with. It may be used as long as the account lives.
    pub(super) fn allocator(self: &Arc<Self>) -> Allocator {
        Allocator { malloc: give, free: take_back, giver: Arc::as_ptr(self).cast_mut().cast() }
    }

    fn enter(&self, len: usize) -> bool {
        let add = |used: usize| used.checked_add(len).filter(|used| *used <= self.limit);
        let before = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        if let Ok(before) = before {
            self.peak.fetch_max(before + len, Ordering::Relaxed);
        }
        before.is_ok()
    }

    fn leave(&self, len: usize) {
        self.used.fetch_sub(len, Ordering::Relaxed);
    }
}

/// Memory of a GPU that its account knows of.
#[derive(Debug)]
pub(crate) struct AccountedMemory {
    memory: DeviceMemory,
    /// Dropped last: the bytes leave the account only once they are free, so that no other allocation counts on them before.
    _counted: Counted,
}

/// Bytes that are in the account as long as this.
#[derive(Debug)]
pub(crate) struct Counted {
    account: Arc<Account>,
    len: usize,
}

impl std::ops::Deref for AccountedMemory {
    type Target = DeviceMemory;

    fn deref(&self) -> &DeviceMemory {
        &self.memory
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.account.leave(self.len);
    }
}

/// nvJPEG asks for memory of the GPU. Anything but 0 is a refusal, which it answers with "allocator failure".
unsafe extern "C" fn give(account: *mut c_void, to: *mut *mut c_void, len: usize, _stream: RawStream) -> c_int {
    // SAFETY: `Account::allocator` has set it, and its holder outlives what nvJPEG makes.
    let account = unsafe { &*account.cast::<Account>() };
    if len == 0 {
        // SAFETY: nvJPEG gives a place for the pointer.
        unsafe { to.write(null_mut()) };
        return 0;
    }
    if !account.enter(len) {
        return 1;
    }
    let taken = account.context.bind().and_then(|()| account.context.memory_alloc(len));
    let Ok(at) = taken else {
        account.leave(len);
        return 1;
    };
    account.pieces.lock().insert(at, len);
    // SAFETY: nvJPEG gives a place for the pointer.
    unsafe { to.write(at as *mut c_void) };
    0
}

/// nvJPEG gives memory back. The driver waits for what still uses it, so the order of streams does not matter.
unsafe extern "C" fn take_back(account: *mut c_void, at: *mut c_void, _len: usize, _stream: RawStream) -> c_int {
    // SAFETY: as in `give`.
    let account = unsafe { &*account.cast::<Account>() };
    if at.is_null() {
        return 0;
    }
    // Out of the list before it is free: from then on another thread may be given the same address.
    let Some(len) = account.pieces.lock().remove(&(at as u64)) else { return 1 };
    if account.context.bind().and_then(|()| account.context.memory_free(at as u64)).is_err() {
        return 1;
    }
    account.leave(len);
    0
}
