//! A file that a command writes. It is written completely or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;

use forebay_printable::printable;

use crate::failure::Failure;

/// The name of a file to write.
#[derive(Clone, Debug)]
pub(crate) struct OutputFile(PathBuf);

impl From<PathBuf> for OutputFile {
    fn from(path: PathBuf) -> Self {
        Self(path)
    }
}

impl OutputFile {
    /// Refuses a folder that is not there, before there is any work to lose.
    pub(crate) fn check_folder(&self) -> Result<(), Failure> {
        let folder = self.folder();
        let found = fs::metadata(&folder).map_err(|error| self.failed(&error))?;
        if found.is_dir() { Ok(()) } else { Err(self.failed(&io::Error::from(io::ErrorKind::NotADirectory))) }
    }

    /// Writes it under another name first: an error, or an end in the middle, leaves what stood there before.
    pub(crate) fn write(&self, content: &[u8]) -> Result<(), Failure> {
        let name = self.0.file_name().unwrap_or_default().to_string_lossy();
        let part = self.folder().join(format!(".{name}.{}.part", std::process::id()));
        // A file that a killed run left must not block later runs, and a link that another user planted must not be
        // followed.
        let _stale = fs::remove_file(&part);
        let made = OpenOptions::new().write(true).create_new(true).open(&part);
        let written = made.and_then(|mut file| file.write_all(content));
        let written = written.and_then(|()| fs::rename(&part, &self.0));
        written.map_err(|error| {
            // It may never have been made; what counts is the error.
            let _gone = fs::remove_file(&part);
            self.failed(&error)
        })
    }

    /// Its name, as a message has it.
    pub(crate) fn name(&self) -> String {
        printable(&self.0).to_string()
    }

    /// What is said if it cannot be written.
    pub(crate) fn failed(&self, error: &dyn std::fmt::Display) -> Failure {
        Failure::Failed(format!("\"{}\" cannot be written: {error}.", self.name()))
    }

    fn folder(&self) -> PathBuf {
        let parent = self.0.parent().filter(|parent| !parent.as_os_str().is_empty());
        parent.map_or_else(|| PathBuf::from("."), PathBuf::from)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_that_has_the_part_s_name_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("other"), "kept").unwrap();
        symlink(at("other"), at(&format!(".page.html.{}.part", std::process::id()))).unwrap();
        assert!(OutputFile::from(at("page.html")).write(b"new").is_ok());
        assert_eq!(fs::read_to_string(at("other")).unwrap(), "kept");
        assert_eq!(fs::read_to_string(at("page.html")).unwrap(), "new");
    }
}
