//! Decoding JPEG on the CPU: `forebay-jpeg` on each of its paths beside libjpeg-turbo and zune-jpeg, in one run.
//!
//! `cargo bench -p forebay-benches --bench jpeg -- [FOLDER] [--rounds N]` reads all JPEGs below a folder, else those of
//! `FOREBAY_TEST_DATA/imagenet`, else makes some, and prints a table in Markdown. In each round every decoder does every work
//! in its turn with one thread and with two, each thread on all pictures; pictures are in memory, decoders and their buffers
//! are used again. Nothing is judged. First it is looked that ours and libjpeg-turbo's pixels are the same.
#![allow(clippy::print_stdout, reason = "it prints its figures")]

mod decoders;
mod pictures;
mod rounds;
mod turbo;

use std::path::PathBuf;

use decoders::{Name, Work};
use pictures::Picture;
use rounds::Rounds;

/// Rounds, if nothing else is asked for.
const ROUNDS: usize = 7;

type Bare = Box<dyn std::error::Error>;

fn main() -> Result<(), Bare> {
    if !std::env::args().any(|argument| argument == "--bench") {
        // `cargo test` builds benches and runs them without this argument.
        println!("skipped: figures are taken by `cargo bench`");
        return Ok(());
    }
    let (folder, rounds) = arguments()?;
    let photographs = match folder.filter(|folder| folder.is_dir()) {
        Some(folder) => pictures::of_folder(&folder)?,
        None => pictures::generated(),
    };
    let large = pictures::stitched(&photographs)?;
    let sets = [
        (photographs, &[Work::Coefficients, Work::Skip, Work::Whole, Work::Region][..]),
        (large, &[Work::Whole, Work::Region][..]),
    ];
    println!("{}, {} cores; {rounds} rounds", processor(), std::thread::available_parallelism()?);
    for (pictures, works) in &sets {
        decoders::compare(pictures)?;
        println!("\n{}\n", pictures::describe(pictures));
        let measured = Rounds::measure(pictures, works, rounds)?;
        print(pictures, works, &measured);
    }
    Ok(())
}

/// The folder, and the number of rounds.
fn arguments() -> Result<(Option<PathBuf>, usize), Bare> {
    let mut folder = std::env::var_os("FOREBAY_TEST_DATA").map(|data| PathBuf::from(data).join("imagenet"));
    let mut rounds = ROUNDS;
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        if argument == "--rounds" {
            rounds = arguments.next().ok_or("--rounds needs a number")?.parse::<usize>()?.max(1);
        } else {
            let given = PathBuf::from(argument);
            if !given.is_dir() {
                return Err(format!("{} is no folder", given.display()).into());
            }
            folder = Some(given);
        }
    }
    Ok((folder, rounds))
}

fn print(pictures: &[Picture], works: &[Work], measured: &Rounds) {
    println!("| work | decoder | 1 thread: pictures/s | to libjpeg-turbo | 2 threads: pictures/s | to libjpeg-turbo |");
    println!("|---|---|---|---|---|---|");
    for &work in works {
        for name in Name::all().filter(|name| name.does(work)) {
            let cells = [1, 2].map(|threads| {
                let (median, best) = measured.rates(work, name, threads, pictures.len());
                let (to, to_best) = measured.ratios(work, name, threads);
                format!("{} ({}) | {to:.2} ({to_best:.2})", figure(median), figure(best))
            });
            println!("| {work} | {name} | {} | {} |", cells[0], cells[1]);
        }
    }
    println!("\nMedian of the rounds, in brackets the best round's.");
}

fn figure(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

/// The processor's name, as Linux has it.
fn processor() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.to_owned())
}
