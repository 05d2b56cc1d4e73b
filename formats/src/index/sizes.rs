//! The sizes of a dataset's pictures as columns of its index (semantics rule 61). They are optional: an index without them is
//! as good, and earlier versions ignore them.

use std::sync::Arc;

use arrow_array::types::{UInt8Type, UInt32Type};
use forebay_sources::{PictureSize, SizeColumns, Sizes, Source, SourceError};

use crate::index_columns::{BadIndex, IndexColumns, NewColumns};
use crate::values::Values;

/// As seen, after the EXIF orientation. All three are 0 if the size is not known.
const HEIGHT: &str = "height";
const WIDTH: &str = "width";
const ORIENTATION: &str = "orientation";

/// Measures all pictures of a dataset.
pub type Measure<'a> = &'a mut dyn FnMut(&dyn Source) -> Result<NewSizes, SourceError>;

/// The sizes of pictures that were measured, in the order of the records.
#[derive(Clone, Debug, Default)]
pub struct NewSizes {
    heights: Vec<u32>,
    widths: Vec<u32>,
    orientations: Vec<u8>,
}

/// The columns of an open index.
#[derive(Debug)]
struct StoredSizes {
    heights: Values<u32>,
    widths: Values<u32>,
    orientations: Values<u8>,
}

impl NewSizes {
    /// Adds the size of the next record's picture; nothing if its file does not say one.
    pub fn push(&mut self, size: Option<PictureSize>) {
        self.heights.push(size.map_or(0, |size| size.height));
        self.widths.push(size.map_or(0, |size| size.width));
        self.orientations.push(size.map_or(0, |size| size.orientation));
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.heights.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.heights.is_empty()
    }

    /// The size of each record's picture, in order; nothing where it is not known.
    pub fn iter(&self) -> impl Iterator<Item = Option<PictureSize>> {
        let sides = self.heights.iter().zip(&self.widths).zip(&self.orientations);
        sides.map(|((height, width), orientation)| size_of(*height, *width, *orientation))
    }

    /// Adds the columns, which have a size for each record.
    pub(super) fn add_to_index(self, columns: &mut NewColumns) {
        columns.numbers::<UInt32Type>(HEIGHT, &mut self.heights.into());
        columns.numbers::<UInt32Type>(WIDTH, &mut self.widths.into());
        columns.numbers::<UInt8Type>(ORIENTATION, &mut self.orientations.into());
    }
}

impl SizeColumns for StoredSizes {
    fn size(&self, record: u64) -> Option<PictureSize> {
        let place = usize::try_from(record).ok()?;
        let (height, width) = (self.heights.get(place)?, self.widths.get(place)?);
        size_of(height, width, self.orientations.get(place)?)
    }
}

/// A size that is kept in this way, if it is known.
fn size_of(height: u32, width: u32, orientation: u8) -> Option<PictureSize> {
    let is_known = height > 0 && width > 0 && (1..=8).contains(&orientation);
    is_known.then_some(PictureSize { height, width, orientation })
}

