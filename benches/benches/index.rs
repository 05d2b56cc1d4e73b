//! How long a folder and tars of many pictures take to scan, and to open from an index. Beside it, in the same run, the loop
//! that torchvision's `ImageFolder` goes through, without the sizes that Forebay looks at.
//!
//! `cargo bench -p forebay-benches --bench index`. `FOREBAY_BENCH_FILES` (1,280,000) and `FOREBAY_BENCH_TARS` (50, of 2,000
//! members and 8 GB each, which take 8 MB) say how many there are. They are in memory if there is a `/dev/shm`.
#![allow(clippy::print_stdout, reason = "it prints its figures")]

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use forebay_formats::{make_index, open};
use forebay_sources::{IndexChoice, Options};
use tempfile::TempDir;

type Bare = Box<dyn std::error::Error>;

const FOLDERS: usize = 1000;
const MEMBERS: u64 = 2000;
/// Bytes of a member, which are not written.
const MEMBER: u64 = 4 << 20;
/// Processes that open the same dataset.
const TRAINERS: usize = 8;

/// What torchvision does to list a folder of class folders.
const IMAGE_FOLDER: &str = r#"
import os, sys, time
start = time.perf_counter()
folder, endings = sys.argv[1], (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")
found = []
for number, name in enumerate(sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())):
    for root, _, names in sorted(os.walk(os.path.join(folder, name), followlinks=True)):
        for name in sorted(names):
            path = os.path.join(root, name)
            if path.lower().endswith(endings):
                found.append((path, number))
print(time.perf_counter() - start)
"#;

fn main() -> Result<(), Bare> {
    let args: Vec<String> = std::env::args().collect();
    if let [_, word, name, index] = args.as_slice()
        && word == "open"
    {
        return opened(name, Path::new(index));
    }
    if !args.iter().any(|argument| argument == "--bench") {
        // `cargo test` builds benches and runs them without this argument.
        println!("skipped: figures are taken by `cargo bench`");
        return Ok(());
    }
    let dir = if Path::new("/dev/shm").is_dir() { TempDir::new_in("/dev/shm")? } else { TempDir::new()? };
    folder(dir.path())?;
    tars(dir.path())
}

fn folder(dir: &Path) -> Result<(), Bare> {
    let (files, folder) = (count("FOREBAY_BENCH_FILES", 1_280_000), dir.join("pictures"));
    for class in 0..FOLDERS {
        let class = folder.join(format!("n{class:08}"));
        fs::create_dir_all(&class)?;
        for number in 0..files / FOLDERS {
            File::create(class.join(format!("n{number:08}_{number}.JPEG")))?;
        }
    }
    let name = folder.to_string_lossy().into_owned();
    println!("{} files in {FOLDERS} folders", files / FOLDERS * FOLDERS);
    let python = Command::new("python3").args(["-c", IMAGE_FOLDER, &name]).output()?;
    let python: Option<f64> = String::from_utf8(python.stdout)?.trim().parse().ok();
    let scanned = timed("scanned, with sizes", || Ok(open(&name, &Options::default())?))?;
    match python {
        Some(python) => println!(
            "  ImageFolder's loop, without sizes: {python:.2} s; Forebay takes {:.2} of that",
            scanned.as_secs_f64() / python
        ),
        None => println!("  ImageFolder's loop: there is no python3"),
    }
    reopened(&name, &dir.join("pictures.arrow"))
}

fn tars(dir: &Path) -> Result<(), Bare> {
    let (tars, folder) = (count("FOREBAY_BENCH_TARS", 50), dir.join("tars"));
    fs::create_dir_all(&folder)?;
    for number in 0..tars {
        tar(&folder.join(format!("{number:04}.tar")))?;
    }
    println!("{tars} tars of {MEMBERS} members, {} GB", (tars as u64 * MEMBERS * MEMBER) >> 30);
    let name = folder.to_string_lossy().into_owned();
    timed("scanned", || Ok(open(&name, &Options::default())?))?;
    reopened(&name, &dir.join("tars.arrow"))
}

/// Makes an index, opens the dataset from it, and says what each of several processes takes.
fn reopened(name: &str, index: &Path) -> Result<(), Bare> {
    timed("scanned, and an index written", || Ok(make_index(name, &Options::default(), Some(index), true)?))?;
    timed("opened from the index, and a record found", || {
        let options = Options { index: IndexChoice::File(index.to_owned()), ..Options::default() };
        let source = open(name, &options)?;
        Ok(source.locator(source.len() / 2))
    })?;
    let program = std::env::current_exe()?;
    let mut kilobytes = 0;
    for _ in 0..TRAINERS {
        let output = Command::new(&program).args(["open", name]).arg(index).output()?;
        kilobytes += String::from_utf8(output.stdout)?.trim().parse::<u64>()?;
    }
    println!("  memory of their own that {TRAINERS} processes take: {} MB", kilobytes >> 10);
    Ok(())
}

/// Opens the dataset, and prints how much memory that took which no other process shares.
fn opened(name: &str, index: &Path) -> Result<(), Bare> {
    let before = own_memory()?;
    let options = Options { index: IndexChoice::File(index.to_owned()), ..Options::default() };
    let source = open(name, &options)?;
    // As training does, in the end.
    let bytes: u64 = (0..source.len()).map(|record| std::hint::black_box(source.size(record))).sum();
    std::hint::black_box(bytes);
    println!("{}", own_memory()?.saturating_sub(before));
    Ok(())
}

/// Kilobytes of this process that are in no file.
fn own_memory() -> Result<u64, Bare> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).ok_or("no RssAnon")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

fn timed<T>(what: &str, work: impl FnOnce() -> Result<T, Bare>) -> Result<Duration, Bare> {
    let start = Instant::now();
    let _made = work()?;
    let taken = start.elapsed();
    println!("  {what}: {:.2} s", taken.as_secs_f64());
    Ok(taken)
}

/// A tar whose members are holes.
fn tar(path: &Path) -> Result<(), Bare> {
    let file = File::create(path)?;
    for number in 0..MEMBERS {
        let mut header = [0_u8; 512];
        let name = format!("{number:08}.jpg");
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", MEMBER - 512).as_bytes());
        header[148..156].copy_from_slice(b"        ");
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        file.write_all_at(&header, number * MEMBER)?;
    }
    Ok(file.set_len(MEMBERS * MEMBER + 1024)?)
}

fn count(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
