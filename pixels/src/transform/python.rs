//! A function in Python, which a stream calls in child processes (semantics rule 59). Nothing in this crate calls it: a recipe with
//! one is [split](crate::SplitRecipe) into the parts before and behind it. A function of batches is no transform of a picture: a list
//! keeps it apart.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Transform;
use super::shape::{Shape, Size};
use crate::draw::Draws;
use crate::interpolation::Interpolation;
use crate::plan::Plan;

/// Longest name of a function.
const LONGEST: usize = 256;
/// Most objects that are seeded.
const MOST_SEEDED: usize = 16;

/// Most columns that a function declares.
const MOST_COLUMNS: usize = 64;

/// A column that a function returns: what its values are, such as "f32 [*, 4]", and for each of its lists, the most items that a
/// record has in all of them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "a type such as \"f32 [4]\", or { type = \"f32 [*, 4]\", most = [20] }")]
pub enum DeclaredColumn {
    /// Without lists.
    Dense(String),
    /// With lists.
    Ragged {
        /// The type.
        #[serde(rename = "type")]
        of: String,
        /// The most items at each level, from the outermost.
        most: Vec<u64>,
    },
}

/// What a function is called with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One picture.
    #[default]
    Picture,
    /// A whole batch, once it is finished.
    Batch,
}

/// Calls a function with each picture, and continues with what it returns; or with each batch.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Python {
    /// The function, as "module:name".
    pub function: String,
    /// What it is called with.
    #[serde(default)]
    pub scope: Scope,
    /// The size of its results; one number means a square. Without it, results have the size of the pictures.
    #[serde(default)]
    pub output: Option<Size>,
    /// Objects that draw from generators of their own, as "module:name". Each has a method `set_random_seed`.
    #[serde(default)]
    pub seeded: Vec<String>,
    /// Columns that it returns beside pictures and that the dataset does not have, or not with so many items.
    #[serde(default)]
    pub columns: BTreeMap<String, DeclaredColumn>,
}

impl DeclaredColumn {
    /// The type, and the most items at each level.
    pub fn parts(&self) -> (&str, &[u64]) {
        match self {
            Self::Dense(of) => (of, &[]),
            Self::Ragged { of, most } => (of, most),
        }
    }
}

impl Python {
    pub(super) fn problem(&self) -> Option<String> {
        let unnamed = |key: &str, name: &str| {
            (!is_name(name))
                .then(|| format!("{key} is \"{name}\", but must be \"module:name\", such as \"my_steps:augment\""))
        };
        let too_many = || {
            let count = self.seeded.len();
            (count > MOST_SEEDED).then(|| format!("seeded has {count} names; at most {MOST_SEEDED} are allowed"))
        };
        unnamed("function", &self.function)
            .or_else(|| self.seeded.iter().find_map(|name| unnamed("seeded", name)))
            .or_else(too_many)
            .or_else(|| {
                let count = self.columns.len();
                (count > MOST_COLUMNS).then(|| format!("columns has {count} names; at most {MOST_COLUMNS} are allowed"))
            })
            .or_else(|| self.batch_problem())
            .or_else(|| self.output.and_then(Size::problem).map(|problem| problem.replacen("size", "output", 1)))
    }

    /// What a function of batches cannot have: it changes values alone.
    fn batch_problem(&self) -> Option<String> {
        if self.scope == Scope::Picture {
            return None;
        }
        let ragged = |(name, column): (&String, &DeclaredColumn)| {
            let has_lists = matches!(column, DeclaredColumn::Ragged { .. });
            has_lists.then(|| format!("columns has \"{name}\" with lists, which a function of batches cannot fill"))
        };
        let output = self.output.map(|_| "output has no meaning with scope = \"batch\": leave it out".to_owned());
        output.or_else(|| self.columns.iter().find_map(ragged))
    }

    /// The size of its results, of pictures of this size.
    pub(super) fn shape(&self, before: Shape) -> Shape {
        self.output.map_or(before, Shape::of)
    }

    /// What follows sees a picture of the declared size. The plan does not have the function itself.
    pub(super) fn plan(&self, plan: &mut Plan, _draws: Draws) {
        if let Some((height, width)) = self.output.map(Size::square) {
            plan.resize(width, height, Interpolation::Nearest);
        }
    }
}

