//! `forebay top`: a view of a running daemon that renews itself: streams, trainers, waits, and what limits each stream.

mod keyboard;
mod overview;
mod page;
mod screen;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _};
use std::thread;
use std::time::{Duration, Instant};

use forebay_proto::v1::StatusReply;

use crate::daemon::{Daemon, duration};
use crate::failure::Failure;
use crate::json;
use crate::status::{Answers, Told};
use overview::Overview;
use screen::{Screen, Wish};

#[derive(Debug, clap::Args)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    daemon: Daemon,
    /// How often to refresh, such as 500ms or 5s.
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = duration)]
    every: Duration,
    /// Measure once, for the time of --every, print the result and end.
    #[arg(long)]
    once: bool,
    /// With --once: print it as JSON.
    #[arg(long, requires = "once")]
    json: bool,
}

/// What the daemon said, and when.
#[derive(Debug)]
struct Reading {
    at: Instant,
    told: Vec<Told>,
}

/// Rates are taken over this time, so that they do not jump.
const OVER: Duration = Duration::from_secs(5);
/// Long enough for shares of the time.
const SOON: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &TopArgs) -> Result<(), Failure> {
    if args.once {
        let first = look(args)?;
        // Nothing unparks this thread. If it wakes early, the rates are of a shorter time.
        thread::park_timeout(args.every);
        let second = look(args)?;
        let mut out = io::stdout().lock();
        return Ok(if args.json {
            let report = |after| overview(&first, &second, after);
            json::print(&mut out, &Answers::new(&second.told, args.daemon.is_one(), report))
        } else {
            page::text(&mut out, &rows(&first, &second))
        }?);
    }
    if !io::stdout().is_terminal() {
        return Err(Failure::Usage("forebay top needs a terminal. Without one, give --once.".to_owned()));
    }
    // A daemon that cannot be asked says so on the screen that the user has, not on one that vanishes.
    let mut readings = VecDeque::from([look(args)?]);
    let mut screen = Screen::open()?;
    let mut gone = None;
    loop {
        let (Some(oldest), Some(newest)) = (readings.front(), readings.back()) else { return Ok(()) };
        match screen.show(&rows(oldest, newest), gone.as_deref()) {
            Err(_) if screen.is_hung_up() => return Ok(()),
            shown => shown?,
        }
        // The first shares come soon, however seldom the user wants to see others.
        let is_new = newest.at - oldest.at < SOON;
        if screen.wait(if is_new { args.every.min(SOON) } else { args.every })? == Wish::Leave {
            return Ok(());
        }
        match look(args) {
            Ok(reading) => {
                readings.push_back(reading);
                gone = None;
            }
            Err(Failure::Unavailable(why) | Failure::Failed(why)) => gone = Some(why),
            Err(other) => return Err(other),
        }
        while readings.len() > 2 && readings[1].at.elapsed() >= OVER {
            readings.pop_front();
        }
    }
}

fn look(args: &TopArgs) -> Result<Reading, Failure> {
    Ok(Reading { at: Instant::now(), told: Told::of_all(&args.daemon)? })
}

/// What a daemon did between two readings. Counters of another process have nothing to do with its own.
fn overview<'a>(before: &Reading, after: &Reading, reply: &'a StatusReply) -> Overview<'a> {
    let mut earlier = before.told.iter().filter_map(|told| told.reply.as_ref().ok());
    let earlier = earlier.find(|earlier| earlier.pid == reply.pid).unwrap_or(reply);
    Overview::of(earlier, reply, after.at.saturating_duration_since(before.at))
}

/// All daemons, one below the other.
fn rows(before: &Reading, after: &Reading) -> Vec<page::Row> {
    let mut rows = Vec::new();
    for Told { loader, reply } in &after.told {
        if !rows.is_empty() {
            rows.push(page::Row::new());
        }
        match reply {
            Ok(reply) => rows.extend(page::lines(*loader, &overview(before, after, reply))),
            Err(why) => {
                rows.push(page::plain(format!("private daemon of process {}: {why}", loader.unwrap_or_default())));
            }
        }
    }
    rows
}
