//! The seek points beside an index: which file they are in, whether it may be trusted, and how it is made.

use std::fs::{File, Metadata};
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use forebay_printable::printable;
use forebay_sources::{PointFiles, PointsAbout, Source};

use super::part_file::PartFile;
use crate::regular_file::open_regular;

/// Permissions that let others than the owner write.
const OTHERS_WRITE: u32 = 0o022;

/// Writes the seek points of a dataset's pictures into a file beside its index. The file is there once it is complete.
#[derive(Debug)]
pub struct PointsWriter {
    path: PathBuf,
    part: PartFile,
    out: BufWriter<File>,
    about: PointsAbout,
    /// Where each block ends, and first of all where the first begins.
    bounds: Vec<u64>,
}

/// A file of seek points that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointsReport {
    /// The file.
    pub path: PathBuf,
    /// Bytes of it.
    pub bytes: u64,
    /// Pictures that have points.
    pub pictures: u64,
}

/// Where the seek points of an index are.
pub(super) fn points_path(index: &Path) -> PathBuf {
    let mut path = index.as_os_str().to_owned();
    path.push(".seek");
    path.into()
}

/// Opens the seek points of a dataset that was opened from this index. If there are none, or if they cannot be used, the
/// result has no file, and the log says why.
pub(super) fn beside(index: &Path, source: &dyn Source) -> PointFiles {
    let path = points_path(index);
    match open(&path, index, source) {
        Ok(None) => PointFiles::default(),
        Ok(Some(files)) => {
            tracing::info!(points = %printable(&path), pictures = files.pictures(), "opened the seek points of the index");
            files
        }
        Err(problem) => {
            tracing::warn!(points = %printable(&path), problem, "the seek points of the index are not used. Make them again with \"forebay index SOURCE --seek\"");
            PointFiles::default()
        }
    }
}

fn open(path: &Path, index: &Path, source: &dyn Source) -> Result<Option<PointFiles>, String> {
    let (file, metadata) = match open_regular(path) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if !is_trusted(&metadata, index) {
        return Err(
            "users other than this one and the index's owner can write it; remove their write permission".to_owned()
        );
    }
    PointFiles::open(file, source.fingerprint(), source.len()).map(Some)
}

/// A user who can write points can choose pixels. So only users who can choose the dataset anyway are trusted: this
/// process's user, and the owner of the index.
fn is_trusted(points: &Metadata, index: &Path) -> bool {
    let owns_index = || index.metadata().is_ok_and(|index| index.uid() == points.uid());
    points.mode() & OTHERS_WRITE == 0 && (points.uid() == rustix::process::geteuid().as_raw() || owns_index())
}

impl PointsReport {
    /// The file beside this index from which the dataset has its points, if it was opened with points.
    pub fn of_opened(index: &Path, source: &dyn Source) -> Option<Self> {
        let (path, files) = (points_path(index), source.point_files());
        let bytes = path.metadata().ok().filter(|_| !files.is_empty())?.len();
        Some(Self { path, bytes, pictures: files.pictures() })
    }
}

impl PointsWriter {
    /// Begins the file beside an index of this dataset.
    ///
    /// # Errors
    /// The file cannot be made, or the dataset has too many records for a file.
    pub fn create(index: &Path, source: &dyn Source) -> io::Result<Self> {
        let about = PointsAbout { fingerprint: source.fingerprint(), records: source.len(), pictures: 0 };
        let blocks = about.blocks().ok_or(io::ErrorKind::FileTooLarge)?;
        let path = points_path(index);
        let part = PartFile::create(&path)?;
        let out = BufWriter::with_capacity(1 << 20, part.file().try_clone()?);
        let mut writer = Self { path, part, out, about, bounds: vec![blocks] };
        // Head and table are written when all blocks are there.
        writer.out.seek(SeekFrom::Start(blocks))?;
        Ok(writer)
    }

    /// Adds the block of the next record; empty if it has no points.
    ///
    /// # Errors
    /// The disk is full.
    pub fn add(&mut self, block: &[u8]) -> io::Result<()> {
        self.out.write_all(block)?;
        self.about.pictures += u64::from(!block.is_empty());
        self.bounds.push(self.bytes() + block.len() as u64);
        Ok(())
    }

    /// Bytes of the file so far.
    pub fn bytes(&self) -> u64 {
        self.bounds.last().copied().unwrap_or(0)
    }

    /// Ends the file, once it has a block for each record.
    ///
    /// # Errors
    /// The disk is full.
    ///
    /// # Panics
    /// If there are fewer or more blocks than records.
    pub fn finish(mut self) -> io::Result<PointsReport> {
        assert_eq!(self.bounds.len() as u64, self.about.records + 1, "each record has a block");
        self.out.flush()?;
        let file = self.part.file();
        let head = self.about.to_bytes();
        file.write_all_at(&head, 0)?;
        let table: Vec<u8> = self.bounds.iter().flat_map(|bound| bound.to_le_bytes()).collect();
        file.write_all_at(&table, head.len() as u64)?;
        Ok(PointsReport { bytes: self.part.finish()?, path: self.path, pictures: self.about.pictures })
    }
}
