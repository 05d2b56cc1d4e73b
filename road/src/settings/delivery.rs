//! Which trainers of a stream get a batch (semantics rules 42 and 43).

use std::time::Duration;

/// Who gets a batch, and how long a group is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliverySettings {
    /// Who gets it.
    pub mode: Mode,
    /// How long batches wait for a named group without a trainer.
    pub group_timeout: Duration,
}

/// Who gets a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// One trainer.
    #[default]
    Split,
    /// One trainer of each group.
    Each,
}

impl Default for DeliverySettings {
    fn default() -> Self {
        Self { mode: Mode::Split, group_timeout: Duration::from_secs(60) }
    }
}
