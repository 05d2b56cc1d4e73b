//! The classes of several sources together. Classes of one name are one class, unless the sources share their numbers.

use std::collections::{HashMap, HashSet};

use forebay_sources::{Source, SourceError};

/// The classes of the whole, and what a part's numbers become in it.
#[derive(Debug)]
pub(super) struct Classes {
    names: Vec<String>,
    /// For each part the whole's number of each of its classes. Empty: its labels are kept.
    numbers: Vec<Vec<i64>>,
}

impl Classes {
    /// # Errors
    /// The labels of one are names, and those of another numbers. Or their numbers mean different names.
    pub(super) fn merge(names: &[String], parts: &[Box<dyn Source>], by_name: bool) -> Result<Self, SourceError> {
        let named = parts.iter().position(|part| !part.classes().is_empty());
        let Some(named) = named else { return Ok(Self { names: Vec::new(), numbers: vec![Vec::new(); parts.len()] }) };
        if !by_name {
            return Self::by_number(names, parts);
        }
        let numbered = parts.iter().position(|part| part.classes().is_empty() && has_labels(part.as_ref()));
        if let Some(numbered) = numbered {
            return Err(SourceError::Apart {
                first: names[named].clone(),
                second: names[numbered].clone(),
                problem: format!(
                    "the labels of the first are names of classes, and those of the second are numbers. Set \
                     source_options = {{ {} = \"number\" }} if the numbers of both mean the same, or labels = \"none\".",
                    super::CLASSES_BY
                ),
            });
        }
        for (name, part) in names.iter().zip(parts) {
            let mut own = HashSet::new();
            if let Some(twice) = part.classes().iter().find(|class| !own.insert(*class)) {
                return Err(SourceError::Columns {
                    path: name.into(),
                    problem: format!(
                        "it has two classes with the name \"{twice}\", so its classes cannot be merged with those of other \
                         sources by their names. Set source_options = {{ {} = \"number\" }} if all sources have the same \
                         classes, or labels = \"none\".",
                        super::CLASSES_BY
                    ),
                });
            }
        }
        let (mut all, mut known) = (Vec::new(), HashMap::new());
        let mut number = |name: &String| {
            *known.entry(name.clone()).or_insert_with(|| {
                all.push(name.clone());
                as_label(all.len() - 1)
            })
        };
        let numbers = parts.iter().map(|part| part.classes().iter().map(&mut number).collect()).collect();
        Ok(Self { names: all, numbers })
    }

    /// Every part keeps its numbers. The names are those of the part that has most.
    fn by_number(names: &[String], parts: &[Box<dyn Source>]) -> Result<Self, SourceError> {
        let longest = (0..parts.len()).rev().max_by_key(|&place| parts[place].classes().len()).unwrap_or(0);
        let all = parts[longest].classes();
        for (place, part) in parts.iter().enumerate() {
            let other = part.classes().iter().zip(all).position(|(own, other)| own != other);
            if let Some(class) = other {
                return Err(SourceError::Apart {
                    first: names[longest].clone(),
                    second: names[place].clone(),
                    problem: format!(
                        "class {class} is \"{}\" in the first and \"{}\" in the second. Leave out {} to merge classes by \
                         their names.",
                        all[class],
                        part.classes()[class],
                        super::CLASSES_BY
                    ),
                });
            }
            let beyond = (0..part.len()).map(|record| part.label(record)).find(|&label| label >= as_label(all.len()));
            if let Some(label) = beyond {
                return Err(SourceError::Apart {
                    first: names[longest].clone(),
                    second: names[place].clone(),
                    problem: format!(
                        "the first has {} classes, and the second has the label {label}. Give the first all names, or set \
                         labels = \"none\".",
                        all.len()
                    ),
                });
            }
        }
        Ok(Self { names: all.to_vec(), numbers: vec![Vec::new(); parts.len()] })
    }

    /// The names of all classes.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// What a label of a part is in the whole.
    pub(super) fn number(&self, part: usize, label: i64) -> i64 {
        let numbers = usize::try_from(label).ok().and_then(|label| self.numbers[part].get(label));
        numbers.copied().unwrap_or(label)
    }

    /// Whether all labels of a part are what they were.
    pub(super) fn keeps(&self, part: usize) -> bool {
        self.numbers[part].iter().enumerate().all(|(own, number)| as_label(own) == *number)
    }

    /// What becomes of the labels belongs to the dataset's fingerprint.
    pub(super) fn digest(&self, hasher: &mut blake3::Hasher) {
        for name in &self.names {
            hasher.update(&(name.len() as u64).to_le_bytes());
            hasher.update(name.as_bytes());
        }
        for number in self.numbers.iter().flatten() {
            hasher.update(&number.to_le_bytes());
        }
    }
}

fn has_labels(part: &dyn Source) -> bool {
    (0..part.len()).any(|record| part.label(record) >= 0)
}

fn as_label(place: usize) -> i64 {
    i64::try_from(place).expect("a list in memory is shorter than i64::MAX")
}
