//! What two daemons deliver with one coordinator, beside what they deliver with a ledger each.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use forebay_benches::served::Served;
use forebay_client::{Next, Patient, Session};
use forebay_pixels::sample::photograph;

use crate::coordinator::binary;
use crate::figures::{Bare, ratio};

const DAEMONS: usize = 2;
const PICTURES: u64 = 100;
/// Links to these pictures: an epoch lasts for longer than a measurement.
const FILES: u64 = 50_000;
/// Files of a folder.
const FOLDER: u64 = 1000;
const ROUNDS: usize = 5;
/// Deliveries at the beginning do not count.
const WARM: Duration = Duration::from_secs(3);
const MEASURED: Duration = Duration::from_secs(10);

/// In turns, so that a machine that gets slower or faster does so for both. The coordinator is at this address.
pub(crate) fn shares(folder: &Path, address: &str) -> Result<(), Bare> {
    let (binary, source) = (binary()?, link(folder)?);
    let mut ratios = Vec::new();
    for round in 0..ROUNDS {
        // A stream of its own has a ledger of its own.
        let stream = format!("round-{round}");
        let own = stream_of(&stream, &source);
        let embedded = delivered(&binary, folder, &stream, |_| own.clone())?;
        let with_one = |daemon| format!("{own}[coordinator]\nendpoint = \"{address}\"\nnode = \"node-{daemon}\"\n");
        let shared = delivered(&binary, folder, &stream, with_one)?;
        println!("{DAEMONS} daemons: {embedded:.0} records/s with a ledger each, {shared:.0} with one coordinator");
        ratios.push(shared / embedded);
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "{DAEMONS} daemons with one coordinator deliver {:.3} of what they deliver with a ledger each, {:.3} to {:.3} (goal: 0.97)",
        ratios[ROUNDS / 2],
        ratios[0],
        ratios[ROUNDS - 1]
    );
    Ok(())
}

fn stream_of(name: &str, source: &Path) -> String {
    format!(
        "[decode]\nthreads = 1\n[streams.{name}]\nsource = \"{}\"\nbatch_size = 64\nsize = 224\nshuffle = true\n",
        source.display()
    )
}

/// A folder of class folders.
fn link(folder: &Path) -> io::Result<PathBuf> {
    let (pictures, files) = (folder.join("pictures"), folder.join("files"));
    fs::create_dir_all(&pictures)?;
    for number in 0..PICTURES {
        fs::write(pictures.join(format!("{number}.jpg")), photograph(number, 320, 240))?;
    }
    for number in 0..FILES {
        let class = files.join(format!("{:04}", number / FOLDER));
        if number.is_multiple_of(FOLDER) {
            fs::create_dir_all(&class)?;
        }
        fs::hard_link(pictures.join(format!("{}.jpg", number % PICTURES)), class.join(format!("{number:08}.jpg")))?;
    }
    Ok(files)
}

/// Records a second of all daemons together.
fn delivered(binary: &Path, folder: &Path, stream: &str, config: impl Fn(usize) -> String) -> io::Result<f64> {
    let daemons = (0..DAEMONS).map(|daemon| Served::start(binary, folder, &config(daemon)));
    let daemons = daemons.collect::<io::Result<Vec<_>>>()?;
    let attached = Barrier::new(DAEMONS);
    let read = |mut daemon: Served| {
        let session = daemon.attach(stream);
        attached.wait();
        count(session?)
    };
    let counts = thread::scope(|scope| {
        let trainers: Vec<_> = daemons.into_iter().map(|daemon| scope.spawn(|| read(daemon))).collect();
        let counts = trainers.into_iter().map(|trainer| trainer.join().expect("a trainer does not panic"));
        counts.collect::<io::Result<Vec<u64>>>()
    })?;
    Ok(ratio(counts.iter().sum(), MEASURED))
}

/// The records that a trainer gets in the time that is measured.
fn count(mut session: Session) -> io::Result<u64> {
    let start = Instant::now() + WARM;
    let mut count = 0;
    loop {
        let next = session.next(None, &mut Patient).map_err(io::Error::other)?;
        let now = Instant::now();
        if now >= start + MEASURED {
            return session.close().map(|()| count).map_err(io::Error::other);
        }
        if let (Next::Batch(batch), true) = (next, now >= start) {
            // Places without a record have none.
            count += batch.records().iter().filter(|record| **record >= 0).count() as u64;
        }
    }
}
