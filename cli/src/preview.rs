//! `forebay preview`: takes one batch from a ring as a trainer does, draws it, and returns it. Or draws one record in several
//! epochs.

mod augmentations;
mod caption;
mod grid;

use std::fmt::Display;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use forebay_client::{Next, NextError, Options, Patient, PrivateDaemon, Session, Target};
use forebay_daemon::serve;
use serde_json::Value;

use crate::bad::BadPictures;
use crate::daemon::{Daemon, NAMES};
use crate::failure::Failure;
use crate::pair::pair;
use crate::picture::PngFile;
use crate::selection::SelectionArgs;
use crate::{contact, progress};
pub(crate) use augmentations::replayed;

#[derive(Debug, clap::Args)]
pub(crate) struct PreviewArgs {
    /// Path of a dataset: a folder, a .csv file, or one of the formats of docs/sources.md. Left out: a stream of a running daemon.
    path: Option<String>,
    /// Stream of a running daemon.
    #[arg(long, value_name = "NAME", default_value = "default", conflicts_with = "path")]
    stream: String,
    #[command(flatten)]
    daemon: Daemon,
    /// PNG file to write.
    #[arg(short, long, value_name = "FILE", default_value = "preview.png")]
    output: PngFile,
    /// Pictures on the sheet. With --record, the record has one for each epoch and view.
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=1024))]
    count: u32,
    /// Pictures in a row.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=64))]
    columns: u32,
    /// With a path: height and width of a picture.
    #[arg(long, default_value_t = 224)]
    size: u32,
    /// With a path: makes a column from a part of each record, as `columns` of a stream. May be repeated.
    #[arg(long = "column", value_name = "NAME=PART", value_parser = pair, requires = "path")]
    parts: Vec<(String, String)>,
    /// With a path: makes a column of the masks in a folder, in members of a tar, or in a column of a table, as `masks` of a
    /// stream. May be repeated.
    #[arg(long = "mask", value_name = "NAME=FOLDER", value_parser = pair, requires = "path")]
    masks: Vec<(String, String)>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// With a path: show what training sees, shuffled, with random crops and flips.
    #[arg(long)]
    shuffle: bool,
    /// Show this record in one epoch after the other, with what was drawn for it, instead of a batch. Needs a path, or
    /// --config with --stream.
    #[arg(long, value_name = "NUMBER")]
    record: Option<u64>,
    /// With a path: show record 0, or that of --record, with the transforms of a recipe: `timm_train`, or
    /// `{ name = "timm_train", size = 192 }`. docs/recipes.md lists the recipes.
    #[arg(long, value_name = "RECIPE", requires = "path")]
    recipe: Option<String>,
    /// With a path and --record or --recipe: a setting of the stream, written as in a configuration: seed=3. May be
    /// repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair, requires = "path")]
    settings: Vec<(String, String)>,
    /// With --record: configuration file that has the stream.
    #[arg(long, value_name = "FILE", requires = "record", conflicts_with = "path")]
    config: Option<PathBuf>,
}

pub(crate) fn run(args: &PreviewArgs) -> Result<(), Failure> {
    args.output.check_folder()?;
    if args.path.is_none() {
        args.selection.refuse("need a path: a stream has its own selection")?;
    }
    if args.record.is_some() || args.recipe.is_some() || !args.settings.is_empty() {
        return augmentations::run(args);
    }
    // A path's daemon is this command's own, and first looks through the whole folder.
    let timeout = args.path.is_none().then(|| args.daemon.timeout());
    let default = Options::default();
    let options = Options { credits: 1, attach_timeout: timeout.unwrap_or(default.attach_timeout), ..default };
    let fail = |error: &dyn Display| Failure::Failed(error.to_string());
    let sign = progress::sign("waiting for a batch");
    let mut session =
        Session::attach(target(args)?, options, &mut Patient).map_err(|error| fail(&error.in_words_of(&NAMES)))?;
    let classes = session.info().classes.clone();
    let batch = match session.next(timeout, &mut Patient) {
        Ok(Next::Batch(batch)) => batch,
        // The end of an epoch without a good record may arrive before the word that the stream has failed.
        Ok(Next::EpochEnd(_) | Next::Done) => {
            return Err(fail(&bad(&mut session)?.beside(&"The stream has no further batch.")));
        }
        // The daemon names one bad picture of many.
        Err(failed @ NextError::Failed(_)) => return Err(fail(&bad(&mut session)?.beside(&failed))),
        Err(error) => return Err(fail(&error)),
    };
    sign.finish_and_clear();
    let shown = batch.shown().min(args.count as usize);
    let sheet = contact::sheet(&batch, &classes, shown, args.columns);
    batch.reject().map_err(|error| fail(&error))?;
    let bad = bad(&mut session)?;
    session.close().map_err(|error| fail(&error))?;
    args.output.write(&sheet)?;
    let size = (sheet.width(), sheet.height());
    Ok(text(&mut io::stdout().lock(), &args.output.name(), &format_args!("{shown} pictures"), size, &bad)?)
}

/// Says what is on a sheet of `size` (width, height), and which pictures are not.
fn text(
    out: &mut impl Write,
    file: &str,
    pictures: &dyn Display,
    (width, height): (u32, u32),
    bad: &BadPictures,
) -> io::Result<()> {
    writeln!(out, "{file}: {pictures}, {width} x {height} pixels")?;
    if bad.count() > 0 { writeln!(out, "left out, {bad}") } else { Ok(()) }
}

/// Those that were left out so far.
fn bad(session: &mut Session) -> Result<BadPictures, Failure> {
    let listed = session.quarantine(&mut Patient).map_err(|error| Failure::Failed(error.to_string()))?;
    let mut bad = BadPictures::default();
    for each in listed {
        bad.add(each.record, each.file, each.reason);
    }
    Ok(bad)
}

fn target(args: &PreviewArgs) -> Result<Target, Failure> {
    let Some(path) = &args.path else {
        let socket = Some(args.daemon.socket(serve::SOCKET));
        return Ok(Target::Stream { socket, name: args.stream.clone(), settings: None });
    };
    let daemon = Arc::new(PrivateDaemon::new(std::env::current_exe()?));
    let number = daemon.number();
    let mut settings = serde_json::json!({
        "source": path, "batch_size": args.count, "size": args.size, "shuffle": args.shuffle, "on_error": "skip",
    });
    args.selection.add_to(settings.as_object_mut().expect("it is written above"));
    for (key, pairs) in [("columns", &args.parts), ("masks", &args.masks)] {
        if !pairs.is_empty() {
            let pairs = pairs.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
            settings[key] = pairs.collect::<serde_json::Map<_, _>>().into();
        }
    }
    Ok(Target::Private { daemon, number, settings: settings.to_string(), files: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_names_the_pictures_that_are_not_on_it() {
        let mut bad = BadPictures::default();
        let mut out = Vec::new();
        text(&mut out, "preview.png", &"24 pictures", (1064, 944), &bad).unwrap();
        bad.add(3, "a\u{1b}.jpg".to_owned(), "The data ends early.".to_owned());
        text(&mut out, "preview.png", &"23 pictures", (1064, 944), &bad).unwrap();
        insta::assert_snapshot!("preview_text", String::from_utf8(out).unwrap());
    }
}
