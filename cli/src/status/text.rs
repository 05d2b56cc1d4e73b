//! A daemon's report as text.

use std::io::{self, Write};

use forebay_pipeline::ByteSize;
use forebay_printable::printable;

use super::report::{
    CacheReport, DaemonReport, FillReport, LaneReport, OutageReport, RequestsReport, RingReport, SeekReport,
    StageReport, StorageWait, StreamReport,
};
use crate::group::{in_batches, members, process};
use crate::span::span;
use crate::user;

/// Writes it. `loader` is the process whose Loaders a private daemon serves.
pub(super) fn daemon(out: &mut impl Write, loader: Option<u32>, report: &DaemonReport<'_>) -> io::Result<()> {
    writeln!(out, "forebay {}, process {}, up {}", report.version, report.pid, span(report.uptime.0))?;
    match loader {
        Some(loader) => writeln!(out, "private daemon of the Loaders of process {loader}")?,
        None => writeln!(out, "socket {}", printable(report.socket.unwrap_or_default()))?,
    }
    if let Some(OutageReport { cause, time }) = &report.ledger_outage {
        writeln!(out, "LEDGER  could not be reached or written for {}: {}", span(time.0), printable(cause))?;
        writeln!(
            out,
            "        trainers wait, nothing is lost; the daemon continues when the cause is gone. Counts are the last known ones"
        )?;
    }
    lanes(out, report)?;
    let decoders: Vec<String> = report.decoders.iter().map(|by| format!("{} {}", by.pictures, by.name)).collect();
    writeln!(out, "pictures by decoder: {}", decoders.join(", "))?;
    for each in &report.streams {
        writeln!(out)?;
        stream(out, each)?;
    }
    for closed in &report.closed {
        writeln!(out, "\nstream {} (run {}): {}", closed.name, closed.run, printable(closed.source))?;
        match (closed.failure, closed.opening) {
            (None, true) => writeln!(out, "  OPENING  {}", opening(closed.dataset_open))?,
            (None, false) => writeln!(out, "  WAITING  for its first trainer, which chooses the shard or the GPU")?,
            (Some(reason), _) => {
                writeln!(out, "  FAILED   {}\n           `forebay reload` tries again", printable(reason))?;
            }
        }
    }
    Ok(())
}

/// What a stream that is being opened waits for.
pub(crate) const fn opening(dataset_open: bool) -> &'static str {
    if dataset_open {
        "its dataset is open; it waits for its ledger, for memory or for functions in Python"
    } else {
        "its dataset is being scanned"
    }
}

/// The share of each lane, where there is more than the CPU's, and what is switched off.
fn lanes(out: &mut impl Write, report: &DaemonReport<'_>) -> io::Result<()> {
    for off in &report.switched_off {
        writeln!(out, "OFF  {}: {}", off.name, printable(off.reason))?;
    }
    if report.lanes.len() < 2 {
        return Ok(());
    }
    let all: u64 = report.lanes.iter().map(|lane| lane.pictures).sum();
    for LaneReport { name, pictures, stolen, refused } in &report.lanes {
        let share = pictures * 100 / all.max(1);
        write!(out, "lane {name:<18} {pictures:>10} pictures, {share:>3} %, {stolen} taken from other lanes")?;
        for refusal in refused {
            write!(out, "; {} refused: {}", refusal.pictures, printable(refusal.reason))?;
        }
        writeln!(out)?;
    }
    for gpu in &report.gpus {
        writeln!(
            out,
            "GPU {}: decoding takes {:#} (peak {:#}, limit {:#}); {:#} of host memory page-locked",
            gpu.gpu,
            ByteSize(gpu.decoding_memory_bytes),
            ByteSize(gpu.decoding_memory_peak_bytes),
            ByteSize(gpu.decoding_memory_limit_bytes),
            ByteSize(gpu.page_locked_bytes)
        )?;
    }
    Ok(())
}

