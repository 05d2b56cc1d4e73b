//! How many records a custom reader gives: `cargo bench -p forebay-benches --bench readers`. The reader does nothing, so the
//! figure is that of the way from its process to this one. Beside it is a bare copy of the same bytes through a socket.
#![allow(clippy::print_stdout, reason = "it prints its figures")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Instant;

use forebay_sources::{Options, Source};

const RECORDS: u64 = 20_000;
const SIZE: usize = 100_000;
const READER: &str = "
class CustomDataReader:
    def __init__(self, records, size):
        self.records, self.content = int(records), b'x' * int(size)

    def create_shards(self):
        return {'a': (0, self.records)}

    def read_records(self, task):
        for _ in range(task.shard.start, task.shard.end):
            yield self.content
";

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        // `cargo test` builds benches and runs them without this argument.
        println!("skipped: figures are taken by `cargo bench`");
        return;
    }
    let folder = tempfile::tempdir().expect("there is room for a file");
    let file = folder.path().join("reader.py");
    fs::write(&file, READER).expect("there is room for a file");
    let name =
        |processes: u64| format!("python://{}?records={RECORDS}&size={SIZE}&workers={processes}", file.display());
    println!("records of {SIZE} bytes, each second; the goal is 20000 for each core");
    println!("{:>10} through a bare socket", bare());
    for processes in [1, 2] {
        let source = forebay_formats::open(&name(processes), &Options::default()).expect("the reader is well");
        println!("{:>10} from {processes} processes of a reader", rate(|| read(source.as_ref(), processes)));
    }
}

/// All records, in as many threads as the reader has processes.
fn read(source: &dyn Source, threads: u64) {
    thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let (part, mut record) = (source.len() / threads, Vec::new());
                for number in thread * part..(thread + 1) * part {
                    source.read(number, u64::MAX, &mut record).expect("the reader is well");
                    assert_eq!(record.len(), SIZE);
                }
            });
        }
    });
}

/// The same bytes from another thread, without frames and without Python.
fn bare() -> u64 {
    let (mut writer, mut reader) = UnixStream::pair().expect("the system has sockets");
    thread::scope(|scope| {
        scope.spawn(move || {
            let content = vec![b'x'; SIZE];
            for _ in 0..RECORDS {
                writer.write_all(&content).expect("the other end reads");
            }
        });
        rate(|| {
            let mut record = vec![0; SIZE];
            for _ in 0..RECORDS {
                reader.read_exact(&mut record).expect("the other end writes");
            }
        })
    })
}

/// Records each second.
fn rate(work: impl FnOnce()) -> u64 {
    let start = Instant::now();
    work();
    let nanoseconds = start.elapsed().as_nanos().max(1);
    u64::try_from(u128::from(RECORDS) * 1_000_000_000 / nanoseconds).unwrap_or(u64::MAX)
}
