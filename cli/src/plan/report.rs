//! A plan as a report: a line for each bucket with its bar, what the epoch wastes, and what would halve that.

use std::io::{self, Write};

use forebay_pipeline::ByteSize;
use forebay_plan::{Bucket, ClassLayout, ClassShare, ClassSize, Leftovers};
use serde::Serialize;

use super::FoundClasses;
use super::choice::BatchChoice;
use crate::failure::Failure;

/// An epoch of pictures in buckets.
#[derive(Debug, Serialize)]
pub(super) struct PlannedEpoch {
    /// Those that have pictures, from the narrowest to the widest.
    buckets: Vec<PlannedBucket>,
    /// Turns of an epoch, and steps.
    turns: u64,
    steps: u64,
    /// Places of all steps.
    places: u64,
    copies: u64,
    moved: u64,
    dropped: u64,
    /// Records without a size, and pictures without a bucket. They are no part of the plan.
    without_size: u64,
    without_bucket: u64,
    /// The bucket that decides the room of a slot, and the bytes of its step as 8-bit RGB, on all ranks together.
    room_bucket: String,
    room_bytes: u64,
    /// Settings that would at least halve the share of copies and dropped pictures.
    advice: Vec<Advice>,
}

/// What an epoch has of a bucket.
#[derive(Debug, Serialize)]
struct PlannedBucket {
    height: u32,
    width: u32,
    records: u64,
    turns: u64,
    /// Pictures of a step.
    places: u64,
    steps: u64,
    copies: u64,
    moved: u64,
    dropped: u64,
    /// Which share of its own pictures is cut off, on average.
    cut_off: f64,
}

/// A setting that would at least halve the waste, and the share that would be left.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Advice {
    flag: String,
    waste: f64,
}

/// What an epoch computes in vain or leaves out, as a share of what it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Waste(f64);

/// Below this share, nothing is worth a change.
const LITTLE: f64 = 0.001;
/// The longest bar, in characters.
const BAR: u64 = 30;

impl PlannedEpoch {
    /// # Errors
    /// No picture has a bucket, or a step has no room for one.
    pub(super) fn new(
        found: &FoundClasses,
        batch: BatchChoice,
        leftovers: Leftovers,
        repeats: u16,
    ) -> Result<Self, Failure> {
        let size = |(bucket, records, _): &(Bucket, u64, f64)| {
            Ok(ClassSize { turns: records.saturating_mul(repeats.into()), places: batch.places(*bucket)? })
        };
        let sizes = found.buckets.iter().map(size).collect::<Result<Vec<_>, Failure>>()?;
        let Some((room_bytes, widest)) = found
            .buckets
            .iter()
            .zip(&sizes)
            .map(|((bucket, ..), size)| (bucket.pixels().saturating_mul(size.places).saturating_mul(3), bucket))
            .max_by_key(|(bytes, _)| *bytes)
        else {
            return Err(Failure::Failed("No picture has a bucket.".to_owned()));
        };
        let layout = ClassLayout::new(&sizes, leftovers, batch.accumulate);
        let shares = layout.shares();
        let sum = |of: fn(&ClassShare) -> u64| shares.iter().map(of).sum();
        let buckets =
            found.buckets.iter().zip(&shares).map(|(found, share)| PlannedBucket::new(found, share)).collect();
        Ok(Self {
            buckets,
            turns: layout.turns(),
            steps: layout.steps(),
            places: sum(|share| share.steps * share.places),
            copies: sum(|share| share.copies),
            moved: sum(|share| share.moved),
            dropped: sum(|share| share.dropped),
            without_size: found.without,
            without_bucket: found.refused,
            room_bucket: widest.to_string(),
            room_bytes,
            advice: Vec::new(),
        })
    }

    pub(super) fn with_advice(self, advice: Vec<Advice>) -> Self {
        Self { advice, ..self }
    }

    pub(super) fn waste(&self) -> Waste {
        Waste(share(self.copies, self.places) + share(self.dropped, self.turns))
    }

