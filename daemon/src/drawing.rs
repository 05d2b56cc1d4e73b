//! Opens a stream's dataset in another process than its daemon, to draw its pictures.

use forebay_pipeline::settings::StreamSettings;
use forebay_sources::{ObjectRoots, ReaderFolders, Source};

use crate::config::{Environment, SourceRights, StreamSection};
use crate::daemon::open_section;

/// What the pictures of a stream are drawn from.
#[derive(Debug)]
pub struct DrawingSource {
    /// Its dataset.
    pub source: Box<dyn Source>,
    /// How its pictures are made.
    pub settings: StreamSettings,
}

impl DrawingSource {
    /// Opens the dataset of a stream with these keys, which its daemon has checked. Code of the user is not run: custom readers and
    /// functions in Python are refused. A file with more than `byte_limit` bytes is refused when it is read.
    ///
    /// # Errors
    /// In a sentence, why this process does not have the dataset.
    pub fn open(document: &str, byte_limit: u64) -> Result<Self, String> {
        let section = StreamSection::of_open_stream(document).ok_or("Its settings cannot be read here.")?;
        let Some(names) = section.dataset.source.as_ref() else {
            return Err("Its Loader has given a list of files, which only its daemon has.".to_owned());
        };
        if let Some(name) = names.iter().find(|name| ["python:", "odps:"].iter().any(|kind| name.starts_with(kind))) {
            return Err(format!("Its dataset has a reader in Python ({name}), which is run by its daemon alone."));
        }
        // The daemon has opened the same names, so it may read these objects.
        let rights = SourceRights { readers: no_readers(), objects: ObjectRoots::Anywhere };
        let source = open_section(&section, byte_limit, rights, &Environment::of_process());
        let source = source.map_err(|error| format!("The dataset cannot be opened here: {error}."))?;
        Ok(Self { source, settings: section.settings })
    }
}

/// Where code of the user may be: nowhere.
pub fn no_readers() -> ReaderFolders {
    ReaderFolders::Below(Vec::new())
}
