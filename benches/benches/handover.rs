//! How long handing a batch over takes, beside a bare ping-pong over the same kind of socket in the same run.
//!
//! `cargo bench -p forebay-benches --bench handover` builds the daemon in release first. Three figures per round:
//! the time inside `next()` while an offer is queued; from READY in the daemon to the return of `next()` while the
//! trainer sleeps; and a packet there and back between two threads that sleep. The second is taken with the decode
//! threads on every core, and with one of them.
//!
//! Then the same dataset as a CSV with 4 and with 50 columns: the time inside `next()` and until a trainer has looked at
//! every column of the batch.
#![allow(clippy::print_stdout, reason = "it prints its figures")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use forebay_benches::served::Served;
use forebay_client::{Next, Patient, Session};
use forebay_pixels::sample;
use forebay_ring::{Received, Socket};
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 3;
const TAKEN: usize = 400;
const PING_PONGS: usize = 5000;

type Bare = Box<dyn std::error::Error>;

fn main() -> Result<(), Bare> {
    if !std::env::args().any(|argument| argument == "--bench") {
        // `cargo test` builds benches and runs them without this argument.
        println!("skipped: figures are taken by `cargo bench`");
        return Ok(());
    }
    let binary = release_binary()?;
    let folder = tempfile::tempdir()?;
    let pictures = folder.path().join("pictures/one");
    std::fs::create_dir_all(&pictures)?;
    for index in 0..64 {
        std::fs::write(pictures.join(format!("{index}.jpg")), sample::photograph(index, 500, 375))?;
    }
    let folders = format!("source = \"{}\"", pictures.parent().ok_or("the pictures have no folder")?.display());
    let cores = std::thread::available_parallelism()?.get();
    println!("microseconds, p50 / p99 of {TAKEN} batches of 8 pictures at 224 x 224; {cores} cores");
    println!(
        "{:<6} {:>20} {:>24} {:>24} {:>20}",
        "round", "next(), queued", "READY to back, busy", "READY to back, idle", "bare ping-pong"
    );
    for round in 1..=ROUNDS {
        let queued = with_daemon(&binary, folder.path(), &folders, cores, queued)?;
        let busy = with_daemon(&binary, folder.path(), &folders, cores, asleep)?;
        let idle = with_daemon(&binary, folder.path(), &folders, 1, asleep)?;
        let bare = ping_pong()?;
        println!("{round:<6} {:>20} {:>24} {:>24} {:>20}", show(queued), show(busy), show(idle), show(bare));
    }
    println!("\n{:<6} {:>34} {:>34}", "round", "next() and 4 columns, queued", "next() and 50 columns, queued");
    let (few, many) = (table(folder.path(), 4)?, table(folder.path(), 50)?);
    for round in 1..=ROUNDS {
        let few = with_daemon(&binary, folder.path(), &few, cores, queued)?;
        let many = with_daemon(&binary, folder.path(), &many, cores, queued)?;
        println!("{round:<6} {:>34} {:>34}", show(few), show(many));
    }
    Ok(())
}

/// Writes a CSV of the pictures with this many columns of numbers: the settings that name it.
fn table(folder: &Path, columns: usize) -> Result<String, Bare> {
    let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
    let mut text = format!("path,{}\n", names.join(","));
    for picture in 0..64 {
        let values: Vec<String> = (0..columns).map(|column| (picture * column).to_string()).collect();
        writeln!(text, "pictures/one/{picture}.jpg,{}", values.join(","))?;
    }
    let file = folder.join(format!("{columns}.csv"));
    std::fs::write(&file, text)?;
    let map: Vec<String> = names.iter().map(|name| format!("{name} = \"{name}\"")).collect();
    Ok(format!("source = \"{}\"\ncolumns = {{ {} }}", file.display(), map.join(", ")))
}

/// Time inside `next()` while an offer waits in the socket, and until every column was looked at.
fn queued(session: &mut Session) -> Result<Vec<Duration>, Bare> {
    let mut times = Vec::with_capacity(TAKEN);
    while times.len() < TAKEN {
        // The trainer works on its batch; meanwhile the next offer comes and waits.
        let working = Instant::now();
        while working.elapsed() < Duration::from_millis(8) {
            std::hint::spin_loop();
        }
        let asked = Instant::now();
        if let Next::Batch(batch) = session.next(None, &mut Patient)? {
            for field in batch.columns().fields() {
                std::hint::black_box(batch.column(&field.name).map(|column| column.place(0).len()));
            }
            let took = asked.elapsed();
            if batch.ready() < nanoseconds() - u64::try_from(took.as_nanos())? {
                times.push(took);
            }
        }
    }
    Ok(times)
}

/// From READY to the return of `next()`, for batches that were not ready when they were asked for.
fn asleep(session: &mut Session) -> Result<Vec<Duration>, Bare> {
    let mut times = Vec::with_capacity(TAKEN);
    while times.len() < TAKEN {
        let asked = nanoseconds();
        if let Next::Batch(batch) = session.next(None, &mut Patient)? {
            let back = nanoseconds();
            if batch.ready() > asked {
                times.push(Duration::from_nanos(back - batch.ready()));
            }
        }
    }
    Ok(times)
}

fn ping_pong() -> Result<Vec<Duration>, Bare> {
    let (ours, theirs) = Socket::pair()?;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut buffer = [0; 64];
            while let Ok(true) = take(&theirs, &mut buffer) {
                if theirs.send(&buffer, &[]).is_err() {
                    return;
                }
            }
        });
        let mut buffer = [0; 64];
        let mut times = Vec::with_capacity(PING_PONGS);
        for _ in 0..PING_PONGS {
            let sent = Instant::now();
            let _sent = ours.send(&buffer, &[])?;
            take(&ours, &mut buffer)?;
            times.push(sent.elapsed());
        }
        ours.shut_down();
        Ok(times)
    })
}

/// Waits for a packet; false at the end.
fn take(socket: &Socket, buffer: &mut [u8]) -> Result<bool, Bare> {
    loop {
        match socket.recv(buffer)? {
            Received::Packet { .. } => return Ok(true),
            Received::Closed => return Ok(false),
            Received::WouldBlock => drop(socket.wait(None)?),
        }
    }
}

fn with_daemon<T>(
    binary: &Path,
    folder: &Path,
    dataset: &str,
    threads: usize,
    measure: impl FnOnce(&mut Session) -> Result<T, Bare>,
) -> Result<T, Bare> {
    let config = format!(
        "[streams.bench]\n{dataset}\nbatch_size = 8\nsize = 224\nshuffle = true\n[decode]\nthreads = {threads}\n"
    );
    let mut daemon = Served::start(binary, folder, &config)?;
    let mut session = daemon.attach("bench")?;
    let measured = measure(&mut session)?;
    session.close()?;
    Ok(measured)
}

/// The release binary beside this benchmark, built if need be.
fn release_binary() -> Result<PathBuf, Bare> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let built = Command::new(cargo).args(["build", "--release", "-q", "-p", "forebay"]).status()?;
    if !built.success() {
        return Err("the daemon could not be built".into());
    }
    // target/release/deps/handover-… is one folder below target/release/forebay.
    let own = std::env::current_exe()?;
    let folder = own.parent().and_then(Path::parent).ok_or("the benchmark has no folder")?;
    Ok(folder.join("forebay"))
}

fn nanoseconds() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

fn show(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |hundredths: usize| times[(times.len() - 1) * hundredths / 100].as_secs_f64() * 1e6;
    format!("{:.0} / {:.0}", at(50), at(99))
}
