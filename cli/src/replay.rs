//! `forebay replay`: makes the pictures of one record again, as training saw them in an epoch, before they were mixed.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use forebay_pipeline::{Replay, ReplayedView};
use forebay_pixels::{Dtype, Layout};
use forebay_proto::Turn;
use serde_json::Map;

use crate::chosen::ChosenStream;
use crate::failure::Failure;
use crate::output_file::OutputFile;
use crate::pair::pair;

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["source", "config"])))]
pub(crate) struct ReplayArgs {
    /// Path or URL of the dataset, such as a folder, a .csv file or another source of docs/sources.md.
    source: Option<String>,
    /// Further sources. Forebay reads all of them as one dataset.
    #[arg(value_name = "SOURCE2", requires = "source")]
    more: Vec<String>,
    /// A setting of the stream, written as in a configuration: seed=3, shuffle=true, size=224. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair, requires = "source")]
    settings: Vec<(String, String)>,
    /// Configuration file that has the stream, in place of a source.
    #[arg(long, value_name = "FILE", requires = "stream", conflicts_with = "source")]
    config: Option<PathBuf>,
    /// Name of the stream in the configuration.
    #[arg(long, value_name = "NAME", requires = "config")]
    stream: Option<String>,
    /// Number of the record, from 0.
    #[arg(long, value_name = "NUMBER")]
    record: u64,
    /// Number of the epoch, from 0.
    #[arg(long, value_name = "NUMBER")]
    epoch: u64,
    /// If the epoch repeats the record: which repeat, from 0.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    repeat: u16,
    /// Folder for the files: one .npy file for each view.
    #[arg(short, long, value_name = "FOLDER", default_value = ".")]
    output: PathBuf,
}

pub(crate) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    let stream = match (&args.config, &args.stream) {
        (Some(file), Some(name)) => ChosenStream::of_configuration(file, name)?,
        _ => ChosenStream::of_command_line(args.source.iter().chain(&args.more), &args.settings, Map::new())?,
    };
    let (source, settings) = (Arc::from(stream.dataset()?), &stream.section().settings);
    let turn = Turn::new(args.record, args.repeat);
    let readers = stream.readers();
    let replay = Replay::new(&source, settings, (stream.decode(), &readers));
    let views = replay.and_then(|mut replay| replay.turn(args.epoch, turn));
    let views = views.map_err(|error| Failure::Failed(format!("{error}.")))?;
    let mut out = io::stdout().lock();
    for view in &views {
        let file = OutputFile::from(args.output.join(file_name(turn, args.epoch, &view.name)));
        file.write(&npy(view))?;
        let (height, width, _) = view.shape();
        line(&mut out, &file, (height, width))?;
    }
    Ok(())
}

/// The name of a view's file.
fn file_name(turn: Turn, epoch: u64, view: &str) -> String {
    let repeat = if turn.repeat() == 0 { String::new() } else { format!("-repeat-{}", turn.repeat()) };
    format!("record-{}-epoch-{epoch}{repeat}-{view}.npy", turn.record())
}

/// Says what was written.
fn line(out: &mut impl Write, file: &OutputFile, (height, width): (u32, u32)) -> io::Result<()> {
    writeln!(out, "{}: {height} x {width}", file.name())
}

/// A view as a file of numpy, which has no bfloat16 and gets its bits.
fn npy(view: &ReplayedView) -> Vec<u8> {
    let (height, width, channels) = view.shape();
    let output = view.recipe.output();
    let kind = match output.dtype {
        Dtype::Uint8 => "|u1",
        Dtype::Float16 => "<f2",
        Dtype::Bfloat16 => "<u2",
        Dtype::Float32 => "<f4",
    };
    let [first, second, third] = match output.layout {
        Layout::Nhwc => [height, width, channels],
        Layout::Nchw => [channels, height, width],
    };
    let shape = format!("({first}, {second}, {third})");
    let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    // Ten bytes come before the text, and the values begin at a multiple of 64.
    let len = (text.len() + 11).next_multiple_of(64) - 10;
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(u16::try_from(len).unwrap_or(u16::MAX).to_le_bytes());
    file.extend(format!("{text:<width$}\n", width = len - 1).bytes());
    file.extend_from_slice(&view.bytes);
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_view_is_told_with_its_file_and_its_height_and_width() {
        let mut out = Vec::new();
        for (turn, view) in [(Turn::new(7, 0), "images"), (Turn::new(7, 2), "local_0")] {
            let file = OutputFile::from(PathBuf::from("out\u{1b}").join(file_name(turn, 3, view)));
            line(&mut out, &file, (96, 224)).unwrap();
        }
        insta::assert_snapshot!("replay_text", String::from_utf8(out).unwrap());
    }
}
