//! Memory that Rust has filled, as an array of numpy without a copy.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The values of a picture that was made here, for numpy. They live as long as this.
#[pyclass(frozen, module = "forebay._native")]
pub(crate) struct Pixels {
    /// Only numpy looks into it.
    _bytes: Vec<u8>,
    address: usize,
    shape: [u32; 3],
    typestr: &'static str,
}

impl Pixels {
    /// Packed pixels of `size` (width, height, channels), with values of numpy's type `typestr`.
    pub(crate) fn new(mut bytes: Vec<u8>, (width, height, channels): (u32, u32, u32), typestr: &'static str) -> Self {
        let shape = [height, width, channels];
        Self { address: bytes.as_mut_ptr().expose_provenance(), _bytes: bytes, shape, typestr }
    }
}

#[pymethods]
impl Pixels {
    /// The memory's address for numpy. The array may be written: nothing else reads it.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", PyTuple::new(py, self.shape)?)?;
        interface.set_item("typestr", self.typestr)?;
        interface.set_item("data", (self.address, false))?;
        Ok(interface)
    }
}
