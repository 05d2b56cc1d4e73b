//! One record in several epochs: what the transforms of a stream make of it, with what was drawn.

use std::io;
use std::sync::Arc;

use forebay_pipeline::{Replay, ReplayError, ReplayedView};
use forebay_pixels as pixels;
use forebay_proto::Turn;
use forebay_ring as ring;
use image::RgbImage;
use serde_json::{Map, Value};

use super::grid::{GridCell, grid};
use super::{PreviewArgs, caption, text};
use crate::bad::BadPictures;
use crate::chosen::ChosenStream;
use crate::contact::{Arrangement, floats};
use crate::failure::Failure;
use crate::pair::value;
use crate::uncut::uncut;

/// Pixels of all pictures of a sheet.
const MOST_PIXELS: u64 = 1 << 27;

/// Draws the record, and writes the sheet.
pub(super) fn run(args: &PreviewArgs) -> Result<(), Failure> {
    let stream = match (&args.path, &args.config) {
        (Some(path), _) => ChosenStream::of_command_line(std::iter::once(path), &args.settings, transforms(args))?,
        (None, Some(file)) => ChosenStream::of_configuration(file, &args.stream)?,
        (None, None) => {
            return Err(Failure::Usage("--record needs a path, or --config FILE with --stream NAME.".to_owned()));
        }
    };
    let (source, settings) = (Arc::from(stream.dataset()?), &stream.section().settings);
    let views = u32::try_from(1 + settings.views.len()).expect("a stream has few views");
    let record = args.record.unwrap_or(0);
    let epochs = (args.count / views).max(1);
    let recipes = settings.views.iter().map(|view| &view.recipe).chain([&settings.recipe]);
    let pixels = recipes.map(|recipe| u64::from(recipe.shape().0) * u64::from(recipe.shape().1)).sum::<u64>();
    if pixels * u64::from(epochs) > MOST_PIXELS {
        return Err(Failure::Usage(format!("The sheet would be too large. Set --count to less than {}.", args.count)));
    }
    let failed = |error: ReplayError| Failure::Failed(format!("{error}."));
    let readers = stream.readers();
    let mut replay = Replay::new(&source, settings, (stream.decode(), &readers)).map_err(failed)?;
    let mut cells = Vec::new();
    for epoch in 0..u64::from(epochs) {
        let made = replay.turn(epoch, Turn::new(record, 0)).map_err(failed)?;
        cells.extend(made.iter().map(|view| {
            let title = if views == 1 { format!("epoch {epoch}") } else { format!("epoch {epoch}, {}", view.name) };
            GridCell { picture: replayed(view), title, steps: caption::steps(&view.plan) }
        }));
    }
    // With views, an epoch is a row.
    let columns = if views == 1 { args.columns } else { views };
    let sheet = grid(&cells, columns);
    args.output.write(&sheet)?;
    let pictures = format!("{} pictures of {}", cells.len(), source.locator(record));
    let size = (sheet.width(), sheet.height());
    Ok(text(&mut io::stdout().lock(), &args.output.name(), &pictures, size, &BadPictures::default())?)
}

/// What the command line says about transforms, beside `--set`.
fn transforms(args: &PreviewArgs) -> Map<String, Value> {
    let mut stream = Map::from_iter([("shuffle".to_owned(), args.shuffle.into())]);
    args.selection.add_to(&mut stream);
    if let Some(recipe) = &args.recipe {
        stream.insert("recipe".to_owned(), value(recipe));
    } else if !args.settings.iter().any(|(key, _)| pixels::document::LISTS.contains(&key.as_str())) {
        stream.insert("size".to_owned(), args.size.into());
    }
    stream
}

/// A view in the colours that it has before it is normalised.
pub(crate) fn replayed(view: &ReplayedView) -> RgbImage {
    let (height, width, channels) = view.shape();
    let output = view.recipe.output();
    let dtype = match output.dtype {
        pixels::Dtype::Uint8 => ring::Dtype::U8,
        pixels::Dtype::Float16 => ring::Dtype::F16,
        pixels::Dtype::Bfloat16 => ring::Dtype::Bf16,
        pixels::Dtype::Float32 => ring::Dtype::F32,
    };
    let layout = match output.layout {
        pixels::Layout::Nhwc => ring::Layout::Nhwc,
        pixels::Layout::Nchw => ring::Layout::Nchw,
    };
    let one = if output.dtype == pixels::Dtype::Uint8 { 1.0 } else { 255.0 };
    let (mean, std) = view
        .recipe
        .normalize()
        .map_or((pixels::PerChannel::One(0.0), pixels::PerChannel::One(1.0)), |by| (by.mean, by.std));
    let (bytes, height, width) = whole(view).unwrap_or_else(|| (view.bytes.clone(), height, width));
    let arrangement = Arrangement { size: (width, height), channels, layout };
    arrangement.picture(&floats(&bytes, dtype), |channel, value| (value * std.of(channel) + mean.of(channel)) * one)
}

/// The picture that was cut into patches: its bytes, height and width. Nothing if it was not.
fn whole(view: &ReplayedView) -> Option<(Vec<u8>, u32, u32)> {
    let (side, output) = (view.recipe.patches()?.side, view.recipe.output());
    let pixels::Plan { height, width, .. } = view.plan;
    let pixel = output.mode.channels() as usize * output.dtype.len();
    Some((uncut(&view.bytes, (height / side, width / side), side, pixel), height, width))
}
