//! Sizes of pictures that are known without reading the pictures: from an index, or from a dataset's own columns (semantics
//! rule 61).

use std::fmt;
use std::sync::Arc;

/// A picture's size as it is seen, after its EXIF orientation.
///
/// ```
/// use forebay_sources::PictureSize;
/// let portrait = PictureSize { height: 400, width: 300, orientation: 6 };
/// assert_eq!(portrait.pixels(), 120_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PictureSize {
    /// In pixels, above 0.
    pub height: u32,
    /// In pixels, above 0.
    pub width: u32,
    /// EXIF's number from 1 to 8; 1 if the picture is seen as it is stored.
    pub orientation: u8,
}

impl PictureSize {
    /// Height times width.
    pub fn pixels(self) -> u64 {
        u64::from(self.height) * u64::from(self.width)
    }

    /// The size as seen of a picture that is stored with this height and width.
    pub fn of_stored(height: u32, width: u32, orientation: u8) -> Self {
        let (height, width) = if (5..=8).contains(&orientation) { (width, height) } else { (height, width) };
        Self { height, width, orientation }
    }
}

/// Gives the size of each record of a list.
pub trait SizeColumns: fmt::Debug + Send + Sync {
    /// The size of a record's picture, if it is known. Nothing beyond the end.
    fn size(&self, record: u64) -> Option<PictureSize>;
}

/// The sizes of a dataset's pictures: one list, or those of the datasets that it is made of.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    parts: Vec<SizePart>,
}

/// A list's records within a dataset.
#[derive(Clone, Debug)]
struct SizePart {
    /// The number of its first record.
    first: u64,
    records: u64,
    columns: Arc<dyn SizeColumns>,
}

impl Sizes {
    /// Those of a dataset with so many records.
    pub fn new(records: u64, columns: Arc<dyn SizeColumns>) -> Self {
        Self { parts: vec![SizePart { first: 0, records, columns }] }
    }

    /// Those of several datasets as one. Each comes with the number of its first record, in order.
    pub fn join(parts: impl IntoIterator<Item = (u64, Self)>) -> Self {
        let shifted = |(before, sizes): (u64, Self)| {
            sizes.parts.into_iter().map(move |part| SizePart { first: before + part.first, ..part })
        };
        Self { parts: parts.into_iter().flat_map(shifted).collect() }
    }

    /// The sizes of the first `records` records.
    #[must_use]
    pub fn first(mut self, records: u64) -> Self {
        self.parts.retain(|part| part.first < records);
        for part in &mut self.parts {
            part.records = part.records.min(records - part.first);
        }
        self
    }

    /// Whether no size is known.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The size of a record's picture, if it is known.
    pub fn get(&self, record: u64) -> Option<PictureSize> {
        let behind = self.parts.partition_point(|part| part.first <= record);
        let part = self.parts.get(behind.checked_sub(1)?)?;
        let own = record - part.first;
        if own < part.records { part.columns.size(own) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Record `n` is `n + 1` high and as wide as the list says.
    #[derive(Debug)]
    struct OfWidth(u32);

    impl SizeColumns for OfWidth {
        fn size(&self, record: u64) -> Option<PictureSize> {
            let height = u32::try_from(record).ok()? + 1;
            (record != 1).then_some(PictureSize { height, width: self.0, orientation: 1 })
        }
    }

    fn sizes(records: u64, width: u32) -> Sizes {
        Sizes::new(records, Arc::new(OfWidth(width)))
    }

    #[test]
    fn rule_61_the_sizes_of_several_datasets_follow_each_other_and_one_of_them_may_have_none() {
        let joined = Sizes::join([(0, sizes(3, 10)), (3, Sizes::default()), (5, sizes(2, 20))]);
        let known: Vec<_> = (0..8).map(|record| joined.get(record).map(|size| (size.height, size.width))).collect();
        assert_eq!(known, [Some((1, 10)), None, Some((3, 10)), None, None, Some((1, 20)), None, None]);
        let cut = joined.clone().first(3);
        assert_eq!((cut.get(2), cut.get(5)), (joined.get(2), None));
        assert!(Sizes::default().is_empty() && Sizes::default().get(0).is_none() && !joined.is_empty());
    }

    #[test]
    fn rule_61_a_picture_that_is_turned_by_a_quarter_is_as_high_as_it_is_stored_wide() {
        for orientation in 1..=8 {
            let seen = PictureSize::of_stored(2, 3, orientation);
            assert_eq!((seen.height, seen.width), if orientation < 5 { (2, 3) } else { (3, 2) });
        }
    }
}
