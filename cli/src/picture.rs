//! A picture that a command writes. It is written completely or not at all. Its name is checked before the work begins.

use std::fs::{self, OpenOptions};
use std::io::{self, Cursor, Write as _};
use std::path::PathBuf;
use std::str::FromStr;

use forebay_proto::printable;
use image::{ImageFormat, RgbImage};

use crate::failure::Failure;

/// A file that is to become a PNG.
#[derive(Clone, Debug)]
pub(crate) struct PngFile(PathBuf);

impl FromStr for PngFile {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let path = PathBuf::from(name);
        match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("png") => Ok(Self(path)),
            _ => Err("only PNG is written; give a name that ends with .png".into()),
        }
    }
}

impl PngFile {
    /// Refuses a folder that is not there, before there is any work to lose.
    pub(crate) fn check_folder(&self) -> Result<(), Failure> {
        let folder = self.folder();
        let found = fs::metadata(&folder).map_err(|error| self.failed(&error))?;
        if found.is_dir() { Ok(()) } else { Err(self.failed(&io::Error::from(io::ErrorKind::NotADirectory))) }
    }

    /// Writes it under another name first: an error, or an end in the middle, leaves what stood there before.
    pub(crate) fn write(&self, picture: &RgbImage) -> Result<(), Failure> {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, ImageFormat::Png).map_err(|error| self.failed(&error))?;
        let name = self.0.file_name().unwrap_or_default().to_string_lossy();
        let part = self.folder().join(format!(".{name}.{}.part", std::process::id()));
        // What a killed run left there must not refuse for ever; what somebody plants there is not written through.
        let _stale = fs::remove_file(&part);
        let made = OpenOptions::new().write(true).create_new(true).open(&part);
        let written = made.and_then(|mut file| file.write_all(bytes.get_ref()));
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

    fn folder(&self) -> PathBuf {
        let parent = self.0.parent().filter(|parent| !parent.as_os_str().is_empty());
        parent.map_or_else(|| PathBuf::from("."), PathBuf::from)
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> Failure {
        Failure::Failed(format!("\"{}\" cannot be written: {error}.", self.name()))
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
        symlink(at("other"), at(&format!(".sheet.png.{}.part", std::process::id()))).unwrap();
        let sheet: PngFile = at("sheet.png").to_str().unwrap().parse().unwrap();
        assert!(sheet.write(&RgbImage::new(1, 1)).is_ok());
        assert_eq!(fs::read_to_string(at("other")).unwrap(), "kept");
        assert!(fs::read(at("sheet.png")).unwrap().starts_with(b"\x89PNG"));
    }
}
