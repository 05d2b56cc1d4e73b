//! `forebay sample`: makes a folder of generated pictures in class folders. They are the same on every machine.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, thread};

use clap::value_parser;
use forebay_pipeline::cores;
use forebay_pixels::sample::{CLASSES, photograph};
use forebay_printable::printable;

use crate::failure::Failure;
use crate::progress;

#[derive(Debug, clap::Args)]
pub(crate) struct SampleArgs {
    /// Folder to make. If it exists, it must be empty.
    dir: PathBuf,
    /// Number of pictures.
    #[arg(long, default_value_t = 300, value_parser = value_parser!(u64).range(1..=10_000_000))]
    count: u64,
    /// Number of class folders. Left out: 3, or as many as there are pictures if those are fewer.
    #[arg(long, value_parser = value_parser!(u64).range(1..=CLASSES))]
    classes: Option<u64>,
    /// Width in pixels.
    #[arg(long, default_value_t = 500, value_parser = value_parser!(u32).range(16..=8192))]
    width: u32,
    /// Height in pixels.
    #[arg(long, default_value_t = 375, value_parser = value_parser!(u32).range(16..=8192))]
    height: u32,
}

pub(crate) fn run(args: &SampleArgs) -> Result<(), Failure> {
    let classes = args.classes.unwrap_or_else(|| args.count.min(3));
    if classes > args.count {
        return Err(Failure::Usage(format!(
            "--classes {classes} is more than --count {}: every class folder needs a picture. Give fewer classes, or more \
             pictures.",
            args.count
        )));
    }
    let failed = |error| Failure::Failed(format!("The folder \"{}\" cannot be filled: {error}.", printable(&args.dir)));
    prepare(args, classes).map_err(failed)?;
    write_all(args, classes).map_err(failed)?;
    Ok(text(&mut io::stdout(), &args.dir, args.count, classes)?)
}

/// Says what was made.
fn text(out: &mut impl Write, dir: &Path, count: u64, classes: u64) -> io::Result<()> {
    writeln!(out, "{}: {count} pictures in {classes} class folders.", printable(dir))
}

/// Makes the class folders. Files that are already in the folder are never touched.
fn prepare(args: &SampleArgs, classes: u64) -> io::Result<()> {
    fs::create_dir_all(&args.dir)?;
    if fs::read_dir(&args.dir)?.next().is_some() {
        return Err(io::Error::other("it is not empty; give a new folder, or remove it first"));
    }
    (0..classes).try_for_each(|class| fs::create_dir(class_folder(&args.dir, class)))
}

fn write_all(args: &SampleArgs, classes: u64) -> io::Result<()> {
    let bar = progress::bar(args.count, "{wide_bar} {pos} of {len} pictures, {eta} left");
    let next = AtomicU64::new(0);
    let threads = cores::usable();
    let result = thread::scope(|scope| {
        let write = || -> io::Result<()> {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= args.count {
                    return Ok(());
                }
                write_one(args, classes, number)?;
                bar.inc(1);
            }
        };
        // Where the system has no room for more threads, fewer write.
        let start = |_| thread::Builder::new().name("forebay-sample".into()).spawn_scoped(scope, write).ok();
        let helpers: Vec<_> = (1..threads).map_while(start).collect();
        let own = write();
        helpers.into_iter().fold(own, |result, helper| match helper.join() {
            Ok(theirs) => result.and(theirs),
            Err(panic) => std::panic::resume_unwind(panic),
        })
    });
    bar.finish_and_clear();
    result
}

/// Classes take turns; a picture's index decides its class, so the indices of one class are [`CLASSES`] apart.
fn write_one(args: &SampleArgs, classes: u64, number: u64) -> io::Result<()> {
    let (round, class) = (number / classes, number % classes);
    let file = class_folder(&args.dir, class).join(format!("{round:06}.jpg"));
    fs::write(file, photograph(round * CLASSES + class, args.width, args.height))
}

fn class_folder(dir: &Path, class: u64) -> PathBuf {
    dir.join(format!("class-{class}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_told() {
        let mut out = Vec::new();
        text(&mut out, Path::new("pictures\u{1b}"), 300, 3).unwrap();
        insta::assert_snapshot!("sample_text", String::from_utf8(out).unwrap());
    }
}
