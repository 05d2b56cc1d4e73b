//! How many pictures each decoder has decoded, over all threads and streams.

use std::sync::atomic::{AtomicU64, Ordering};

use forebay_pixels::{Decoded, DecodedBy};

/// The counts.
#[derive(Debug, Default)]
pub(crate) struct Tally([AtomicU64; DecodedBy::ALL.len()]);

impl Tally {
    /// Counts a picture, unless it was there decoded.
    pub(crate) fn count(&self, decoded: &Decoded) {
        if let Some(by) = decoded.by {
            self.of(by).fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Each decoder's name and number of pictures.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (&'static str, u64)> {
        DecodedBy::ALL.into_iter().map(|by| (by.name(), self.of(by).load(Ordering::Relaxed)))
    }

    fn of(&self, by: DecodedBy) -> &AtomicU64 {
        let place = DecodedBy::ALL.iter().position(|other| *other == by);
        &self.0[place.expect("all decoders are in the list of all")]
    }
}
