//! The arguments of `forebay coordinate` about etcd.

use std::path::PathBuf;
use std::time::Duration;

use forebay_coordinator::EtcdSettings;
use forebay_daemon::coordinate::Place;
use forebay_ledger_client::{Address, CertificateFiles};
use forebay_proto::LEDGER_VERSION;

use crate::daemon::duration;
use crate::failure::Failure;

/// See the module. Secrets are in files: other users can read a command line.
#[derive(Debug, clap::Args)]
pub(crate) struct EtcdArgs {
    /// Addresses of etcd's members, such as https://a:2379,https://b:2379.
    #[arg(long = "etcd", value_name = "ADDRESSES")]
    endpoints: Option<String>,
    /// The prefix of all keys in etcd. Coordinators with the same prefix share their ledgers: one leads, and another
    /// takes over if it fails. Left out: /forebay.
    #[arg(long, value_name = "KEY")]
    etcd_prefix: Option<String>,
    /// The certificates of the authority that signs those of etcd's members, for https.
    #[arg(long, value_name = "FILE")]
    etcd_ca: Option<PathBuf>,
    /// The certificate that etcd is shown, in PEM.
    #[arg(long, value_name = "FILE", requires = "etcd_key")]
    etcd_certificate: Option<PathBuf>,
    /// The key of that certificate.
    #[arg(long, value_name = "FILE", requires = "etcd_certificate")]
    etcd_key: Option<PathBuf>,
    /// A user of etcd.
    #[arg(long, value_name = "NAME", requires = "etcd_password_file")]
    etcd_user: Option<String>,
    /// A file whose first line is that user's password.
    #[arg(long, value_name = "FILE", requires = "etcd_user")]
    etcd_password_file: Option<PathBuf>,
    /// Where daemons reach this coordinator, with --store etcd. Left out: where it listens.
    #[arg(long, value_name = "ADDRESS")]
    advertise: Option<Address>,
    /// With --store etcd: how long a coordinator that etcd does not hear leads, in whole seconds. Left out: 10s.
    #[arg(long, value_name = "DURATION", value_parser = leader_lease)]
    leader_lease: Option<Duration>,
}

const PREFIX: &str = "/forebay";
const LEADER_LEASE: Duration = Duration::from_secs(10);

/// A leader that cannot be heard for a moment must stay one.
const SHORTEST: Duration = Duration::from_secs(2);

impl EtcdArgs {
    /// Whether something is said about etcd.
    pub(super) fn is_given(&self) -> bool {
        let Self { endpoints, etcd_prefix, etcd_ca, etcd_certificate, etcd_user, advertise, leader_lease, .. } = self;
        let texts = endpoints.is_some() || etcd_prefix.is_some() || etcd_user.is_some() || advertise.is_some();
        texts || etcd_ca.is_some() || etcd_certificate.is_some() || leader_lease.is_some()
    }

    /// For a coordinator that listens there, with TLS or without.
    pub(super) fn settings(&self, listen: &[Place], tls: bool) -> Result<EtcdSettings, Failure> {
        let missing = |what: &str| Failure::Usage(format!("--store etcd needs {what}"));
        let endpoints = self.endpoints.as_deref().ok_or_else(|| missing("--etcd"))?;
        let endpoints = Address::list(endpoints).map_err(|error| {
            Failure::Usage(format!(
                "--etcd {:?}: give addresses such as http://127.0.0.1:2379, and a user of etcd with --etcd-user and \
                 --etcd-password-file",
                error.shown()
            ))
        })?;
        if endpoints.iter().any(Address::is_tls) && self.etcd_ca.is_none() {
            return Err(missing("--etcd-ca for https"));
        }
        let advertise = match &self.advertise {
            Some(address) => address.to_string(),
            None => listen.iter().find_map(|place| reached_at(place, tls)).ok_or_else(|| missing("--advertise"))?,
        };
        let certificate = self.etcd_certificate.clone().zip(self.etcd_key.clone());
        let lease = self.leader_lease.unwrap_or(LEADER_LEASE);
        Ok(EtcdSettings {
            endpoints,
            prefix: self.etcd_prefix.clone().unwrap_or_else(|| PREFIX.to_owned()),
            advertise,
            authority: self.etcd_ca.clone(),
            certificate: certificate.map(|(certificate, key)| CertificateFiles { certificate, key }),
            user: self.etcd_user.clone().zip(self.etcd_password_file.clone()),
            ledger_version: LEDGER_VERSION,
            lease,
            deadline: lease / 5,
        })
    }
}

/// Where others reach it, if that can be told.
fn reached_at(place: &Place, tls: bool) -> Option<String> {
    match place {
        Place::Socket(_) => Some(place.to_string()),
        Place::Network(address) if address.ip().is_unspecified() || address.port() == 0 => None,
        Place::Network(address) => Some(format!("http{}://{address}", if tls { "s" } else { "" })),
    }
}

fn leader_lease(text: &str) -> Result<Duration, String> {
    let time = duration(text)?;
    if time < SHORTEST || time.subsec_nanos() > 0 {
        return Err("give whole seconds, at least 2s".to_owned());
    }
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_others_reach_a_coordinator_is_where_it_listens_if_that_can_be_told() {
        let reached = |text: &str, tls| reached_at(&text.parse().unwrap(), tls);
        assert_eq!(reached("10.0.0.1:7171", true).as_deref(), Some("https://10.0.0.1:7171"));
        assert_eq!(reached("[::1]:7171", false).as_deref(), Some("http://[::1]:7171"));
        assert_eq!(reached("unix:/run/a.sock", false).as_deref(), Some("unix:/run/a.sock"));
        assert_eq!((reached("0.0.0.0:7171", true), reached("127.0.0.1:0", true)), (None, None));
        assert!(leader_lease("1s").is_err() && leader_lease("2500ms").is_err() && leader_lease("2s").is_ok());
    }
}
