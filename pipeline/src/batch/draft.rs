//! A batch that is being filled: what is in each of its places.

use std::collections::BTreeMap;

use forebay_pixels::Origin;
use forebay_proto::Turn;
use forebay_ring::Claim;

use crate::batch::form::Form;
use crate::batch_metadata::{BatchMetadata, MetadataPlaces};
use crate::record::{BadRecord, Position};

/// A batch in the making.
#[derive(Debug)]
pub(crate) struct Draft {
    epoch: u64,
    size: u32,
    places: Vec<DraftPlace>,
    /// Static assignment: how many positions it answers for.
    positions: u32,
    /// Places without a picture stay empty.
    leaves_empty: bool,
    /// Static assignment: no further position comes.
    ended: bool,
    /// Static assignment: bad records that it is delivered without.
    pub bad: Vec<BadRecord>,
    /// Static assignment: positions without a record.
    pub bare: Vec<Position>,
    /// How many places are in each of the states that a batch waits for: asked for every record, so it is counted.
    busy: u32,
    wanting: u32,
    holes: u32,
}

/// One place of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DraftPlace {
    /// Position that the batch answers for; none for copies and holes.
    pub own: Option<Position>,
    /// The turn of the record whose picture it is.
    pub turn: Turn,
    /// Its label, -1 without.
    pub label: i64,
    /// How far its picture is.
    pub fill: Fill,
    /// What its picture was made of, once it is there.
    pub origin: Option<Origin>,
}

/// How far a place's picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    /// The decoder has it.
    Decoding,
    /// There.
    Good,
    /// Its record is bad, and another record of the batch will take the place.
    Bad,
    /// It will repeat a record.
    Copy {
        /// The record was fetched without success.
        asked: bool,
    },
    /// A copy is being read and decoded.
    Fetching,
    /// Where places never shift: its position has not come, and need not come.
    Vacant,
    /// Empty: the next record fills it, or, where places never shift, any picture of the batch.
    Hole,
    /// Shows a picture, or black, that has no record.
    Anonymous,
    /// Where places without a picture stay empty: it has none.
    Empty,
}

impl DraftPlace {
    /// A place about which nothing is known.
    pub(crate) const HOLE: Self = Self { own: None, turn: Turn::first(0), label: -1, fill: Fill::Hole, origin: None };
    /// One that stays empty.
    pub(crate) const EMPTY: Self = Self { fill: Fill::Empty, ..Self::HOLE };
}

impl Draft {
    /// An empty batch of `size` places.
    pub(crate) fn new(epoch: u64, size: u32) -> Self {
        let (places, positions) = (Vec::with_capacity(size as usize), 0);
        let (bad, bare) = (Vec::new(), Vec::new());
        let (leaves_empty, ended) = (false, false);
        Self { epoch, size, places, positions, leaves_empty, ended, bad, bare, busy: 0, wanting: 0, holes: 0 }
    }

    /// A batch of static assignment, whose places are known before its records come.
    pub(crate) fn fixed(epoch: u64, size: u32, form: &Form) -> Self {
        let leaves_empty = form.empty.is_some();
        let mut draft = Self { positions: form.positions, leaves_empty, ..Self::new(epoch, size) };
        for _ in 0..form.own {
            draft.append(DraftPlace { fill: Fill::Vacant, ..DraftPlace::HOLE });
        }
        for &turn in &form.copies {
            draft.append(DraftPlace { turn, fill: Fill::Copy { asked: false }, ..DraftPlace::HOLE });
        }
        for _ in 0..form.empty.unwrap_or(0) {
            draft.append(DraftPlace::EMPTY);
        }
        draft
    }

    /// Whether places without a picture stay empty.
    pub(crate) fn leaves_empty(&self) -> bool {
        self.leaves_empty
    }

    /// Epoch of its records.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Places that are taken.
    #[allow(clippy::cast_possible_truncation, reason = "a batch has at most `size` places, a u32")]
    pub(crate) fn taken(&self) -> u32 {
        self.places.len() as u32
    }

    /// Whether every place is taken.
    pub(crate) fn is_full(&self) -> bool {
        self.taken() == self.size
    }

    /// Static assignment: how many positions it answers for.
    pub(crate) fn positions(&self) -> u32 {
        self.positions
    }

    /// Static assignment: whether this position has come, whose place this is. A step of a class has positions without a place.
    pub(crate) fn has(&self, place: u32, position: &Position) -> bool {
        match self.places.get(place as usize) {
            // A place of no position may be behind those of the positions with a record.
            Some(place) if !matches!(place.fill, Fill::Copy { .. } | Fill::Empty) => place.fill != Fill::Vacant,
            _ => self.bare.iter().any(|bare| bare.index == position.index),
        }
    }

    /// Static assignment: no further position comes. A place whose position has not come becomes a hole.
    pub(crate) fn end(&mut self) {
        self.ended = true;
        for place in 0..self.taken() {
            if self.place(place).fill == Fill::Vacant {
                self.fill(place, Fill::Hole);
            }
        }
    }

