//! Labels of records of which some may have none, because the record is damaged.

use forebay_printable::printable;
use forebay_sources::{Labels, LineProblem};

use crate::label_column::{Column, wrong_text};

/// The labels so far.
#[derive(Debug)]
pub(crate) struct Labelled {
    column: Column,
    /// Whether each record has a label.
    present: Vec<bool>,
}

/// A label that the dataset cannot have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WrongLabel {
    /// It is a number where an earlier one is a text, or the other way round.
    Mixed {
        label: String,
        is: &'static str,
        was: &'static str,
        /// The first record with a label.
        other: u64,
    },
    /// It is a text that is no label, for this reason.
    Text { label: String, why: &'static str },
}

impl WrongLabel {
    /// What is wrong with the label of this record. `name` gives the name of another one.
    pub(crate) fn problem(&self, this: &str, name: impl FnOnce(u64) -> String) -> String {
        match self {
            Self::Mixed { label, is, was, other } => format!(
                "the label \"{}\" of {this} is {is}, but {} has {was}. Write either all labels as integers or none, or give \
                 labels=\"text\" to read all as text.",
                printable(label),
                name(*other)
            ),
            Self::Text { label, why } => format!("the label \"{}\" of {this} {why}.", printable(label)),
        }
    }
}

impl Labelled {
    /// No label yet.
    pub(crate) fn new(labels: Labels) -> Self {
        Self { column: Column::new(labels), present: Vec::new() }
    }

    /// The label of the next record, as text. An empty one counts as none.
    ///
    /// # Errors
    /// Some labels are numbers and some are texts, or one is a list or not in UTF-8.
    pub(crate) fn push(&mut self, label: Option<&[u8]>) -> Result<(), WrongLabel> {
        let label = label.filter(|label| !label.is_empty());
        let record = self.present.len() as u64;
        self.present.push(label.is_some());
        if let Some(text) = label
            && let Some(why) = wrong_text(text, self.column.is_of_texts())
        {
            return Err(WrongLabel::Text { label: String::from_utf8_lossy(text).into_owned(), why });
        }
        match label.map(|label| self.column.push(label, record)) {
            Some(Err(LineProblem::MixedLabels { label, is, was, other })) => {
                Err(WrongLabel::Mixed { label, is, was, other })
            }
            // There are no other problems with a label that is not empty.
            _ => Ok(()),
        }
    }

    /// Whether any record has a label.
    pub(crate) fn any(&self) -> bool {
        self.present.contains(&true)
    }

    /// The labels with -1 for records that have none, those records, and the names of the classes.
    pub(crate) fn finish(self) -> (Vec<i64>, Vec<u64>, Vec<String>) {
        let (found, classes) = self.column.finish();
        let mut found = found.into_iter();
        let missing = (0..).zip(&self.present).filter(|(_, present)| !**present).map(|(record, _)| record).collect();
        let labels =
            self.present.iter().map(|present| if *present { found.next().unwrap_or(-1) } else { -1 }).collect();
        (labels, missing, classes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_without_a_label_keep_the_others_in_place() {
        let mut labels = Labelled::new(Labels::Auto);
        assert!(!labels.any());
        for label in [Some(&b"b"[..]), None, Some(b""), Some(b"a")] {
            labels.push(label).unwrap();
        }
        let other = labels.push(Some(b"3")).unwrap_err();
        assert_eq!(other, WrongLabel::Mixed { label: "3".into(), is: "an integer", was: "a text", other: 0 });
        let (values, missing, classes) = labels.finish();
        assert_eq!((&values[..4], &missing[..]), (&[1, -1, -1, 0][..], &[1, 2][..]));
        assert_eq!(classes, ["a", "b"]);
    }
}
