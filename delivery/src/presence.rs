//! The trainers that the ledger knows to be here (semantics rules 15, 23 and 38). One is told before it is let in, with all that
//! it has handed in. It counts as here until the ledger knows what it had in its hands when it left.

use std::collections::BTreeMap;

use forebay_ledger_client::CallError;
use forebay_proto::v1::attend_request::Attendance;
use forebay_ring::ConsumerId;
use tokio::sync::Mutex;

use crate::ledger_client::LedgerClient;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Presence(Mutex<KnownTrainers>);

#[derive(Debug, Default)]
struct KnownTrainers {
    /// Their own numbers. One that comes back at once may have two consumers for a moment.
    numbers: BTreeMap<ConsumerId, u64>,
    /// The daemon ends. Those who are here then come to the next one.
    is_final: bool,
}

impl Presence {
    /// Tells the ledger of a trainer that is about to be let in.
    ///
    /// # Errors
    /// The ledger refuses this worker.
    pub(crate) async fn enter(&self, ledger: &LedgerClient, id: ConsumerId, number: u64) -> Result<(), CallError> {
        let mut known = self.0.lock().await;
        let is_first = known.numbers.is_empty();
        known.numbers.insert(id, number);
        let told = known.tell(ledger).await;
        if told.is_err() {
            known.numbers.remove(&id);
        }
        told?;
        if is_first && ledger.has_others() {
            // Another node may have ended the epoch of batches that are here: the ring's thread is to know which leases have ended.
            match ledger.heartbeat().await {
                // The trainer waits for batches then, and is told why.
                Ok(()) | Err(CallError::Unavailable(_)) => {}
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(())
    }

    /// Tells the ledger that trainers have left, and that it knows what they had.
    ///
    /// # Errors
    /// The ledger refuses this worker.
    pub(crate) async fn leave(&self, ledger: &LedgerClient, gone: &[ConsumerId]) -> Result<(), CallError> {
        let mut known = self.0.lock().await;
        if known.is_final {
            return Ok(());
        }
        known.numbers.retain(|id, _| !gone.contains(id));
        known.tell(ledger).await
    }

    /// The daemon ends: whichever trainers are here come to the next one.
    pub(crate) async fn end(&self) {
        self.0.lock().await.is_final = true;
    }

    /// The number of a trainer; 0 for one that is not here.
    pub(crate) async fn number(&self, id: ConsumerId) -> u64 {
        self.0.lock().await.numbers.get(&id).copied().unwrap_or(0)
    }

    /// Those who are not here any more.
    pub(crate) async fn gone(&self, is_here: impl Fn(ConsumerId) -> bool) -> Vec<ConsumerId> {
        self.0.lock().await.numbers.keys().copied().filter(|id| !is_here(*id)).collect()
    }
}

impl KnownTrainers {
    async fn tell(&self, ledger: &LedgerClient) -> Result<(), CallError> {
        let attendance = if self.numbers.is_empty() { Attendance::Empty } else { Attendance::Attended };
        ledger.attend(attendance, self.numbers.values().copied().collect()).await
    }
}
