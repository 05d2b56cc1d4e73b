//! The answer to a command that a worker's thread carries out, for a caller that waits in slices or gives up.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::call_error::CallError;

/// See the module. If it is dropped, the command continues, and its answer is discarded.
#[derive(Debug)]
pub struct Pending<T> {
    answer: Receiver<Result<T, CallError>>,
    /// As long as it exists, the caller waits.
    caller: Arc<()>,
}

/// The other end.
#[derive(Debug)]
pub(super) struct PendingAnswer<T>(SyncSender<Result<T, CallError>>);

/// Whether the caller still waits.
#[derive(Clone, Debug)]
pub(super) struct Waiter(Weak<()>);

impl<T> Pending<T> {
    pub(super) fn channel() -> (PendingAnswer<T>, Self) {
        let (told, answer) = sync_channel(1);
        (PendingAnswer(told), Self { answer, caller: Arc::default() })
    }

    pub(super) fn caller(&self) -> Waiter {
        Waiter(Arc::downgrade(&self.caller))
    }

    /// Waits for the answer for at most this long. The answer is returned once.
    pub fn wait(&self, at_most: Duration) -> Option<Result<T, CallError>> {
        match self.answer.recv_timeout(at_most) {
            Ok(answer) => Some(answer),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                Some(Err(CallError::Unavailable("The worker's thread has ended.".to_owned())))
            }
        }
    }
}

impl<T> PendingAnswer<T> {
    pub(super) fn tell(self, answer: Result<T, CallError>) {
        // A caller that no longer waits has given up on its answer.
        self.0.send(answer).ok();
    }
}

impl Waiter {
    pub(super) fn waits(&self) -> bool {
        self.0.strong_count() > 0
    }
}
