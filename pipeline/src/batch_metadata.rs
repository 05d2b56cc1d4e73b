//! The data that is written beside a batch's pictures: labels, record numbers, mask, and the claims that the batch
//! answers for.

use std::collections::BTreeMap;

use forebay_columns::Value;
use forebay_pixels::Origin;
use forebay_plan::StepClass;
use forebay_proto::Turn;
use forebay_ring::{Claim, SlotMut};

use crate::mosaic::Partners;
use crate::record::{BadRecord, LeasePart, Position};
use crate::returned::Returned;

/// A settled batch, ready to be published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BatchMetadata {
    /// Number of the batch.
    pub batch: u64,
    /// Epoch of its records.
    pub epoch: u64,
    /// Places that the user sees.
    pub shown: u32,
    /// Places that are this epoch's own records.
    pub valid: u32,
    /// What is in each place.
    pub places: MetadataPlaces,
    /// What is beside the pictures of places in a mosaic.
    pub partners: BTreeMap<u32, Box<Partners>>,
    /// What functions in Python have returned beside the pictures of places.
    pub returned: BTreeMap<u32, Box<Returned>>,
    /// What its step has on all ranks, if steps have classes.
    pub step: Option<StepClass>,
    /// What the batch answers for: its own places in their order, then bare claims.
    pub claims: Vec<Claim>,
    /// What is wrong with the records of bare claims that have one.
    pub bad: Vec<BadRecord>,
}

/// What is in each place of a batch: columns of one length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MetadataPlaces {
    /// Label of each place, -1 without.
    pub labels: Vec<i64>,
    /// Record number of each place, -1 without a record.
    pub records: Vec<i64>,
    /// The repeat of each place's record.
    pub repeats: Vec<u16>,
    /// 1 where the place is an own record, 0 where it repeats or replaces.
    pub mask: Vec<u8>,
    /// What the picture of each place was made of. None without a picture.
    pub origins: Vec<Option<Origin>>,
}

/// A settled batch in its slot, where all of its pictures are.
#[derive(Debug)]
pub(crate) struct SettledBatch {
    /// What is written beside the pictures.
    pub metadata: BatchMetadata,
    /// The right to the whole slot.
    pub slot: SlotMut,
    /// For each place, whether its pixels are in memory of a GPU already.
    pub in_gpu: Vec<bool>,
}

/// The columns of a batch whose pictures were mixed: a value for each place of its metadata.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MixedLabels {
    /// The label of the picture that was mixed in.
    pub labels: Vec<i64>,
    /// The weight of the place's own label, 0 to 1.
    pub weights: Vec<f32>,
}

impl SettledBatch {
    /// The positions that it answers for.
    pub(crate) fn parts(&self) -> impl Iterator<Item = LeasePart> + '_ {
        self.metadata.claims.iter().map(|claim| (claim.lease, claim.start, claim.end()))
    }
}

impl MetadataPlaces {
    /// None yet, with room for so many.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self {
            labels: Vec::with_capacity(count),
            records: Vec::with_capacity(count),
            repeats: Vec::with_capacity(count),
            mask: Vec::with_capacity(count),
            origins: Vec::with_capacity(count),
        }
    }

    /// The turn of the record at a place, if the place has one.
    pub(crate) fn turn(&self, place: usize) -> Option<Turn> {
        let record = u64::try_from(*self.records.get(place)?).ok()?;
        Some(Turn::new(record, self.repeats.get(place).copied().unwrap_or_default()))
    }
}

impl BatchMetadata {
    /// What functions have returned for the picture of a place in this column of the dataset, if they have.
    pub(crate) fn returned(&self, place: usize, column: usize) -> Option<Value<'_>> {
        let place = u32::try_from(place).ok()?;
        Some(self.returned.get(&place)?.values.get(column)?.as_ref()?.value())
    }

    /// Takes what functions have returned. A label takes the place of the dataset's.
    pub(crate) fn set_returned(&mut self, returned: BTreeMap<u32, Box<Returned>>) {
        for (place, returned) in &returned {
            if let (Some(own), Some(label)) = (self.places.labels.get_mut(*place as usize), returned.label) {
                *own = label;
            }
        }
        self.returned = returned;
    }

    /// Lengthens the last claim, or adds one.
    pub(crate) fn claim(&mut self, position: Position, make: impl Fn(u64, u64, u32) -> Claim) {
        let one = make(position.lease, position.offset, 1);
        match self.claims.last_mut() {
            Some(last) if (last.lease, last.end(), last.bare) == (one.lease, one.start, one.bare) => last.len += 1,
            _ => self.claims.push(one),
        }
    }
}
