//! Ledgers that are slow, or cannot be written.

use std::fs;
use std::io::{Read, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use super::{benched, limited_by, limited_while_reading, limited_while_reading_every};
use crate::bench::{Measured, measure};
use crate::daemon::{Daemon, Home, stderr};
use crate::full_disk::{consume_until_told, fill};
use crate::trainer::Trainer;

#[test]
fn a_full_disk_of_the_ledger_is_named() {
    let home = Home::with_pictures(80);
    home.configure(&home.train(""));
    let bench = Measured::begin(&home);
    fill(&bench.process, true);
    let said = bench.fails();
    let words = ["The ledger cannot be reached or written: ", "ledger.redb", "too large"];
    assert!(words.iter().all(|words| said.contains(words)), "{said}");
    let daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    trainer.next().batch();
    fill(&daemon, true);
    consume_until_told(&mut trainer, &mut Vec::new());
    let verdict = limited_by(&home, "ledger");
    assert!(verdict.contains("ledger.redb") && verdict.contains("too large"), "{verdict}");
    drop(daemon);
}

/// A library that makes the disk of a process slow.
fn slow_disk(home: &Home) -> PathBuf {
    let [source, library] = ["slow_disk.c", "slow_disk.so"].map(|name| home.path(name));
    fs::write(&source, include_str!("slow_disk.c")).unwrap();
    // What links this test.
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).output().unwrap();
    assert!(compiled.status.success(), "{}", stderr(&compiled));
    library
}

/// Tiny pictures in leases of four. A lease from a slow ledger takes far longer than its pictures, also where other processes
/// take most of the cores.
fn short_leases(home: &Home) -> String {
    home.train("batch_size = 4\nsize = 16\nlease_size = 4") + "[prefetch]\nleases_ahead = 1\n"
}

#[test]
fn a_slow_disk_of_the_ledger_is_named() {
    let home = Home::with_pictures(400);
    home.configure(&short_leases(&home));
    let library = slow_disk(&home);
    let measured = measure(&home).args(["--seconds", "4"]).env("LD_PRELOAD", &library).output().unwrap();
    let said = String::from_utf8(measured.stdout).unwrap();
    assert!(said.contains("The bottleneck is the ledger: readers waited for leases"), "{said}");
    let mut daemon = Daemon::spawn({
        let mut serve = home.serve_command();
        serve.env("LD_PRELOAD", &library);
        serve
    });
    daemon.hears("ready");
    let mut trainer = Trainer::attach(&home);
    // Leases come in bursts: in a second there may be enough of them.
    let verdict = limited_while_reading_every(&home, &mut trainer, "2s", "ledger");
    assert!(verdict.contains("readers waited for leases"), "{verdict}");
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
fn a_slow_coordinator_is_named() {
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
    fs::write(home.path("forebay.toml"), head + &short_leases(&home)).unwrap();
    let daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    // In bursts here too.
    let verdict = limited_while_reading_every(&home, &mut trainer, "5s", "ledger");
    assert!(verdict.contains("readers waited for leases"), "{verdict}");
    drop((daemon, coordinate));
}

#[test]
fn leases_of_one_record_are_named() {
    let home = Home::with_pictures(8);
    for number in 8..4000 {
        fs::hard_link(home.picture(number % 8), home.picture(number)).unwrap();
    }
    home.configure(&(home.train("batch_size = 64\nlease_size = 1") + "[prefetch]\nleases_ahead = 1\n"));
    let said = benched(&home, &[]);
    assert!(said.contains("readers waited for leases") && said.contains("a larger lease_size"), "{said}");
    let daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    let verdict = limited_while_reading(&home, &mut trainer, "ledger");
    assert!(verdict.contains("a larger lease_size"), "{verdict}");
    drop(daemon);
}
