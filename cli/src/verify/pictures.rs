//! The good pictures of a dataset: their kinds and sizes, and those that are shown.

use std::collections::BTreeMap;

use forebay_pixels::FurtherKind;
use serde::Serialize;

use super::checked::GoodPicture;
use super::choice::{greatest, sample};
use super::histogram::Spread;
use super::kind::PictureKind;

/// What the good pictures are.
pub(super) struct GoodPictures {
    /// How many there are, by kind.
    pub kinds: BTreeMap<PictureKind, u64>,
    /// Those that EXIF turns or mirrors.
    pub turned: u64,
    /// Files with more than the picture that is read, by kind and by what they have.
    pub further: BTreeMap<(PictureKind, FurtherKind), FurtherTotals>,
    pub sizes: PictureSizes,
}

/// Files of one kind with more than the picture that is read.
#[derive(Default)]
pub(super) struct FurtherTotals {
    pub records: Vec<u64>,
    /// Pages, frames, channels and the like that are left out.
    pub count: u64,
}

/// How the sizes of the good pictures, and of all files, are spread. `None` without any.
#[derive(Serialize)]
pub(super) struct PictureSizes {
    pub width: Option<Spread>,
    pub height: Option<Spread>,
    pub pixels: Option<Spread>,
    pub bytes: Option<Spread>,
}

/// Good records that are shown. Those at the ends of an order have the most extreme first.
pub(super) struct Selection {
    pub longest: Vec<u64>,
    pub smallest: Vec<u64>,
    pub largest: Vec<u64>,
    /// By chance, the same ones each time.
    pub sample: Vec<u64>,
    /// The pictures of all of them.
    pub pictures: BTreeMap<u64, GoodPicture>,
}

/// Records of each extreme, and of the sample.
const EXTREMES: usize = 12;
const SAMPLE: usize = 24;

impl GoodPictures {
    /// Of the good pictures, and of the bytes of all files.
    pub(super) fn of(good: &[(u64, GoodPicture)], bytes: Vec<u64>) -> Self {
        let mut kinds = BTreeMap::new();
        let mut further: BTreeMap<_, FurtherTotals> = BTreeMap::new();
        for (record, picture) in good {
            *kinds.entry(picture.kind).or_default() += 1;
            for found in &picture.further {
                let totals = further.entry((picture.kind, found.kind)).or_default();
                totals.records.push(*record);
                totals.count += found.count;
            }
        }
        Self {
            kinds,
            turned: good.iter().filter(|(_, picture)| picture.turned).count() as u64,
            further,
            sizes: PictureSizes::of(good, bytes),
        }
    }
}

impl PictureSizes {
    fn of(good: &[(u64, GoodPicture)], bytes: Vec<u64>) -> Self {
        let spread = |of: fn(&GoodPicture) -> u64| Spread::of(good.iter().map(|(_, picture)| of(picture)).collect());
        Self {
            width: spread(|picture| picture.width.into()),
            height: spread(|picture| picture.height.into()),
            pixels: spread(GoodPicture::pixels),
            bytes: Spread::of(bytes),
        }
    }
}

impl GoodPicture {
    fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

impl Selection {
    pub(super) fn of(good: &[(u64, GoodPicture)]) -> Self {
        let by = |key: fn(&GoodPicture) -> u64| {
            greatest(EXTREMES, good.iter().map(|(record, picture)| (key(picture), *record)))
        };
        let longest = by(|GoodPicture { width, height, .. }| {
            u64::from(*width.max(height)) * 1000 / u64::from(*width.min(height)).max(1)
        });
        let smallest = by(|picture| u64::MAX - picture.pixels());
        let largest = by(GoodPicture::pixels);
        let sample = sample(SAMPLE, good.iter().map(|(record, _)| *record));
        let shown = [&longest, &smallest, &largest, &sample].into_iter().flatten();
        let find = |record: &u64| good.binary_search_by_key(record, |(record, _)| *record).ok();
        let pictures = shown.filter_map(|record| find(record).map(|place| good[place].clone())).collect();
        Self { longest, smallest, largest, sample, pictures }
    }
}
