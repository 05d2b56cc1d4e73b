//! Memory of the host that was there before, page-locked: a GPU copies from it at full speed and without waiting.
#![allow(unsafe_code, reason = "calls libcuda")]

use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use super::context::Context;
use super::result::ShareError;

/// A range of memory that is page-locked until this value is dropped.
///
/// It keeps the owner of the memory alive. It does not change the memory's content, and nothing is read through it: copies
/// borrow the memory that they read.
pub struct Registered {
    context: Arc<Context>,
    at: NonNull<u8>,
    len: usize,
    /// Held for its drop alone, which comes after ours.
    _owner: Box<dyn Any + Send + Sync>,
}

// SAFETY: the address is only ever given to the driver, which takes it from any thread.
unsafe impl Send for Registered {}
// SAFETY: as above.
unsafe impl Sync for Registered {}

impl Registered {
    /// Locks the pages of `len` bytes from `at` on, which `owner` keeps mapped, and takes the memory for those that are not
    /// there yet. It takes about as long as a copy of them, so it is done once.
    ///
    /// # Errors
    /// The driver is too old, there is too little memory, the process may not lock so much, or a part is locked already.
    pub fn new(
        context: &Arc<Context>,
        at: NonNull<u8>,
        len: usize,
        owner: impl Any + Send + Sync,
    ) -> Result<Self, ShareError> {
        let sharing = context.sharing()?;
        context.bind()?;
        if len > 0 {
            // SAFETY: the driver looks at the range's mappings itself and refuses what is none; locking pages changes no byte.
            let code = unsafe { (sharing.register)(at.as_ptr().cast(), len, super::sys::REGISTER_PORTABLE) };
            context.check("cuMemHostRegister", code)?;
        }
        Ok(Self { context: Arc::clone(context), at, len, _owner: Box::new(owner) })
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let (Ok(sharing), Ok(()), true) = (self.context.sharing(), self.context.bind(), self.len > 0) {
            // SAFETY: registered by `new`, given up only here; the driver refuses what it does not know.
            let _in_a_broken_context = unsafe { (sharing.unregister)(self.at.as_ptr().cast()) };
        }
    }
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("at", &self.at).field("len", &self.len).finish_non_exhaustive()
    }
}