    /// Says it in lines.
    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "{:>11} {:>10} {:>10} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8}",
            "bucket", "records", "turns", "places", "steps", "copies", "moved", "dropped", "cut off"
        )?;
        let most = self.buckets.iter().map(|bucket| bucket.records).max().unwrap_or(0).max(1);
        for bucket in &self.buckets {
            let PlannedBucket { height, width, records, turns, places, steps, copies, moved, dropped, cut_off } =
                bucket;
            let name = format!("{height}x{width}");
            // A bucket that has a picture has a bar.
            let bar = "#".repeat(usize::try_from((records * BAR).div_ceil(most)).unwrap_or_default());
            writeln!(
                out,
                "{name:>11} {records:>10} {turns:>10} {places:>7} {steps:>8} {copies:>8} {moved:>8} {dropped:>8} {:>6.1} % {bar}",
                100.0 * cut_off
            )?;
        }
        let Self { turns, steps, places, copies, moved, dropped, without_size, without_bucket, .. } = self;
        let percent = |part: u64, whole: u64| 100.0 * share(part, whole);
        let shapes = self.buckets.iter().filter(|bucket| bucket.steps > 0).count();
        writeln!(out, "{turns} turns in {steps} steps, shapes of steps: {shapes}")?;
        write!(out, "copies: {copies} of {places} places ({:.2} %)", percent(*copies, *places))?;
        write!(out, ", moved to another bucket: {moved} turns ({:.2} %)", percent(*moved, *turns))?;
        writeln!(out, ", dropped: {dropped} turns ({:.2} %)", percent(*dropped, *turns))?;
        let room = ByteSize(self.room_bytes);
        writeln!(out, "largest step: {} on all ranks together, {room:#} as 8-bit RGB", self.room_bucket)?;
        if without_size + without_bucket > 0 {
            writeln!(out, "not in the plan: {without_size} without a size, {without_bucket} without a bucket")?;
        }
        let advice: Vec<String> =
            self.advice.iter().map(|advice| format!("{} ({:.2} %)", advice.flag, 100.0 * advice.waste)).collect();
        if !advice.is_empty() {
            writeln!(out, "To have half as many copies and dropped turns: {}", advice.join(", or "))?;
        }
        Ok(())
    }
}

impl PlannedBucket {
    fn new((bucket, records, cut_off): &(Bucket, u64, f64), share: &ClassShare) -> Self {
        let ClassShare { turns, places, steps, copies, moved, dropped } = *share;
        let &Bucket { height, width } = bucket;
        let cut_off = cut_off / real((*records).max(1));
        Self { height, width, records: *records, turns, places, steps, copies, moved, dropped, cut_off }
    }
}

