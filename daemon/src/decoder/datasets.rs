//! The datasets that a decoder has open. Streams of the same dataset share it, and it is closed when no stream is left.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use forebay_pipeline::threads;
use forebay_sources::{ObjectRoots, Source};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use crate::config::{Environment, SourceRights, StreamSection};
use crate::daemon::open_section;
use crate::drawing::no_readers;

/// See the module. One dataset is opened at a time, so that none is opened twice.
#[derive(Debug)]
pub(super) struct Datasets {
    /// URLs below which objects may be read. Files are confined for the whole process.
    objects: Vec<String>,
    environment: Environment,
    open: Mutex<BTreeMap<String, Weak<dyn Source>>>,
}

/// The keys of a stream that say which dataset it reads.
const KEYS: [&str; 6] = ["source", "root", "labels", "columns", "masks", "source_options"];

impl Datasets {
    pub(super) fn new(objects: Vec<String>, environment: Environment) -> Self {
        Self { objects, environment, open: Mutex::default() }
    }

    /// The dataset of a stream. Code of the user is not run.
    ///
    /// # Errors
    /// A sentence that says why there is none.
    pub(super) async fn open(&self, section: &StreamSection, byte_limit: u64) -> Result<Arc<dyn Source>, String> {
        let names = section.dataset.source.as_ref();
        let names = names.ok_or("Its Loader has given a list of files, which only its daemon has.")?;
        if let Some(name) = names.iter().find(|name| ["python:", "odps:"].iter().any(|kind| name.starts_with(kind))) {
            return Err(format!("Its dataset has a reader of its own ({name}), which is run by its daemon alone."));
        }
        let written: Map<String, Value> = serde_json::from_str(&section.document()).unwrap_or_default();
        let key: Map<String, Value> = written.into_iter().filter(|(key, _)| KEYS.contains(&key.as_str())).collect();
        let key = format!("{} {byte_limit}", Value::Object(key));
        let mut open = self.open.lock().await;
        if let Some(source) = open.get(&key).and_then(Weak::upgrade) {
            return Ok(source);
        }
        open.retain(|_, source| source.strong_count() > 0);
        let rights = SourceRights { readers: no_readers(), objects: ObjectRoots::Below(self.objects.clone()) };
        let (mut section, environment) = (section.clone(), self.environment.clone());
        // Indexes are outside of the roots.
        section.dataset.index = Some("none".into());
        let opened = threads::beside("forebay-open", move || {
            open_section(&section, byte_limit, rights, &environment).map_err(|error| error.to_string())
        });
        let opened = opened.await.map_err(|error| error.to_string()).flatten();
        let opened = opened.map_err(|error| format!("The decoder cannot open the dataset: {error}."))?;
        let source: Arc<dyn Source> = Arc::from(opened);
        open.insert(key, Arc::downgrade(&source));
        Ok(source)
    }
}
