//! Labels of records of which some may have none, because the record is damaged.

use forebay_sources::{Labels, LineProblem};

use crate::label_column::Column;

/// The labels so far.
#[derive(Debug)]
pub(crate) struct Labelled {
    column: Column,
    /// Whether each record has a label.
    present: Vec<bool>,
}

/// A label that is a number where an earlier one is a text, or the other way round.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mixed {
    pub label: String,
    pub is: &'static str,
    pub was: &'static str,
    /// The first record with a label.
    pub other: u64,
}

impl Labelled {
    /// No label yet.
    pub(crate) fn new(labels: Labels) -> Self {
        Self { column: Column::new(labels), present: Vec::new() }
    }

    /// The label of the next record, as text. An empty one counts as none.
    ///
    /// # Errors
    /// Some labels are numbers and some are texts.
    pub(crate) fn push(&mut self, label: Option<&[u8]>) -> Result<(), Mixed> {
        let label = label.filter(|label| !label.is_empty());
        let record = self.present.len() as u64;
        self.present.push(label.is_some());
        match label.map(|label| self.column.push(label, record)) {
            Some(Err(LineProblem::MixedLabels { label, is, was, other })) => Err(Mixed { label, is, was, other }),
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
        assert_eq!(other, Mixed { label: "3".into(), is: "an integer", was: "a text", other: 0 });
        let (values, missing, classes) = labels.finish();
        assert_eq!((&values[..4], &missing[..]), (&[1, -1, -1, 0][..], &[1, 2][..]));
        assert_eq!(classes, ["a", "b"]);
    }
}
