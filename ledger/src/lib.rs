//! Which worker has which positions of an epoch, and what was delivered: pure state machines of ledgers and tasks.
//!
//! [`Ledgers`] takes commands with the time at which they came, and gives replies and [`Change`]s of documents. Its owner
//! stores the changes before it sends the reply. Nothing here does I/O, reads a clock or starts a thread.
#![forbid(unsafe_code)]

mod change;
mod error;
mod ledger;
mod ledgers;
mod tasks;

pub use change::Change;
pub use error::LedgerError;
pub use ledger::{Ledger, Times};
pub use ledgers::{Ledgers, PREFIX, split};
pub use tasks::task_ledger;
