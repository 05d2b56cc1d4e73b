//! Named recipes of `forebay-pixels`, for `forebay.recipes`.

use forebay_pixels::document::{self, NAMED};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, Value};

/// The lists of a named recipe as JSON: for each view, `images` first, its transforms as tables. `parameters` is a JSON object.
///
/// # Errors
/// `ValueError`: there is no such recipe, or a parameter is unknown or wrong.
#[pyfunction]
pub(crate) fn named_recipe(name: &str, parameters: &str) -> PyResult<String> {
    let mut table: Map<String, Value> = serde_json::from_str(parameters).map_err(refused)?;
    table.insert("name".to_owned(), name.into());
    let lists = document::named(&table.into()).map_err(|mistakes| {
        let told = mistakes.iter().map(|mistake| format!("{}: {}", mistake.key, mistake.problem));
        refused(told.collect::<Vec<_>>().join(" "))
    })?;
    let images = std::iter::once(("images".to_owned(), lists.images));
    let views = images.chain(lists.views).map(|(view, list)| (view, list.into()));
    Ok(Value::Object(views.collect()).to_string())
}

/// The parameters of all named recipes with their defaults, as JSON.
#[pyfunction]
pub(crate) fn recipe_parameters() -> String {
    let recipes = NAMED.iter().map(|recipe| (recipe.name.to_owned(), recipe.parameters().into()));
    Value::Object(recipes.collect()).to_string()
}

fn refused(problem: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(problem.to_string())
}
