//! Conditions on records: `pixels >= 65536 and aspect <= 3 and label in (1, 2)` (semantics rule 66).
//!
//! A condition is parsed from its text alone. Then it is bound to a dataset, which has the columns that it names, and
//! decides record by record. Nothing here reads a file.

mod bound;
mod literal;
mod nearest;
mod parser;
#[cfg(test)]
mod tests;
mod tokens;

use std::fmt;

use forebay_printable::printable;

use crate::{Selection, Source};
use bound::Bound;
use literal::Literal;

/// Most bytes of a condition.
const MOST_BYTES: usize = 64 << 10;
/// Characters of the text that an error shows on each side of its place.
const SHOWN: usize = 60;

/// A condition on the records of a dataset.
///
/// ```
/// use forebay_sources::Condition;
///
/// assert!(Condition::parse("pixels >= 65536 and not label in (1, 2)").is_ok());
/// let error = Condition::parse("pixels >= ").unwrap_err();
/// assert_eq!(error.to_string(), "a number or a text in quotes is missing here\n  pixels >= \n            ^");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    tree: Node,
}

/// What is wrong with a condition, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    /// The text around the place, and how many characters of it are before the place. Nothing, if the whole text is wrong.
    shown: Option<(String, usize)>,
    /// What is wrong and what to do, as the rest of a sentence.
    problem: String,
}

/// A part of a condition.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    /// All are true. A list, so that a long condition is not a deep one.
    And(Vec<Self>),
    /// One of them is true.
    Or(Vec<Self>),
    /// It is false.
    Not(Box<Self>),
    /// A column has such a value.
    Test(Test),
}

/// A comparison of a column with values.
#[derive(Clone, Debug, PartialEq)]
struct Test {
    column: String,
    /// Where the column's name is in the text.
    at: usize,
    comparison: Comparison,
    /// The values, each with its place. Those of a list are alternatives.
    values: Vec<(Literal, usize)>,
}

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    In,
}

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// It is none. The error shows the place.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        if text.len() > MOST_BYTES {
            let problem =
                format!("the condition has {} bytes, and at most {MOST_BYTES} are read. Make it shorter", text.len());
            return Err(ConditionError { shown: None, problem });
        }
        let tree = parser::parse(text).map_err(|(at, problem)| ConditionError::at(text, at, problem))?;
        Ok(Self { text: text.to_owned(), tree })
    }

    /// The records of a dataset that it holds for. A record that lacks a value on which this depends is not among them.
    ///
    /// # Errors
    /// It names a column that the dataset does not have, or compares a column with a value of another kind.
    pub fn select(&self, source: &dyn Source) -> Result<Selection, ConditionError> {
        let wrong = |(at, problem)| ConditionError::at(&self.text, at, problem);
        let bound = Bound::new(&self.tree, source).map_err(wrong)?;
        let mut failed = None;
        let selection = Selection::of(source.len(), |record| match bound.holds(record) {
            Ok(holds) => holds == Some(true),
            Err(error) => {
                failed.get_or_insert(error);
                false
            }
        });
        failed.map_or(Ok(selection), |error| Err(wrong(error)))
    }
}

impl ConditionError {
    fn at(text: &str, at: usize, problem: String) -> Self {
        let (before, behind) = text.split_at(at);
        let left: Vec<char> = before.chars().rev().take(SHOWN).collect();
        let mut shown = String::new();
        if before.chars().nth(SHOWN).is_some() {
            shown.push_str("... ");
        }
        let lead = shown.chars().count();
        shown.extend(left.iter().rev().chain(&behind.chars().take(SHOWN).collect::<Vec<_>>()));
        if behind.chars().nth(SHOWN).is_some() {
            shown.push_str(" ...");
        }
        // A character that is not shown as itself would move the mark.
        let is_shown = |one: char| printable(one.encode_utf8(&mut [0; 4])).to_string().chars().count() == 1;
        let shown = shown.chars().map(|one| if is_shown(one) { one } else { ' ' }).collect();
        Self { shown: Some((shown, lead + left.len())), problem }
    }
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)?;
        let Some((shown, before)) = &self.shown else { return Ok(()) };
        write!(f, "\n  {shown}\n  {:>width$}", "^", width = before + 1)
    }
}

impl std::error::Error for ConditionError {}
