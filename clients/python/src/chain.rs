//! A chain of Paddle's readers for Python. The rules of chains and shapes are the Rust client's.

use std::collections::HashSet;

use forebay_client::reader::{Chain as Readers, ChainError, ColumnAxes, Dims};
use pyo3::prelude::*;
use serde_json::Value;

use crate::error::setting;

/// Which files are read, and what is chained to their reader.
#[pyclass(frozen, module = "forebay._native")]
#[derive(Debug)]
pub(crate) struct Chain {
    readers: Readers,
}

#[pymethods]
impl Chain {
    #[staticmethod]
    fn open_files(py: Python<'_>, files: Vec<String>, shapes: Option<Vec<Vec<i64>>>) -> PyResult<Self> {
        let read = || -> Result<Readers, ChainError> {
            let readers = Readers::open_files(files)?;
            Ok(match shapes {
                Some(shapes) => readers.dims(Dims::new(&shapes)?),
                None => readers,
            })
        };
        Self::made(py, read())
    }

    #[staticmethod]
    fn multiple(py: Python<'_>, chains: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        Self::made(py, Readers::multiple(chains.into_iter().map(|chain| chain.readers.clone())))
    }

    fn shuffle(&self, py: Python<'_>, buffer: i64) -> PyResult<Self> {
        Self::made(py, self.readers.clone().shuffle(at_least_0(buffer)))
    }

    fn batch(&self, py: Python<'_>, records: i64) -> PyResult<Self> {
        Self::made(py, self.readers.clone().batch(at_least_0(records)))
    }

    fn multi_pass(&self, py: Python<'_>, passes: i64) -> PyResult<Self> {
        Self::made(py, self.readers.clone().multi_pass(at_least_0(passes)))
    }

    fn double_buffer(&self, py: Python<'_>) -> PyResult<Self> {
        Self::made(py, self.readers.clone().double_buffer())
    }

    /// Whether all passes are read as one.
    #[getter]
    fn has_passes(&self) -> bool {
        self.readers.has_passes()
    }

    /// The settings that the chain decides on, as JSON, beside those that the caller gives.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 makes the set for this call")]
    fn settings(&self, py: Python<'_>, given: HashSet<String>) -> PyResult<String> {
        let decided = self.readers.decided(|key| given.contains(key));
        Ok(Value::from(decided.map_err(|error| setting(py, error.to_string()))?).to_string())
    }

    /// Compares the expected shapes with the axes of columns. None is a length that differs from batch to batch.
    fn check(&self, py: Python<'_>, columns: Vec<(String, Vec<Option<u32>>)>) -> PyResult<()> {
        let columns: Vec<_> = columns.into_iter().map(|(name, axes)| ColumnAxes::new(&name, axes)).collect();
        self.readers.check(&columns).map_err(|error| setting(py, error.to_string()))
    }
}

impl Chain {
    fn made(py: Python<'_>, readers: Result<Readers, ChainError>) -> PyResult<Self> {
        readers.map(|readers| Self { readers }).map_err(|error| setting(py, error.to_string()))
    }
}

/// Chains refuse 0, and so all numbers below it.
fn at_least_0(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
