//! Reads the parameters of a named recipe, and notes their names and defaults.

use serde_json::{Map, Value, json};

use super::KEY;
use crate::document::value::{choice, number, take, whole};
use crate::document::{Mistake, SIDES};

/// The filters of a resize.
const FILTERS: [(&str, &str); 4] =
    [("nearest", "nearest"), ("bilinear", "bilinear"), ("bicubic", "bicubic"), ("lanczos3", "lanczos3")];

/// Of `ImageNet`: red, green and blue, where 255 is 1.
const MEAN: [f64; 3] = [0.485, 0.456, 0.406];
const STD: [f64; 3] = [0.229, 0.224, 0.225];

/// What a user gave, and what was asked for.
pub(super) struct Parameters<'v> {
    given: &'v Map<String, Value>,
    /// Each parameter that was asked for, with its default.
    pub known: Map<String, Value>,
    mistakes: Vec<Mistake>,
}

impl<'v> Parameters<'v> {
    pub(super) fn new(given: &'v Map<String, Value>) -> Self {
        Self { given, known: Map::new(), mistakes: Vec::new() }
    }

    /// All mistakes in the parameters, including parameters that the recipe does not have.
    pub(super) fn finish(mut self, recipe: &str) -> Vec<Mistake> {
        let known: Vec<&str> = self.known.keys().map(String::as_str).collect();
        for key in self.given.keys().filter(|key| !self.known.contains_key(*key)) {
            let problem = format!("is not a parameter of {recipe}. Its parameters are: {}.", known.join(", "));
            self.mistakes.push(Mistake { key: format!("{KEY}.{key}"), problem });
        }
        self.mistakes
    }

    /// The parameter as `read` understands it, or its default.
    pub(super) fn take<T: Into<Value> + Clone>(
        &mut self,
        key: &str,
        default: T,
        read: impl FnOnce(&Value) -> Result<T, String>,
    ) -> T {
        self.known.insert(key.to_owned(), default.clone().into());
        match take(self.given, key, read) {
            Ok(given) => given.unwrap_or(default),
            Err(Mistake { key, problem }) => {
                self.mistakes.push(Mistake { key: format!("{KEY}.{key}"), problem });
                default
            }
        }
    }

    /// A side of a picture in pixels.
    pub(super) fn side(&mut self, key: &str, default: u32) -> u32 {
        self.take(key, default, whole(SIDES))
    }

    /// A probability or a share.
    pub(super) fn share(&mut self, key: &str, default: f64) -> f64 {
        self.take(key, default, share)
    }

    /// How far a factor is from 1 at most.
    pub(super) fn strength(&mut self, key: &str, default: f64) -> f64 {
        self.take(key, default, number(0.0))
    }

    /// The least number and the greatest.
    pub(super) fn range(&mut self, key: &str, default: [f64; 2]) -> [f64; 2] {
        self.take(key, default, |value| numbers(value).ok_or_else(|| "two numbers, the smaller one first".to_owned()))
    }

    /// A filter of resizes.
    pub(super) fn filter(&mut self, key: &str, default: &'static str) -> &'static str {
        self.take(key, default, choice(&FILTERS))
    }

    /// `mean`, on a scale from 0 to 1, and the normalisation by it and `std`.
    pub(super) fn normalize(&mut self) -> ([f64; 3], Value) {
        let [mean, std] = [("mean", MEAN), ("std", STD)].map(|(key, default)| {
            self.take(key, default, |value| {
                numbers(value).ok_or_else(|| "red, green and blue on a scale from 0 to 1".to_owned())
            })
        });
        (mean, json!({ "normalize": { "mean": mean, "std": std } }))
    }
}

/// From 0 to 1.
fn share(value: &Value) -> Result<f64, String> {
    let share = value.as_f64().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "a number from 0.0 to 1.0".to_owned())
}

fn numbers<const N: usize>(value: &Value) -> Option<[f64; N]> {
    let numbers: Option<Vec<f64>> = value.as_array()?.iter().map(Value::as_f64).collect();
    numbers?.try_into().ok()
}
