//! Notes what a request met. The library of the stores hides the answer's status in private errors, so the client
//! notes it on the way.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::fault::Fault;

/// Travels with a request as an extension. The client writes into it, and the sender reads it.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultSlot(Arc<Mutex<Option<Fault>>>);

impl FaultSlot {
    pub(crate) fn write(&self, fault: Fault) {
        *self.0.lock() = Some(fault);
    }

    pub(crate) fn take(&self) -> Option<Fault> {
        self.0.lock().take()
    }
}
