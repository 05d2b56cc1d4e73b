//! `[ring]`: how many batches fit in a ring.

use forebay_road::ByteSize;

use super::table::Table;
use super::value::{size, whole};

pub(super) const EXAMPLE: &str = r#"[ring]
# Batches that one trainer may hold. A stream can have its own value.
credits = 2
# Trainers that a ring has room for. Further trainers share the credits that are left. A stream can have its own value.
trainers = 2
# Memory that all rings together may take. Left out: what the machine and its control groups have free.
# memory = "8gb"
"#;

/// The section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Batches that one trainer may hold.
    pub credits: u32,
    /// Number of trainers that a ring is sized for.
    pub trainers: u32,
    /// Memory that all rings together may use. If it is left out, the limit is the free memory.
    pub memory: Option<ByteSize>,
}

pub(super) const CREDITS: std::ops::RangeInclusive<u32> = 1..=64;
pub(super) const TRAINERS: std::ops::RangeInclusive<u32> = 1..=1024;

impl Default for Ring {
    fn default() -> Self {
        Self { credits: 2, trainers: 2, memory: None }
    }
}

impl Ring {
    pub(super) fn read(table: &mut Table<'_, '_>) -> Self {
        let default = Self::default();
        Self {
            credits: table.take_or("credits", default.credits, whole(CREDITS)),
            trainers: table.take_or("trainers", default.trainers, whole(TRAINERS)),
            memory: table.take("memory", size),
        }
    }
}
