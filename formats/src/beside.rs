//! What lies beside the pictures of a dataset: annotations, files that are not read, and others that need not be read, such as
//! a README. Every format that lists files shows them to this, by their names alone.

mod kinds;
mod mask_names;
mod part_names;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use forebay_sources::{Labels, MOST_EXAMPLES, Options, Oversight, OversightKind, SourceError};

use crate::option_key::OptionKey;
use crate::paths::Paths;
pub(crate) use kinds::BesideKind;
use kinds::kind_of;
use part_names::part_names;

/// The option that all schemes have. An index is the same whatever its value is.
pub(crate) const UNREAD: OptionKey = OptionKey {
    name: "unread",
    help: "\"accept\" if annotations and files that are not used, and the names of the classes, are as they should be; \
           \"members\" if that is so for the members of samples",
};

/// The files beside the pictures that were seen so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside {
    seen: BTreeMap<BesideKind, Tally>,
}

/// Files of one kind.
#[derive(Clone, Debug, Default)]
struct Tally {
    count: u64,
    /// The first by their names.
    examples: Vec<Vec<u8>>,
}

impl Tally {
    fn add(&mut self, name: &[u8]) {
        self.count += 1;
        self.keep(name);
    }

    fn keep(&mut self, name: &[u8]) {
        let place = self.examples.partition_point(|known| known.as_slice() <= name);
        if place < MOST_EXAMPLES {
            self.examples.insert(place, name.to_vec());
            self.examples.truncate(MOST_EXAMPLES);
        }
    }
}

impl Beside {
    /// A file that is no picture of the dataset, by its path from the dataset's folder on.
    pub(crate) fn see(&mut self, path: &[u8]) {
        if let Some(kind) = kind_of(path) {
            self.see_as(kind, path);
        }
    }

    /// The same for a file of which the format knows what it is.
    pub(crate) fn see_as(&mut self, kind: BesideKind, path: &[u8]) {
        self.seen.entry(kind).or_default().add(path);
    }

    /// Looks for masks among the pictures of the dataset, by their paths. Folders at the top are looked at as classes, if they are
    /// such.
    pub(crate) fn see_masks(&mut self, pictures: &Paths, labels: Labels) {
        for place in mask_names::masks_beside(pictures, usize::from(labels != Labels::None)) {
            self.see_as(BesideKind::MaskPictures, pictures.bytes(place));
        }
    }

    /// Adds what another part of a scan has seen.
    pub(crate) fn append(&mut self, other: Self) {
        for (kind, tally) in other.seen {
            match self.seen.entry(kind) {
                Entry::Vacant(entry) => drop(entry.insert(tally)),
                Entry::Occupied(mut entry) => {
                    let own = entry.get_mut();
                    own.count += tally.count;
                    tally.examples.iter().for_each(|name| own.keep(name));
                }
            }
        }
    }

    /// What was overlooked, beside these classes. A dataset that is to have no labels misses no annotations, and no class.
    pub(crate) fn oversights(&self, labels: Labels, classes: &[String]) -> Vec<Oversight> {
        let wants_labels = labels != Labels::None;
        // Masks are records in any case.
        let is_told = |kind: BesideKind| {
            wants_labels || kind.about() != OversightKind::Annotations || kind == BesideKind::MaskPictures
        };
        let files = self.seen.iter().filter(|(kind, _)| is_told(**kind)).map(|(kind, tally)| Oversight {
            kind: kind.about(),
            what: kind.what(tally.count).to_owned(),
            count: tally.count,
            examples: tally.examples.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
            remedy: kind.remedy().to_owned(),
        });
        files.chain(wants_labels.then(|| of_classes(classes)).flatten()).collect()
    }

    /// The same as the end of an error that says that there is no picture where one should be; empty if nothing was seen.
    pub(crate) fn told(&self) -> String {
        let found = self.oversights(Labels::Auto, &[]);
        let each: Vec<String> = found.iter().map(|oversight| format!(" There are {oversight}")).collect();
        each.concat()
    }
}

/// Classes whose names are those of the parts of a dataset.
fn of_classes(classes: &[String]) -> Option<Oversight> {
    let parts = part_names(classes);
    let first = parts.first()?;
    Some(Oversight {
        kind: OversightKind::Classes,
        what: if parts.len() == 1 { "folder that is taken for a class" } else { "folders that are taken for classes" }
            .to_owned(),
        count: parts.len() as u64,
        examples: parts.iter().take(MOST_EXAMPLES).map(|&class| class.clone()).collect(),
        remedy: format!(
            "These are names of sets, or of folders of pictures, masks or annotations. Open one of the folders, such as \
             \"{first}\" (or name it with the option \"folder\" of an archive), or write the scheme of the annotations: \
             \"coco:\", \"voc:\", \"yolo:\" or \"csv:\". Masks are read with masks = {{...}}. If these are classes, give \
             unread=\"accept\"; if there are none, labels=\"none\"."
        ),
    })
}

/// What of that is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Telling {
    #[default]
    All,
    /// All but members of samples that are not used: the user has listed columns.
    NoMembers,
    Nothing,
}

/// What the user wants to hear of what is not used.
///
/// # Errors
/// The option has another value.
pub(crate) fn telling(options: &Options) -> Result<Telling, SourceError> {
    let values = [("tell", Telling::All), ("accept", Telling::Nothing), ("members", Telling::NoMembers)];
    options.own.choice(UNREAD.name, &values)
}

/// What was overlooked in an open dataset, unless the user has accepted it. An index has it in any case.
#[derive(Debug, Default)]
pub(crate) struct Oversights {
    found: Vec<Oversight>,
    telling: Telling,
}

impl Oversights {
    /// What a scan or an index has. The value of the option was looked at when the name of the dataset was.
    pub(crate) fn new(found: Vec<Oversight>, options: &Options) -> Self {
        Self { found, telling: telling(options).unwrap_or_default() }
    }

    /// What is said.
    pub(crate) fn told(&self) -> Vec<Oversight> {
        let of_members = |found: &Oversight| [1, 2].iter().any(|count| found.what == BesideKind::Members.what(*count));
        match self.telling {
            Telling::All => self.found.clone(),
            Telling::NoMembers => self.found.iter().filter(|found| !of_members(found)).cloned().collect(),
            Telling::Nothing => Vec::new(),
        }
    }

    /// What an index keeps.
    pub(crate) fn found(&self) -> &[Oversight] {
        &self.found
    }
}

#[cfg(test)]
mod tests;
