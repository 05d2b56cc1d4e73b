//! Where bytes are. Formats find, list and read all bytes of a dataset through an [`Address`], so that they need not know
//! what is behind it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use forebay_sources::{Container, ReadError, ReadErrorKind, Retry, SourceError};
use rustix::fs::{Access, access};

use crate::contents::Contents;
use crate::packed::Stamp;
use crate::regular_file::open_regular;

/// The name of a file or folder, which may be absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Address {
    path: PathBuf,
}

/// What an address leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    Folder,
    /// All that is no folder, as it is now.
    File(Stamp),
}

/// What is right below a folder.
#[derive(Debug)]
pub(crate) struct Entry {
    pub name: OsString,
    pub address: Address,
    /// Links are followed.
    pub is_folder: bool,
}

impl Address {
    /// A file or folder of this machine.
    pub(crate) fn file(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Its name. Only its text may be used: what is behind it may be no file of this machine.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How a locator names it.
    pub(crate) fn container(&self) -> Container {
        Container::File(self.path.clone())
    }

    /// What has this name below it.
    pub(crate) fn join(&self, name: impl AsRef<Path>) -> Self {
        Self { path: self.path.join(name) }
    }

    /// The folder that it is in. That of a name without folders has an empty name.
    pub(crate) fn parent(&self) -> Self {
        Self { path: self.path.parent().unwrap_or_else(|| Path::new("")).to_owned() }
    }

    /// The same name with another extension.
    pub(crate) fn with_extension(&self, extension: &str) -> Self {
        Self { path: self.path.with_extension(extension) }
    }

    /// Its last part, as people know a file or folder. The name of an unnamed folder is empty.
    pub(crate) fn last_name(&self) -> String {
        self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned()
    }

    /// What is there.
    ///
    /// # Errors
    /// Nothing is there, or it cannot be looked at.
    pub(crate) fn look(&self) -> Result<Sight, SourceError> {
        let metadata = self.path.metadata().map_err(|error| SourceError::of_path(&self.path, error))?;
        Ok(if metadata.is_dir() { Sight::Folder } else { Sight::File(Stamp::of(&metadata)) })
    }

    /// Whether something is there.
    pub(crate) fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Whether a file is there: no folder, pipe, socket or device.
    pub(crate) fn is_file(&self) -> bool {
        self.path.is_file()
    }

    /// Whether a folder is there.
    pub(crate) fn is_folder(&self) -> bool {
        self.path.is_dir()
    }

    /// Whether the file may be read, or the folder entered. Takes no descriptor, of which there may be none.
    pub(crate) fn is_open_to_us(&self) -> bool {
        access(&self.path, Access::READ_OK).is_ok()
    }

    /// Whether the folder still exists. An unnamed folder is the one that the process was started in.
    pub(crate) fn stands(&self) -> bool {
        self.path.as_os_str().is_empty() || access(self.path.join("."), Access::EXISTS).is_ok()
    }

    /// What is right below a folder, without hidden entries, in any order.
    ///
    /// # Errors
    /// It is no folder, or cannot be read.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, SourceError> {
        let of_folder = |error| SourceError::of_path(&self.path, error);
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(of_folder)? {
            let entry = entry.map_err(of_folder)?;
            let (name, address) = (entry.file_name(), Self::file(entry.path()));
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let is_folder = match entry.file_type() {
                Ok(kind) if kind.is_symlink() => address.is_folder(),
                Ok(kind) => kind.is_dir(),
                Err(_) => false,
            };
            entries.push(Entry { name, address, is_folder });
        }
        Ok(entries)
    }

    /// The first bytes of a file, `most` of them at most; none if they cannot be read.
    pub(crate) fn beginning(&self, most: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        let read = open_regular(&self.path).and_then(|(file, _)| file.take(most).read_to_end(&mut bytes));
        if read.is_err() {
            bytes.clear();
        }
        bytes
    }

    /// A small file. Nothing if it has more bytes than `most`.
    ///
    /// # Errors
    /// It cannot be read, or is no regular file.
    pub(crate) fn small(&self, most: u64) -> Result<Option<Vec<u8>>, ReadError> {
        let mut bytes = Vec::new();
        let read =
            open_regular(&self.path).and_then(|(file, _)| file.take(most.saturating_add(1)).read_to_end(&mut bytes));
        read.map_err(|error| ReadError::of_file(self.path.clone(), &error))?;
        Ok((bytes.len() as u64 <= most).then_some(bytes))
    }

    /// Reads the file from its first byte to its last.
    ///
    /// # Errors
    /// It cannot be opened.
    pub(crate) fn reader(&self) -> Result<Box<dyn Read>, SourceError> {
        Ok(Box::new(File::open(&self.path).map_err(|error| SourceError::of_path(&self.path, error))?))
    }

    /// All bytes of a text that the user named, however many they are.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn text(&self) -> Result<Vec<u8>, SourceError> {
        let mut bytes = Vec::new();
        self.reader()?.read_to_end(&mut bytes).map_err(|error| SourceError::of_path(&self.path, error))?;
        Ok(bytes)
    }

    /// Opens a file, of which ranges are read.
    ///
    /// # Errors
    /// It cannot be opened, or is no regular file.
    pub(crate) fn open(&self) -> Result<Contents, ReadError> {
        match open_regular(&self.path) {
            Ok((file, _)) => Ok(Contents::of_file(file, self.path.clone())),
            Err(error) => Err(ReadError::of_file(self.path.clone(), &error)),
        }
    }
}

/// What a file that belongs to the whole dataset does to it if it cannot be read.
pub(crate) fn of_dataset(address: &Address, error: ReadError) -> SourceError {
    let path = address.path().to_owned();
    match error.kind {
        _ if error.retry() == Retry::Later => SourceError::Outage(error),
        ReadErrorKind::Missing => SourceError::Missing { path },
        ReadErrorKind::Denied => SourceError::Denied { path },
        _ => SourceError::Io { path, source: io::Error::other(error.to_string()) },
    }
}
