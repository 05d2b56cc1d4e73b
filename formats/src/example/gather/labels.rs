//! The labels of Examples: integers, or texts that become classes.

use std::path::Path;

use forebay_printable::printable;
use forebay_sources::{Labels, SourceError};

use super::super::{ExampleFault, Feature, FeatureKind, copied};
use super::{Mapping, RecordPlace};
use crate::label_column::{Column, wrong_text};
use crate::window::Window;

/// The labels so far.
#[derive(Debug)]
pub(super) struct GatheredLabels {
    option: Labels,
    /// What the first label was; later ones must be the same.
    first: Option<LabelKind>,
    integers: Vec<i64>,
    texts: Column,
    /// Whether each record is a good one: others have no label.
    is_good: Vec<bool>,
}

/// The label of a record.
#[derive(Debug)]
pub(super) enum LabelValue {
    Integer(i64),
    Text(Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LabelKind {
    Nothing,
    Integers,
    Texts,
}

/// Longest text that is a label.
const MOST: u64 = 4096;

/// The label that a feature has; nothing if it has no value.
pub(super) fn value(
    window: &mut Window<'_>,
    name: &str,
    feature: &Feature,
) -> Result<Option<LabelValue>, ExampleFault> {
    let several =
        |count| ExampleFault::Form(format!("the Example has {count} labels in \"{name}\", where one is wanted"));
    match feature.kind {
        FeatureKind::Integers => match feature.integers(window)?[..] {
            [] => Ok(None),
            [label] => Ok(Some(LabelValue::Integer(label))),
            ref labels => Err(several(labels.len())),
        },
        FeatureKind::Floats => match feature.floats(window)?[..] {
            [] => Ok(None),
            [label] => match whole(label) {
                Some(label) => Ok(Some(LabelValue::Integer(label))),
                None => Err(ExampleFault::Form(format!("its label {label} in \"{name}\" is not a whole number"))),
            },
            ref labels => Err(several(labels.len())),
        },
        FeatureKind::Bytes => match &feature.texts(window)?[..] {
            [] => Ok(None),
            [text] if text.is_empty() => Ok(None),
            [text] if text.end - text.start > MOST => {
                Err(ExampleFault::Form(format!("its label in \"{name}\" has more than {MOST} bytes")))
            }
            [text] => Ok(Some(LabelValue::Text(copied(window, text.clone())?.to_vec()))),
            labels => Err(several(labels.len())),
        },
    }
}

/// The integer that a float is. Beyond 2^24 a float has no room for all of them, but those that it has are exact.
pub(crate) fn whole(value: f32) -> Option<i64> {
    let is_whole = value.fract() == 0.0 && value.abs() <= 9.0e18;
    #[expect(clippy::cast_possible_truncation, reason = "it is a whole number within the range of i64")]
    is_whole.then_some(value as i64)
}

impl GatheredLabels {
    pub(super) fn new(option: Labels) -> Self {
        let texts = if option == Labels::Text { Column::new(option) } else { Column::of_texts() };
        Self { option, first: None, integers: Vec::new(), texts, is_good: Vec::new() }
    }

    /// A record without a label, because it is damaged.
    pub(super) fn skip(&mut self) {
        self.is_good.push(false);
    }

    /// The label of the next record.
    ///
    /// # Errors
    /// It is another kind of label than the earlier ones, or a text with a list.
    pub(super) fn push(
        &mut self,
        label: Option<LabelValue>,
        (path, offset): RecordPlace<'_>,
    ) -> Result<(), SourceError> {
        let label = match label {
            Some(LabelValue::Integer(label)) if self.option == Labels::Text => {
                Some(LabelValue::Text(label.to_string().into_bytes()))
            }
            other => other,
        };
        if let Some(LabelValue::Text(text)) = &label
            && let Some(why) = wrong_text(text, self.option == Labels::Text)
        {
            let problem = format!("the label \"{}\" {why}.", printable(&*String::from_utf8_lossy(text)));
            return Err(SourceError::malformed_at(path, offset, problem));
        }
        let found = match &label {
            None => LabelKind::Nothing,
            Some(LabelValue::Integer(_)) => LabelKind::Integers,
            Some(LabelValue::Text(_)) => LabelKind::Texts,
        };
        let first = *self.first.get_or_insert(found);
        if first != found {
            let problem = format!(
                "this record has {} as its label, but earlier ones have {}. Write all labels in the same way, or give labels=\"none\".",
                found.words(),
                first.words()
            );
            return Err(SourceError::malformed_at(path, offset, problem));
        }
        self.is_good.push(true);
        match label {
            None => {}
            Some(LabelValue::Integer(label)) => self.integers.push(label),
            Some(LabelValue::Text(text)) => self.texts.push(&text, 0).expect("all of them are texts"),
        }
        Ok(())
    }

    /// One label per record, or none at all; and the classes.
    pub(super) fn finish(
        &mut self,
        mapping: &Mapping,
        name: &Path,
        seen: &str,
    ) -> Result<(Vec<i64>, Vec<String>), SourceError> {
        let (values, classes) = match self.first {
            None | Some(LabelKind::Nothing) if mapping.is_label_asked => {
                let problem = format!(
                    "no record has the feature that becomes the label. {seen} Name another, or give labels=\"none\"."
                );
                return Err(SourceError::malformed_at(name, 0, problem));
            }
            None | Some(LabelKind::Nothing) => return Ok((Vec::new(), Vec::new())),
            Some(LabelKind::Integers) => (std::mem::take(&mut self.integers), Vec::new()),
            Some(LabelKind::Texts) => std::mem::replace(&mut self.texts, Column::new(Labels::Text)).finish(),
        };
        let mut values = values.into_iter();
        let labels = self.is_good.iter().map(|&is_good| if is_good { values.next().unwrap_or(-1) } else { -1 });
        Ok((labels.collect(), classes))
    }
}

impl LabelKind {
    fn words(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Integers => "an integer",
            Self::Texts => "a text",
        }
    }
}
