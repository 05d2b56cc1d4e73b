//! `forebay decode`: runs a decoder, which makes pictures for daemons on other machines.

use std::path::PathBuf;
use std::time::Duration;

use forebay_daemon::config::Environment;
use forebay_daemon::coordinate::Place;
use forebay_daemon::decoder::{DecoderSettings, decode};
use forebay_daemon::start_logs;
use forebay_ledger_client::CertificateFiles;
use forebay_pipeline::{ByteSize, cores};

use crate::daemon::duration;
use crate::failure::Failure;
use crate::panics;

#[derive(Debug, clap::Args)]
pub(crate) struct DecodeArgs {
    /// Where the decoder listens: an address and a port, or unix:PATH. May be repeated. An address that other machines can reach
    /// requires --token-file or --tls-client-ca.
    #[arg(long, value_name = "PLACE", default_value = "127.0.0.1:7272")]
    listen: Vec<Place>,
    /// A folder whose files it may read, or the URL of a bucket or of a folder in one. May be repeated. Daemons name the datasets,
    /// and can read all below these roots. The decoder opens nothing else; links are resolved first.
    #[arg(long = "root", value_name = "ROOT", required = true)]
    roots: Vec<String>,
    /// A file with a token that each daemon must have: one line of at least 16 characters. It is read again when it changes.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The decoder's certificate, in PEM: then it speaks TLS. It is read again when it changes.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The key of its certificate.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// The certificates of the authority that signs the daemons' certificates. Each daemon must then show a certificate.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_client_ca: Option<PathBuf>,
    /// Threads that make pictures. Left out: the usable cores.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Memory for records and their pictures on the way, and as much again for decoding. If it is full, daemons ask later.
    #[arg(long, value_name = "SIZE", default_value = "1gib")]
    memory: ByteSize,
    /// How long it answers what it has, after SIGTERM.
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    drain_timeout: Duration,
}

pub(crate) fn run(args: &DecodeArgs) -> Result<(), Failure> {
    let _flush = start_logs("info").map_err(|error| Failure::Failed(error.to_string()))?;
    panics::end_the_process();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let certificate = args.tls_certificate.clone().zip(args.tls_key.clone());
    let settings = DecoderSettings {
        listen: args.listen.clone(),
        roots: args.roots.clone(),
        token: args.token_file.clone(),
        certificate: certificate.map(|(certificate, key)| CertificateFiles { certificate, key }),
        clients: args.tls_client_ca.clone(),
        threads: args.threads.map_or_else(cores::usable, usize::from),
        memory: args.memory.0,
        drain_timeout: args.drain_timeout,
    };
    let served = runtime.block_on(decode(settings, Environment::of_process()));
    // Do not wait for a thread that reads for ever.
    runtime.shutdown_background();
    served.map_err(|error| Failure::Failed(error.to_string()))
}
