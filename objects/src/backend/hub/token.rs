//! The token of the hub: from the variables of its own tools, or from the file that they write.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use crate::{Secret, Settings};

/// Bytes of the file. More are no token.
const FILE_LIMIT: u64 = 4096;

/// The token, if there is one. A file that cannot be read is only logged, since public datasets can be read without it.
pub(super) fn token(settings: &Settings) -> Option<Secret> {
    if let Some(token) = settings.variable(&["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"]).and_then(trimmed) {
        return Some(token);
    }
    of_file(settings.credentials.hub_token.as_deref()?)
}

fn of_file(path: &Path) -> Option<Secret> {
    let mut text = String::new();
    match File::open(path).and_then(|file| file.take(FILE_LIMIT).read_to_string(&mut text)) {
        Ok(_) => trimmed(&text),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "the hub's token cannot be read; datasets are read without it");
            None
        }
    }
}

fn trimmed(text: &str) -> Option<Secret> {
    let text = text.trim();
    (!text.is_empty()).then(|| Secret::new(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_in_a_variable_or_else_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let with = |variables: &[(&str, &str)]| {
            let given = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            {
                let mut settings = Settings::from_variables(given);
                settings.credentials.hub_token = Some(path.clone());
                settings
            }
        };
        assert_eq!(token(&with(&[])), None, "there is no file");
        std::fs::write(&path, " hf_of_file\n").unwrap();
        assert_eq!(token(&with(&[])), Some(Secret::new("hf_of_file")));
        assert_eq!(token(&with(&[("HF_TOKEN", "hf_of_variable\n")])), Some(Secret::new("hf_of_variable")));
        assert_eq!(token(&with(&[("HF_TOKEN", "  ")])), Some(Secret::new("hf_of_file")));
        assert_eq!(token(&Settings::default()), None);
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert_eq!(token(&with(&[])), None, "it is no text");
    }
}
