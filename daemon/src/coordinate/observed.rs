//! What a coordinator shows over HTTP: its metrics, whether its loops turn, and whether daemons can be served.

use std::time::Duration;

use forebay_ledger_client::{CertificateEnds, Handle, Outage};
use forebay_pipeline::{Metric, Registry, Samples};
use forebay_proto::v1::{LedgerStatus, ListLedgersRequest};
use tokio::time::{interval, timeout};

use crate::telemetry::{Observed, Pulse, process, show_certificates};

/// How old metrics may be.
const GAUGES: Duration = Duration::from_secs(1);
/// How long a page of the ledgers is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// A loop that has not turned for so long hangs.
const HANGS: Duration = Duration::from_secs(30);

/// See the module.
#[derive(Debug)]
pub(super) struct CoordinatorObserved {
    handle: Handle,
    certificates: CertificateEnds,
    registry: Registry,
    /// Of the loop that makes metrics.
    pulse: Pulse,
    /// Of the thread that has the ledgers: it answers, or refuses.
    ledgers: Pulse,
}

impl CoordinatorObserved {
    pub(super) fn new(handle: Handle, certificates: CertificateEnds) -> Self {
        Self { handle, certificates, registry: Registry::default(), pulse: Pulse::new(), ledgers: Pulse::new() }
    }

    /// Makes metrics, without an end.
    pub(super) async fn keep(&self) {
        let mut tick = interval(GAUGES);
        loop {
            tick.tick().await;
            self.pulse.beat();
            let mut samples = Samples::default();
            process(&mut samples);
            samples.level(Metric::LedgerWritable, &[], self.fault().is_none().into());
            show_certificates(&self.certificates, &mut samples);
            self.show_ledgers(&mut samples).await;
            self.registry.replace(samples);
        }
    }

    async fn show_ledgers(&self, samples: &mut Samples) {
        let (mut after, mut more) = (String::new(), true);
        while more {
            // The coordinator may have thousands of workers, and answers no other call during a list.
            let request = ListLedgersRequest { after, without_workers: true };
            let Ok(answer) = timeout(PATIENCE, self.handle.call(request)).await else { return };
            self.pulse.beat();
            self.ledgers.beat();
            let Ok(page) = answer else { return };
            page.ledgers.iter().for_each(|ledger| show(ledger, samples));
            after = page.ledgers.last().map(|ledger| ledger.name.clone()).unwrap_or_default();
            more = page.more;
        }
    }

    /// Why this coordinator cannot write the ledgers. That another one leads needs no attention.
    fn fault(&self) -> Option<Outage> {
        self.handle.outage().borrow().clone().filter(|outage| !outage.follows)
    }
}

impl Observed for CoordinatorObserved {
    async fn metrics(&self) -> String {
        self.registry.render()
    }

    fn health(&self) -> Result<(), String> {
        let silence = self.pulse.silence(HANGS).map(|silence| silence.as_secs());
        silence.map_or(Ok(()), |seconds| Err(format!("the coordinator's loop has not turned for {seconds} s")))
    }

    fn readiness(&self) -> Result<(), String> {
        if let Some(outage) = self.fault() {
            return Err(outage.to_string());
        }
        let silence = self.ledgers.silence(HANGS).map(|silence| silence.as_secs());
        silence.map_or(Ok(()), |seconds| {
            Err(format!("the ledgers have not answered for {seconds} s: their disk or etcd does not answer"))
        })
    }
}

fn show(ledger: &LedgerStatus, samples: &mut Samples) {
    let of = [("ledger", ledger.name.as_str())];
    samples.level(Metric::LedgerWorkers, &of, ledger.worker_count);
    samples.level(Metric::LedgerLeased, &of, ledger.leased);
    samples.level(Metric::LedgerReturned, &of, ledger.returned);
    samples.counter(Metric::LedgerDelivered, &of, ledger.delivered);
    samples.counter(Metric::LedgerQuarantined, &of, ledger.quarantined);
    samples.counter(Metric::LedgerLateReports, &of, ledger.late_reports);
}

#[cfg(test)]
mod tests {
    use forebay_coordinator::{Coordinator, CoordinatorSettings, Store, StoreError, monotonic_clock};
    use forebay_ledger::Change;

    use super::*;

    /// A store that this process does not lead.
    struct Unled(fn() -> StoreError);

    impl Store for Unled {
        fn term(&mut self) -> Result<u64, StoreError> {
            Err((self.0)())
        }

        fn commands_at_once(&self) -> usize {
            1
        }

        fn load(&mut self, _prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
            Err((self.0)())
        }

        fn commit(&mut self, _changes: &[Change]) -> Result<(), StoreError> {
            Err((self.0)())
        }
    }

    #[test]
    fn a_coordinator_that_follows_another_one_needs_no_attention_and_one_that_finds_no_leader_does() {
        let follows = || StoreError::new("Asking", "b leads").not_leader(Some("http://b:1".to_owned()));
        let fails = || StoreError::new("Asking", "no answer");
        for (error, is_well) in [(follows as fn() -> StoreError, true), (fails, false)] {
            let handle = Coordinator::start(Unled(error), monotonic_clock(), CoordinatorSettings::default()).unwrap();
            assert!(handle.outage().borrow().is_some(), "it does not serve");
            let observed = CoordinatorObserved::new(handle, CertificateEnds::of(None, None));
            let ready = observed.readiness();
            assert_eq!(ready.is_ok(), is_well, "{ready:?}");
            assert!(is_well || ready.unwrap_err().contains("no answer"));
            assert_eq!(observed.health(), Ok(()), "a restart would not help");
        }
    }
}