    /// Whether [`Draft::end`] was called.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended
    }

    /// The places that are taken.
    pub(crate) fn places(&self) -> &[DraftPlace] {
        &self.places
    }

    /// Positions whose records it shows.
    pub(crate) fn owned(&self) -> impl Iterator<Item = Position> {
        self.places.iter().filter_map(|place| place.own)
    }

    /// Positions that it answers for without a record.
    pub(crate) fn without(&self) -> impl Iterator<Item = Position> {
        self.bad.iter().map(|bad| bad.position).chain(self.bare.iter().copied())
    }

    /// One place.
    pub(crate) fn place(&self, place: u32) -> &DraftPlace {
        &self.places[place as usize]
    }

    /// Takes the next place.
    pub(crate) fn append(&mut self, new: DraftPlace) -> u32 {
        debug_assert!(!self.is_full(), "a batch has no place {}", self.size);
        self.count(new.fill);
        self.places.push(new);
        self.taken() - 1
    }

    /// Sets a place: a taken one, or the next.
    pub(crate) fn set(&mut self, place: u32, new: DraftPlace) {
        if place == self.taken() {
            self.append(new);
        } else {
            let old = std::mem::replace(&mut self.places[place as usize], new);
            self.forget(old.fill);
            self.count(new.fill);
        }
    }

    /// Notes how far a place's picture is.
    pub(crate) fn fill(&mut self, place: u32, fill: Fill) {
        self.set(place, DraftPlace { fill, ..*self.place(place) });
    }

    /// Makes `to` a copy of `from`, for which the batch does not answer.
    pub(crate) fn repeat(&mut self, from: u32, to: u32) {
        self.set(to, DraftPlace { own: None, fill: Fill::Good, ..*self.place(from) });
    }

    /// Takes the last place out.
    pub(crate) fn pop(&mut self) -> Option<DraftPlace> {
        let last = self.places.pop()?;
        self.forget(last.fill);
        Some(last)
    }

    /// Drops holes at the end; gives the places that are left.
    pub(crate) fn trim(&mut self) -> u32 {
        while self.places.last().is_some_and(|place| place.fill == Fill::Hole) {
            self.pop();
        }
        self.taken()
    }

    /// Whether a picture is still being fetched or decoded.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy > 0
    }

    /// Whether a place still waits for the picture that it will repeat.
    pub(crate) fn is_wanting(&self) -> bool {
        self.wanting > 0
    }

    /// The first hole.
    pub(crate) fn hole(&self) -> Option<u32> {
        if self.holes == 0 { None } else { self.first(|place| place.fill == Fill::Hole) }
    }

    /// A place that shows this turn of a record.
    pub(crate) fn showing(&self, turn: Turn) -> Option<u32> {
        self.first(|place| place.fill == Fill::Good && place.turn == turn)
    }

    /// A place that this turn of a record is being fetched for.
    pub(crate) fn fetching(&self, turn: Turn) -> Option<u32> {
        self.first(|place| place.fill == Fill::Fetching && place.turn == turn)
    }

    /// The nearest good picture before `place`, else after it.
    pub(crate) fn nearest_good(&self, place: u32) -> Option<u32> {
        let good = |at: &u32| self.place(*at).fill == Fill::Good;
        (0..place).rev().find(good).or_else(|| (place + 1..self.taken()).find(good))
    }

    fn count(&mut self, fill: Fill) {
        if let Some(counter) = self.counter(fill) {
            *counter += 1;
        }
    }

    fn forget(&mut self, fill: Fill) {
        if let Some(counter) = self.counter(fill) {
            *counter -= 1;
        }
    }

    fn counter(&mut self, fill: Fill) -> Option<&mut u32> {
        match fill {
            Fill::Decoding | Fill::Fetching => Some(&mut self.busy),
            Fill::Bad | Fill::Copy { .. } => Some(&mut self.wanting),
            Fill::Hole => Some(&mut self.holes),
            Fill::Good | Fill::Anonymous | Fill::Empty | Fill::Vacant => None,
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "a batch has at most `size` places, a u32")]
    fn first(&self, fits: impl Fn(&DraftPlace) -> bool) -> Option<u32> {
        self.places.iter().position(fits).map(|place| place as u32)
    }

    /// What is written beside the pictures, once the batch of this number is settled.
    pub(super) fn metadata(&self, batch: u64) -> BatchMetadata {
        let (mut places, mut valid) = (MetadataPlaces::with_capacity(self.places().len()), 0);
        for place in self.places() {
            places.labels.push(place.label);
            let record = i64::try_from(place.turn.record()).unwrap_or(-1);
            let is_none = matches!(place.fill, Fill::Anonymous | Fill::Empty);
            places.records.push(if is_none { -1 } else { record });
            places.repeats.push(place.turn.repeat());
            places.mask.push(u8::from(place.own.is_some()));
            places.origins.push(place.origin);
            valid += u32::from(place.own.is_some());
        }
        let (epoch, shown, bad) = (self.epoch(), self.taken(), self.bad.clone());
        let (partners, returned, claims) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let mut metadata =
            BatchMetadata { batch, epoch, shown, valid, places, partners, returned, step: None, claims, bad };
        self.owned().for_each(|position| metadata.claim(position, Claim::new));
        self.without().for_each(|position| metadata.claim(position, Claim::bare));
        metadata
    }
}
