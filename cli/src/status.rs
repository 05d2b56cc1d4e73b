//! `forebay status`: shows the state of a running daemon, and the records in quarantine.

mod cluster;
pub(crate) mod json;
mod ledgers;
mod quarantine;
mod whereabouts;

use std::io::{self, Write};
use std::time::Duration;

use forebay_printable::printable;
use forebay_proto::v1::{
    ClosedStream, ConsumerStatus, GpuStatus, GroupStatus, LaneStatus, LedgerOutage, QuarantineRequest, RingPlace,
    SeekStatus, SourceRequests, StatusReply, StatusRequest, StreamStatus, SwitchedOff,
};
use forebay_road::ByteSize;

use crate::daemon::{Client, Daemon, duration};
use crate::failure::Failure;
use crate::group::{in_batches, members, process};
use crate::remote::{Coordinator, CoordinatorArgs};
use crate::span::span;
use crate::user;
use crate::verdict::{Shares, Verdict, earlier};
use cluster::Cluster;
use quarantine::Quarantine;

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
        return Ok(if args.json { writeln!(out, "{:#}", quarantine.json()) } else { quarantine.text(&mut out) }?);
    }
    let told = Told::of_all(&args.daemon)?;
    if args.json {
        return Ok(writeln!(out, "{:#}", json::all(&told, args.daemon.is_one(), json::status))?);
    }
    for (number, Told { loader, reply }) in told.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        match reply {
            Ok(reply) => status(&mut out, *loader, reply)?,
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
    /// Asks all daemons that are meant. One that does not answer is an error only if there is no other.
    pub(crate) fn of_all(daemon: &Daemon) -> Result<Vec<Self>, Failure> {
        let all = daemon.all()?;
        let mut told = Vec::with_capacity(all.len());
        for each in &all {
            match each.ask(|mut client| async move { client.status(StatusRequest {}).await }) {
                Ok(reply) => told.push(Self { loader: each.loader(), reply: Ok(reply) }),
                Err(failure) if all.len() == 1 => return Err(failure),
                Err(failure) => told.push(Self { loader: each.loader(), reply: Err(failure.to_string()) }),
            }
        }
        Ok(told)
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
        let json = || whereabouts::json(record, &found);
        return Ok(if args.json {
            writeln!(out, "{:#}", json())
        } else {
            whereabouts::text(&mut out, record, &found)
        }?);
    }
    if args.cluster {
        let cluster = Cluster::of(&ledgers);
        return Ok(if args.json { writeln!(out, "{:#}", cluster.json()) } else { cluster.text(&mut out) }?);
    }
    if !args.quarantine {
        let json = || ledgers::json(&ledgers);
        return Ok(if args.json { writeln!(out, "{:#}", json()) } else { ledgers::text(&mut out, &ledgers) }?);
    }
    let mut quarantine = Quarantine::default();
    for ledger in &ledgers {
        coordinator.quarantine(&ledger.name, |page| quarantine.add(page))?;
    }
    Ok(if args.json { writeln!(out, "{:#}", quarantine.json()) } else { quarantine.text(&mut out) }?)
}

fn status(out: &mut impl Write, loader: Option<u32>, reply: &StatusReply) -> io::Result<()> {
    let uptime = Duration::from_secs(reply.uptime_ms / 1000);
    writeln!(out, "forebay {}, process {}, up {}", reply.version, reply.pid, span(uptime))?;
    match loader {
        Some(loader) => writeln!(out, "private daemon of the Loaders of process {loader}")?,
        None => writeln!(out, "socket {}", printable(&reply.socket))?,
    }
    if let Some(LedgerOutage { cause, for_ms }) = &reply.ledger_outage {
        let time = span(Duration::from_millis(*for_ms));
        writeln!(out, "LEDGER  could not be reached or written for {time}: {}", printable(cause))?;
        writeln!(
            out,
            "        trainers wait, nothing is lost; the daemon continues when the cause is gone. Counts are the last known ones"
        )?;
    }
    lanes(out, reply)?;
    let decoders: Vec<String> = reply.decoders.iter().map(|by| format!("{} {}", by.pictures, by.name)).collect();
    writeln!(out, "pictures by decoder: {}", decoders.join(", "))?;
    for stream in &reply.streams {
        writeln!(out)?;
        one(out, reply, stream)?;
    }
    for ClosedStream { name, run, source, opening, failure } in &reply.closed {
        writeln!(out, "\nstream {name} (run {run}): {}", printable(source))?;
        match (failure.as_str(), opening) {
            ("", true) => writeln!(out, "  OPENING  its dataset is being scanned")?,
            ("", false) => writeln!(out, "  WAITING  for its first trainer, which chooses the shard or the GPU")?,
            (reason, _) => writeln!(out, "  FAILED   {}\n           `forebay reload` tries again", printable(reason))?,
        }
    }
    Ok(())
}

