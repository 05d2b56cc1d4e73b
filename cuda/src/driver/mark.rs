//! A place in the queue of a stream that a thread can wait for.
#![allow(unsafe_code, reason = "calls libcuda")]

use std::sync::Arc;

use super::context::Context;
use super::result::CudaError;
use super::sys;

/// A mark, which a stream [sets](super::Stream::mark) behind all that was queued.
#[derive(Debug)]
pub(crate) struct Mark {
    context: Arc<Context>,
    event: sys::Event,
}

// SAFETY: events are handles of the context and may be used by any thread; `&mut self` keeps uses apart.
unsafe impl Send for Mark {}

impl Mark {
    /// A mark that is nowhere yet, for which no thread waits.
    ///
    /// # Errors
    /// The driver cannot.
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self, CudaError> {
        context.bind()?;
        let event = context.table().event_create(sys::EVENT_PLAIN)?;
        Ok(Self { context: Arc::clone(context), event })
    }

    /// Sets it at the end of a stream of the same context.
    pub(super) fn set(&mut self, stream: sys::RawStream) -> Result<(), CudaError> {
        self.context.bind()?;
        // SAFETY: both handles live in this context, as the caller, a stream of it, says.
        let code = unsafe { (self.context.table().event_record)(self.event, stream) };
        self.context.check("cuEventRecord", code)
    }

    /// Sleeps until all is done that was queued before it was last set.
    ///
    /// # Errors
    /// Some of it failed; see [`CudaError::is_fault`].
    pub(crate) fn wait(&mut self) -> Result<(), CudaError> {
        self.context.bind()?;
        // SAFETY: the event lives.
        let code = unsafe { (self.context.table().event_synchronize)(self.event) };
        self.context.check("cuEventSynchronize", code)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: made by `new`, destroyed only here.
            let _in_a_broken_context = unsafe { (self.context.table().event_destroy)(self.event) };
        }
    }
}
