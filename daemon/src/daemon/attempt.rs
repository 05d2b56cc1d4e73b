//! An attempt to open something, in a task of its own. All callers wait for the same attempt. It continues if a caller
//! stops waiting.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::OpenError;

/// The outcome of an attempt. All callers that waited get the same.
pub(super) type Outcome<T> = Result<T, Arc<OpenError>>;

/// An attempt that is under way, or its outcome.
#[derive(Clone, Debug)]
pub(super) struct Attempt<T> {
    outcome: watch::Receiver<Option<Outcome<T>>>,
    task: AbortHandle,
}

impl<T: Clone + Send + Sync + 'static> Attempt<T> {
    /// Begins it.
    pub(super) fn begin(attempt: impl Future<Output = Outcome<T>> + Send + 'static) -> Self {
        let (tell, outcome) = watch::channel(None);
        let task = tokio::spawn(async move {
            let settled = attempt.await;
            tell.send_replace(Some(settled));
        });
        Self { outcome, task: task.abort_handle() }
    }

    /// Waits for the outcome; nothing when the attempt was called off.
    pub(super) async fn outcome(&self) -> Option<Outcome<T>> {
        let mut outcome = self.outcome.clone();
        outcome.wait_for(Option::is_some).await.ok()?.clone()
    }

    /// The outcome; `None` while the attempt is under way.
    pub(super) fn settled(&self) -> Option<Outcome<T>> {
        self.outcome.borrow().clone()
    }

    /// Whether it has failed.
    pub(super) fn has_failed(&self) -> bool {
        matches!(*self.outcome.borrow(), Some(Err(_)))
    }

    /// Whether there is no outcome yet, and one may still come.
    pub(super) fn continues(&self) -> bool {
        self.settled().is_none() && self.outcome.has_changed().is_ok()
    }

    /// Ends the attempt, and gives what it had opened by then. A system call that does not return keeps its thread.
    pub(super) async fn call_off(&self) -> Option<T> {
        self.task.abort();
        self.outcome().await?.ok()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn who_gives_up_waiting_does_not_end_the_attempt_for_the_others() {
        let (open, opened) = oneshot::channel();
        let attempt = Attempt::begin(async move { Ok(opened.await.unwrap_or(0)) });
        assert!(attempt.outcome().now_or_never().is_none(), "this one gave up");
        assert!(attempt.continues());
        open.send(7).unwrap();
        assert_eq!(attempt.outcome().await.unwrap().unwrap(), 7);
        assert_eq!(attempt.settled().unwrap().unwrap(), 7);
        assert_eq!(attempt.call_off().await, Some(7), "it is too late to call it off");
    }

    #[tokio::test]
    async fn an_attempt_that_hangs_is_called_off_and_all_who_wait_hear_it() {
        let attempt: Attempt<u8> = Attempt::begin(std::future::pending());
        let other = attempt.clone();
        let waiting = tokio::spawn(async move { other.outcome().await });
        assert_eq!(attempt.call_off().await, None);
        assert!(waiting.await.unwrap().is_none());
        assert!(!attempt.continues() && !attempt.has_failed());
    }
}