/// The share of each lane, where there is more than the CPU's, and what is switched off.
fn lanes(out: &mut impl Write, reply: &StatusReply) -> io::Result<()> {
    for SwitchedOff { name, reason } in &reply.switched_off {
        writeln!(out, "OFF  {name}: {}", printable(reason))?;
    }
    if reply.lanes.len() < 2 {
        return Ok(());
    }
    let all: u64 = reply.lanes.iter().map(|lane| lane.pictures).sum();
    for LaneStatus { name, pictures, stolen, refused } in &reply.lanes {
        let share = pictures * 100 / all.max(1);
        write!(out, "lane {name:<18} {pictures:>10} pictures, {share:>3} %, {stolen} taken from other lanes")?;
        for refusal in refused {
            write!(out, "; {} refused: {}", refusal.pictures, printable(&refusal.reason))?;
        }
        writeln!(out)?;
    }
    for GpuStatus { gpu, memory_used, memory_peak, memory_limit, page_locked } in &reply.gpus {
        let [used, peak, limit, locked] =
            [memory_used, memory_peak, memory_limit, page_locked].map(|bytes| ByteSize(*bytes));
        writeln!(
            out,
            "GPU {gpu}: decoding takes {used:#} (peak {peak:#}, limit {limit:#}); {locked:#} of host memory page-locked"
        )?;
    }
    Ok(())
}

/// Since the daemon's earlier reading, or since the stream was opened if that was later.
fn verdict(reply: &StatusReply, stream: &StreamStatus) -> Verdict {
    let (daemon, nothing) = (StatusReply::default(), StreamStatus::default());
    let before = reply.earlier.as_deref().unwrap_or(&daemon);
    let was = earlier(before, stream).unwrap_or(&nothing);
    let time = Duration::from_millis(stream.open_ms.saturating_sub(was.open_ms));
    Verdict::of((before, reply), stream, Shares::measured(was, stream, time), None)
}

