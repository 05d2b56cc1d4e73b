//! What seek points take and give: `cargo bench -p forebay-benches --bench seek -- [FOLDER] [--step N] [--passes N] [--spacings]`
//! reads one of N JPEGs below a folder, else of `FOREBAY_TEST_DATA/imagenet`, stitches pictures of 12 megapixels from them, and
//! prints for both the time without points divided by that with them, and what the points take. `--spacings` does that for
//! several spacings. `--large FOLDER` writes the stitched pictures there. `--only plain`, `--only noting` and `--only seeking`
//! decode crops that way alone and print nothing, so that a profiler can count what it takes: the crops of training, or those
//! of `--work whole`, `training`, `evaluation` or `small`.
//!
//! Both ways take turns, and the best time of each crop counts, so that other work of the machine matters little. With
//! points, a decode also loads their block and hashes the file.
#![allow(clippy::print_stdout, reason = "it prints its figures")]

mod cases;
#[path = "../jpeg/pictures.rs"]
mod pictures;

use std::hint::black_box;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

use cases::{Case, Work};
use forebay_jpeg::{Decoder, SeekPoints, Spacing};
use pictures::Picture;

/// Times that each crop is decoded each way, if nothing else is asked for.
const PASSES: usize = 15;

/// Crops of each large picture. There are few of these, and where a crop is decides what points save.
const CROPS: u64 = 16;

type Bare = Box<dyn std::error::Error>;

/// What is asked for.
struct Arguments {
    folder: Option<PathBuf>,
    large: Option<PathBuf>,
    step: usize,
    passes: usize,
    spacings: bool,
    only: Option<Way>,
    work: Work,
}

/// How pictures are decoded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Without points.
    Plain,
    /// As in the first epoch.
    Noting,
    /// As in later ones.
    Seeking,
}

fn main() -> Result<(), Bare> {
    if !std::env::args().any(|argument| argument == "--bench") {
        // `cargo test` builds benches and runs them without this argument.
        println!("skipped: figures are taken by `cargo bench`");
        return Ok(());
    }
    let asked = Arguments::read()?;
    let photographs = match &asked.folder {
        Some(folder) => pictures::of_folder(folder)?,
        None => pictures::generated(),
    };
    if let Some(way) = asked.only {
        return way.decode(photographs, &asked);
    }
    let large = pictures::stitched(&photographs)?;
    if let Some(folder) = &asked.large {
        std::fs::create_dir_all(folder)?;
        for (number, picture) in large.iter().enumerate() {
            std::fs::write(folder.join(format!("{number}.jpg")), &picture.bytes)?;
        }
    }
    let photographs: Vec<_> = photographs.into_iter().step_by(asked.step).collect();
    table(photographs, 1, &asked)?;
    table(large, CROPS, &asked)
}

impl Arguments {
    fn read() -> Result<Self, Bare> {
        let given = std::env::var_os("FOREBAY_TEST_DATA").map(|data| PathBuf::from(data).join("imagenet"));
        let folder = given.filter(|folder| folder.is_dir());
        let mut asked =
            Self { folder, large: None, step: 1, passes: PASSES, spacings: false, only: None, work: Work::Training };
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--step" => asked.step = value()?.parse::<usize>()?.max(1),
                "--passes" => asked.passes = value()?.parse::<usize>()?.max(1),
                "--large" => asked.large = Some(value()?.into()),
                "--spacings" => asked.spacings = true,
                "--only" => asked.only = Some(value()?.parse()?),
                "--work" => asked.work = value()?.parse()?,
                folder => {
                    asked.folder = Some(folder.into());
                    if !PathBuf::from(folder).is_dir() {
                        return Err(format!("{folder} is no folder").into());
                    }
                }
            }
        }
        Ok(asked)
    }
}

impl FromStr for Way {
    type Err = Bare;

    fn from_str(word: &str) -> Result<Self, Bare> {
        match word {
            "plain" => Ok(Self::Plain),
            "noting" => Ok(Self::Noting),
            "seeking" => Ok(Self::Seeking),
            _ => Err(format!("there is no way {word:?}: give plain, noting or seeking").into()),
        }
    }
}

