//! Opens a ledger for a worker, and takes the place of the worker's earlier incarnation (semantics rule 33).

use std::time::Duration;

use forebay_proto::v1::{OpenReply, OpenRequest};
use tokio::time::{Instant, sleep};

use crate::call_error::CallError;
use crate::handle::Handle;
use crate::pauses::Pauses;

impl Handle {
    /// Opens a ledger. If another incarnation has the worker's name and the request says in `replaces` which one it knows,
    /// this takes its place. A coordinator elsewhere may be started again at this moment, and a process that had the name
    /// before may just have ended: both are waited for, for a while.
    ///
    /// # Errors
    /// The ledger is about something else, the worker's name is in use, or the coordinator does not answer or cannot store its
    /// ledgers.
    pub async fn open(&self, mut request: OpenRequest) -> Result<OpenReply, CallError> {
        let until = Instant::now() + self.patience();
        let mut pauses = Pauses::of(request.incarnation);
        let mut waits_for_name = false;
        loop {
            match self.call(request.clone()).await {
                Ok(reply) if reply.incumbent != 0 => request.replaces = Some(reply.incumbent),
                Err(CallError::NameTaken(why)) if Instant::now() < until => {
                    if !std::mem::replace(&mut waits_for_name, true) {
                        tracing::warn!(
                            worker = request.worker,
                            why,
                            "the worker's name is in use: waiting until it is free"
                        );
                    }
                    sleep(pauses.next()).await;
                }
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
