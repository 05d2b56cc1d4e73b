//! The form of a batch of static assignment, of lockstep, or of a step of a class: how many places it has for positions and for
//! copies, known before any record comes.

use forebay_plan::EpochBatches;
use forebay_proto::Turn;

/// What a batch looks like whose places are fixed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    /// Positions that it answers for, of which the last may have no record. A step of a class may have fewer places.
    pub positions: u32,
    /// Its first places: those of the positions that have a record.
    pub own: u32,
    /// What the places behind them repeat.
    pub copies: Vec<Turn>,
    /// Where places without a picture stay empty: how many there are behind the first ones.
    pub empty: Option<u32>,
}

impl Form {
    /// How many places it has.
    pub(super) fn places(&self) -> u32 {
        self.own + u32::try_from(self.copies.len()).unwrap_or(u32::MAX) + self.empty.unwrap_or(0)
    }

    /// The same where places without a picture stay empty. There are no copies then.
    pub(super) fn leaving_empty(self) -> Self {
        let empty = Some(self.places() - self.own);
        Self { copies: Vec::new(), empty, ..self }
    }

    /// Of batch `index` of an epoch.
    pub(crate) fn of(batches: &EpochBatches, index: u64) -> Self {
        let batch = batches.batch(index);
        let count = |places: u64| u32::try_from(places).unwrap_or(u32::MAX);
        let copies = (batch.valid..batch.shown).map(|place| batches.turn(index, place));
        Self { positions: count(batch.positions), own: count(batch.valid), copies: copies.collect(), empty: None }
    }
}
