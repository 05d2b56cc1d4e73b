//! Runs the child processes that draw. One that ends by a record of its own is started again for the others.

use std::io::{self, Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::draw_pictures::{DrawOrder, DrawnLine, DrawnPicture};

/// This program, also if its file was replaced meanwhile.
const PROGRAM: &str = "/proc/self/exe";
const COMMAND: &str = "draw-pictures";
/// How long all records of an order may take. A viewer's connection lasts longer.
const TIME: Duration = Duration::from_secs(20);
/// Children for one order: each but the last ended by a record.
const CHILDREN: u32 = 4;
/// Longest answer of a child.
const ANSWER: usize = 16 << 20;

/// How a child has ended.
enum Ending {
    Ended(ExitStatus),
    Late,
}

/// The records of an order, each drawn or with the reason why not.
///
/// # Errors
/// In a sentence, why none can be drawn.
pub(super) fn drawn(mut order: DrawOrder) -> Result<Vec<DrawnPicture>, String> {
    let (until, all) = (Instant::now() + TIME, order.turns.len());
    let mut pictures = Vec::with_capacity(all);
    for _child in 0..CHILDREN {
        let (made, ending) = asked(&order, until)?;
        order.turns.drain(..made.len());
        pictures.extend(made);
        if order.turns.is_empty() {
            return Ok(pictures);
        }
        match ending {
            Ending::Late => break,
            Ending::Ended(status) => {
                pictures.push(without(how(status)));
                order.turns.remove(0);
            }
        }
        if order.turns.is_empty() {
            return Ok(pictures);
        }
    }
    let why =
        format!("It was not drawn: that took longer than {} s, or other records ended the process.", TIME.as_secs());
    pictures.resize(all, without(why));
    Ok(pictures)
}

fn without(why: String) -> DrawnPicture {
    DrawnPicture { why, ..DrawnPicture::default() }
}

/// What the end of a child says of the record that it was drawing.
fn how(status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => format!("Drawing it has ended the process that draws (signal {signal})."),
        None => format!("Drawing it has ended the process that draws ({status})."),
    }
}

/// Asks one child. It may answer less than it was asked for.
fn asked(order: &DrawOrder, until: Instant) -> Result<(Vec<DrawnPicture>, Ending), String> {
    let failed = |error: io::Error| format!("The process that draws cannot be used: {error}.");
    let mut command = Command::new(PROGRAM);
    // A signal from a terminal is for the page. The child ends with the thread that waits for it here.
    command.arg(COMMAND).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    // It can write no file, so there is no cache on a disk for it.
    command.env_remove("FOREBAY_CACHE").env_remove("FOREBAY_CACHE_SIZE");
    let mut child = Drawing(command.spawn().map_err(failed)?);
    let (input, output) = (child.0.stdin.take(), child.0.stdout.take());
    let (Some(mut input), Some(mut output)) = (input, output) else { return Err("It has no pipes.".to_owned()) };
    let text = serde_json::to_vec(order).map_err(|error| failed(error.into()))?;
    // The child reads all of it before it does anything else. One that has ended says why below.
    let _ended = input.write_all(&text);
    drop(input);
    let (answer, is_late) = read(&mut output, until).map_err(failed)?;
    let mut pictures = Vec::new();
    for line in answer.split(|byte| *byte == b'\n') {
        match serde_json::from_slice(line) {
            Ok(DrawnLine::Failed(why)) => return Err(why),
            Ok(DrawnLine::Picture(picture)) if pictures.len() < order.turns.len() => pictures.push(picture),
            // The last line is empty, or was cut by the end of the child.
            _ => break,
        }
    }
    let ending = if is_late { Ending::Late } else { Ending::Ended(child.0.wait().map_err(failed)?) };
    Ok((pictures, ending))
}

/// All that comes until the other end closes, and whether that takes too long.
fn read(output: &mut ChildStdout, until: Instant) -> io::Result<(Vec<u8>, bool)> {
    let (mut answer, mut part) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(output, PollFlags::IN)], Some(&left)) {
            Err(rustix::io::Errno::INTR) => continue,
            Ok(0) => return Ok((answer, true)),
            polled => polled?,
        };
        match output.read(&mut part)? {
            0 => return Ok((answer, false)),
            count => answer.extend_from_slice(&part[..count]),
        }
        if answer.len() > ANSWER {
            return Err(io::Error::other("it says too much"));
        }
    }
}

/// A child that ends with this.
struct Drawing(Child);

impl Drop for Drawing {
    fn drop(&mut self) {
        // It may have ended already.
        let _killed = self.0.kill();
        let _ended = self.0.wait();
    }
}