impl Way {
    /// Decodes the pictures in this way. Points are noted before that for all ways, so that only the decodes differ.
    fn decode(self, pictures: Vec<Picture>, asked: &Arguments) -> Result<(), Bare> {
        let (mut decoder, mut points, mut rgb) = (Decoder::default(), SeekPoints::default(), Vec::new());
        for (record, picture) in (0..).zip(pictures).step_by(asked.step) {
            let mut case = Case::new(picture);
            case.ask(asked.work, record);
            case.note(Spacing::default())?;
            if self != Self::Seeking {
                case.forget();
            }
            for _ in 0..asked.passes {
                case.decode(&mut decoder, (self != Self::Plain).then_some(&mut points), &mut rgb)?;
                black_box(points.changed());
            }
        }
        Ok(())
    }
}

/// The spacing that the daemon uses comes first.
fn spacings(all: bool) -> Vec<Spacing> {
    let closer = [4, 8, 16, 32, 64].map(|every| Spacing { every, columns: 60, share: u32::MAX });
    let wider = [40, 80, 100].map(|columns| Spacing { every: 16, columns, share: u32::MAX });
    let rows = Spacing { every: u16::MAX, columns: 1, share: u32::MAX };
    let others = closer.into_iter().chain(wider).chain([rows]);
    [Spacing::default()].into_iter().chain(others.filter(|_| all)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "sums of a few million")]
fn table(pictures: Vec<Picture>, crops: u64, asked: &Arguments) -> Result<(), Bare> {
    println!("\n{}; {crops} crops of each, {} passes\n", pictures::describe(&pictures), asked.passes);
    let works = |prefix: &str, works: [Work; 3]| works.map(|work| format!(" {prefix}: {work} |")).concat();
    let (noting, seeking) = (works("noting", Work::NOTING), works("seeking", Work::SEEKING));
    println!("| MCUs | columns | of the files | bytes of a picture |{noting}{seeking}");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut cases: Vec<Case> = pictures.into_iter().map(Case::new).collect();
    let files: usize = cases.iter().map(Case::file_len).sum();
    for spacing in spacings(asked.spacings) {
        let mut points = SeekPoints::new(spacing);
        let mut ratio = |cases: &mut [Case], work, is_noted: bool| {
            let mut sums = [Duration::ZERO; 2];
            for case in cases.iter_mut() {
                case.forget();
                if is_noted {
                    case.note(spacing)?;
                }
            }
            for first in (0..crops * cases.len() as u64).step_by(cases.len()) {
                for (record, case) in (first..).zip(cases.iter_mut()) {
                    case.ask(work, record);
                    let [without, with] = measured(case, &mut points, asked.passes)?;
                    sums = [sums[0] + without, sums[1] + with];
                }
            }
            Ok::<_, Bare>(format!("{:.3}", sums[0].as_secs_f64() / sums[1].as_secs_f64()))
        };
        let mut cells = Vec::new();
        for work in Work::NOTING {
            cells.push(ratio(&mut cases, work, false)?);
        }
        for work in Work::SEEKING {
            cells.push(ratio(&mut cases, work, true)?);
        }
        let kept: usize = cases.iter().map(Case::block_len).sum();
        let Spacing { every, columns, share } = spacing;
        let name = if share == u32::MAX { format!("{every}") } else { format!("{every}, as built") };
        let (part, each) = (100.0 * kept as f64 / files as f64, kept / cases.len().max(1));
        println!("| {name} | {columns} % | {part:.2} % | {each} | {} |", cells.join(" | "));
    }
    Ok(())
}

/// The best times without points and with them.
fn measured(case: &Case, points: &mut SeekPoints, passes: usize) -> Result<[Duration; 2], Bare> {
    let (mut decoder, mut rgb) = (Decoder::default(), Vec::new());
    let mut best = [Duration::MAX; 2];
    for _ in 0..passes {
        let begun = Instant::now();
        case.decode(&mut decoder, None, &mut rgb)?;
        best[0] = best[0].min(begun.elapsed());
        let begun = Instant::now();
        case.decode(&mut decoder, Some(points), &mut rgb)?;
        black_box(points.changed());
        best[1] = best[1].min(begun.elapsed());
    }
    Ok(best)
}