fn stream(out: &mut impl Write, stream: &StreamReport<'_>) -> io::Result<()> {
    let StreamReport { name, run, source, records, epoch, delivered, batches, bad, slots, .. } = stream;
    writeln!(out, "stream {name} (run {run}): {}, {records} records", printable(source))?;
    if let Some(failure) = stream.failure {
        writeln!(out, "  FAILED   {}", printable(failure))?;
    }
    if let Some(StorageWait { reason, time }) = &stream.storage_wait {
        writeln!(out, "  WAITS    {} for the storage: {}", span(time.0), printable(reason))?;
    }
    writeln!(out, "  epoch    {epoch}; {delivered} records delivered, {batches} batches made, {bad} bad records")?;
    writeln!(
        out,
        "  slots    {} free, {} filling, {} ready, {} held, {} quarantined",
        slots.free, slots.filling, slots.ready, slots.held, slots.quarantined
    )?;
    if let Some(RingReport { placement, gpu_bytes, page_locked_bytes, copied_bytes }) = &stream.ring
        && gpu_bytes + page_locked_bytes > 0
    {
        let [gpu, locked, copied] = [gpu_bytes, page_locked_bytes, copied_bytes].map(|bytes| ByteSize(*bytes));
        writeln!(
            out,
            "  ring     pixels in {placement}: {gpu:#} of GPU memory, {locked:#} of page-locked host memory; {copied:#} \
             copied to the GPU"
        )?;
    }
    if let Some(FillReport { unit, filled, room }) = &stream.fill {
        writeln!(out, "  filled   {filled} of {room} {unit} of its batches have records")?;
    }
    if let Some(RequestsReport { in_flight, most, given_up }) = &stream.requests {
        writeln!(out, "  requests {in_flight} of {most} under way; {given_up} given up without an answer")?;
    }
    for decoder in &stream.remote {
        writeln!(out, "  remote   {}: {}", printable(decoder.name), decoder.text())?;
    }
    if let Some(CacheReport { keep, records, bytes, budget_bytes, hits, misses }) = &stream.cache {
        let [bytes, budget] = [bytes, budget_bytes].map(|bytes| ByteSize(*bytes));
        writeln!(out, "  cache    {records} records {keep}, {bytes:#} of {budget:#}; {hits} hits, {misses} misses")?;
    }
    if let Some(SeekReport { pictures, bytes, budget_bytes }) = &stream.seek {
        let [bytes, budget] = [bytes, budget_bytes].map(|bytes| ByteSize(*bytes));
        writeln!(out, "  seek     points of {pictures} pictures, {bytes:#} of {budget:#}")?;
    }
    for trainer in &stream.trainers {
        let name = user::name(trainer.user);
        let (process, user) = (process(trainer.pid, trainer.foreign), printable(&name));
        let consumed = in_batches(trainer.consumed.batches);
        writeln!(out, "  trainer  {process} of user {user}: holds {}, {consumed} consumed", trainer.held)?;
    }
    for group in &stream.groups {
        let members = members(group.name.unwrap_or_default(), group.pids);
        let consumed = in_batches(group.batches.unwrap_or_default());
        writeln!(out, "  group    {members}: {} behind, {consumed} consumed", in_batches(group.behind))?;
    }
    for StageReport { name, items, for_room, for_input } in &stream.stages {
        let waits = [for_room, for_input].map(|wait| span(wait.0));
        writeln!(out, "  stage    {name:<9} {items:>10} items; waited {} for room, {} for input", waits[0], waits[1])?;
    }
    writeln!(out, "  verdict  {}", stream.verdict.sentence)
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::{
        CacheStatus, ClosedStream, ConsumerStatus, DecoderStatus, GpuStatus, GroupStatus, LaneRefusal, LaneStatus,
        LedgerOutage, RemoteDecoder, RingPlace, SeekStatus, SourceRequests, StatusReply, StepFill, StreamStatus,
        SwitchedOff,
    };

    use super::*;

    fn text(loader: Option<u32>, reply: &StatusReply) -> String {
        let mut out = Vec::new();
        daemon(&mut out, loader, &DaemonReport::new(reply)).unwrap();
        String::from_utf8(out).unwrap()
    }

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
            remote: vec![
                RemoteDecoder {
                    name: "https://decoders:7272 (10.0.0.3:7272)".into(),
                    state: "asked".into(),
                    under_way: 12,
                    expected_us: Some(130_000),
                    pictures: 4_000,
                    taken_back: 3,
                    ..Default::default()
                },
                RemoteDecoder {
                    name: "https://decoders:7272 (10.0.0.4:7272)".into(),
                    state: "refused".into(),
                    reason: "The token is not the decoder's.\n".into(),
                    ..Default::default()
                },
            ],
            fill: Some(StepFill { unit: "patches".into(), filled: 900, room: 1_024 }),
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
        insta::assert_snapshot!(text(None, &reply));
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
        insta::assert_snapshot!(text(None, &reply));
    }

    #[test]
    fn a_private_daemon_names_its_process_and_says_which_streams_are_not_open() {
        let closed = |name: &str, opening, failure: &str| ClosedStream {
            name: name.into(),
            run: "default".into(),
            source: "/data/\u{1b}".into(),
            opening,
            failure: failure.into(),
            dataset_open: false,
        };
        let scanned = ClosedStream { dataset_open: true, ..closed("scanned", true, "") };
        let failed = closed("val", false, "no such\nfolder");
        let closed = vec![failed, closed("test", true, ""), scanned, closed("late", false, "")];
        let decoders = vec![DecoderStatus { name: "forebay-jpeg".into(), pictures: 7 }];
        let reply = StatusReply { version: "0.1.0".into(), pid: 9, closed, decoders, ..Default::default() };
        insta::assert_snapshot!(text(Some(77), &reply));
    }
}
