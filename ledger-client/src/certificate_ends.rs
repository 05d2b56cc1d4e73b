//! When certificates end, for a metric. The files are read again when they change, as those that use them do.

use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use rustls::pki_types::CertificateDer;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer as _;

use crate::secret::{Stamp, stamps};
use crate::tls::{CertificateFiles, certificates};

/// Files of certificates, and when they end.
#[derive(Debug)]
pub struct CertificateEnds(Mutex<Vec<CertificateFile>>);

/// A file of certificates.
#[derive(Debug)]
struct CertificateFile {
    path: PathBuf,
    kind: Kind,
    stamp: Option<Stamp>,
    /// Unix time, in seconds.
    end: Option<i64>,
}

/// What a file is for.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A certificate that is shown, with those between it and the authority's: it ends with the first of them.
    Own,
    /// Certificates of authorities: one of them is enough, so it ends with the last.
    Authorities,
}

impl CertificateEnds {
    /// Of the certificates that a process shows, and those of authorities that it trusts.
    pub fn of<'a>(
        own: impl IntoIterator<Item = &'a CertificateFiles>,
        authorities: impl IntoIterator<Item = &'a Path>,
    ) -> Self {
        let file = |path: &Path, kind| CertificateFile { path: path.to_owned(), kind, stamp: None, end: None };
        let mut files: Vec<_> = own.into_iter().map(|own| file(&own.certificate, Kind::Own)).collect();
        for path in authorities {
            if files.iter().all(|known| known.path != path) {
                files.push(file(path, Kind::Authorities));
            }
        }
        Self(Mutex::new(files))
    }

    /// Each file with the Unix time, in seconds, at which it ends. A file that cannot be read is left out.
    pub fn now(&self) -> Vec<(PathBuf, i64)> {
        let mut files = self.0.lock();
        for file in files.iter_mut() {
            let stamp = stamps(std::slice::from_ref(&file.path)).pop().flatten();
            if stamp != file.stamp || stamp.is_none() {
                (file.stamp, file.end) = (stamp, end(&file.path, file.kind));
            }
        }
        files.iter().filter_map(|file| Some((file.path.clone(), file.end?))).collect()
    }
}

fn end(path: &Path, kind: Kind) -> Option<i64> {
    let found = certificates(path).ok()?;
    let ends = found.iter().filter_map(end_of);
    match kind {
        Kind::Own => ends.min(),
        Kind::Authorities => ends.max(),
    }
}

fn end_of(certificate: &CertificateDer<'_>) -> Option<i64> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    Some(parsed.validity().not_after.timestamp())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    /// A certificate in PEM that ends with this year.
    fn until(year: i32) -> String {
        let mut params = CertificateParams::new(vec!["node-1".to_owned()]).unwrap();
        params.not_after = date_time_ymd(year, 1, 1);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem()
    }

    fn unix(year: i32) -> i64 {
        date_time_ymd(year, 1, 1).unix_timestamp()
    }

    #[test]
    fn a_chain_ends_with_its_first_certificate_and_authorities_with_their_last() {
        let folder = tempfile::tempdir().unwrap();
        let (own, authority) = (folder.path().join("own.pem"), folder.path().join("ca.pem"));
        for file in [&own, &authority] {
            fs::write(file, until(2049) + &until(2031) + &until(2077)).unwrap();
        }
        let files = CertificateFiles { certificate: own.clone(), key: folder.path().join("key.pem") };
        let ends = CertificateEnds::of([&files], [authority.as_path()]);
        assert_eq!(ends.now(), [(own.clone(), unix(2031)), (authority.clone(), unix(2077))]);

        let next = folder.path().join("next.pem");
        fs::write(&next, until(2035)).unwrap();
        fs::rename(&next, &own).unwrap();
        assert_eq!(ends.now(), [(own.clone(), unix(2035)), (authority.clone(), unix(2077))]);
        fs::write(&own, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
        fs::remove_file(&authority).unwrap();
        assert_eq!(ends.now(), [], "neither can be read");
    }
}
