//! A token that a coordinator and its daemons share. A client that sends it may use the ledgers (semantics rule 25).

use std::path::Path;

use tonic::Status;
use tonic::metadata::{Ascii, MetadataMap, MetadataValue};

use crate::secret::{Reread, SecretError, check_closed, read};

/// Shortest token, in characters.
const SHORTEST: usize = 16;
/// The header that has it.
const HEADER: &str = "authorization";

/// The file of a token. It is read again when it changes.
#[derive(Debug)]
pub struct TokenFile(Reread<Token>);

struct Token {
    header: MetadataValue<Ascii>,
    /// Two hashes are compared in constant time.
    hash: blake3::Hash,
}

impl TokenFile {
    /// Reads a token: one line of at least 16 characters.
    ///
    /// # Errors
    /// The file cannot be read, everybody can read it, or it has no token.
    pub fn open(file: &Path) -> Result<Self, SecretError> {
        let path = file.to_owned();
        Ok(Self(Reread::new(vec![file.to_owned()], move || Token::read(&path))?))
    }

    /// Checks what is in a file, if this process can read it. Who else can is not checked.
    ///
    /// # Errors
    /// The file has no token.
    pub fn check_content(file: &Path) -> Result<(), SecretError> {
        read(file).map_or(Ok(()), |content| Token::parse(file, content).map(drop))
    }

    /// Whether a text is the token. It takes the same time wherever the two differ.
    pub fn is(&self, text: &str) -> bool {
        blake3::hash(format!("Bearer {text}").as_bytes()) == self.0.now().hash
    }

    /// The token, for a protocol that is not gRPC.
    pub fn text(&self) -> String {
        let header = self.0.now();
        let text = header.header.to_str().unwrap_or_default();
        text.strip_prefix("Bearer ").unwrap_or_default().to_owned()
    }

    /// Adds the token to what a request carries.
    pub(crate) fn sign(&self, metadata: &mut MetadataMap) {
        metadata.insert(HEADER, self.0.now().header.clone());
    }

    /// Whether a request carries the token.
    ///
    /// # Errors
    /// It does not.
    pub fn check(&self, metadata: &MetadataMap) -> Result<(), Status> {
        let sent = metadata.get(HEADER).map(|value| blake3::hash(value.as_bytes()));
        if sent.is_some_and(|sent| sent == self.0.now().hash) {
            return Ok(());
        }
        let what = if sent.is_some() { "another token than the coordinator's" } else { "no token" };
        Err(Status::unauthenticated(format!(
            "The request has {what}. Set token_file in [coordinator], or --token-file, to a file with the coordinator's \
             token."
        )))
    }
}

impl Token {
    fn read(file: &Path) -> Result<Self, SecretError> {
        check_closed(file)?;
        Self::parse(file, read(file)?)
    }

    fn parse(file: &Path, content: Vec<u8>) -> Result<Self, SecretError> {
        let wrong = || {
            let what = format!("a token is one line of at least {SHORTEST} printable ASCII characters without spaces");
            SecretError::new(file, what)
        };
        let text = String::from_utf8(content).map_err(|_| wrong())?;
        let token = text.trim();
        if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong());
        }
        let bearer = format!("Bearer {token}");
        let mut header = MetadataValue::try_from(&bearer).map_err(|_| wrong())?;
        header.set_sensitive(true);
        Ok(Self { header, hash: blake3::hash(bearer.as_bytes()) })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn rule_25_only_a_request_with_the_token_is_served_and_a_new_token_needs_no_restart() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let file = folder.path().join(name);
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            file
        };
        let server = TokenFile::open(&write("server", "0123456789abcdef\n")).unwrap();
        let client = TokenFile::open(&write("client", "0123456789abcdef")).unwrap();
        let signed = || {
            let mut metadata = MetadataMap::new();
            client.sign(&mut metadata);
            metadata
        };
        server.check(&signed()).unwrap();
        assert!(server.is("0123456789abcdef") && !server.is("0123456789abcdeF") && !server.is(""));
        assert!(server.check(&MetadataMap::new()).unwrap_err().message().contains("has no token"));
        write("server", "fedcba9876543210-new");
        assert!(server.check(&signed()).unwrap_err().message().contains("another token"));
        write("client", "fedcba9876543210-new");
        server.check(&signed()).unwrap();
        for text in ["", "short", "0123456789abcdef 0123456789abcdef", "0123456789abcdef\nx"] {
            let refused = TokenFile::open(&write("bad", text)).unwrap_err().to_string();
            assert!(refused.contains("a token is one line"), "{text:?}: {refused}");
        }
    }
}
