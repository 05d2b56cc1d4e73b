//! Whether leases may be asked for.

use tokio::sync::watch;

/// See the module. Trainers may hold batches of an earlier incarnation: one is heard first, however long it takes to come. A
/// shard or a rank has no other.
#[derive(Debug)]
pub struct LeasePermit(watch::Sender<bool>);

impl LeasePermit {
    /// There from the start, or when a trainer was heard.
    pub(super) fn new(is_given: bool) -> Self {
        Self(watch::Sender::new(is_given))
    }

    /// A trainer has said what it has.
    pub(crate) fn give(&self) {
        self.0.send_replace(true);
    }

    /// Asks for no leases until the next trainer comes, unless `is_wanted` says that one is there. Returns whether it waits.
    pub fn withdraw(&self, is_wanted: impl FnOnce() -> bool) -> bool {
        self.0.send_replace(false);
        // A trainer that comes after this check reports that afterwards.
        let waits = !is_wanted();
        if !waits {
            self.0.send_replace(true);
        }
        waits
    }

    /// As it changes.
    pub fn watch(&self) -> watch::Receiver<bool> {
        self.0.subscribe()
    }
}