fn one(out: &mut impl Write, reply: &StatusReply, stream: &StreamStatus) -> io::Result<()> {
    let StreamStatus { name, run, source, records, epoch, delivered, batches, bad, .. } = stream;
    writeln!(out, "stream {name} (run {run}): {}, {records} records", printable(source))?;
    if !stream.failure.is_empty() {
        writeln!(out, "  FAILED   {}", printable(&stream.failure))?;
    }
    if !stream.storage.is_empty() {
        writeln!(
            out,
            "  WAITS    {} for the storage: {}",
            span(Duration::from_millis(stream.storage_wait_ms)),
            printable(&stream.storage)
        )?;
    }
    writeln!(out, "  epoch    {epoch}; {delivered} records delivered, {batches} batches made, {bad} bad records")?;
    writeln!(
        out,
        "  slots    {} free, {} filling, {} ready, {} held, {} quarantined",
        stream.slots_free, stream.slots_filling, stream.slots_ready, stream.slots_held, stream.slots_quarantined
    )?;
    if let Some(RingPlace { placement, gpu_bytes, page_locked, copied }) = &stream.ring
        && gpu_bytes + page_locked > 0
    {
        let [gpu, locked, copied] = [gpu_bytes, page_locked, copied].map(|bytes| ByteSize(*bytes));
        writeln!(
            out,
            "  ring     pixels in {placement}: {gpu:#} of GPU memory, {locked:#} of page-locked host memory; {copied:#} \
             copied to the GPU"
        )?;
    }
    if let Some(SourceRequests { in_flight, most, given_up }) = &stream.requests {
        writeln!(out, "  requests {in_flight} of {most} under way; {given_up} given up without an answer")?;
    }
    if let Some(cache) = &stream.cache {
        writeln!(
            out,
            "  cache    {} records {}, {:#} of {:#}; {} hits, {} misses",
            cache.records,
            cache.keep,
            ByteSize(cache.bytes),
            ByteSize(cache.budget),
            cache.hits,
            cache.misses
        )?;
    }
    if let Some(SeekStatus { pictures, bytes, budget }) = &stream.seek {
        let [bytes, budget] = [bytes, budget].map(|bytes| ByteSize(*bytes));
        writeln!(out, "  seek     points of {pictures} pictures, {bytes:#} of {budget:#}")?;
    }
    for consumer in &stream.consumers {
        let ConsumerStatus { uid, held, delivered, .. } = consumer;
        let name = user::name(*uid);
        let user = printable(&name);
        let process = process(consumer);
        writeln!(out, "  trainer  {process} of user {user}: holds {held}, {} consumed", in_batches(*delivered))?;
    }
    for group in &stream.groups {
        let GroupStatus { delivered, behind, .. } = group;
        writeln!(
            out,
            "  group    {}: {} behind, {} consumed",
            members(group),
            in_batches(*behind),
            in_batches(*delivered)
        )?;
    }
    for stage in &stream.stages {
        let waits = [stage.writer_wait_us, stage.reader_wait_us].map(|us| span(Duration::from_micros(us)));
        writeln!(
            out,
            "  stage    {:<9} {:>10} items; waited {} for room, {} for input",
            stage.name, stage.items, waits[0], waits[1]
        )?;
    }
    writeln!(out, "  verdict  {}", verdict(reply, stream).sentence)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::{CacheStatus, LaneRefusal, StageStatus};

    use super::*;
    use crate::verdict::Limit;

    #[test]
    fn a_status_tells_streams_trainers_and_a_failure() {
        let stream = StreamStatus {
            name: "train".into(),
            failure: "record 7 is bad".into(),
            storage: "7.jpg: the storage fails".into(),
            storage_wait_ms: 61_000,
            cache: Some(CacheStatus {
                keep: "encoded".into(),
                records: 5,
                bytes: 700,
                budget: 800,
                hits: 9,
                misses: 6,
            }),
            ring: Some(RingPlace {
                placement: "gpu:1".into(),
                gpu_bytes: 6 << 20,
                page_locked: 4 << 20,
                copied: 9 << 20,
            }),
            requests: Some(SourceRequests { in_flight: 180, most: 256, given_up: 3 }),
            seek: Some(SeekStatus { pictures: 4, bytes: 600, budget: 900 }),
            consumers: vec![ConsumerStatus { pid: 42, uid: 4_000_000_001, held: 2, ..Default::default() }],
            groups: vec![
                GroupStatus { name: "vision\n".into(), pids: vec![42, 43], delivered: 7, behind: 1 },
                GroupStatus { pids: vec![44], delivered: 5, behind: 3, ..Default::default() },
            ],
            ..Default::default()
        };
        let ledger_outage = Some(LedgerOutage { cause: "no space left".into(), for_ms: 40_000 });
        let streams = vec![stream];
        let reply = StatusReply { pid: 1, uptime_ms: 7_300_000, streams, ledger_outage, ..Default::default() };
        let mut out = Vec::new();
        status(&mut out, None, &reply).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("up 2 h") && text.contains("process 42 of user 4000000001: holds 2"), "{text}");
        assert!(text.contains("group    vision\\n (2 trainers): 1 batch behind, 7 batches consumed"), "{text}");
        assert!(text.contains("group    of process 44: 3 batches behind, 5 batches consumed"), "{text}");
        assert!(text.contains("LEDGER  could not be reached or written for 40 s: no space left"), "{text}");
        assert!(text.contains("FAILED   record 7 is bad"), "{text}");
        assert!(text.contains("WAITS    61 s for the storage: 7.jpg: the storage fails"), "{text}");
        assert!(
            text.contains(
                "pixels in gpu:1: 6.00 MiB of GPU memory, 4.00 MiB of page-locked host memory; 9.00 MiB copied"
            ),
            "{text}"
        );
        assert!(text.contains("requests 180 of 256 under way; 3 given up without an answer"), "{text}");
        assert!(text.contains("seek     points of 4 pictures, 600 bytes of 900 bytes"), "{text}");
        assert!(text.contains("cache    5 records encoded, 700 bytes of 800 bytes; 9 hits, 6 misses"), "{text}");
    }

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
    fn a_status_tells_the_share_of_each_lane_and_why_it_left_pictures_to_others() {
        let lane = |name: &str, pictures| LaneStatus { name: name.into(), pictures, ..Default::default() };
        let mut hardware = lane("hardware on GPU 0", 75);
        hardware.refused.push(LaneRefusal { reason: "kind of JPEG".into(), pictures: 5 });
        let gpus =
            vec![GpuStatus { memory_used: 3 << 20, memory_limit: 9 << 20, page_locked: 2 << 20, ..Default::default() }];
        let off = SwitchedOff { name: "GPU 1".into(), reason: "it is busy".into() };
        let lanes = vec![lane("cpu", 25), hardware];
        let reply = StatusReply { lanes, gpus, switched_off: vec![off], ..Default::default() };
        let mut out = Vec::new();
        status(&mut out, None, &reply).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("75 %") && text.contains("5 refused: kind of JPEG"), "{text}");
        assert!(
            text.contains(
                "GPU 0: decoding takes 3.00 MiB (peak 0 bytes, limit 9.00 MiB); 2.00 MiB of host memory page-locked"
            ),
            "{text}"
        );
        assert!(text.contains("OFF  GPU 1: it is busy"), "{text}");
    }
}
