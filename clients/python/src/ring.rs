//! A ring for Python: the address of its memory in this process, and the descriptor of its memory in a GPU. Both are numbers,
//! which Python passes to the CUDA driver.

use std::os::fd::AsRawFd as _;

use forebay_client::{Field, Mapped};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::batch::{form, typestr};
use crate::error::unlockable;

/// A ring that may have batches. It keeps its memory mapped, and its descriptor open.
#[pyclass(frozen, module = "forebay._native")]
#[derive(Debug)]
pub(crate) struct Ring {
    mapped: Mapped,
}

impl Ring {
    pub(crate) fn new(mapped: Mapped) -> Self {
        Self { mapped }
    }
}

/// Name, type of a value as numpy names it, ragged levels, and fixed dimensions.
type ColumnForm = (String, &'static str, usize, Vec<u32>);

#[pymethods]
impl Ring {
    /// Axes of a batch's images with all its places, and their type as numpy names it.
    #[getter]
    fn images(&self) -> (Vec<usize>, &'static str) {
        form(self.mapped.shape())
    }

    /// The columns beside those of every batch.
    #[getter]
    fn columns(&self) -> Vec<ColumnForm> {
        let fields = self.mapped.columns().fields().iter();
        let of = |field: &Field| {
            let of = &field.column_type;
            (field.name.clone(), typestr(of.element()), of.depth(), of.dims().to_vec())
        };
        fields.map(of).collect()
    }

    #[getter]
    fn number(&self) -> u64 {
        self.mapped.number()
    }

    /// Address and bytes of the slots.
    #[getter]
    fn slots(&self) -> (usize, usize) {
        let slots = self.mapped.slots();
        (slots.cast::<u8>().addr().get(), slots.len())
    }

    #[getter]
    fn pinnable(&self) -> bool {
        self.mapped.is_pinnable()
    }

    /// Makes the slots writable while it calls `lock`, in which a driver page-locks them.
    fn while_writable<'py>(&self, lock: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let called = self.mapped.while_writable(|| lock.call0());
        called.map_err(|error| unlockable(lock.py(), &error))?
    }

    /// The UUID of the GPU that has the pixels, the bytes of its memory, and the descriptor; None in the host.
    #[getter]
    fn gpu<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyBytes>, u64, i32)> {
        let gpu = self.mapped.gpu()?;
        Some((PyBytes::new(py, &gpu.pixels.device), gpu.pixels.total, gpu.fd.as_raw_fd()))
    }
}
