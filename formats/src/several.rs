//! Several sources as one dataset: the records of the first, then those of the second, and so on.

mod classes;
mod columns;
#[cfg(test)]
mod tests;

use forebay_columns::Table;
use forebay_sources::{
    Grains, Locator, MaskColumn, Member, Options, Oversight, PointFiles, ReadError, Reading, Request, Sizes, Source,
    SourceError,
};

use crate::dataset::Opened;
use classes::Classes;

/// The option that several sources have together.
pub(super) const CLASSES_BY: &str = "classes_by";

/// Sources one behind the other.
#[derive(Debug)]
pub(super) struct Several {
    parts: Vec<Box<dyn Source>>,
    members: Vec<Member>,
    /// The first record of each part, and the number of records.
    bounds: Vec<u64>,
    classes: Classes,
    targets: Table,
    /// The first record of each grain, if one of the parts has grains.
    grains: Option<Vec<u64>>,
}

/// Opens each of these by `open`, and makes one dataset of them.
///
/// # Errors
/// One cannot be opened, or two of them do not go together.
pub(super) fn open(names: &[String], options: &Options, open: impl Fn(&str, &Options) -> Opened) -> Opened {
    let by_name = options.own.choice(CLASSES_BY, &[("name", true), ("number", false)])?;
    let options = of_each(options);
    let parts = names.iter().map(|name| open(name, &options)).collect::<Result<Vec<_>, _>>()?;
    Ok(Box::new(Several::new(names, parts, by_name)?))
}

/// The options of each part: all but those that are about the parts together.
pub(super) fn of_each(options: &Options) -> Options {
    Options { own: options.own.without(CLASSES_BY), ..options.clone() }
}

impl Several {
    /// # Errors
    /// Two of them do not go together.
    pub(super) fn new(
        names: &[String],
        mut parts: Vec<Box<dyn Source>>,
        classes_by_name: bool,
    ) -> Result<Self, SourceError> {
        let mut bounds = vec![0];
        for part in &parts {
            bounds.push(bounds.last().copied().unwrap_or(0) + part.len());
        }
        let members = names.iter().zip(&parts);
        let members = members.map(|(name, part)| Member { name: name.clone(), records: part.len() }).collect();
        let classes = Classes::merge(names, &parts, classes_by_name)?;
        let targets = columns::merge(names, &parts, &classes)?;
        // All values are in the new columns.
        for part in &mut parts {
            drop(part.take_targets());
        }
        let grains = grains(&parts, &bounds);
        // Each record's bytes have a part for each mask, so all sources must have the same ones.
        if let Some(other) = parts.iter().position(|part| part.masks() != parts[0].masks()) {
            return Err(SourceError::Apart {
                first: names[0].clone(),
                second: names[other].clone(),
                problem: "their masks have other names or types. Give all of them the same masks, or none.".into(),
            });
        }
        Ok(Self { parts, members, bounds, classes, targets, grains })
    }

    /// The part of a record, its place among the parts, and the record's number in it.
    fn part(&self, record: u64) -> (&dyn Source, usize, u64) {
        let place = self.bounds.partition_point(|&bound| bound <= record) - 1;
        (self.parts[place].as_ref(), place, record - self.bounds[place])
    }
}

impl Source for Several {
    fn len(&self) -> u64 {
        self.bounds.last().copied().unwrap_or(0)
    }

    fn failure(&self) -> Option<String> {
        self.parts.iter().find_map(|part| part.failure())
    }

    fn classes(&self) -> &[String] {
        self.classes.names()
    }

    fn label(&self, record: u64) -> i64 {
        let (part, place, own) = self.part(record);
        self.classes.number(place, part.label(own))
    }

    fn locator(&self, record: u64) -> Locator {
        let (part, _, own) = self.part(record);
        part.locator(own)
    }

    fn size(&self, record: u64) -> u64 {
        let (part, _, own) = self.part(record);
        part.size(own)
    }

    fn read(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        let (part, _, own) = self.part(record);
        part.read(own, room, buf)
    }

    /// Requests, if all parts take them. A part that only reads would hold up those of the others.
    fn reading(&self) -> Reading {
        let mut most = 0;
        for part in &self.parts {
            match part.reading() {
                Reading::Threads => return Reading::Threads,
                Reading::Requests { most: own } => most = most.max(own),
            }
        }
        Reading::Requests { most }
    }

    fn request(&self, mut request: Request) {
        let (part, _, own) = self.part(request.record);
        request.record = own;
        part.request(request);
    }

    fn fingerprint(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("forebay several sources 1");
        for part in &self.parts {
            hasher.update(&part.len().to_le_bytes());
            hasher.update(&part.fingerprint());
        }
        self.classes.digest(&mut hasher);
        hasher.finalize().into()
    }

    fn targets(&self) -> &Table {
        &self.targets
    }

    fn take_targets(&mut self) -> Table {
        std::mem::take(&mut self.targets)
    }

    fn masks(&self) -> &[MaskColumn] {
        self.parts.first().map_or(&[], |part| part.masks())
    }

    fn grains(&self) -> Grains<'_> {
        self.grains.as_deref().map_or(Grains::Records, Grains::Starts)
    }

    fn members(&self) -> &[Member] {
        &self.members
    }

    fn point_files(&self) -> PointFiles {
        PointFiles::join(self.bounds.iter().copied().zip(self.parts.iter().map(|part| part.point_files())))
    }

    fn sizes(&self) -> Sizes {
        Sizes::join(self.bounds.iter().copied().zip(self.parts.iter().map(|part| part.sizes())))
    }

    fn oversights(&self) -> Vec<Oversight> {
        self.parts.iter().flat_map(|part| part.oversights()).collect()
    }

    fn shard_name(&self, record: u64) -> &str {
        let (part, _, own) = self.part(record);
        part.shard_name(own)
    }
}

/// The grains of all parts, counted through. A part without grains has one for each record.
fn grains(parts: &[Box<dyn Source>], bounds: &[u64]) -> Option<Vec<u64>> {
    if parts.iter().all(|part| part.grains() == Grains::Records) {
        return None;
    }
    let mut starts = Vec::new();
    for (part, first) in parts.iter().zip(bounds) {
        match part.grains() {
            Grains::Records => starts.extend((0..part.len()).map(|record| first + record)),
            Grains::Starts(own) => starts.extend(own.iter().map(|start| first + start)),
        }
    }
    Some(starts)
}
