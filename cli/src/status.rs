//! `forebay status`: shows the state of a running daemon, and the records in quarantine.

pub(crate) mod cluster;
mod ledgers;
mod process;
mod quarantine;
pub(crate) mod remote_report;
pub(crate) mod report;
pub(crate) mod text;
mod whereabouts;

use std::io::{self, Write};
use std::time::Duration;

use forebay_proto::v1::{QuarantineRequest, StatusReply, StatusRequest, StreamStatus};
use serde::Serialize;

use crate::daemon::{Client, Daemon, duration};
use crate::failure::Failure;
use crate::json;
use crate::remote::{Coordinator, CoordinatorArgs};
use crate::verdict::{StageShares, Verdict};
use cluster::Cluster;
use ledgers::LedgersReport;
use quarantine::Quarantine;
use report::DaemonReport;
use whereabouts::WhereReport;

#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    daemon: Daemon,
    #[command(flatten)]
    coordinator: CoordinatorArgs,
    /// List the records that could not be read or decoded, with file and reason.
    #[arg(long)]
    quarantine: bool,
    /// With --coordinator: show the nodes and streams over all of its ledgers, and which nodes are slow or gone.
    #[arg(long, conflicts_with = "quarantine")]
    cluster: bool,
    /// With --coordinator: show where a record is, by its positions, who has leased it, and whether it was delivered.
    #[arg(long = "where", value_name = "RECORD", conflicts_with_all = ["quarantine", "cluster"])]
    record: Option<u64>,
    /// First wait until each stream of the daemon is open, or has failed to open; or until the coordinator answers.
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true, default_missing_value = "60s",
          value_parser = duration)]
    wait: Option<Duration>,
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &StatusArgs) -> Result<(), Failure> {
    if let Some(coordinator) = args.coordinator.coordinator(&args.daemon)? {
        return of_coordinator(args, &coordinator);
    }
    if args.cluster || args.record.is_some() {
        let needed = "--cluster and --where are questions to a coordinator: give --coordinator URL.";
        return Err(Failure::Usage(needed.to_owned()));
    }
    if let Some(within) = args.wait {
        args.daemon.wait_until_ready(within)?;
    }
    let mut out = io::stdout().lock();
    if args.quarantine {
        let request = QuarantineRequest { stream: String::new() };
        let ask = |mut client: Client| async move { client.list_quarantine(request).await };
        let mut quarantine = Quarantine::default();
        args.daemon.ask_pages(ask, |page| {
            quarantine.add(page);
            Ok(())
        })?;
        return Ok(if args.json { json::print(&mut out, &quarantine) } else { quarantine.text(&mut out) }?);
    }
    let told = Told::of_all(&args.daemon)?;
    if args.json {
        return Ok(json::print(&mut out, &Answers::new(&told, args.daemon.is_one(), DaemonReport::new))?);
    }
    for (number, Told { loader, reply }) in told.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        match reply {
            Ok(reply) => text::daemon(&mut out, *loader, &DaemonReport::new(reply))?,
            Err(why) => writeln!(out, "private daemon of process {}: {why}", loader.unwrap_or_default())?,
        }
    }
    Ok(())
}

/// What a daemon has said about itself.
#[derive(Debug)]
pub(crate) struct Told {
    /// The process whose Loaders it serves, if it is a private one.
    pub(crate) loader: Option<u32>,
    /// Why it has not answered, otherwise.
    pub(crate) reply: Result<StatusReply, String>,
}

impl Told {
    /// Asks all daemons that are meant. One that does not answer is an error only if there is no other. A private daemon
    /// that ends before it answers is left out, as if it had not been found.
    pub(crate) fn of_all(daemon: &Daemon) -> Result<Vec<Self>, Failure> {
        let all = daemon.all()?;
        let mut told = Vec::with_capacity(all.len());
        let mut ended = None;
        for each in &all {
            match each.ask(|mut client| async move { client.status(StatusRequest {}).await }) {
                Ok(reply) => told.push(Self { loader: each.loader(), reply: Ok(reply) }),
                Err(failure) if all.len() == 1 => return Err(failure),
                Err(failure) if each.loader().is_some() && !each.answers() => ended = Some(failure),
                Err(failure) => told.push(Self { loader: each.loader(), reply: Err(failure.to_string()) }),
            }
        }
        match ended {
            Some(failure) if told.is_empty() => Err(failure),
            _ => Ok(told),
        }
    }
}

/// All daemons that were asked. Those of a user's Loaders are below `private`, beside what is said of the service, if one runs.
/// If one daemon was asked for, it alone is there.
#[derive(Debug, Serialize)]
pub(crate) struct Answers<'a, R> {
    #[serde(flatten)]
    first: Option<DaemonAnswer<'a, R>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    private: Option<Vec<DaemonAnswer<'a, R>>>,
}

