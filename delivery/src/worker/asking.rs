//! How a worker asks: one command after the other, each repeated while there is an outage, unless the stream ends.

use std::sync::atomic::Ordering;
use std::time::Duration;

use forebay_ledger_client::{CallError, Pauses, Request};
use forebay_proto::v1::Caller;
use tokio::time::{sleep, sleep_until};

use super::Worker;

/// How long the end of a stream waits for a coordinator that does not answer.
const MOMENT: Duration = Duration::from_secs(1);

/// Leases that are not used before a heartbeat has named them. If the caller that asked for them gives up, they expire.
pub(super) struct Doubtful<'a> {
    pub(super) worker: &'a Worker,
    pub(super) ids: Vec<u64>,
}

impl Doubtful<'_> {
    pub(super) fn are_named(mut self) {
        self.ids.clear();
    }
}

impl Drop for Doubtful<'_> {
    fn drop(&mut self) {
        self.worker.granted.lock().forget(&self.ids);
    }
}

impl Worker {
    /// Sends a heartbeat that names all leases, and repeats it until it is answered.
    pub(super) async fn confirm(&self) -> Result<(), CallError> {
        let mut pauses = Pauses::of(self.incarnation);
        loop {
            match self.attempt(self.heartbeat()).await {
                Err(CallError::Unavailable(why)) if !self.is_over() => self.pause(&mut pauses, &why).await,
                answer => return answer,
            }
        }
    }

    pub(super) async fn command<R: Request + Clone>(
        &self,
        request: impl FnOnce(Caller) -> R,
    ) -> Result<R::Reply, CallError> {
        let mut sequence = self.sequence.lock().await;
        *sequence += 1;
        let request = request(self.caller(*sequence));
        self.unseen.store(*sequence, Ordering::Relaxed);
        let mut pauses = Pauses::of(self.incarnation ^ *sequence);
        loop {
            match self.attempt(self.handle.call(request.clone())).await {
                Err(CallError::Unavailable(why)) if !self.is_over() => self.pause(&mut pauses, &why).await,
                answer => {
                    self.unseen.store(*sequence + 1, Ordering::Relaxed);
                    return answer.inspect_err(|refusal| self.refused(refusal));
                }
            }
        }
    }

    /// One call, which the end of the stream cuts short if the coordinator is known not to answer.
    async fn attempt<T>(&self, call: impl Future<Output = Result<T, CallError>>) -> Result<T, CallError> {
        let hopeless = async {
            let (mut ending, mut outage) = (self.ending.subscribe(), self.outage());
            let since = ending.wait_for(Option::is_some).await.ok().and_then(|since| *since);
            if let Some(since) = since.filter(|_| self.has_others) {
                sleep_until(since + MOMENT).await;
                if let Some(outage) = outage.wait_for(Option::is_some).await.ok().and_then(|outage| outage.clone()) {
                    return outage.cause;
                }
            }
            std::future::pending().await
        };
        tokio::select! {
            biased;
            answer = call => answer,
            cause = hopeless => Err(CallError::Unavailable(format!("{cause}."))),
        }
    }

    /// Waits before the next attempt, or for the end of the stream, before which there is one more.
    async fn pause(&self, pauses: &mut Pauses, why: &str) {
        // Once for each command: an outage may be long.
        if pauses.is_first() {
            tracing::warn!(ledger = self.ledger, why, "a command is repeated until the ledger takes it");
        }
        let mut ending = self.ending.subscribe();
        tokio::select! {
            () = sleep(pauses.next()) => {}
            _over = ending.wait_for(Option::is_some), if self.has_others => {}
        }
    }

    /// An outage is not waited for any more.
    fn is_over(&self) -> bool {
        self.has_others && self.ending.borrow().is_some()
    }

    pub(super) fn caller(&self, sequence: u64) -> Caller {
        Caller {
            ledger: self.ledger.clone(),
            worker: self.name.clone(),
            incarnation: self.incarnation,
            sequence,
            // One command at a time: all replies before this one's were seen, or are not waited for any more.
            unseen: sequence,
        }
    }
}
