//! Compares known sizes with the headers of a few files (semantics rule 61).

use std::fmt::Write as _;

use forebay_sources::{ReadError, Sizes, Source};
use thiserror::Error;

use crate::{seen_size, selected};

/// Records whose headers are read.
const LOOKED_AT: u64 = 64;
/// Records that an error names.
const NAMED: usize = 3;

/// Why the sizes of a dataset's pictures are not used.
#[derive(Debug, Error)]
pub enum WrongSizes {
    /// Some are not those of the files.
    #[error("{0}")]
    Different(String),
    /// The storage does not give the headers.
    #[error("{}: {error}", error.locator)]
    Read {
        /// What it says.
        error: Box<ReadError>,
    },
}

/// Refuses sizes that are not those of the files. One record may differ.
///
/// # Errors
/// More than one of the records that are looked at has another size, or the storage fails.
pub fn compare_sizes(source: &dyn Source, sizes: &Sizes) -> Result<(), WrongSizes> {
    let (records, mut bytes, mut different) = (selected::count(source), Vec::new(), Vec::new());
    let looked_at = records.min(LOOKED_AT);
    // Evenly over what is read of the dataset.
    let place =
        |step: u64| u64::try_from(u128::from(step) * u128::from(records) / u128::from(looked_at)).unwrap_or(step);
    let places: Vec<u64> = (0..looked_at).map(place).collect();
    let all = (0..).zip(selected::records(source)).filter(|(place, _)| places.binary_search(place).is_ok());
    for (_, record) in all {
        let Some(known) = sizes.get(record) else { continue };
        let found = seen_size::of_record(source, record, &mut bytes);
        let found = found.map_err(|error| WrongSizes::Read { error: Box::new(error) })?;
        if let Some(found) = found.filter(|found| (found.height, found.width) != (known.height, known.width)) {
            different.push((record, known, found));
        }
    }
    if different.len() < 2 {
        return Ok(());
    }
    let mut text =
        format!("{} of {looked_at} pictures have other sizes than the index or the columns say:", different.len());
    for (record, known, found) in different.iter().take(NAMED) {
        let file = source.locator(*record);
        let (known, found) = ((known.height, known.width), (found.height, found.width));
        write!(text, " {file} is {} x {} and not {} x {};", found.0, found.1, known.0, known.1)
            .expect("a String takes every write");
    }
    text.pop();
    text.push_str(
        ". Sizes are height and width as seen. Run \"forebay index SOURCE --sizes --rebuild\", or name other columns",
    );
    Err(WrongSizes::Different(text))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use forebay_pixels::sample::photograph;
    use forebay_sources::{Locator, PictureSize, ReadError, SizeColumns};

    use super::*;

    /// Pictures that are 24 wide and 16 high.
    #[derive(Debug)]
    struct Alike;

    impl Source for Alike {
        fn len(&self) -> u64 {
            1000
        }
        fn classes(&self) -> &[String] {
            &[]
        }
        fn label(&self, _: u64) -> i64 {
            -1
        }
        fn locator(&self, record: u64) -> Locator {
            Locator::file(format!("/{record}.jpg"))
        }
        fn size(&self, _: u64) -> u64 {
            0
        }
        fn read(&self, _: u64, _: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
            buf.clear();
            buf.extend(photograph(0, 24, 16));
            Ok(())
        }
        fn fingerprint(&self) -> [u8; 32] {
            [0; 32]
        }
        fn shard_name(&self, _: u64) -> &'static str {
            ""
        }
    }

    /// Sizes of which those from a record on are wrong.
    #[derive(Debug)]
    struct WrongFrom(u64);

    impl SizeColumns for WrongFrom {
        fn size(&self, record: u64) -> Option<PictureSize> {
            let (height, width) = if record < self.0 { (16, 24) } else { (24, 16) };
            Some(PictureSize { height, width, orientation: 1 })
        }
    }

    #[test]
    fn rule_61_sizes_of_which_more_than_one_is_wrong_are_refused_with_three_of_them() {
        let compare = |from| compare_sizes(&Alike, &Sizes::new(1000, Arc::new(WrongFrom(from))));
        assert!(compare(1000).is_ok() && compare(984).is_ok(), "none, or one of those that are looked at");
        let Err(WrongSizes::Different(text)) = compare(0) else { panic!("they are all wrong") };
        for words in ["64 of 64", "/0.jpg is 16 x 24 and not 24 x 16", "/15.jpg", "/31.jpg", "--rebuild"] {
            assert!(text.contains(words), "{words} is not in: {text}");
        }
        assert!(!text.contains("/46.jpg"));
        assert!(compare(950).is_err());
    }
}
