//! Storage that is slow or gone, and files for which there is no room.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::pictures::large_pictures;
use super::{benched, limited_by, limited_while_reading};
use crate::bench::Measured;
use crate::daemon::Home;
use crate::disk_cache::tar;
use crate::file_server::FileServer;
use crate::trainer::{Event, Trainer};

#[test]
fn a_slow_network_is_named() {
    let home = Home::with_pictures(400);
    tar(&home, 400);
    let server = FileServer::slow(&home.path("bucket"), Duration::from_millis(400));
    let url = server.url("a.tar");
    home.configure(&format!(
        "[sources]\nobjects = [\"{url}\"]\n[streams.train]\nsource = \"{url}\"\nbatch_size = 4\nsize = 16\n"
    ));
    let said = benched(&home, &[]);
    assert!(said.starts_with("The bottleneck is reading") && said.contains("prefetch.requests"), "{said}");
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
    let said = benched(&home, &[]);
    assert!(said.starts_with("The bottleneck is reading") && said.contains("more prefetch.threads (1)"), "{said}");
    let daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    let verdict = limited_while_reading(&home, &mut trainer, "reading");
    assert!(verdict.contains("more prefetch.threads (1)"), "{verdict}");
    drop(daemon);
}

/// Takes its time.
const SLOW_STEP: &str = "import threading\n\ndef wait(picture, sample):\n    threading.Event().wait(0.05)\n";

#[test]
fn a_slow_function_in_python_is_named() {
    let home = Home::with_pictures(40);
    let folder = home.path("steps");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("slow_steps.py"), SLOW_STEP).unwrap();
    let transform = "[{ center_crop = { size = 16 } }, { python = { function = \"slow_steps:wait\" } }]";
    home.configure(&format!(
        "[sources]\npython = [\"{}\"]\n[streams.train]\nsource = \"{}\"\nbatch_size = 4\npython_workers = 1\n\
         transform = {transform}\n",
        folder.display(),
        home.path("pictures").display(),
    ));
    if !has_numpy() {
        println!("skipped: python3 has no numpy, which functions get their pictures as");
        return;
    }
    let daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    let verdict = limited_while_reading(&home, &mut trainer, "functions");
    assert!(verdict.contains("the Python step slow_steps:wait takes"), "{verdict}");
    drop(daemon);
}

/// Whether the interpreter that a service starts has numpy.
fn has_numpy() -> bool {
    let asked = Command::new("python3").args(["-c", "import numpy"]).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

#[test]
fn a_dataset_that_is_gone_is_named() {
    let home = Home::with_pictures(40);
    home.configure(&(home.train("storage_timeout = \"1s\"") + "[prefetch]\nthreads = 1\nbudget = \"1kb\"\n"));
    let bench = Measured::begin(&home);
    fs::rename(home.path("pictures"), home.path("away")).unwrap();
    let said = bench.fails();
    assert!(said.contains("The storage does not answer: ") && said.contains("the dataset is gone"), "{said}");
    fs::rename(home.path("away"), home.path("pictures")).unwrap();
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
fn a_small_budget_for_files_is_named() {
    let home = Home::with_pictures(0);
    large_pictures(&home);
    // One file fills the budget, and so one of the threads has work.
    home.configure(&(home.train("size = 896") + "[decode]\nthreads = 4\n[prefetch]\nbudget = \"1kb\"\n"));
    let said = benched(&home, &[]);
    assert!(said.starts_with("The bottleneck is reading") && said.contains("A larger prefetch.budget"), "{said}");
    let daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    let verdict = limited_while_reading(&home, &mut trainer, "reading");
    assert!(verdict.contains("A larger prefetch.budget"), "{verdict}");
    drop(daemon);
}
