//! How long it takes from a call to the first batch of a million pictures: `cargo bench -p forebay-benches --bench first_batch`.
//! The daemon starts meanwhile, and opens the dataset by its index. Beside it, the same with a dataset of a thousand pictures.
//!
//! `FOREBAY_BENCH_FILES` (1,000,000) says how many there are. They are links to 100 generated pictures, in memory if there is a
//! `/dev/shm`. `target/release/forebay` serves them: build it first.
#![allow(clippy::print_stdout, reason = "it prints its figures")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use forebay_client::{Next, Options, Patient, PrivateDaemon, Session, Target};
use forebay_formats::make_index;
use forebay_pixels::sample::photograph;
use tempfile::TempDir;

type Bare = Box<dyn std::error::Error>;

const PICTURES: usize = 100;
/// Files of a folder.
const FOLDER: usize = 1000;
const ROUNDS: usize = 5;

fn main() -> Result<(), Bare> {
    if !std::env::args().any(|argument| argument == "--bench") {
        // `cargo test` builds benches and runs them without this argument.
        println!("skipped: figures are taken by `cargo bench`");
        return Ok(());
    }
    let binary = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release/forebay").canonicalize()?;
    let dir = if Path::new("/dev/shm").is_dir() { TempDir::new_in("/dev/shm")? } else { TempDir::new()? };
    for number in 0..PICTURES {
        fs::write(dir.path().join(format!("{number}.jpg")), photograph(number as u64, 500, 400))?;
    }
    let files = std::env::var("FOREBAY_BENCH_FILES").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    println!("milliseconds from the call to the first batch of 64, of {ROUNDS} rounds; the goal is 300");
    for files in [FOLDER, files] {
        let (folder, index) = (dir.path().join(format!("{files}")), dir.path().join(format!("{files}.arrow")));
        link(dir.path(), &folder, files)?;
        make_index(&folder.to_string_lossy(), &forebay_sources::Options::default(), Some(&index), true)?;
        let mut taken = (0..ROUNDS).map(|_| first(&binary, &folder, &index)).collect::<Result<Vec<_>, _>>()?;
        taken.sort();
        let millis = |time: Duration| time.as_secs_f64() * 1000.0;
        println!(
            "{files:>10} files: {:.0} (median), {:.0} (best), {:.0} (worst)",
            millis(taken[ROUNDS / 2]),
            millis(taken[0]),
            millis(taken[ROUNDS - 1])
        );
    }
    Ok(())
}

/// A folder of class folders with this many pictures.
fn link(pictures: &Path, folder: &Path, files: usize) -> Result<(), Bare> {
    for number in 0..files {
        let class = folder.join(format!("{:04}", number / FOLDER));
        if number.is_multiple_of(FOLDER) {
            fs::create_dir_all(&class)?;
        }
        fs::hard_link(pictures.join(format!("{}.jpg", number % PICTURES)), class.join(format!("{number:08}.jpg")))?;
    }
    Ok(())
}

/// Attaches, and ends when a batch is there.
fn first(binary: &Path, folder: &Path, index: &Path) -> Result<Duration, Bare> {
    let start = Instant::now();
    let daemon = Arc::new(PrivateDaemon::new(PathBuf::from(binary)));
    let settings = serde_json::json!({
        "source": folder, "index": index, "batch_size": 64, "size": 224, "shuffle": true, "seed": 7,
    });
    let number = daemon.number();
    let target = Target::Private { daemon, number, settings: settings.to_string(), files: None };
    let mut session = Session::attach(target, Options::default(), &mut Patient)?;
    match session.next(None, &mut Patient)? {
        Next::Batch(batch) => assert_eq!(batch.records().len(), 64, "a whole batch"),
        _ => return Err("there is no batch".into()),
    }
    let taken = start.elapsed();
    session.close()?;
    Ok(taken)
}
