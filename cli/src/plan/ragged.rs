//! An epoch of ragged pictures: its steps, and the memory that the largest pictures take.

use std::io::{self, Write};

use forebay_pipeline::{ByteSize, LargestResults};
use forebay_sources::{Sizes, Source};
use serde::Serialize;

use super::choice::BatchChoice;
use crate::failure::Failure;

/// What `--buckets` says for it.
pub(super) const RULE: &str = "ragged";

/// An epoch of pictures that each have their own size.
#[derive(Debug, Serialize)]
pub(super) struct PlannedRagged {
    turns: u64,
    steps: u64,
    /// Pictures of a step.
    places: u64,
    /// Places that have no picture.
    empty: u64,
    /// Records without a size. They are no part of the plan.
    without_size: u64,
    /// Bytes of the largest pictures, as many as a step has, as 8-bit RGB.
    room_bytes: u64,
    /// The largest picture, which decides most of that.
    largest: LargestPicture,
}

/// The picture with most pixels.
#[derive(Debug, Serialize)]
struct LargestPicture {
    height: u32,
    width: u32,
    record: u64,
    locator: String,
}

impl PlannedRagged {
    /// That of the records that are read, as they are before any transform.
    ///
    /// # Errors
    /// No record has a size, or the steps do not fit.
    pub(super) fn new(source: &dyn Source, sizes: &Sizes, batch: BatchChoice, repeats: u16) -> Result<Self, Failure> {
        let BatchChoice { pictures: places, pixels, divisor, accumulate } = batch;
        if pixels.is_some() || accumulate > 1 {
            let problem = "--buckets ragged has no --pixels and no --accumulate; leave them out.";
            return Err(Failure::Usage(problem.to_owned()));
        }
        if !places.is_multiple_of(divisor) {
            let problem = format!("--batch-size is {places}, which is no multiple of --divisor {divisor}.");
            return Err(Failure::Usage(problem));
        }
        let (mut found, mut without_size, mut largest) = (0_u64, 0, LargestResults::new(places));
        let selected: Box<dyn Iterator<Item = u64> + '_> = match source.selection() {
            Some(selection) => Box::new(selection.iter()),
            None => Box::new(0..source.len()),
        };
        for record in selected {
            if let Some(size) = sizes.get(record) {
                found += 1;
                largest.add((size.height, size.width), record, repeats.into());
            } else {
                without_size += 1;
            }
        }
        if let Some(failure) = source.failure() {
            return Err(Failure::Failed(failure));
        }
        let Some(((height, width), record)) = largest.first() else {
            return Err(Failure::Failed("No picture of the dataset has a size.".to_owned()));
        };
        let turns = found * u64::from(repeats);
        let steps = turns.div_ceil(places);
        let locator = source.locator(record).to_string();
        Ok(Self {
            turns,
            steps,
            places,
            empty: steps * places - turns,
            without_size,
            room_bytes: largest.sum(places).saturating_mul(3),
            largest: LargestPicture { height, width, record, locator },
        })
    }

    /// Says it in lines.
    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { turns, steps, places, empty, without_size, room_bytes, largest } = self;
        let LargestPicture { height, width, record, locator } = largest;
        writeln!(out, "{turns} turns in {steps} steps of {places} places, empty places: {empty}")?;
        if *without_size > 0 {
            writeln!(out, "records without a size, which are left out: {without_size}")?;
        }
        writeln!(out, "largest pictures of a step: {:#} as 8-bit RGB, on all ranks together", ByteSize(*room_bytes))?;
        writeln!(out, "the largest one: {height} x {width}, record {record}, {locator}")
    }
}
