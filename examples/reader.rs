//! Reads pictures with Paddle's readers, in Rust, and prints how bright they are:
//! `cargo run -p forebay-client --example reader -- target/release/forebay 2 pictures more.tar`.
#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::error::Error;
use std::sync::Arc;

use forebay_client::PrivateDaemon;
use forebay_client::reader::{Chain, Reader, ReaderError};

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct Brightness {
    /// Pictures of all passes.
    pub(crate) pictures: u64,
    /// The sum of all their values.
    pub(crate) sum: u64,
    /// How many values that is.
    pub(crate) values: u64,
}

/// Reads so many passes over the files. `forebay` is the path of the `forebay` binary.
pub(crate) fn brightness(forebay: &str, passes: u64, files: &[String]) -> Result<Brightness, ReaderError> {
    let daemon = Arc::new(PrivateDaemon::new(forebay));
    let chain = Chain::open_files(files)?.with("size", 32).with("labels", "none");
    let chain = chain.shuffle(1024)?.batch(8)?.multi_pass(passes)?.double_buffer()?;
    let mut reader = Reader::open(&chain, &daemon)?;
    let mut all = Brightness::default();
    while reader.has_next()? {
        let batch = reader.read_next()?;
        // Places behind the valid ones repeat a record.
        let values = &batch.images()[..batch.valid() * 32 * 32 * 3];
        all.pictures += batch.valid() as u64;
        all.sum += values.iter().map(|value| u64::from(*value)).sum::<u64>();
        all.values += values.len() as u64;
    }
    Ok(all)
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [forebay, passes, files @ ..] = &*words else { return Err("usage: reader FOREBAY PASSES FILE...".into()) };
    let Brightness { pictures, sum, values } = brightness(forebay, passes.parse()?, files)?;
    println!("{pictures} pictures, with a mean value of {} of 255", sum / values.max(1));
    Ok(())
}
