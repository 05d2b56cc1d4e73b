//! A picture that a command writes. Its name is checked before the work begins.

use std::io::Cursor;
use std::path::PathBuf;
use std::str::FromStr;

use image::{ImageFormat, RgbImage};

use crate::failure::Failure;
use crate::output_file::OutputFile;

/// A picture to write as a PNG.
#[derive(Clone, Debug)]
pub(crate) struct PngFile(OutputFile);

impl FromStr for PngFile {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let path = PathBuf::from(name);
        match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("png") => Ok(Self(path.into())),
            _ => Err("only PNG is written; give a name that ends with .png".into()),
        }
    }
}

impl PngFile {
    /// Refuses a folder that is not there, before there is any work to lose.
    pub(crate) fn check_folder(&self) -> Result<(), Failure> {
        self.0.check_folder()
    }

    pub(crate) fn write(&self, picture: &RgbImage) -> Result<(), Failure> {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, ImageFormat::Png).map_err(|error| self.0.failed(&error))?;
        self.0.write(bytes.get_ref())
    }

    /// Its name, as a message has it.
    pub(crate) fn name(&self) -> String {
        self.0.name()
    }
}
