//! The rings that batches may be in, by the numbers that the daemon gives them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::Broken;
use crate::mapped::{Mapped, Ring};

/// The rings that the daemon has passed and not retired. A view of a slot keeps its ring mapped, too.
#[derive(Debug)]
pub(crate) struct Rings {
    known: HashMap<u32, Arc<Ring>>,
    changes: u64,
}

impl Rings {
    /// Of a trainer that was welcomed to this ring.
    pub(crate) fn new(number: u32, ring: Arc<Ring>) -> Self {
        Self { known: HashMap::from([(number, ring)]), changes: 0 }
    }

    /// A new daemon has welcomed the trainer to this ring; those of the dead one are no more.
    pub(crate) fn take_over(&mut self, number: u32, ring: Arc<Ring>) {
        self.known = HashMap::from([(number, ring)]);
        self.changes += 1;
    }

    pub(crate) fn add(&mut self, number: u32, ring: Arc<Ring>) {
        self.known.insert(number, ring);
        self.changes += 1;
    }

    /// This ring has no batch, and will have none.
    pub(crate) fn retire(&mut self, number: u64) -> Result<(), Broken> {
        let known = u32::try_from(number).ok().and_then(|number| self.known.remove(&number));
        let unknown = || Broken::Protocol(format!("ring {number} was retired, which is unknown"));
        self.changes += 1;
        known.map(drop).ok_or_else(unknown)
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Arc<Ring>> {
        self.known.get(&number)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Mapped> {
        self.known.values().map(Mapped::new)
    }

    /// How often there were others so far.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }
}
