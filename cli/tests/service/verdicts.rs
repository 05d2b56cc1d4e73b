//! `forebay top`, `status` and `bench` say what limits a stream. Each fault is made here, and looked for by its name.

use std::fs;
use std::io::{Read, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use forebay_client::{Next, Patient};
use forebay_pixels::sample::photograph;
use serde_json::Value;

use crate::daemon::{Daemon, Home, PATIENCE, stderr};
use crate::disk_cache::tar;
use crate::file_server::FileServer;
use crate::full_disk::{consume_until_told, fill};
use crate::trainer::{Event, Puppet, Trainer};

/// What a command shows of the only stream.
fn shown(home: &Home, command: &[&str]) -> Value {
    let output = home.command(command);
    assert!(output.status.success(), "{}", stderr(&output));
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    shown["streams"][0].clone()
}

fn top(home: &Home) -> Value {
    shown(home, &["top", "--once", "--json", "--every", "1s"])
}

/// Looks until the limit is this one for `top` and for `status`, and answers the verdict of `top`.
fn limited_by(home: &Home, limit: &str) -> String {
    let until = Instant::now() + PATIENCE;
    loop {
        let both = [top(home), shown(home, &["status", "--json"])];
        if both.iter().all(|stream| stream["limit"] == limit) {
            return both[0]["verdict"].as_str().unwrap().to_owned();
        }
        assert!(Instant::now() < until, "it is never said that {limit} limits it: {both:?}");
    }
}

/// As [`limited_by`], while the trainer takes all that comes.
fn limited_while_reading(home: &Home, trainer: &mut Trainer, limit: &str) -> String {
    thread::scope(|scope| {
        let looking = scope.spawn(|| limited_by(home, limit));
        while !looking.is_finished() {
            let event = trainer.next();
            assert!(matches!(event, Event::Batch(_) | Event::EpochEnd(_)), "{event:?}");
        }
        looking.join().unwrap()
    })
}

/// What `forebay bench` says last, which names the bottleneck.
fn bench(args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    let output = command.args(["bench", "--seconds", "1", "--batch-size", "4"]).args(args).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8(output.stdout).unwrap().lines().last().unwrap().to_owned()
}

/// Pictures that keep one decode thread at work, and so many that leases are no matter.
fn large_pictures(home: &Home) {
    for number in 0..8 {
        fs::write(home.picture(number), photograph(number, 1200, 900)).unwrap();
    }
    for number in 8..200 {
        fs::hard_link(home.picture(number % 8), home.picture(number)).unwrap();
    }
}

/// Pictures without loss, which every decoder reads whole.
fn noise(home: &Home) {
    for number in 0..8 {
        let noise = |x: u32, y: u32| image::Rgb([x, y, x * y + number].map(|value| value.to_le_bytes()[0]));
        let picture = image::RgbImage::from_fn(900, 700, noise);
        picture.save(home.path("pictures").join(format!("{number}.png"))).unwrap();
    }
}

#[test]
fn a_stream_without_a_trainer_and_one_with_a_slow_one_are_told_apart() {
    let home = Home::with_pictures(40);
    let daemon = home.serve("");
    assert_eq!(limited_by(&home, "nobody"), "No trainer is attached.");
    let mut trainer = Trainer::attach(&home);
    trainer.next().batch();
    // It takes nothing more. The ring fills, and then no slot is free.
    let verdict = limited_by(&home, "trainer");
    assert!(verdict.starts_with("The bottleneck is the trainer"), "{verdict}");
    let shown = top(&home);
    assert_eq!(
        (&shown["trainers"][0]["pid"], &shown["pictures_per_second"]),
        (&std::process::id().into(), &0.0.into())
    );
    let page = home.command(&["top", "--once", "--every", "1s"]);
    let page = String::from_utf8(page.stdout).unwrap();
    assert!(page.contains("stream train: ") && page.contains("40 records") && page.contains(&verdict[..30]), "{page}");
    drop(daemon);
}

#[test]
fn a_trainer_that_keeps_its_batches_is_named() {
    let home = Home::with_pictures(400);
    let daemon = home.serve("");
    let mut trainer = Trainer::attach(&home);
    let mut kept = Vec::new();
    // It is refused more batches than it may hold.
    while let Ok(Next::Batch(batch)) = trainer.session.next(Some(PATIENCE), &mut Patient) {
        kept.push(batch);
    }
    let verdict = limited_by(&home, "trainer");
    let named = format!("Process {} holds {} batches", std::process::id(), kept.len());
    assert!(verdict.contains(&named), "{verdict}");
    drop(daemon);
}

#[test]
fn the_slowest_of_two_groups_is_named() {
    let home = Home::with_pictures(40);
    let daemon = home.serve("mode = \"each\"");
    let mut slow = Puppet::with_one_credit(&home);
    slow.next().batch();
    let mut fast = Puppet::attach(&home);
    fast.run();
    let verdict = limited_by(&home, "trainer");
    assert!(verdict.contains(&format!("The slowest is the group of process {}", slow.pid())), "{verdict}");
    drop(daemon);
}

#[test]
fn pictures_that_take_long_to_decode_are_named() {
    let home = Home::with_pictures(0);
    noise(&home);
    let said = bench(&[home.path("pictures").to_str().unwrap(), "--threads", "1"]);
    assert!(said.contains("decoding") && said.contains("100 % of the pictures are not JPEG"), "{said}");
    home.configure(&(home.train("") + "[decode]\nthreads = 1\n"));
    let daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    let verdict = limited_while_reading(&home, &mut trainer, "decoding");
    assert!(verdict.contains("100 % of the pictures are not JPEG"), "{verdict}");
    drop(daemon);
}

#[test]
fn too_few_decode_threads_are_named() {
    let home = Home::with_pictures(0);
    large_pictures(&home);
    // On a machine with one core, more threads would not help.
    let said = bench(&[home.path("pictures").to_str().unwrap(), "--evaluation", "--threads", "1"]);
    assert!(said.starts_with("The bottleneck is decoding") && !said.contains("not JPEG"), "{said}");
    home.configure(&(home.train("size = 896") + "[decode]\nthreads = 1\n"));
    let daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    let verdict = limited_while_reading(&home, &mut trainer, "decoding");
    assert!(!verdict.contains("not JPEG"), "{verdict}");
    drop(daemon);
}

#[test]
fn a_slow_network_is_named() {
    let home = Home::with_pictures(400);
    tar(&home, 400);
    let server = FileServer::slow(&home.path("bucket"), Duration::from_millis(400));
    let url = server.url("a.tar");
    let said = bench(&[&url, "--size", "16"]);
    assert!(said.starts_with("The bottleneck is reading") && said.contains("prefetch.requests"), "{said}");
    home.configure(&format!(
        "[sources]\nobjects = [\"{url}\"]\n[streams.train]\nsource = \"{url}\"\nbatch_size = 4\nsize = 16\n"
    ));
    let daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    let verdict = limited_while_reading(&home, &mut trainer, "reading");
    assert!(verdict.contains("prefetch.requests"), "{verdict}");
    drop(daemon);
}

/// Gives the pictures of a home, and takes its time.
const SLOW_READER: &str = r#"
import pathlib
import threading


class CustomDataReader:
    def __init__(self, folder):
        self.files = sorted(pathlib.Path(folder).iterdir())

    def create_shards(self):
        return {"": (0, len(self.files))}

    def labels(self):
        return [0] * len(self.files)

    def read_records(self, task):
        for number in range(task.shard.start, task.shard.end):
            threading.Event().wait(0.1)
            yield self.files[number].read_bytes()
"#;

#[test]
fn a_slow_disk_is_named() {
    let home = Home::with_pictures(40);
    fs::write(home.path("reader.py"), SLOW_READER).unwrap();
    let (reader, folder) = (home.path("reader.py"), home.path("pictures"));
    home.configure(&format!(
        "[sources]\npython = [\"{}\"]\n[prefetch]\nthreads = 1\n[streams.train]\nbatch_size = 4\nsize = 16\n\
         source = \"python://{}?folder={}&records_per_task=1&workers=1\"\n",
        reader.parent().unwrap().display(),
        reader.display(),
        folder.display()
    ));
    let daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    let verdict = limited_while_reading(&home, &mut trainer, "reading");
    assert!(verdict.contains("more prefetch.threads (1)"), "{verdict}");
    drop(daemon);
}

#[test]
fn a_dataset_that_is_gone_is_named() {
    let home = Home::with_pictures(40);
    home.configure(&(home.train("storage_timeout = \"1s\"") + "[prefetch]\nthreads = 1\nbudget = \"1kb\"\n"));
    let daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    trainer.next().batch();
    fs::rename(home.path("pictures"), home.path("away")).unwrap();
    while !matches!(trainer.next(), Event::Failed(_)) {}
    let verdict = limited_by(&home, "storage");
    assert!(verdict.contains("the dataset is gone"), "{verdict}");
    drop(daemon);
}

#[test]
fn a_full_disk_of_the_ledger_is_named() {
    let home = Home::with_pictures(80);
    let daemon = home.serve("");
    let mut trainer = Trainer::attach(&home);
    trainer.next().batch();
    fill(&daemon, true);
    consume_until_told(&mut trainer, &mut Vec::new());
    let verdict = limited_by(&home, "ledger");
    assert!(verdict.contains("ledger.redb") && verdict.contains("too large"), "{verdict}");
    drop(daemon);
}

/// Passes on everything between two sockets, each time after this long.
fn slow_wire(from: &Path, to: &Path, time: Duration) {
    let (listener, to) = (UnixListener::bind(from).unwrap(), to.to_owned());
    let copy = move |mut from: UnixStream, mut to: UnixStream| {
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = from.read(&mut bytes) {
            // Nobody unparks this thread.
            thread::park_timeout(time);
            if to.write_all(&bytes[..read]).is_err() {
                break;
            }
        }
        // The other end may have closed first.
        let _closed = to.shutdown(Shutdown::Write);
    };
    thread::spawn(move || {
        for one in listener.incoming().flatten() {
            let other = UnixStream::connect(&to).unwrap();
            let (one_again, other_again) = (one.try_clone().unwrap(), other.try_clone().unwrap());
            thread::spawn(move || copy(one, other));
            thread::spawn(move || copy(other_again, one_again));
        }
    });
}

#[test]
fn a_slow_ledger_is_named() {
    let home = Home::with_pictures(400);
    let [coordinator, wire] = ["coordinator.sock", "wire.sock"].map(|name| home.path(name));
    let mut coordinate = Command::new(env!("CARGO_BIN_EXE_forebay"));
    coordinate.arg("coordinate").arg("--listen").arg(format!("unix:{}", coordinator.display()));
    let mut coordinate = Daemon::spawn({
        coordinate.arg("--path").arg(home.path("ledgers"));
        coordinate
    });
    coordinate.hears("the coordinator is ready");
    slow_wire(&wire, &coordinator, Duration::from_millis(300));
    let sockets = home.path("sockets");
    let head =
        format!("[control]\ndir = \"{}\"\n[coordinator]\nendpoint = \"unix:{}\"\n", sockets.display(), wire.display());
    fs::write(home.path("forebay.toml"), head + &home.train("")).unwrap();
    let daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    let verdict = limited_while_reading(&home, &mut trainer, "ledger");
    assert!(verdict.contains("readers waited for leases"), "{verdict}");
    drop((daemon, coordinate));
}

#[test]
fn the_end_of_a_run_is_no_bottleneck() {
    let home = Home::with_pictures(40);
    let daemon = home.serve("epochs = 1");
    let mut trainer = Trainer::attach(&home);
    while !matches!(trainer.next(), Event::Done) {}
    // It stays attached, as for a last evaluation.
    assert_eq!(limited_by(&home, "complete"), "The last epoch is complete.");
    drop(daemon);
}

#[test]
fn a_bad_record_is_named() {
    let home = Home::with_pictures(8);
    fs::write(home.picture(0), "no picture").unwrap();
    let daemon = home.serve("on_error = \"fail\"");
    let mut trainer = Trainer::attach(&home);
    assert!(matches!(trainer.next(), Event::Failed(_)));
    let verdict = limited_by(&home, "failed");
    assert!(verdict.contains("0000.jpg"), "{verdict}");
    let status = String::from_utf8(home.command(&["status"]).stdout).unwrap();
    assert!(status.contains("verdict  The stream has failed"), "{status}");
    drop(daemon);
}

#[test]
fn a_view_needs_a_terminal_and_a_daemon() {
    let home = Home::with_pictures(1);
    let nobody = home.command(&["top", "--once"]);
    assert!(stderr(&nobody).contains("No daemon answers"), "{}", stderr(&nobody));
    let _daemon = home.serve("");
    let no_terminal = home.command(&["top"]);
    assert_eq!(no_terminal.status.code(), Some(2));
    assert!(stderr(&no_terminal).contains("--once"), "{}", stderr(&no_terminal));
}