/// A daemon's report, or why it has not answered.
#[derive(Debug, Serialize)]
struct DaemonAnswer<'a, R> {
    #[serde(flatten)]
    report: Option<R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unanswered: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loader_pid: Option<u32>,
}

impl<'a, R> Answers<'a, R> {
    pub(crate) fn new(told: &'a [Told], is_one: bool, report: impl Fn(&'a StatusReply) -> R) -> Self {
        let one = |Told { loader, reply }: &'a Told| DaemonAnswer {
            report: reply.as_ref().ok().map(&report),
            unanswered: reply.as_ref().err().map(String::as_str),
            loader_pid: *loader,
        };
        if is_one && let [only] = told {
            return Self { first: Some(one(only)), private: None };
        }
        let (private, services): (Vec<_>, Vec<_>) = told.iter().partition(|told| told.loader.is_some());
        Self { first: services.into_iter().next().map(one), private: Some(private.into_iter().map(one).collect()) }
    }
}

fn of_coordinator(args: &StatusArgs, coordinator: &Coordinator) -> Result<(), Failure> {
    if let Some(within) = args.wait {
        coordinator.wait_until_it_answers(within)?;
    }
    let mut out = io::stdout().lock();
    let ledgers = coordinator.ledgers(None)?;
    if let Some(record) = args.record {
        let found = coordinator.locate(&ledgers, record)?;
        let places = WhereReport::new(record, &found);
        return Ok(if args.json { json::print(&mut out, &places) } else { places.text(&mut out) }?);
    }
    if args.cluster {
        let cluster = Cluster::of(&ledgers);
        return Ok(if args.json { json::print(&mut out, &cluster) } else { cluster.text(&mut out) }?);
    }
    if !args.quarantine {
        let ledgers = LedgersReport::new(&ledgers);
        return Ok(if args.json { json::print(&mut out, &ledgers) } else { ledgers.text(&mut out) }?);
    }
    let mut quarantine = Quarantine::default();
    for ledger in &ledgers {
        coordinator.quarantine(&ledger.name, |page| quarantine.add(page))?;
    }
    Ok(if args.json { json::print(&mut out, &quarantine) } else { quarantine.text(&mut out) }?)
}

/// Since the daemon's earlier reading, or since the stream was opened if that was later.
fn verdict(reply: &StatusReply, stream: &StreamStatus) -> Verdict {
    let daemon = StatusReply::default();
    let before = reply.earlier.as_deref().unwrap_or(&daemon);
    Verdict::of((before, reply), stream, StageShares::since(before, stream), None)
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::{ConsumerStatus, StageStatus};

    use super::*;
    use crate::verdict::Limit;

    #[test]
    fn a_verdict_is_about_the_time_since_the_earlier_reading() {
        let stage =
            |name: &str, reader_wait_us| StageStatus { name: name.into(), reader_wait_us, ..Default::default() };
        let stream = |open_ms, waits: [u64; 2]| StreamStatus {
            name: "train".into(),
            readers: 1,
            decode_threads: 1,
            open_ms,
            consumers: vec![ConsumerStatus::default()],
            stages: vec![stage("prefetch", waits[0]), stage("decode", waits[1])],
            ..Default::default()
        };
        // For an hour, readers waited for leases, and decoding for pictures. Then they did not.
        let hour = [3_600_000_000; 2];
        let before = StatusReply { streams: vec![stream(3_600_000, hour)], ..Default::default() };
        let now = stream(3_605_000, hour);
        let reply = StatusReply { earlier: Some(Box::new(before)), ..Default::default() };
        assert_eq!(verdict(&reply, &now).limit, Limit::Decoding);
        assert_eq!(verdict(&StatusReply::default(), &now).limit, Limit::Ledger);
        // The stream was closed and opened again.
        assert_eq!(verdict(&reply, &stream(2000, [2_000_000; 2])).limit, Limit::Ledger);
    }

    #[test]
    fn daemons_of_loaders_are_below_private_and_one_that_was_asked_for_is_alone() {
        let stream = StreamStatus { name: "train".into(), storage: "it is away".into(), ..Default::default() };
        let reply = StatusReply { version: "0.1.0".into(), pid: 9, streams: vec![stream], ..Default::default() };
        let silent = Err("it does not answer".to_owned());
        let told = [Told { loader: None, reply: Ok(reply) }, Told { loader: Some(77), reply: silent }];
        let json = |told: &[Told], is_one| {
            let mut out = Vec::new();
            json::print(&mut out, &Answers::new(told, is_one, DaemonReport::new)).unwrap();
            String::from_utf8(out).unwrap()
        };
        insta::assert_snapshot!(json(&told, false));
        assert_eq!(json(&told[1..], true), "{\n  \"unanswered\": \"it does not answer\",\n  \"loader_pid\": 77\n}\n");
        assert_eq!(json(&[], false), "{\n  \"private\": []\n}\n");
    }
}
