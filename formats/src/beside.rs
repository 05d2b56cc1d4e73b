//! What lies beside the pictures of a dataset: annotations, files that are not read, and others that need not be read, such as
//! a README. Every format that lists files shows them to this, by their names alone.

mod kinds;
mod part_names;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use forebay_sources::{Labels, MOST_EXAMPLES, Options, Oversight, OversightKind, SourceError};

use crate::option_key::OptionKey;
pub(crate) use kinds::BesideKind;
use kinds::kind_of;
use part_names::is_part_name;

/// The option that all schemes have. An index is the same whatever its value is.
pub(crate) const UNREAD: OptionKey = OptionKey {
    name: "unread",
    help: "\"accept\" if annotations and files that are not used, and the names of the classes, are as they should be",
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
        let files = self.seen.iter().map(|(kind, tally)| Oversight {
            kind: kind.about(),
            what: kind.what().to_owned(),
            count: tally.count,
            examples: tally.examples.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
            remedy: kind.remedy().to_owned(),
        });
        let files = files.filter(|found| wants_labels || found.kind != OversightKind::Annotations);
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
    let parts: Vec<&String> = classes.iter().filter(|class| is_part_name(class)).collect();
    let first = parts.first()?;
    Some(Oversight {
        kind: OversightKind::Classes,
        what: "folders that are taken for classes".to_owned(),
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

/// Whether the user has accepted what is not used.
///
/// # Errors
/// The option has another value.
pub(crate) fn is_accepted(options: &Options) -> Result<bool, SourceError> {
    options.own.choice(UNREAD.name, &[("tell", false), ("accept", true)])
}

/// What was overlooked in an open dataset, unless the user has accepted it. An index has it in any case.
#[derive(Debug, Default)]
pub(crate) struct Oversights {
    found: Vec<Oversight>,
    is_accepted: bool,
}

impl Oversights {
    /// What a scan or an index has. The value of the option was looked at when the name of the dataset was.
    pub(crate) fn new(found: Vec<Oversight>, options: &Options) -> Self {
        Self { found, is_accepted: is_accepted(options).unwrap_or(false) }
    }

    /// What is said.
    pub(crate) fn told(&self) -> Vec<Oversight> {
        if self.is_accepted { Vec::new() } else { self.found.clone() }
    }

    /// What an index keeps.
    pub(crate) fn found(&self) -> &[Oversight] {
        &self.found
    }
}

#[cfg(test)]
mod tests;
