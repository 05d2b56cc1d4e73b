//! What is wrong with the other end of a connection: another protocol, or a certificate that one of both does not accept. The
//! errors of TLS and HTTP do not say what to do.

use std::io;

use rustls::{AlertDescription as Alert, CertificateError, Error, InvalidMessage};

/// The first bytes of a TLS alert: the answer to what is no TLS.
const TLS_ALERT: &[u8] = &[0x15, 3];
/// The kind of the first frame of HTTP/2, and where it is in its head (RFC 9113, sections 3.4 and 4.1).
const SETTINGS: (usize, u8) = (3, 4);

/// Looks at the first bytes that the other end has sent.
///
/// # Errors
/// They are of another protocol. The text says which, and what to do.
pub(crate) fn check(first: &[u8]) -> io::Result<()> {
    let told = if first.starts_with(TLS_ALERT) {
        "the other end speaks TLS. Begin the address with https://, and give tls_ca (or --tls-ca)"
    } else if first.get(SETTINGS.0).is_some_and(|kind| *kind != SETTINGS.1) {
        "what answers is no coordinator, such as a web server. Check the address and the port"
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::InvalidData, told))
}

/// What to do about an error, if its own text does not say it.
pub(crate) fn hint(error: &io::Error) -> Option<&'static str> {
    let error = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>())?;
    match error {
        Error::AlertReceived(alert) if is_refusal(*alert) => Some(
            "The coordinator does not accept the certificate of this program: give tls_certificate and tls_key (or \
             --tls-certificate and --tls-key) of a valid certificate that its --tls-client-ca has signed",
        ),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => Some(
            "The other end does not speak TLS. Begin the address with http://, or give the coordinator --tls-certificate and \
             --tls-key",
        ),
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => Some(
            "The authority of tls_ca (or --tls-ca) has not signed the coordinator's certificate: give the one that has",
        ),
        _ => None,
    }
}

/// Whether the other end has refused what it was shown.
fn is_refusal(alert: Alert) -> bool {
    let refusals = [
        Alert::BadCertificate,
        Alert::UnsupportedCertificate,
        Alert::CertificateRevoked,
        Alert::CertificateExpired,
        Alert::CertificateUnknown,
        Alert::UnknownCA,
        Alert::AccessDenied,
        Alert::DecryptError,
        Alert::CertificateRequired,
    ];
    refusals.contains(&alert)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dial::told;

    fn of_tls(error: Error) -> String {
        told(&io::Error::new(io::ErrorKind::InvalidData, error))
    }

    #[test]
    fn rule_25_a_refused_certificate_and_a_forbidden_network_are_told_with_what_to_do() {
        for refusal in [Alert::CertificateExpired, Alert::CertificateRequired] {
            let told = of_tls(Error::AlertReceived(refusal));
            assert!(told.contains("does not accept the certificate") && told.contains("tls_certificate"), "{told}");
        }
        let other = of_tls(Error::AlertReceived(Alert::CloseNotify));
        assert!(!other.contains("tls_certificate"), "{other}");
        let unknown = of_tls(Error::InvalidCertificate(CertificateError::UnknownIssuer));
        assert!(unknown.contains("tls_ca"), "{unknown}");
        let forbidden = told(&io::Error::from_raw_os_error(97));
        assert!(forbidden.contains("forebay-network.conf"), "{forbidden}");
        assert_eq!(told(&io::ErrorKind::ConnectionRefused.into()), "connection refused");
    }

    #[test]
    fn rule_25_an_end_that_speaks_another_protocol_is_told_with_the_address_to_give() {
        let plain = of_tls(Error::InvalidMessage(InvalidMessage::InvalidContentType));
        assert!(plain.contains("does not speak TLS") && plain.contains("http://"), "{plain}");
        let told_of = |first: &[u8]| check(first).unwrap_err().to_string();
        assert!(told_of(b"\x15\x03\x03\0\x02\x02\x16").contains("https://"));
        for web in [&b"HTTP/1.0 400 Bad request\r\n"[..], b"<!DOCTYPE HTML>", b"SSH-2.0-x\r\n"] {
            assert!(told_of(web).contains("no coordinator"));
        }
        // Settings, as HTTP/2 begins, less than their head, and nothing at all.
        for first in [&b"\0\0\x12\x04\0\0\0\0\0"[..], b"\0\0\x12", b""] {
            assert!(check(first).is_ok());
        }
    }
}
