//! A ring for Python: where its memory is in this process, and the descriptor of pixels in memory of a GPU. Numbers alone: what is
//! done with them is the CUDA driver's part, which Python calls.

use std::os::fd::AsRawFd as _;

use forebay_client::Mapped;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::unlockable;

/// A ring that batches may stand in. Keeps its memory mapped, and its descriptor open.
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

#[pymethods]
impl Ring {
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

    /// Calls `lock`, which has a driver lock the slots' pages, while they are writable.
    fn while_writable<'py>(&self, lock: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let called = self.mapped.while_writable(|| lock.call0());
        called.map_err(|error| unlockable(lock.py(), &error))?
    }

    /// UUID of the GPU in whose memory the pixels stand, bytes of that memory, and its descriptor; None in the host.
    #[getter]
    fn gpu<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyBytes>, u64, i32)> {
        let gpu = self.mapped.gpu()?;
        Some((PyBytes::new(py, &gpu.pixels.device), gpu.pixels.total, gpu.fd.as_raw_fd()))
    }
}
