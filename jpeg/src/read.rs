//! Reads what a file's header says, with the headers of all scans of a progressive picture.

use crate::fault::Fault;
use crate::header::Header;
use crate::progressive::script;

impl Header {
    /// Reads the markers up to the first scan; the rest is not read. Of a progressive picture, all markers are read, up to its
    /// end.
    ///
    /// # Errors
    /// [`Fault::Unsupported`] if it is a kind that this crate does not take; other faults if it is no JPEG.
    pub fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut header = Self::read_tables(bytes)?;
        if header.progressive {
            header.scans = script::check(bytes, &header)?;
        }
        Ok(header)
    }
}
