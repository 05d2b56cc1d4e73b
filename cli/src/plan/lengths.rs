//! An epoch of patches: a line for each length, with its steps, its copies and its padding.

use std::io::{self, Write};
use std::sync::Arc;

use forebay_pipeline::ByteSize;
use forebay_pipeline::settings::PatchSettings;
use forebay_pixels::{PatchGrid, PatchPadding, PatchRule, Patches};
use forebay_plan::{ClassPlan, ClassShare, ClassTable};
use serde::Serialize;

use super::choice::BatchChoice;
use crate::failure::Failure;

/// What the command line says of patches.
#[derive(Debug, clap::Args)]
pub(super) struct PatchArgs {
    /// Patches instead of buckets: naflex, siglip2 or gemma4 for the sizes of that package.
    #[arg(long, value_name = "RULE", value_parser = rule)]
    patches: Option<PatchRule>,
    /// With --patches: height and width of a patch.
    #[arg(long, value_name = "PIXELS", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=255))]
    patch: u32,
    /// With --patches: the numbers of patches that steps have in turn, such as 128,256,576. Left out: that of the package.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=65535))]
    seq_lens: Vec<u32>,
    /// With --patches: patches of a step on all ranks together, instead of a number of pictures.
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["batch_size", "pixels"],
          value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    tokens: Option<u64>,
}

/// An epoch of patches.
#[derive(Debug, Serialize)]
pub(super) struct PlannedLengths {
    /// In the order of the settings.
    lengths: Vec<PlannedLength>,
    turns: u64,
    steps: u64,
    copies: u64,
    /// Bytes of the largest step as 8-bit RGB, on all ranks together.
    room_bytes: u64,
}

/// What an epoch has of a length.
#[derive(Debug, Serialize)]
struct PlannedLength {
    length: u32,
    /// Pictures of a step.
    places: u64,
    steps: u64,
    copies: u64,
    /// Which share of the patches of pictures is padding, on average. Nothing if no size is known.
    padding: Option<f64>,
}

impl PatchArgs {
    /// How pictures become patches of the first length, if they do.
    ///
    /// # Errors
    /// The rule has no such length, or there is a setting of patches without a rule.
    pub(super) fn choice(&self) -> Result<Option<(Patches, Vec<u32>)>, Failure> {
        let Some(rule) = self.patches else {
            let is_asked = !self.seq_lens.is_empty() || self.tokens.is_some();
            let problem = "--seq-lens and --tokens have an effect only with --patches.".to_owned();
            return if is_asked { Err(Failure::Usage(problem)) } else { Ok(None) };
        };
        let lengths = if self.seq_lens.is_empty() { vec![rule.default_length()] } else { self.seq_lens.clone() };
        if let Some(problem) = lengths.iter().find_map(|length| rule.length_problem(*length)) {
            return Err(Failure::Usage(format!("--seq-lens: {problem}.")));
        }
        let (interpolation, padding) = (rule.interpolation(), PatchPadding::default());
        Ok(Some((Patches { rule, side: self.patch, length: lengths[0], interpolation, padding, part: None }, lengths)))
    }

    /// The epoch of so many records, of which some have these sizes: height, width and how many records.
    ///
    /// # Errors
    /// A step has no room for a picture.
    pub(super) fn planned(
        &self,
        (patches, lengths): (Patches, Vec<u32>),
        batch: BatchChoice,
        (records, repeats): (u64, u16),
        sizes: &[((u32, u32), u64)],
    ) -> Result<PlannedLengths, Failure> {
        let BatchChoice { pictures, divisor, .. } = batch;
        let places = |length: &u32| match self.tokens {
            Some(tokens) => {
                PatchSettings::places(tokens, *length, divisor).map_err(|problem| Failure::Failed(problem.to_string()))
            }
            None if pictures.is_multiple_of(divisor) => Ok(pictures),
            None => {
                Err(Failure::Usage(format!("--batch-size is {pictures}, which is no multiple of --divisor {divisor}.")))
            }
        };
        let places = lengths.iter().map(places).collect::<Result<Vec<u64>, _>>()?;
        let count = usize::try_from(records).unwrap_or(usize::MAX);
        let table = ClassTable::new(vec![0; count], 1, &[(records, repeats)]);
        let table = table.map_err(|problem| Failure::Failed(problem.to_string()))?;
        if table.turns(0) == 0 {
            return Err(Failure::Failed("The dataset has no record.".to_owned()));
        }
        let layout = ClassPlan::of_lengths(Arc::new(table), &places, None).layout().clone();
        let length = |(length, share): (&u32, ClassShare)| PlannedLength {
            length: *length,
            places: share.places,
            steps: share.steps,
            copies: share.copies,
            padding: padding(Patches { length: *length, ..patches }, sizes),
        };
        let bytes = lengths.iter().zip(&places).map(|(length, places)| {
            u64::from(*length).saturating_mul(*places).saturating_mul(u64::from(patches.pixels()) * 3)
        });
        Ok(PlannedLengths {
            room_bytes: bytes.max().unwrap_or(0),
            turns: layout.turns(),
            steps: layout.steps(),
            copies: layout.shares().iter().map(|share| share.copies).sum(),
            lengths: lengths.iter().zip(layout.shares()).map(length).collect(),
        })
    }
}

impl PlannedLengths {
    /// Says it in lines.
    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{:>8} {:>8} {:>10} {:>8} {:>10}", "length", "places", "steps", "copies", "padding")?;
        for PlannedLength { length, places, steps, copies, padding } in &self.lengths {
            let padding = padding.map_or_else(|| "unknown".to_owned(), |share| format!("{:.1} %", 100.0 * share));
            writeln!(out, "{length:>8} {places:>8} {steps:>10} {copies:>8} {padding:>10}")?;
        }
        let Self { turns, steps, copies, room_bytes, .. } = self;
        let shapes = self.lengths.iter().filter(|length| length.steps > 0).count();
        writeln!(out, "{turns} turns in {steps} steps, shapes of steps: {shapes}, copies: {copies}")?;
        writeln!(out, "largest step: {:#} as 8-bit RGB, on all ranks together", ByteSize(*room_bytes))
    }
}

/// The mean share of padding of pictures of these sizes, without those that the rule refuses.
fn padding(patches: Patches, sizes: &[((u32, u32), u64)]) -> Option<f64> {
    let tokens = |((height, width), records): &((u32, u32), u64)| {
        Some((patches.grid(*height, *width).map(PatchGrid::tokens)?, *records))
    };
    let (mut own, mut all) = (0_u128, 0_u128);
    for (tokens, records) in sizes.iter().filter_map(tokens) {
        own += u128::from(tokens) * u128::from(records);
        all += u128::from(patches.length) * u128::from(records);
    }
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    let share = 1.0 - own as f64 / all.max(1) as f64;
    (all > 0).then_some(share)
}

fn rule(text: &str) -> Result<PatchRule, String> {
    let found = PatchRule::NAMES.into_iter().find(|(name, _)| *name == text);
    found.map(|(_, rule)| rule).ok_or_else(|| "give naflex, siglip2 or gemma4".to_owned())
}