/// The sizes that an index has, if it has any. Columns of the same names that the dataset itself has are none.
///
/// # Errors
/// The columns are not those of sizes.
pub(super) fn read(columns: &IndexColumns) -> Result<Sizes, BadIndex> {
    if !columns.has(ORIENTATION) || !columns.is_own(ORIENTATION) {
        return Ok(Sizes::default());
    }
    let stored = StoredSizes {
        heights: columns.numbers::<UInt32Type>(HEIGHT)?,
        widths: columns.numbers::<UInt32Type>(WIDTH)?,
        orientations: columns.numbers::<UInt8Type>(ORIENTATION)?,
    };
    Ok(Sizes::new(columns.len() as u64, Arc::new(stored)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use forebay_sources::{IndexChoice, Options};

    use super::*;
    use crate::scene::says;
    use crate::tar::writer::TarWriter;
    use crate::tests::folder;
    use crate::{make_index, make_index_with_sizes, open};

    fn from(index: &Path) -> Options {
        Options { index: IndexChoice::File(index.to_owned()), ..Options::default() }
    }

    /// A size for each record but the second.
    fn size(record: u64) -> Option<PictureSize> {
        let height = u32::try_from(record).unwrap() * 10 + 1;
        (record != 1).then_some(PictureSize { height, width: 7, orientation: 6 })
    }

    fn measured(source: &dyn Source) -> NewSizes {
        let mut sizes = NewSizes::default();
        (0..source.len()).for_each(|record| sizes.push(size(record)));
        sizes
    }

    fn known(source: &dyn Source) -> Vec<Option<PictureSize>> {
        (0..source.len()).map(|record| source.sizes().get(record)).collect()
    }

    #[test]
    fn rule_61_an_index_has_the_sizes_that_were_measured_for_files_and_for_ranges() {
        let tars = tempfile::tempdir().unwrap();
        fs::write(
            tars.path().join("0.tar"),
            TarWriter::of(&[("1.jpg", b"first"), ("2.jpg", b"second"), ("3.jpg", b"3")]),
        )
        .unwrap();
        let indexes = tempfile::tempdir().unwrap();
        for dir in [folder(&["a.jpg", "b.jpg", "c.jpg"]), tars] {
            let (name, index) = (dir.path().to_str().unwrap(), indexes.path().join("x.arrow"));
            let plain = make_index(name, &Options::default(), Some(&index), true).unwrap();
            assert!(open(name, &from(&index)).unwrap().sizes().is_empty());
            let make = |rebuild| {
                make_index_with_sizes(name, &Options::default(), Some(&index), rebuild, &mut |source| {
                    Ok(measured(source))
                })
                .unwrap()
            };
            let made = make(false);
            assert!(made.is_new && made.fingerprint == plain.fingerprint, "an index without sizes did not suffice");
            let source = open(name, &from(&index)).unwrap();
            assert_eq!(known(&*source), [0, 1, 2].map(size));
            assert!(!make(false).is_new && make(true).is_new);
            assert!(
                !make_index(name, &Options::default(), Some(&index), false).unwrap().is_new,
                "sizes are no reason to scan"
            );
        }
    }

    #[test]
    fn rule_61_an_index_that_takes_the_place_of_one_with_sizes_says_that_it_has_none() {
        let (dir, indexes) = (folder(&["x/a.jpg", "x/b.jpg"]), tempfile::tempdir().unwrap());
        let (name, index) = (dir.path().to_str().unwrap(), indexes.path().join("x.arrow"));
        let plain = |rebuild| make_index(name, &Options::default(), Some(&index), rebuild).unwrap().has_lost_sizes;
        assert!(!plain(true) && !plain(true), "there were none");
        let measure = |rebuild| {
            let mut sizes = |source: &dyn Source| Ok(measured(source));
            make_index_with_sizes(name, &Options::default(), Some(&index), rebuild, &mut sizes).unwrap().has_lost_sizes
        };
        assert!(!measure(false) && !measure(true) && !plain(false));
        assert!(plain(true) && !plain(true));
        assert!(!measure(false));
        // It does not fit any more, so it is made again.
        fs::write(dir.path().join("x/c.jpg"), "").unwrap();
        assert!(plain(false));
    }

    #[test]
    fn rule_61_sizes_are_cut_with_a_limit_and_follow_each_other_in_several_datasets() {
        let (dir, indexes) = (folder(&["a.jpg", "b.jpg", "c.jpg"]), tempfile::tempdir().unwrap());
        let name = dir.path().to_str().unwrap().to_owned();
        let options = Options { index: IndexChoice::Folder(indexes.path().to_owned()), ..Options::default() };
        make_index_with_sizes(&name, &options, None, false, &mut |source| Ok(measured(source))).unwrap();
        let both = crate::open_all(&[name.clone(), name.clone()], &options).unwrap();
        assert_eq!(known(&*both), [0, 1, 2, 0, 1, 2].map(size));
        let mut limited = options.clone();
        limited.own.set("limit", "2");
        assert_eq!(known(&*open(&name, &limited).unwrap()), [0, 1].map(size));
    }

    #[test]
    fn rule_61_columns_of_the_dataset_with_these_names_are_no_sizes_and_no_error() {
        let (dir, indexes) = (folder(&["a.jpg", "b.jpg"]), tempfile::tempdir().unwrap());
        let (table, index) = (dir.path().join("t.csv"), indexes.path().join("x.arrow"));
        fs::write(&table, "path,label,height,width,orientation\na.jpg,1,5,6,3\nb.jpg,2,7,8,1\n").unwrap();
        let columns = ["height", "width", "orientation"].map(|name| (name, name));
        let options = Options { columns: columns.into_iter().collect(), ..Options::default() };
        let name = table.to_str().unwrap();
        make_index(name, &options, Some(&index), false).unwrap();
        let opened = || open(name, &Options { index: IndexChoice::File(index.clone()), ..options.clone() }).unwrap();
        assert!(opened().sizes().is_empty() && opened().targets().schema().len() == 3);
        make_index_with_sizes(name, &options, Some(&index), false, &mut |source| Ok(measured(source))).unwrap();
        assert_eq!(known(&*opened()), [0, 1].map(size));
        assert_eq!(opened().targets().schema().len(), 3, "the dataset's own columns are there too");
    }

    #[test]
    fn rule_61_what_ends_the_measuring_ends_the_making_and_leaves_no_index() {
        let (dir, indexes) = (folder(&["a.jpg"]), tempfile::tempdir().unwrap());
        let index = indexes.path().join("x.arrow");
        let missing = |_: &dyn Source| Err(SourceError::Missing { path: "/gone".into() });
        let name = dir.path().to_str().unwrap();
        let refused = make_index_with_sizes(name, &Options::default(), Some(&index), false, &mut { missing });
        says(&refused.unwrap_err().to_string(), &["/gone"]);
        assert!(!index.exists());
    }
}
