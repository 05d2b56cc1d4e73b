//! Pictures that each have a size of their own, and the room that a step of them needs (semantics rules 62 and 63).

use std::collections::BTreeMap;

use forebay_pixels::Recipe;
use forebay_plan::ClassTable;
use forebay_sources::{Sizes, Source};

use crate::selected;
use crate::settings::StreamSettings;

/// Longest side of a result: columns have 31 bits, and no decoder makes longer ones.
const LONGEST: u32 = i32::MAX as u32;

/// See the module.
#[derive(Debug)]
pub(super) struct RaggedPictures {
    recipe: Recipe,
    /// Places of a step on all ranks together.
    places: u32,
    /// The largest results, as many as a step has places, with the record that has the first of them.
    largest: LargestResults,
}

/// The largest results of a dataset.
#[derive(Debug, Default)]
pub struct LargestResults {
    /// Their pixels, and how many records have so many. The records are counted up to `most`.
    pixels: BTreeMap<u64, u64>,
    /// All of these records.
    count: u64,
    most: u64,
    /// The largest one: its height, its width, and its record.
    first: Option<((u32, u32), u64)>,
}

impl LargestResults {
    /// No results yet. As many as `most` of them will be in a batch.
    pub fn new(most: u64) -> Self {
        Self { most, ..Self::default() }
    }

    /// Adds that so many times in an epoch, a record has this height and width.
    pub fn add(&mut self, (height, width): (u32, u32), record: u64, times: u64) {
        let pixels = u64::from(height) * u64::from(width);
        if self.first.is_none_or(|((height, width), _)| u64::from(height) * u64::from(width) < pixels) {
            self.first = Some(((height, width), record));
        }
        let of_size = self.pixels.entry(pixels).or_default();
        let more = times.min(self.most - *of_size);
        *of_size += more;
        self.count += more;
        // What is below the largest ones, as many as a batch has, is never in the sum.
        while let Some(smallest) = self.pixels.first_entry().filter(|smallest| self.count - smallest.get() >= self.most)
        {
            self.count -= smallest.remove();
        }
    }

    /// Pixels of the `places` largest results together, which are as many as were asked for at most.
    ///
    /// ```
    /// use forebay_pipeline::LargestResults;
    ///
    /// let mut largest = LargestResults::new(3);
    /// [(2, 3), (10, 10), (4, 5)].into_iter().zip(0..).for_each(|(size, record)| largest.add(size, record, 2));
    /// assert_eq!((largest.sum(1), largest.sum(3)), (100, 220));
    /// assert_eq!(largest.first(), Some(((10, 10), 1)));
    /// ```
    pub fn sum(&self, places: u64) -> u64 {
        let mut left = places;
        let of_size = |(pixels, count): (&u64, &u64)| {
            let taken = left.min(*count);
            left -= taken;
            pixels.saturating_mul(taken)
        };
        self.pixels.iter().rev().map(of_size).fold(0, u64::saturating_add)
    }

    /// The largest result: its height, its width, and its record.
    pub fn first(&self) -> Option<((u32, u32), u64)> {
        self.first
    }
}

impl RaggedPictures {
    /// The results of the records that are read, the class of each record, and how many records have none, with the first of them.
    pub(super) fn of(
        source: &dyn Source,
        sizes: &Sizes,
        settings: &StreamSettings,
        places: u32,
    ) -> (Self, Vec<u16>, Option<(u64, u64)>) {
        let mut found = Self { recipe: settings.recipe.clone(), places, largest: LargestResults::new(places.into()) };
        let (repeats, mut without) = (settings.repeats.get().into(), None);
        let class = |record| {
            if let Some(shown) = found.shown(sizes, record) {
                found.largest.add(shown, record, repeats);
                return 0;
            }
            let (records, _) = without.get_or_insert((0, record));
            *records += 1;
            ClassTable::NONE
        };
        let classes = selected::records(source).map(class).collect();
        (found, classes, without)
    }

    /// Height and width of the result of a record, if they are known.
    pub(super) fn shown(&self, sizes: &Sizes, record: u64) -> Option<(u32, u32)> {
        let size = sizes.get(record).filter(|size| size.height > 0 && size.width > 0)?;
        let shown = self.recipe.made_size(size.height, size.width)?;
        (shown.0.max(shown.1) <= LONGEST && shown.0.checked_mul(shown.1).is_some()).then_some(shown)
    }

    /// Height and width with which `batch` pictures have room for a rank's part of a step. The log says which record decides.
    pub(super) fn room(&self, batch: u32, ranks: u32) -> (u32, u32) {
        let pixels = self.largest.sum((self.places / ranks.max(1)).into());
        let Some(((height, width), record)) = self.largest.first() else { return (1, 1) };
        let picture = format!("{height}x{width}");
        tracing::info!(rule = "ragged", pixels, record, picture, "the largest pictures decide the room of a batch");
        let row = u64::from(batch.max(1)) * u64::from(width);
        (u32::try_from(pixels.div_ceil(row)).unwrap_or(u32::MAX).max(1), width)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rule_62_the_room_is_that_of_the_largest_pictures_that_a_batch_may_have(
            sizes in proptest::collection::vec((1..40_u32, 1..40_u32), 0..60),
            most in 1..20_u64,
            repeats in 1..4_u64,
        ) {
            let mut largest = LargestResults::new(most);
            for (record, size) in (0..).zip(&sizes) {
                largest.add(*size, record, repeats);
            }
            let of = |&(height, width): &(u32, u32)| u64::from(height) * u64::from(width);
            let mut all: Vec<u64> = sizes.iter().flat_map(|size| vec![of(size); usize::try_from(repeats).unwrap()]).collect();
            all.sort_unstable_by(|one, other| other.cmp(one));
            for places in 0..=most {
                let expected: u64 = all.iter().take(usize::try_from(places).unwrap()).sum();
                prop_assert_eq!(largest.sum(places), expected);
            }
            prop_assert_eq!(largest.first().map(|(size, _)| of(&size)), all.first().copied());
        }
    }
}