impl Transform {
    /// What is wrong with this place in a list, behind transforms whose results have this shape, or with a place inside of it.
    /// `follows` says whether a function in Python is among them, and is then true if it has one.
    pub(crate) fn python_problem(&self, before: Shape, follows: &mut bool) -> Option<String> {
        match self {
            Self::Python(Python { scope: Scope::Batch, .. }) => Some(
                "a function with scope = \"batch\" must be the last transform of the list itself, and the only one of its kind"
                    .to_owned(),
            ),
            Self::Python(_) => {
                *follows = true;
                None
            }
            _ if *follows && self.cut().is_empty() && self.draws_by_boxes() => {
                Some("it cannot follow python, which does not say where the boxes are. Put it before python".to_owned())
            }
            _ => {
                let (is_choice, mut shape) = (matches!(self, Self::RandomChoice(_)), before);
                if matches!(self, Self::RandomOrder(_)) && self.python().is_some() {
                    // Any other transform may be behind the function, and before it.
                    *follows = true;
                    if let Some(unfit) = self.parts().iter().find(|part| part.shape(before) != before) {
                        return Some(format!(
                            "it has python in it, so none of its transforms may change the size of pictures, as {} does. Put that before it \
                             or behind it",
                            unfit.name()
                        ));
                    }
                }
                let follows_before = *follows;
                for (number, part) in self.parts().iter().enumerate() {
                    let mut follows_here = if is_choice { follows_before } else { *follows };
                    if let Some(problem) = part.python_problem(shape, &mut follows_here) {
                        return Some(format!("transforms[{number}] ({}): {problem}", part.name()));
                    }
                    *follows |= follows_here;
                    if !is_choice {
                        shape = part.shape(shape);
                    }
                }
                None
            }
        }
    }
}

/// Whether a text is a module and a name in it: identifiers with dots between them.
fn is_name(text: &str) -> bool {
    let is_part = |part: &str| {
        let mut letters = part.chars();
        let begins = letters.next().is_some_and(|first| first == '_' || first.is_alphabetic());
        begins && letters.all(|letter| letter == '_' || letter.is_alphanumeric())
    };
    let are_parts = |parts: &str| parts.split('.').all(is_part);
    text.len() <= LONGEST && text.split_once(':').is_some_and(|(module, name)| are_parts(module) && are_parts(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_a_module_and_a_name_in_it() {
        for name in ["a:b", "my_steps:augment", "a.b.c:D.e", "_a1:_b2", "ä:ö"] {
            assert!(is_name(name), "{name}");
        }
        for text in ["", "a", ":b", "a:", "a:b:c", "a..b:c", "1a:b", "a-b:c", "a:b()", "a /b:c", ".a:b", "a:b."] {
            assert!(!is_name(text), "{text}");
        }
        assert!(!is_name(&format!("a:{}", "b".repeat(LONGEST))));
    }

    #[test]
    fn each_value_that_is_none_is_refused_by_name() {
        let good = Python {
            function: "a:b".to_owned(),
            scope: Scope::Picture,
            output: None,
            seeded: vec!["a:c".to_owned()],
            columns: BTreeMap::new(),
        };
        assert_eq!(good.problem(), None);
        let problem = |python: Python| python.problem().unwrap();
        assert!(problem(Python { function: "a".to_owned(), ..good.clone() }).starts_with("function is \"a\""));
        assert!(problem(Python { seeded: vec!["b".to_owned()], ..good.clone() }).starts_with("seeded is \"b\""));
        assert!(problem(Python { seeded: vec!["a:b".to_owned(); 17], ..good.clone() }).starts_with("seeded has 17"));
        let column = |number| (format!("c{number}"), DeclaredColumn::Dense("f32".to_owned()));
        let columns = (0..65).map(column).collect();
        assert!(problem(Python { columns, ..good.clone() }).starts_with("columns has 65"));
        assert!(problem(Python { output: Some(Size::One(0)), ..good.clone() }).starts_with("output is 0 x 0"));
        let batch = Python { scope: Scope::Batch, ..good };
        assert_eq!(batch.problem(), None);
        assert!(problem(Python { output: Some(Size::One(8)), ..batch.clone() }).starts_with("output has no meaning"));
        let lists = DeclaredColumn::Ragged { of: "f32 [*]".to_owned(), most: vec![1] };
        let columns = [column(0), ("tags".to_owned(), lists)].into();
        assert!(problem(Python { columns, ..batch }).starts_with("columns has \"tags\" with lists"));
    }
}
