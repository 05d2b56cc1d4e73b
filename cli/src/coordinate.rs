//! `forebay coordinate`: runs a coordinator, which has the ledgers of daemons on several nodes.

mod elasticdl;
mod etcd;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use forebay_daemon::config::{Environment, Metrics};
use forebay_daemon::coordinate::{CoordinateSettings, KeptIn, Place, coordinate};
use forebay_daemon::start_logs;
use forebay_ledger_client::CertificateFiles;

use crate::coordinate::elasticdl::ElasticdlArgs;
use crate::coordinate::etcd::EtcdArgs;
use crate::daemon::duration;
use crate::failure::Failure;
use crate::panics;

/// Where ledgers can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum StoreKind {
    /// A file, which one coordinator has open.
    File,
    /// A cluster of etcd.
    Etcd,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CoordinateArgs {
    /// Where the coordinator listens: an address and a port, or unix:PATH. May be repeated. An address that other machines
    /// can reach requires --token-file or --tls-client-ca.
    #[arg(long, value_name = "PLACE", default_value = "127.0.0.1:7171")]
    listen: Vec<Place>,
    /// Folder of the ledgers. Left out: /var/lib/forebay for a service, and the state folder of a user. With --store etcd, it is
    /// only for snapshots, and none are written if it is left out. Give each coordinator its own.
    #[arg(long, value_name = "FOLDER")]
    path: Option<PathBuf>,
    /// Make new ledgers from this snapshot, because the former ones are lost. The folder, or etcd below --etcd-prefix, must have
    /// no ledgers. Leases that were given before are void, and what was delivered after the snapshot is delivered again.
    #[arg(long, value_name = "FILE")]
    recover_from: Option<PathBuf>,
    /// How often a snapshot of the ledgers is written to ledger.snapshot in the folder of --path. Left out: 1m.
    #[arg(long, value_name = "DURATION", value_parser = at_least_a_second)]
    snapshot_every: Option<Duration>,
    /// Where the ledgers are kept: in a file below --path, or in etcd. With etcd, several coordinators can share the
    /// ledgers: one leads, and another takes over if it fails.
    #[arg(long, value_name = "STORE", default_value = "file")]
    store: StoreKind,
    #[command(flatten)]
    etcd: EtcdArgs,
    /// A file with a token that each call must have: one line of at least 16 characters. It is read again when it changes.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The coordinator's certificate, in PEM: then it speaks TLS. It is read again when it changes.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The key of its certificate.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// The certificates of the authority that signs the daemons' certificates. Each daemon must then show a certificate, which
    /// has its node's name.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_client_ca: Option<PathBuf>,
    /// How long a silent daemon keeps its leases. Raise it if daemons lose leases because of short outages.
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = at_least_a_second)]
    lease_ttl: Duration,
    /// Serve metrics for Prometheus at this address. Anyone who reaches it can read them.
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<SocketAddr>,
    /// Tell tools such as grpcurl which calls and messages the coordinator has (gRPC reflection).
    #[arg(long)]
    reflection: bool,
    #[command(flatten)]
    elasticdl: ElasticdlArgs,
}

/// If leases are shorter, a moment without a processor takes them from living daemons.
const SHORTEST: Duration = Duration::from_secs(1);
const SNAPSHOT_EVERY: Duration = Duration::from_secs(60);

pub(crate) fn run(args: &CoordinateArgs) -> Result<(), Failure> {
    let _flush = start_logs("info").map_err(|error| Failure::Failed(error.to_string()))?;
    panics::end_the_process();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let certificate = args.tls_certificate.clone().zip(args.tls_key.clone());
    let etcd = match args.store {
        StoreKind::File if args.etcd.is_given() => {
            return Err(Failure::Usage("the arguments of etcd need --store etcd".to_owned()));
        }
        StoreKind::File => None,
        StoreKind::Etcd if args.path.is_none() && args.snapshot_every.is_some() => {
            let why = "with --store etcd, --snapshot-every needs --path, the folder of snapshots";
            return Err(Failure::Usage(why.to_owned()));
        }
        StoreKind::Etcd => Some(args.etcd.settings(&args.listen, certificate.is_some())?),
    };
    let kept = KeptIn {
        folder: args.path.clone(),
        recover_from: args.recover_from.clone(),
        snapshot_every: args.snapshot_every.unwrap_or(SNAPSHOT_EVERY),
        etcd,
    };
    let settings = CoordinateSettings {
        listen: args.listen.clone(),
        kept,
        token: args.token_file.clone(),
        certificate: certificate.map(|(certificate, key)| CertificateFiles { certificate, key }),
        clients: args.tls_client_ca.clone(),
        lease_ttl: args.lease_ttl,
        metrics: args.metrics.map(Metrics::Address),
        master: args.elasticdl.settings(),
        reflection: args.reflection,
    };
    let served = runtime.block_on(coordinate(settings, Environment::of_process()));
    // Do not wait for a connection that never ends.
    runtime.shutdown_background();
    served.map_err(|error| Failure::Failed(error.to_string()))
}

fn at_least_a_second(text: &str) -> Result<Duration, String> {
    let time = duration(text)?;
    if time < SHORTEST { Err("give at least 1s".to_owned()) } else { Ok(time) }
}
