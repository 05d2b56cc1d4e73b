//! `forebay draw-pictures`: what `forebay page` runs in its child processes. It draws a few records of a dataset, whose bytes nothing
//! has checked: within limits of memory and time, and without a way to open files once it has read them.

mod made;
mod read_before;

use std::io::{self, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use forebay_daemon::drawing::DrawingSource;
use forebay_pixels::Limits;
use forebay_proto::Turn;
use rustix::process::{Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use made::Maker;
use read_before::ReadBefore;

/// What is to be drawn.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct DrawOrder {
    /// The stream's keys, in JSON.
    pub settings: String,
    pub pixels: u64,
    pub bytes: u64,
    pub scans: u32,
    pub drawn_as: DrawnAs,
    /// Each record with its repeat.
    pub turns: Vec<(u64, u16)>,
}

/// What a record is drawn as.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
pub(crate) enum DrawnAs {
    /// As it is stored, as far as it can be decoded.
    Stored,
    /// As the stream's recipe makes it in an epoch.
    Epoch(u64),
}

/// A line of the answer.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) enum DrawnLine {
    /// Nothing can be drawn, for this reason.
    Failed(String),
    /// The next one of the records.
    Picture(DrawnPicture),
}

/// A record that was drawn.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct DrawnPicture {
    /// A PNG or JPEG, in Base64. Empty if there is none.
    pub image: String,
    pub width: u32,
    pub height: u32,
    /// Its class, or the number of its label.
    pub label: String,
    /// The first text that the dataset has beside it.
    pub caption: String,
    /// Why there is no image.
    pub why: String,
}

/// Memory of the process for data.
const MEMORY: u64 = 2 << 30;
/// Seconds of a processor.
const PROCESSOR: u64 = 30;
/// Longest order.
const ORDER: u64 = 8 << 20;

pub(crate) fn run() -> Result<(), Failure> {
    // The thread that has started this process waits for it.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(io::Error::from)?;
    for (resource, most) in
        [(Resource::Data, MEMORY), (Resource::Cpu, PROCESSOR), (Resource::Fsize, 0), (Resource::Core, 0)]
    {
        limit(resource, most)?;
    }
    let mut order = Vec::new();
    io::stdin().take(ORDER).read_to_end(&mut order)?;
    let order: DrawOrder = serde_json::from_slice(&order)
        .map_err(|error| Failure::Failed(format!("The page runs this command with an order as its input: {error}.")))?;
    match DrawingSource::open(&order.settings, order.bytes) {
        Ok(DrawingSource { source, settings }) => {
            let limits = Limits { pixels: order.pixels, bytes: order.bytes, scans: order.scans, time: None };
            let source: Arc<dyn forebay_sources::Source> = Arc::new(ReadBefore::new(source, &order.turns));
            // All that is to be read was read. What a decoder might be made to do, it opens no file and starts no program.
            limit(Resource::Nofile, 0)?;
            let maker = Maker::new(&source, &settings, limits, order.drawn_as);
            draw(maker, &order.turns)
        }
        Err(why) => told(&DrawnLine::Failed(why)),
    }
}

fn draw(maker: Result<Maker<'_>, String>, turns: &[(u64, u16)]) -> Result<(), Failure> {
    let mut maker = match maker {
        Ok(maker) => maker,
        Err(why) => return told(&DrawnLine::Failed(why)),
    };
    for (record, repeat) in turns {
        let made = catch_unwind(AssertUnwindSafe(|| maker.picture(Turn::new(*record, *repeat))));
        let failed = || DrawnPicture { why: "The decoder has failed at it.".to_owned(), ..DrawnPicture::default() };
        told(&DrawnLine::Picture(made.unwrap_or_else(|_panic| failed())))?;
    }
    Ok(())
}

/// Prints a line.
fn told(line: &DrawnLine) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, line).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

/// Limits this process, within what it is allowed already. It cannot raise the limit again.
fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let most = Some(getrlimit(resource).maximum.map_or(most, |allowed| allowed.min(most)));
    Ok(setrlimit(resource, Rlimit { current: most, maximum: most })?)
}
