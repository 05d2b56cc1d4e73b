//! A batch that is being filled: what stands in each of its places.

use crate::record::Position;

/// A batch in the making.
#[derive(Debug)]
pub struct Draft {
    epoch: u64,
    size: u32,
    places: Vec<Place>,
    /// Places that the user sees, once no further record comes.
    shown: Option<u32>,
}

/// One place of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Position that the batch answers for; none for copies and holes.
    pub own: Option<Position>,
    /// Record whose picture it is.
    pub record: u64,
    /// Its label, -1 without.
    pub label: i64,
    /// How far its picture is.
    pub fill: Fill,
}

/// How far a place's picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// In the decoder's hands.
    Decoding,
    /// There.
    Good,
    /// A bad record stood here; `probe` is the lease's next offset that may stand in.
    Bad { position: Position, probe: Option<u64> },
    /// A stand-in for a bad record is being read and decoded.
    Probing { position: Position, probe: u64 },
    /// Is to repeat a record; `asked`: it was fetched, in vain.
    Copy { asked: bool },
    /// A copy is being read and decoded.
    Fetching,
    /// Empty, to be filled by whatever comes.
    Hole,
    /// Shows a picture, or black, that has no record.
    Anonymous,
}

impl Place {
    /// Decoding the copy failed.
    pub fn copy_failed(&mut self) {
        self.fill = match self.fill {
            Fill::Probing { position, probe } => Fill::Bad { position, probe: Some(probe) },
            _ => Fill::Copy { asked: true },
        };
    }

    /// Whatever picture is there, it stands for no record.
    pub fn anonymous(&mut self) {
        self.fill = Fill::Anonymous;
    }
}

impl Draft {
    /// An empty batch of `size` places.
    pub fn new(epoch: u64, size: u32) -> Self {
        Self { epoch, size, places: Vec::with_capacity(size as usize), shown: None }
    }

    /// Epoch of its records.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Places that are taken.
    #[allow(clippy::cast_possible_truncation, reason = "a batch has at most `size` places, a u32")]
    pub fn len(&self) -> u32 {
        self.places.len() as u32
    }

    /// Whether every place is taken.
    pub fn is_full(&self) -> bool {
        self.len() == self.size
    }

    /// Says that no further record comes, and how many places are shown.
    pub fn end(&mut self, shown: u32) {
        self.shown = Some(shown);
    }

    /// Whether [`Draft::end`] was said.
    pub fn is_ended(&self) -> bool {
        self.shown.is_some()
    }

    /// How many places the user sees.
    pub fn shown(&self) -> u32 {
        self.shown.unwrap_or(self.len())
    }

    /// The places.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Positions that the batch answers for.
    pub fn owned(&self) -> impl Iterator<Item = Position> {
        self.places.iter().filter_map(|place| place.own)
    }

    /// Takes the next place, as a hole.
    pub fn append(&mut self) -> u32 {
        self.places.push(Place { own: None, record: 0, label: -1, fill: Fill::Hole });
        self.len() - 1
    }

    /// One place.
    pub fn place(&self, place: u32) -> &Place {
        &self.places[place as usize]
    }

    /// One place, to change it.
    pub fn place_mut(&mut self, place: u32) -> &mut Place {
        &mut self.places[place as usize]
    }

    /// Sets a place that is taken.
    pub fn set(&mut self, place: u32, new: Place) {
        *self.place_mut(place) = new;
    }

    /// Sets a place, which may be the next free one.
    pub fn put(&mut self, place: u32, new: Place) {
        if place == self.len() {
            self.places.push(new);
        } else {
            self.set(place, new);
        }
    }

    /// Whether a picture is still in somebody's hands.
    pub fn decoding(&self) -> bool {
        self.places.iter().any(|place| matches!(place.fill, Fill::Decoding | Fill::Fetching | Fill::Probing { .. }))
    }

    /// The first hole. A bad record's place counts as one when nothing can stand in for it.
    pub fn hole(&self) -> Option<u32> {
        self.first(|place| place.fill == Fill::Hole)
    }

    /// The next place after the last taken one.
    pub fn room(&self) -> Option<u32> {
        (!self.is_full()).then(|| self.len())
    }

    /// Drops holes at the end; gives the places that are left.
    pub fn trim(&mut self) -> u32 {
        while self.places.last().is_some_and(|place| place.fill == Fill::Hole) {
            self.places.pop();
        }
        self.len()
    }

    /// Takes the last place out.
    pub fn take_last(&mut self) -> Place {
        self.places.pop().expect("trim left at least one place")
    }

    /// A good own picture of the lease: the nearest before `place`, else the nearest after it.
    pub fn donor_in_lease(&self, place: u32, lease: u64) -> Option<u32> {
        let fits = |at: &u32| {
            let place = self.place(*at);
            place.fill == Fill::Good && place.own.is_some_and(|own| own.lease == lease)
        };
        (0..place).rev().find(fits).or_else(|| (place + 1..self.len()).find(fits))
    }

    /// A place that shows this record.
    pub fn donor_of(&self, record: u64) -> Option<u32> {
        self.first(|place| place.fill == Fill::Good && place.record == record)
    }

    /// The nearest good picture before `place`, else after it.
    pub fn nearest_good(&self, place: u32) -> Option<u32> {
        let good = |at: &u32| self.place(*at).fill == Fill::Good;
        (0..place).rev().find(good).or_else(|| (place + 1..self.len()).find(good))
    }

    /// Makes `to` a copy of `from`, for which the batch does not answer.
    pub fn repeat(&mut self, from: u32, to: u32) {
        let Place { record, label, .. } = *self.place(from);
        self.set(to, Place { own: None, record, label, fill: Fill::Good });
    }

    #[allow(clippy::cast_possible_truncation, reason = "a batch has at most `size` places, a u32")]
    fn first(&self, fits: impl Fn(&Place) -> bool) -> Option<u32> {
        self.places.iter().position(fits).map(|place| place as u32)
    }
}
