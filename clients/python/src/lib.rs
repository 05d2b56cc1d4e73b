//! The native half of the Python package `forebay`: sessions and batches of the Rust client, the pipelines and operations of
//! `forebay-pixels`, and the coordinator's workers that read the data themselves, thinly wrapped.
//!
//! Users see the classes in `python/forebay/`. This crate has only the code that needs Rust. It has no unsafe code:
//! numpy gets the ring's memory through `__array_interface__`, which is an address as a number.
#![forbid(unsafe_code)]

mod batch;
mod chain;
mod error;
mod log;
mod named;
mod operate;
mod order;
mod picture;
mod pixels;
mod planned;
mod ring;
mod session;
mod step_door;
mod tasks;
mod untaken;
mod waiting;

use pyo3::prelude::*;

/// Native half of `forebay`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(named::named_recipe, module)?)?;
    module.add_function(wrap_pyfunction!(named::recipe_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(operate::operate, module)?)?;
    module.add_function(wrap_pyfunction!(order::shuffled, module)?)?;
    module.add_function(wrap_pyfunction!(picture::probed, module)?)?;
    module.add_class::<chain::Chain>()?;
    module.add_class::<picture::PyTransformList>()?;
    module.add_class::<pixels::Pixels>()?;
    module.add_class::<session::Session>()?;
    module.add_class::<step_door::StepDoor>()?;
    module.add_class::<tasks::TaskWorker>()?;
    module.add_class::<batch::Batch>()?;
    module.add_class::<batch::Decision>()?;
    module.add_class::<batch::View>()?;
    module.add_class::<batch::GpuView>()?;
    module.add_class::<ring::Ring>()
}
