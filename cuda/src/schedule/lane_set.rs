//! Lanes by their numbers, and sets of them.

/// A lane's number in a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneId(pub usize);

/// Lanes that may decode a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneSet(u64);

impl LaneSet {
    /// Lanes that it has places for.
    pub const MOST: usize = 64;

    /// Just this lane.
    pub fn only(lane: LaneId) -> Self {
        Self(1 << lane.0)
    }

    /// With this lane.
    #[must_use]
    pub fn with(self, lane: LaneId) -> Self {
        Self(self.0 | 1 << lane.0)
    }

    /// Without this lane.
    #[must_use]
    pub fn without(self, lane: LaneId) -> Self {
        Self(self.0 & !(1 << lane.0))
    }

    /// Without these lanes.
    #[must_use]
    pub fn minus(self, lanes: Self) -> Self {
        Self(self.0 & !lanes.0)
    }

    /// Whether this lane is in it.
    pub fn has(self, lane: LaneId) -> bool {
        self.0 >> lane.0 & 1 == 1
    }

    /// Whether no lane is in it.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<LaneId> for LaneSet {
    fn from_iter<I: IntoIterator<Item = LaneId>>(lanes: I) -> Self {
        lanes.into_iter().fold(Self::default(), Self::with)
    }
}
