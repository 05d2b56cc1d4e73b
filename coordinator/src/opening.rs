//! Opens a ledger for a worker, and takes the place of the worker's earlier incarnation (semantics rule 33).

use std::time::Duration;

use forebay_proto::v1::{OpenReply, OpenRequest};
use tokio::time::{Instant, sleep};

use crate::call_error::CallError;
use crate::coordinator::Handle;
use crate::pauses::Pauses;

impl Handle {
    /// Opens a ledger. If another incarnation has the worker's name and the request says in `replaces` which one it knows,
    /// this takes its place. A coordinator elsewhere may be started again at this moment: it is asked again for a while.
    ///
    /// # Errors
    /// The ledger is about something else, or the coordinator does not answer, or cannot store its ledgers.
    pub async fn open(&self, mut request: OpenRequest) -> Result<OpenReply, CallError> {
        let until = Instant::now() + self.patience();
        let mut pauses = Pauses::of(request.incarnation);
        loop {
            match self.call(request.clone()).await {
                Ok(reply) if reply.incumbent != 0 => request.replaces = Some(reply.incumbent),
                Err(CallError::Unavailable(_)) if Instant::now() < until => sleep(pauses.next()).await,
                answer => return answer,
            }
        }
    }

    /// How long the opening of a ledger waits for a coordinator that does not answer. One in this process answers at once.
    const fn patience(&self) -> Duration {
        // Longer than a machine's name is kept from another boot.
        if self.is_remote() { Duration::from_secs(15) } else { Duration::ZERO }
    }
}
