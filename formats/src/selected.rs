//! A dataset of which some records are read: those of a list, those for which a condition holds, or those of which both is true
//! (semantics rule 66). All else of the dataset is as it was, the numbers of its records too.

mod list;
#[cfg(test)]
mod tests;

use forebay_columns::Table;
use forebay_sources::{
    Condition, Grains, Locator, MaskColumn, Member, Options, Oversight, PointFiles, ReadError, Reading, Request,
    Selection, Sizes, Source, SourceError,
};

use crate::dataset::Opened;

/// A dataset with a selection.
#[derive(Debug)]
struct Selected {
    inner: Box<dyn Source>,
    selection: Selection,
}

/// Selects the records of a dataset that the options name. Without such options, it is the dataset itself.
///
/// # Errors
/// The list or the condition is none of this dataset, or nothing is selected.
pub(super) fn with_selection(inner: Box<dyn Source>, options: &Options) -> Opened {
    let wrong = |problem: String| SourceError::Selection { problem };
    let listed = options.select.as_deref().map(|name| list::read(name, inner.len())).transpose()?;
    let condition = options.condition.as_deref().map(|text| {
        Condition::parse(text)
            .and_then(|condition| condition.select(inner.as_ref()))
            .map_err(|error| wrong(format!("where: {error}")))
    });
    let found = condition.transpose()?;
    // Columns and sizes may come from an index, which can fail while it is read.
    if let Some(failure) = inner.failure() {
        return Err(wrong(failure));
    }
    let selection = match (listed, found) {
        (None, None) => return Ok(inner),
        (Some(one), None) | (None, Some(one)) => one,
        (Some(listed), Some(found)) => listed.and(&found),
    };
    if selection.count() == 0 {
        let keys = match (&options.select, &options.condition) {
            (Some(_), Some(_)) => "`select` and `where` together select",
            (Some(_), None) => "`select` selects",
            _ => "`where` selects",
        };
        let problem = format!("{keys} none of the {} records of the dataset. Select at least one.", inner.len());
        return Err(wrong(problem));
    }
    tracing::info!(records = inner.len(), selected = selection.count(), "some records of the dataset are selected");
    Ok(Box::new(Selected { inner, selection }))
}

impl Source for Selected {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn failure(&self) -> Option<String> {
        self.inner.failure()
    }

    fn classes(&self) -> &[String] {
        self.inner.classes()
    }

    fn label(&self, record: u64) -> i64 {
        self.inner.label(record)
    }

    fn locator(&self, record: u64) -> Locator {
        self.inner.locator(record)
    }

    fn size(&self, record: u64) -> u64 {
        self.inner.size(record)
    }

    fn read(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        self.inner.read(record, room, buf)
    }

    fn reading(&self) -> Reading {
        self.inner.reading()
    }

    fn request(&self, request: Request) {
        self.inner.request(request);
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.inner.fingerprint()
    }

    fn targets(&self) -> &Table {
        self.inner.targets()
    }

    fn take_targets(&mut self) -> Table {
        self.inner.take_targets()
    }

    fn masks(&self) -> &[MaskColumn] {
        self.inner.masks()
    }

    fn grains(&self) -> Grains<'_> {
        self.inner.grains()
    }

    fn selection(&self) -> Option<&Selection> {
        Some(&self.selection)
    }

    fn members(&self) -> &[Member] {
        self.inner.members()
    }

    fn point_files(&self) -> PointFiles {
        self.inner.point_files()
    }

    fn sizes(&self) -> Sizes {
        self.inner.sizes()
    }

    fn read_head(&self, record: u64, most: usize, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        self.inner.read_head(record, most, buf)
    }

    fn oversights(&self) -> Vec<Oversight> {
        self.inner.oversights()
    }

    fn shard_name(&self, record: u64) -> &str {
        self.inner.shard_name(record)
    }
}
