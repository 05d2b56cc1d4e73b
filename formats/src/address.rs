//! Where bytes are. Formats find, list and read all bytes of a dataset through an [`Address`], so that they need not know
//! what is behind it.

mod joined;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forebay_objects::Object;
use forebay_sources::{Container, Locator, Part, ReadError, ReadErrorKind, Retry, SourceError};
use rustix::fs::{Access, access};

use self::joined::joined;
use crate::confinement::{check_name, check_open, metadata};
use crate::contents::{Contents, ContentsReader};
use crate::regular_file::open_regular;
use crate::stamp::Stamp;
use crate::tree::{ListedEntry, Tree};

/// The path of a file or folder of this machine, or the URL of an object or of a folder of objects. Nothing may be there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Address {
    /// The path or the URL. Both have slashes between their parts, so their text is taken apart in the same way.
    path: PathBuf,
    /// The store that the URL leads into.
    tree: Option<Arc<Tree>>,
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
pub(crate) struct FolderEntry {
    pub name: OsString,
    pub address: Address,
    /// Links are followed.
    pub is_folder: bool,
}

impl Address {
    /// A file or folder of this machine.
    pub(crate) fn file(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), tree: None }
    }

    /// An object, or a folder of objects, by its URL.
    pub(crate) fn object(url: &str, tree: Arc<Tree>) -> Self {
        Self { path: url.trim_end_matches('/').into(), tree: Some(tree) }
    }

    /// The same store or machine, another path or URL there.
    fn at(&self, path: PathBuf) -> Self {
        Self { path, tree: self.tree.clone() }
    }

    /// The store that it leads into; none for files.
    pub(crate) fn tree(&self) -> Option<&Arc<Tree>> {
        self.tree.as_ref()
    }

    /// The store with the key of this address there. A URL that leads out of what may be read has none.
    pub(crate) fn key(&self) -> Option<(&Arc<Tree>, Option<String>)> {
        self.tree.as_ref().map(|tree| (tree, tree.key(&self.path)))
    }

    /// The object that is here, if one is.
    ///
    /// # Errors
    /// The store fails, or does not tell.
    pub(crate) fn stored(&self) -> Result<Option<Object>, ReadError> {
        match self.key() {
            Some((tree, Some(key))) => tree.object(&key),
            _ => Ok(None),
        }
    }

    /// Its name. Only its text may be used: what is behind it may be no file of this machine. It may have the query of a signed
    /// URL, so an error about what a list names has [`shown`](Self::shown) instead.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path or URL as an error may show it.
    pub(crate) fn shown(&self) -> PathBuf {
        self.tree.as_ref().map_or_else(|| self.path.clone(), |tree| tree.shown(&self.path).into())
    }

    /// A name that starts here, as an error may show it: without the query of a signed URL.
    pub(crate) fn shown_name(&self, name: &[u8]) -> String {
        let name = String::from_utf8_lossy(name);
        match &self.tree {
            Some(tree) if !tree.can_list() => name.split(['?', '#']).next().unwrap_or_default().to_owned(),
            _ => name.into_owned(),
        }
    }

    /// How a locator names it.
    pub(crate) fn container(&self) -> Container {
        match &self.tree {
            None => Container::File(self.path.clone()),
            Some(tree) => Container::Object {
                url: tree.shown(&self.path),
                version: self.stored().ok().flatten().and_then(|object| object.version),
            },
        }
    }

    /// Where the whole of it is.
    pub(crate) fn locator(&self) -> Locator {
        Locator { container: self.container(), part: Part::Whole }
    }

    /// What has this name below it.
    pub(crate) fn join(&self, name: impl AsRef<Path>) -> Self {
        let path = if self.tree.is_none() { self.path.join(name) } else { joined(&self.path, name.as_ref()) };
        self.at(path)
    }

    /// The folder that it is in. That of a name without folders has an empty name.
    pub(crate) fn parent(&self) -> Self {
        self.at(self.path.parent().unwrap_or_else(|| Path::new("")).to_owned())
    }

    /// The same name with another extension.
    pub(crate) fn with_extension(&self, extension: &str) -> Self {
        self.at(self.path.with_extension(extension))
    }

    /// Its last part, as people know a file or folder. The name of an unnamed folder is empty.
    pub(crate) fn last_name(&self) -> String {
        let path = self.shown();
        path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
    }

    /// What is there.
    ///
    /// # Errors
    /// Nothing is there, or it cannot be looked at.
    pub(crate) fn look(&self) -> Result<Sight, SourceError> {
        if let Some((tree, key)) = self.key() {
            return self.look_at(tree, key.as_deref());
        }
        let metadata = metadata(&self.path).map_err(|error| SourceError::of_path(&self.path, error))?;
        Ok(if metadata.is_dir() { Sight::Folder } else { Sight::File(Stamp::of(&metadata)) })
    }

    fn look_at(&self, tree: &Tree, key: Option<&str>) -> Result<Sight, SourceError> {
        let missing = || SourceError::Missing { path: self.shown() };
        let key = key.ok_or_else(missing)?;
        if let Some(object) = tree.object(key).map_err(|error| of_dataset(self, error))? {
            return Ok(Sight::File(Stamp { len: object.size, modified: None }));
        }
        if tree.listed(key)?.below(key).is_empty() { Err(missing()) } else { Ok(Sight::Folder) }
    }

    /// What is there in a store. A fault of the store is kept: it must not be taken for an answer.
    fn seen(&self, tree: &Tree, key: Option<&str>) -> Option<Sight> {
        match self.look_at(tree, key) {
            Ok(sight) => Some(sight),
            Err(SourceError::Missing { .. }) => None,
            Err(fault) => {
                tree.note(fault);
                None
            }
        }
    }

    /// What came of opening this, unless a fault of the store was met on the way: then whatever came is not believed. Errors
    /// about objects name them with their versions. No error has the query of a signed URL.
    pub(crate) fn settled<T>(&self, opened: Result<T, SourceError>) -> Result<T, SourceError> {
        let Some(tree) = &self.tree else { return opened };
        tree.settle();
        if let Some(fault) = tree.fault() {
            return Err(fault);
        }
        opened.map_err(|error| match error {
            SourceError::Malformed { locator: Locator { container: Container::File(path), part }, problem }
                if tree.key(&path).is_some() =>
            {
                SourceError::Malformed { locator: Locator { container: self.at(path).container(), part }, problem }
            }
            error => error.with_paths(|path| tree.shown_path(path)),
        })
    }

    /// The size and time of what is there, a file or a folder.
    ///
    /// # Errors
    /// Nothing is there, or it cannot be looked at.
    pub(crate) fn stamp(&self) -> Result<Stamp, SourceError> {
        if self.tree.is_some() {
            let Sight::File(stamp) = self.look()? else { return Ok(Stamp { len: 0, modified: None }) };
            return Ok(stamp);
        }
        let metadata = metadata(&self.path).map_err(|error| SourceError::of_path(&self.path, error))?;
        Ok(Stamp::of(&metadata))
    }

    /// Whether something is there.
    pub(crate) fn exists(&self) -> bool {
        match self.key() {
            Some((tree, key)) => self.seen(tree, key.as_deref()).is_some(),
            None => self.path.exists(),
        }
    }

    /// Whether a file is there: no folder, pipe, socket or device.
    pub(crate) fn is_file(&self) -> bool {
        match self.key() {
            Some((tree, key)) => matches!(self.seen(tree, key.as_deref()), Some(Sight::File(_))),
            None => self.path.is_file(),
        }
    }

    /// Whether a folder is there.
    pub(crate) fn is_folder(&self) -> bool {
        match self.key() {
            Some((tree, key)) => self.seen(tree, key.as_deref()) == Some(Sight::Folder),
            None => self.path.is_dir(),
        }
    }

    /// Whether the file may be read, or the folder entered. Takes no descriptor, of which there may be none.
    pub(crate) fn is_open_to_us(&self) -> bool {
        match self.key() {
            Some((tree, key)) => key.is_some_and(|key| tree.store().head(&key).is_ok()),
            None => access(&self.path, Access::READ_OK).is_ok(),
        }
    }

    /// Whether the folder still exists. An unnamed folder is the one that the process was started in.
    pub(crate) fn still_exists(&self) -> bool {
        // A bucket without its only object cannot be told from one that is gone.
        self.tree.is_some() || self.path.as_os_str().is_empty() || access(self.path.join("."), Access::EXISTS).is_ok()
    }

    /// What is right below a folder, without hidden entries, in any order.
    ///
    /// # Errors
    /// It is no folder, or cannot be read.
    pub(crate) fn entries(&self) -> Result<Vec<FolderEntry>, SourceError> {
        if let Some((tree, key)) = self.key() {
            let missing = || SourceError::Missing { path: self.shown() };
            let key = key.ok_or_else(missing)?;
            let entries = tree.listed(&key)?.entries(&key);
            if entries.is_empty() && tree.can_list() {
                return Err(missing());
            }
            let entry = |entry: ListedEntry| FolderEntry {
                address: self.join(&entry.name),
                name: entry.name.into(),
                is_folder: entry.is_folder,
            };
            return Ok(entries.into_iter().filter(|entry| !entry.name.starts_with('.')).map(entry).collect());
        }
        let of_folder = |error| SourceError::of_path(&self.path, error);
        let mut entries = Vec::new();
        for entry in check_name(&self.path).and_then(|()| fs::read_dir(&self.path)).map_err(of_folder)? {
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
            entries.push(FolderEntry { name, address, is_folder });
        }
        Ok(entries)
    }

    /// The first bytes of a file, `most` of them at most; none if they cannot be read.
    pub(crate) fn beginning(&self, most: u64) -> Vec<u8> {
        if let Some((tree, key)) = self.key() {
            let found = key.map_or(Ok(None), |key| tree.object(&key));
            let read = found.and_then(|object| object.map_or(Ok(Vec::new()), |object| tree.beginning(&object, most)));
            return read.unwrap_or_else(|fault| {
                tree.note(of_dataset(self, fault));
                Vec::new()
            });
        }
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
        if self.tree.is_some() {
            let contents = self.open()?;
            let len = contents.stamp()?.len;
            let mut bytes = Vec::new();
            if len <= most {
                contents.read(0, usize::try_from(len).unwrap_or(usize::MAX), &mut bytes)?;
            }
            return Ok((len <= most).then_some(bytes));
        }
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
        if self.tree.is_some() {
            let contents = self.open().map_err(|error| of_dataset(self, error))?;
            return Ok(Box::new(ContentsReader::new(contents).map_err(|error| of_dataset(self, error))?));
        }
        let opened = File::open(&self.path).and_then(check_open);
        Ok(Box::new(opened.map_err(|error| SourceError::of_path(&self.path, error))?))
    }

    /// All bytes of a text, `most` of them at most.
    ///
    /// # Errors
    /// It has more, or cannot be read.
    pub(crate) fn text(&self, most: u64) -> Result<Vec<u8>, SourceError> {
        let mut bytes = Vec::new();
        let mut reader = self.reader()?.take(most.saturating_add(1));
        reader.read_to_end(&mut bytes).map_err(|error| SourceError::of_path(&self.path, error))?;
        if bytes.len() as u64 > most {
            let problem = format!("the text has more than {most} bytes. Check that it is the right file.");
            return Err(SourceError::malformed_at(&self.path, most, problem));
        }
        Ok(bytes)
    }

    /// Opens a file, of which ranges are read.
    ///
    /// # Errors
    /// It cannot be opened, or is no regular file.
    pub(crate) fn open(&self) -> Result<Contents, ReadError> {
        if let Some((tree, _)) = self.key() {
            let missing = || ReadError::new(ReadErrorKind::Missing, self.locator());
            return Ok(Contents::of_object(Arc::clone(tree.store()), self.stored()?.ok_or_else(missing)?));
        }
        match open_regular(&self.path) {
            Ok((file, _)) => Ok(Contents::of_file(file, self.path.clone())),
            Err(error) => Err(ReadError::of_file(self.path.clone(), &error)),
        }
    }
}

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for Address {}

/// What it means for a dataset that a file which belongs to all of it cannot be read.
pub(crate) fn of_dataset(address: &Address, error: ReadError) -> SourceError {
    let path = address.shown();
    match error.kind {
        _ if error.retry() == Retry::Later => SourceError::Outage(error),
        ReadErrorKind::Missing => SourceError::Missing { path },
        ReadErrorKind::Denied => SourceError::Denied { path },
        _ => SourceError::Io { path, source: io::Error::other(error.to_string()) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_an_end_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = Address::file(dir.path().join("state.json"));
        File::create(file.path()).unwrap().set_len(1 << 40).unwrap();
        assert!(file.text(64).unwrap_err().to_string().contains("more than 64 bytes"));
        assert_eq!(Address::file("/dev/null").text(0).unwrap(), b"");
    }
}
