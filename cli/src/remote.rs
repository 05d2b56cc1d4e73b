//! How commands reach a coordinator in another process: `--coordinator`, and what proves that they may ask it.

use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{process, thread};

use forebay_ledger_client::{Address, CallError, CertificateFiles, Handle, Pauses, Remote, Request};
use forebay_plan::dataset_records;
use forebay_proto::v1::{
    AuditReply, AuditRequest, LedgerStatus, ListLedgersRequest, ListQuarantineRequest, LocateReply, LocateRequest,
    QuarantinedRecord, StreamQuarantine,
};

use crate::daemon::Daemon;
use crate::failure::Failure;

/// Which coordinator to ask, if any.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CoordinatorArgs {
    /// Ask the coordinator at this address instead of a daemon: a URL with a host and a port, or unix:PATH. If several
    /// coordinators share their ledgers, give all addresses, with commas between them.
    #[arg(long, value_name = "URL", conflicts_with = "socket_dir", value_delimiter = ',')]
    coordinator: Vec<Address>,
    /// A file with the coordinator's token.
    #[arg(long, value_name = "FILE", requires = "coordinator")]
    token_file: Option<PathBuf>,
    /// The certificates of the authority that has signed the coordinator's, for an https address.
    #[arg(long, value_name = "FILE", requires = "coordinator")]
    tls_ca: Option<PathBuf>,
    /// The certificate to show the coordinator, if it asks for one.
    #[arg(long, value_name = "FILE", requires = "coordinator", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The key of that certificate.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
}

/// A coordinator that commands ask.
#[derive(Debug)]
pub(crate) struct Coordinator {
    handle: Handle,
    /// How many addresses it has.
    addresses: usize,
}

impl CoordinatorArgs {
    /// The coordinator that the command line names. It may take as long to answer as the daemon.
    pub(crate) fn coordinator(&self, daemon: &Daemon) -> Result<Option<Coordinator>, Failure> {
        if self.coordinator.is_empty() {
            return Ok(None);
        }
        let certificate = self.tls_certificate.clone().zip(self.tls_key.clone());
        let remote = Remote {
            token: self.token_file.clone(),
            authority: self.tls_ca.clone(),
            certificate: certificate.map(|(certificate, key)| CertificateFiles { certificate, key }),
            deadline: daemon.timeout(),
            ..Remote::at(self.coordinator.clone())
        };
        Coordinator::at(&remote).map(Some)
    }
}

impl Coordinator {
    /// The one that a configuration names.
    pub(crate) fn at(remote: &Remote) -> Result<Self, Failure> {
        let handle = remote.connect().map_err(|error| Failure::Failed(format!("{error}.")))?;
        Ok(Self { handle, addresses: remote.addresses.len() })
    }

    /// Asks it, at each of its addresses if need be.
    pub(crate) fn ask<R: Request>(&self, request: R) -> Result<R::Reply, Failure> {
        for _ in 1..self.addresses {
            match self.handle.wait(request.clone()) {
                Err(CallError::Unavailable(_)) => {}
                answer => return answer.map_err(refused),
            }
        }
        self.handle.wait(request).map_err(refused)
    }

    /// Waits until the coordinator answers. It may not have started yet.
    pub(crate) fn wait_until_it_answers(&self, within: Duration) -> Result<(), Failure> {
        let until = Instant::now() + within;
        let mut pauses = Pauses::of(process::id().into());
        while let Err(failure) = self.ask(ListLedgersRequest::default()) {
            if Instant::now() >= until {
                return Err(failure);
            }
            // Nothing unparks this thread: it only waits between two attempts.
            thread::park_timeout(pauses.next());
        }
        Ok(())
    }

    /// Its ledgers, of all streams or of the one that is named.
    pub(crate) fn ledgers(&self, stream: Option<&str>) -> Result<Vec<LedgerStatus>, Failure> {
        let mut all = Vec::new();
        let mut after = String::new();
        loop {
            let page = self.ask(ListLedgersRequest { after, ..ListLedgersRequest::default() })?;
            all.extend(page.ledgers);
            if !page.more {
                break;
            }
            after = all.last().map(|ledger: &LedgerStatus| ledger.name.clone()).unwrap_or_default();
        }
        if let Some(stream) = stream {
            all.retain(|ledger| stream_of(&ledger.name) == stream);
            if all.is_empty() {
                return Err(Failure::Failed(format!("The coordinator has no ledger of a stream \"{stream}\".")));
            }
        }
        Ok(all)
    }

    /// The places of a record, of those ledgers that have it. Datasets of other streams may have no such record.
    pub(crate) fn locate(&self, ledgers: &[LedgerStatus], record: u64) -> Result<Vec<(String, LocateReply)>, Failure> {
        let mut found = Vec::new();
        let has = |ledger: &&LedgerStatus| ledger.spec.as_ref().is_some_and(|spec| record < dataset_records(spec));
        for LedgerStatus { name, .. } in ledgers.iter().filter(has) {
            let reply = self.ask(LocateRequest { ledger: name.clone(), record })?;
            if !reply.places.is_empty() {
                found.push((name.clone(), reply));
            }
        }
        Ok(found)
    }

    /// All tallies of a ledger.
    pub(crate) fn audit(&self, ledger: &str) -> Result<AuditReply, Failure> {
        let mut audit: Option<AuditReply> = None;
        let mut from_epoch = Some(0);
        while let Some(epoch) = from_epoch {
            let page = self.ask(AuditRequest { ledger: ledger.to_owned(), from_epoch: epoch })?;
            from_epoch = page.next_epoch();
            match &mut audit {
                None => audit = Some(page),
                Some(audit) => audit.append(page),
            }
        }
        Ok(audit.unwrap_or_default())
    }

    /// The quarantine's list of a ledger, page by page.
    pub(crate) fn quarantine(&self, ledger: &str, mut take: impl FnMut(StreamQuarantine)) -> Result<(), Failure> {
        let mut after = None;
        loop {
            let page = self.ask(ListQuarantineRequest { ledger: ledger.to_owned(), after })?;
            after = page.records.last().map(QuarantinedRecord::key);
            let (records, quarantined) = (page.records, page.quarantined);
            take(StreamQuarantine { stream: ledger.to_owned(), records, quarantined });
            if !page.more {
                return Ok(());
            }
        }
    }
}

fn refused(error: CallError) -> Failure {
    match error {
        CallError::Unavailable(why) => Failure::Unavailable(format!(
            "The coordinator does not answer: {why} Check the address, and that \"forebay coordinate\" runs there."
        )),
        refusal @ CallError::NotLeader { .. } => Failure::Unavailable(refusal.to_string()),
        refusal => Failure::Failed(refusal.to_string()),
    }
}

/// A ledger's name is `RUN/STREAM/SHARD`.
fn stream_of(ledger: &str) -> &str {
    ledger.split('/').nth(1).unwrap_or_default()
}
