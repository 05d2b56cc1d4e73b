//! A column of labels. It holds integers if every value is one, and text if none is. A mixture is an error that names the
//! line.

use std::collections::HashMap;

use forebay_sources::{Labels, LineProblem};

/// The column so far.
#[derive(Debug)]
pub(crate) struct Column {
    /// Text even where it looks like a number.
    as_text: bool,
    /// What the first line was, and its number; later ones must be the same.
    first: Option<(CellKind, u64)>,
    /// Integers; or places in `texts`, in order of appearance.
    values: Vec<i64>,
    texts: HashMap<Vec<u8>, i64>,
}

/// What stands in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellKind {
    Nothing,
    Integer,
    Text,
}

impl Column {
    pub(crate) fn new(labels: Labels) -> Self {
        Self { as_text: labels == Labels::Text, first: None, values: Vec::new(), texts: HashMap::new() }
    }

    pub(crate) fn push(&mut self, cell: &[u8], line: u64) -> Result<(), LineProblem> {
        let number = str::from_utf8(cell).ok().and_then(|text| text.parse::<i64>().ok());
        let kind = match number {
            _ if cell.is_empty() => CellKind::Nothing,
            Some(_) if !self.as_text => CellKind::Integer,
            _ => CellKind::Text,
        };
        let &mut (expected, other) = self.first.get_or_insert((kind, line));
        match (expected, kind) {
            (CellKind::Nothing, CellKind::Nothing) => {}
            (CellKind::Integer, CellKind::Integer) => self.values.extend(number),
            (CellKind::Text, CellKind::Text) => {
                let next = i64::try_from(self.texts.len()).expect("fewer texts than i64::MAX fit into memory");
                let place = match self.texts.get(cell) {
                    Some(&place) => place,
                    None => *self.texts.entry(cell.to_vec()).or_insert(next),
                };
                self.values.push(place);
            }
            (_, CellKind::Nothing) => return Err(LineProblem::NoLabel { other }),
            (CellKind::Nothing, _) => return Err(LineProblem::SurplusLabel { other }),
            (was, is) => {
                let label = String::from_utf8_lossy(cell).into_owned();
                return Err(LineProblem::MixedLabels { label, is: is.words(), was: was.words(), other });
            }
        }
        Ok(())
    }

    /// The labels and the class names: for text the sorted distinct values, and labels are places in them.
    pub(crate) fn finish(mut self) -> (Vec<i64>, Vec<String>) {
        let mut texts: Vec<(Vec<u8>, i64)> = self.texts.into_iter().collect();
        texts.sort_unstable();
        let mut sorted_place = vec![0; texts.len()];
        for (place, (_, appearance)) in (0..).zip(&texts) {
            sorted_place[usize::try_from(*appearance).expect("a place in the list")] = place;
        }
        if !texts.is_empty() {
            for value in &mut self.values {
                *value = sorted_place[usize::try_from(*value).expect("a place in the list")];
            }
        }
        (self.values, texts.iter().map(|(text, _)| String::from_utf8_lossy(text).into_owned()).collect())
    }
}

impl CellKind {
    fn words(self) -> &'static str {
        match self {
            Self::Nothing => "absent",
            Self::Integer => "an integer",
            Self::Text => "a text",
        }
    }
}
