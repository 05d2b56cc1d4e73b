//! What a daemon shows over HTTP: its metrics, whether its loops turn, and whether trainers can be served.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use forebay_ledger_client::{CertificateEnds, Outage};
use forebay_pipeline::{Metric, Registry, Samples};
use forebay_printable::printable;
use forebay_proto::v1::{LedgerOutage, StatusReply, StreamStatus};

use crate::daemon::Daemon;
use crate::earlier::Earlier;
use crate::registry::is_listened_at;
use crate::telemetry::{Observed, Pulse, process, show_certificates};
use crate::verdict::{Limit, StageShares};

/// How old metrics may be.
const GAUGES: Duration = Duration::from_secs(1);
/// A loop that has not turned for so long hangs. Each of its turns waits for no more than [`GAUGES`].
const HANGS: Duration = Duration::from_secs(30);

/// A service, whose metrics are made all the time.
#[derive(Debug)]
pub(super) struct ServiceObserved {
    daemon: Arc<Daemon>,
    earlier: Arc<Earlier>,
    certificates: CertificateEnds,
    registry: Registry,
    pulse: Pulse,
    /// Its control socket.
    control: PathBuf,
    ends: AtomicBool,
}

/// The private daemon of a Loader, whose metrics are made when they are asked for.
#[derive(Debug)]
pub(super) struct PrivateObserved {
    pub(super) daemon: Arc<Daemon>,
    pub(super) earlier: Arc<Earlier>,
}

impl ServiceObserved {
    pub(super) fn new(daemon: Arc<Daemon>, earlier: Arc<Earlier>, control: PathBuf) -> Self {
        let (registry, pulse, ends) = (Registry::default(), Pulse::new(), AtomicBool::new(false));
        let config = daemon.config();
        let remote = config.coordinator.remote.as_ref();
        let own = remote.and_then(|remote| remote.certificate.as_ref());
        let certificates = CertificateEnds::of(own, remote.and_then(|remote| remote.authority.as_deref()));
        Self { daemon, earlier, certificates, registry, pulse, control, ends }
    }

    /// Makes metrics, without an end.
    pub(super) async fn keep(&self) {
        let mut tick = tokio::time::interval(GAUGES);
        loop {
            tick.tick().await;
            let mut samples = gauges(&self.daemon, &self.earlier, || self.pulse.beat()).await;
            show_certificates(&self.certificates, &mut samples);
            self.registry.replace(samples);
        }
    }

    /// The daemon ends, and admits no trainer any more.
    pub(super) fn say_ending(&self) {
        self.ends.store(true, Ordering::Relaxed);
    }
}

impl Observed for ServiceObserved {
    async fn metrics(&self) -> String {
        self.registry.render()
    }

    fn health(&self) -> Result<(), String> {
        let silence = self.pulse.silence(HANGS).map(|silence| silence.as_secs());
        silence.map_or(Ok(()), |seconds| Err(format!("the daemon's loop has not turned for {seconds} s")))
    }

    fn readiness(&self) -> Result<(), String> {
        if self.ends.load(Ordering::Relaxed) {
            return Err("the daemon ends".to_owned());
        }
        serves(&self.daemon)?;
        if !is_listened_at(&self.control) {
            return Err(format!("nothing answers at the control socket \"{}\"", printable(&self.control)));
        }
        Ok(())
    }
}

impl Observed for PrivateObserved {
    async fn metrics(&self) -> String {
        gauges(&self.daemon, &self.earlier, || {}).await.render()
    }

    fn health(&self) -> Result<(), String> {
        Ok(())
    }

    fn readiness(&self) -> Result<(), String> {
        serves(&self.daemon)
    }
}

/// What of the daemon itself a judgement about its streams needs.
fn judged_by(daemon: &Daemon) -> StatusReply {
    let outage = |outage: Outage| LedgerOutage { cause: outage.cause, ..LedgerOutage::default() };
    StatusReply {
        ledger_outage: daemon.outage().map(outage),
        lanes: daemon.shared().lane_status(),
        ..StatusReply::default()
    }
}

/// What limits a stream, from two readings of its daemon.
fn show_limit(readings: (&StatusReply, &StatusReply), stream: &StreamStatus, samples: &mut Samples) {
    let found = Limit::of(readings.1, stream, StageShares::since(readings.0, stream), None);
    for limit in Limit::ALL {
        let labels = [("stream", stream.name.as_str()), ("limit", limit.name())];
        samples.level(Metric::StreamLimit, &labels, (limit == found).into());
    }
}

/// Whether each stream is open or has failed, and the ledgers can be written.
fn serves(daemon: &Daemon) -> Result<(), String> {
    if !daemon.is_ready() {
        let opening = daemon.closed().into_iter().filter(|stream| stream.opening).map(|stream| stream.name);
        let names: Vec<_> = opening.collect();
        return Err(if names.is_empty() {
            "no stream is open yet".to_owned()
        } else {
            format!("these streams are still being opened: {}", names.join(", "))
        });
    }
    daemon.outage().map_or(Ok(()), |outage| Err(outage.to_string()))
}

/// All metrics of a daemon. `turn` is called in between.
async fn gauges(daemon: &Daemon, earlier: &Earlier, turn: impl Fn()) -> Samples {
    let mut samples = Samples::default();
    process(&mut samples);
    daemon.shared().show_lanes(&mut samples);
    daemon.show_streams(&mut samples);
    samples.level(Metric::LedgerWritable, &[], daemon.outage().is_none().into());
    turn();
    let (before, now) = (earlier.reading().unwrap_or_default(), judged_by(daemon));
    for stream in daemon.streams() {
        let shown = async {
            stream.show(&mut samples).await;
            show_limit((&*before, &now), &stream.reading().await, &mut samples);
        };
        // One that is being stopped and started again is left out: it holds up no other's figures.
        let _late = tokio::time::timeout(GAUGES, shown).await;
        turn();
    }
    for (decoder, pictures) in daemon.shared().decoded() {
        samples.counter(Metric::PicturesDecoded, &[("decoder", decoder)], pictures);
    }
    for (format, content, pictures) in daemon.shared().left_out() {
        samples.counter(Metric::ContentLeftOut, &[("format", format), ("content", content)], pictures);
    }
    samples
}