impl Waste {
    /// The settings that would at least halve it: other leftovers, and the largest steps that do. `of` says what other steps and
    /// leftovers would waste.
    pub(super) fn halved(
        self,
        of: impl Fn(BatchChoice, Leftovers) -> Option<Self>,
        batch: BatchChoice,
        leftovers: Leftovers,
    ) -> Vec<Advice> {
        if self.0 < LITTLE {
            return Vec::new();
        }
        let is_half = |waste: &Self| waste.0 <= self.0 / 2.0;
        let mut advice = Vec::new();
        if leftovers != Leftovers::Neighbour
            && let Some(Self(waste)) = of(batch, Leftovers::Neighbour).filter(is_half)
        {
            advice.push(Advice { flag: "--leftovers neighbour".to_owned(), waste });
        }
        let smaller = std::iter::successors(batch.halved(), BatchChoice::halved);
        let mut found = smaller.map_while(|batch| Some((batch, of(batch, leftovers)?)));
        if let Some((batch, Self(waste))) = found.find(|(_, waste)| is_half(waste)) {
            advice.push(Advice { flag: batch.flag(), waste });
        }
        advice
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { real(part) / real(whole) }
}

#[expect(clippy::cast_precision_loss, reason = "shares are for people")]
fn real(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn found() -> FoundClasses {
        let mut found = FoundClasses { without: 2, refused: 3, ..FoundClasses::default() };
        for (bucket, size, records) in [
            ("20x10", (40, 20), 100),
            ("10x10", (10, 10), 41),
            ("10x20", (10, 25), 7),
            ("20x10", (20, 20), 2),
            ("10x20", (10, 20), 1),
        ] {
            found.add(Some(bucket.parse().unwrap()), size, records);
        }
        found
    }

    const BATCH: BatchChoice = BatchChoice { pictures: 16, pixels: None, divisor: 4, accumulate: 1 };

    #[test]
    fn a_plan_is_told_as_lines_and_as_json() {
        let planned = PlannedEpoch::new(&found(), BATCH, Leftovers::Repeat, 2).unwrap();
        let advice = planned.waste().halved(
            |batch, leftovers| Some(PlannedEpoch::new(&found(), batch, leftovers, 2).unwrap().waste()),
            BATCH,
            Leftovers::Repeat,
        );
        let planned = planned.with_advice(advice);
        let (mut text, mut as_json) = (Vec::new(), Vec::new());
        planned.text(&mut text).unwrap();
        json::print(&mut as_json, &planned).unwrap();
        insta::assert_snapshot!("plan_text", String::from_utf8(text).unwrap());
        insta::assert_snapshot!("plan_json", String::from_utf8(as_json).unwrap());
    }

    #[test]
    fn a_budget_of_pixels_gives_small_buckets_more_pictures_and_must_have_room_for_the_largest() {
        let batch = BatchChoice { pixels: Some(4200), ..BATCH };
        let planned = PlannedEpoch::new(&found(), batch, Leftovers::Neighbour, 1).unwrap();
        assert_eq!(planned.buckets.iter().map(|bucket| bucket.places).collect::<Vec<_>>(), [20, 40, 20]);
        let groups = BatchChoice { accumulate: 3, ..BATCH };
        let planned = PlannedEpoch::new(&found(), groups, Leftovers::Neighbour, 2).unwrap();
        assert_eq!(planned.buckets.iter().map(|bucket| bucket.steps).collect::<Vec<_>>(), [12, 3, 4]);
        assert_eq!(planned.copies, 19 * 16 - planned.turns);
        let Err(Failure::Failed(text)) =
            PlannedEpoch::new(&found(), BatchChoice { pixels: Some(799), ..BATCH }, Leftovers::Neighbour, 1)
        else {
            panic!("there is no room for four pictures")
        };
        assert!(text.contains("4 pictures of 20x10") && text.contains("--pixels 800"), "{text}");
        let odd = BatchChoice { pictures: 15, ..BATCH };
        assert!(matches!(PlannedEpoch::new(&found(), odd, Leftovers::Drop, 1), Err(Failure::Usage(_))));
        let none = FoundClasses::default();
        assert!(matches!(PlannedEpoch::new(&none, BATCH, Leftovers::Drop, 1), Err(Failure::Failed(_))));
    }

    #[test]
    fn advice_names_the_largest_steps_that_halve_the_waste_and_nothing_where_there_is_little() {
        let of = |batch: BatchChoice, leftovers| {
            let full = if leftovers == Leftovers::Neighbour { 0.01 } else { 0.4 };
            Some(Waste(full * real(batch.pictures) / 16.0))
        };
        let halved = |waste, leftovers| Waste(waste).halved(of, BATCH, leftovers);
        let flags = |advice: Vec<Advice>| advice.into_iter().map(|advice| advice.flag).collect::<Vec<_>>();
        assert_eq!(flags(halved(0.4, Leftovers::Repeat)), ["--leftovers neighbour", "--batch-size 8"]);
        assert_eq!(flags(halved(0.3, Leftovers::Drop)), ["--leftovers neighbour", "--batch-size 4"]);
        assert_eq!(flags(halved(0.01, Leftovers::Neighbour)), ["--batch-size 8"]);
        assert_eq!(flags(halved(0.0005, Leftovers::Neighbour)), [""; 0]);
        assert_eq!(flags(halved(0.001, Leftovers::Repeat)), [""; 0], "no size of a step would do");
    }
}
