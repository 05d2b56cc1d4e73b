//! When the daemon ends itself: if nothing in this process can use a GPU any more, or if continuing would give other
//! pixels than were requested. Its supervisor restarts it, and trainers reconnect. They keep what they hold. The ledgers
//! are told before, so that no record is suspected of the end (semantics rule 9).

use std::process;
use std::sync::{Weak, mpsc};
use std::time::Duration;

use forebay_delivery::LedgerClient;
use forebay_proto::v1::attend_request::Attendance;
use parking_lot::Mutex;
use tokio::runtime::Handle;

/// How long the ledgers may take to receive the message.
const MOMENT: Duration = Duration::from_secs(2);

/// The ledgers of this process, each with what runs its commands.
static LEDGERS: Mutex<Vec<(Weak<LedgerClient>, Handle)>> = Mutex::new(Vec::new());

/// Registers a ledger, which is told if the daemon ends itself.
pub(crate) fn watch(ledger: Weak<LedgerClient>, runtime: Handle) {
    let mut ledgers = LEDGERS.lock();
    ledgers.retain(|(ledger, _)| ledger.strong_count() > 0);
    ledgers.push((ledger, runtime));
}

fn abort() -> ! {
    let (told, all) = mpsc::channel::<()>();
    for (ledger, runtime) in LEDGERS.lock().iter() {
        if let Some(ledger) = ledger.upgrade() {
            let told = told.clone();
            runtime.spawn(async move {
                // The daemon ends in any case. If the ledger is not told, the worker's leases make suspects at worst.
                let _heard = ledger.attend(Attendance::Ending, Vec::new()).await;
                drop(told);
            });
        }
    }
    drop(told);
    // The channel closes when all are told.
    let _late = all.recv_timeout(MOMENT);
    process::abort()
}

/// The GPU's context is broken.
pub(crate) fn broken(error: &dyn std::error::Error) -> ! {
    tracing::error!(%error, "the GPU failed; the daemon ends so that it can be restarted");
    abort()
}

/// A thread has waited so long for a GPU that it will never return. Until the process ends, no other thread gets the
/// memory that it writes to.
pub(crate) fn hung(thread: &str, limit: Duration) -> ! {
    tracing::error!(
        thread,
        seconds = limit.as_secs_f64(),
        "the GPU did not finish what this thread gave it: nvJPEG or the driver hangs; the daemon ends so that it can be restarted"
    );
    abort()
}

/// The lane that a record's number chooses cannot decode the picture, for a reason that another run may not meet.
pub(crate) fn unfixed(record: u64, lane: &str, reason: &str) -> ! {
    tracing::error!(
        record,
        lane,
        reason,
        "decode.lanes = \"fixed\" cannot be kept: the lane failed twice, and another lane would give other pixels; the daemon ends \
         so that it can be restarted"
    );
    abort()
}
