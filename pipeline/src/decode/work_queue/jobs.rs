//! Jobs for tests: pictures with places in a ring without readers.

use std::collections::BTreeSet;
use std::sync::Arc;

use forebay_pixels::sample::{JpegForm, photograph_rgb};
use forebay_pixels::{Draw, Recipe};
use forebay_ring::{Dtype, Geometry, Layout, PlaceMut, Region, Shape};

use crate::decode::job::DecodeJob;
use crate::decode::job::stream_pictures::StreamPictures;
use crate::decode::outcomes::Outcomes;
use crate::place::PlaceRight;
use crate::prefetch::memory_source;

/// Makes jobs, each with its record's number and place, and sees which came to their end.
pub(super) struct Jobs {
    places: std::vec::IntoIter<PlaceMut>,
    outcomes: Outcomes,
    pictures: Arc<StreamPictures>,
}

/// A photograph in this form.
pub(super) fn photograph(form: JpegForm) -> Vec<u8> {
    form.encode(&photograph_rgb(1, 48, 32), 48, 32).unwrap()
}

/// One of several scans.
pub(super) fn progressive() -> Vec<u8> {
    photograph(JpegForm { progressive: true, ..JpegForm::default() })
}

impl Jobs {
    pub(super) fn new() -> Self {
        let shape = Shape { batch: 64, height: 1, width: 2, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
        let region = Region::create(Geometry::try_new(shape, 1).unwrap(), 1, 0).unwrap();
        let places = region.slot(0).unwrap().split().1.into_iter();
        let pictures = StreamPictures::of(Arc::new(Recipe::evaluation(32).unwrap()));
        Self { places, outcomes: Outcomes::default(), pictures: Arc::new(pictures) }
    }

    /// The next record, with this content.
    pub(super) fn job(&mut self, content: Vec<u8>) -> DecodeJob {
        let place = self.places.next().expect("64 are enough for a test");
        let number = place.place();
        DecodeJob {
            at: (0, number),
            content: memory_source::read(content),
            place: PlaceRight::new(place, None),
            pictures: Arc::clone(&self.pictures),
            record: u64::from(number),
            draw: Draw { seed: 0, epoch: 0, record: u64::from(number) },
            origin: None,
            is_made: false,
            suspect: None,
            stepping: None,
            reporter: self.outcomes.expect(0),
        }
    }

    /// Records that were reported as good since the last look.
    pub(super) fn made(&self) -> BTreeSet<u32> {
        let mut done = Vec::new();
        self.outcomes.take(&mut done);
        done.iter().filter(|done| done.outcome.is_ok()).map(|done| done.at.1).collect()
    }
}
