//! Which trainers of a stream get a batch, and what happens to slow ones (semantics rules 42 to 44).

use std::time::Duration;

/// Who gets a batch, and how long a group is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliverySettings {
    /// Who gets it.
    pub groups: GroupPolicy,
    /// How long batches wait for a named group without a trainer.
    pub group_timeout: Duration,
    /// What happens to a group that makes others wait.
    pub slow: Slow,
}

/// Who gets a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupPolicy {
    /// One trainer.
    #[default]
    Split,
    /// One trainer of each group.
    Each,
}

/// What happens to a group that makes others wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Slow {
    /// They wait.
    #[default]
    Block,
    /// It is ended, once it has consumed nothing for so long.
    Evict {
        /// For how long.
        after: Duration,
    },
}

impl Default for DeliverySettings {
    fn default() -> Self {
        Self { groups: GroupPolicy::Split, group_timeout: Duration::from_secs(60), slow: Slow::Block }
    }
}
