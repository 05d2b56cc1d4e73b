//! What the system says of a failure, with what to do where that is not plain from its words.

use std::io;

/// `EAFNOSUPPORT` of Linux: the process may not make sockets of this kind.
const NO_SUCH_SOCKETS: i32 = 97;

/// An error of the system as users read it.
///
/// ```
/// let told = forebay_printable::system_error(&std::io::Error::from_raw_os_error(97));
/// assert!(told.contains("forebay-network.conf"));
/// ```
pub fn system_error(error: &io::Error) -> String {
    let hint = match error.raw_os_error() {
        Some(NO_SUCH_SOCKETS) => {
            ". This process may not use the network. A service of systemd needs the drop-in file forebay-network.conf \
             (docs/operating.md, \"A service that uses the network\")"
        }
        _ => "",
    };
    format!("{error}{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forbidden_network_is_told_with_what_to_do_and_other_errors_as_they_are() {
        let told = system_error(&io::Error::from_raw_os_error(NO_SUCH_SOCKETS));
        assert!(told.starts_with("Address family not supported") && told.contains("forebay-network.conf"), "{told}");
        let refused = io::Error::from_raw_os_error(111);
        assert_eq!(system_error(&refused), refused.to_string());
    }
}
