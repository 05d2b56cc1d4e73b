//! A batch for Python: its arrays, as objects that numpy reads as memory, and the right to decide on it.

use std::sync::Arc;

use forebay_client::{Batch as Lent, Decision as Right, Dtype, ElementType, Keep, Layout, MIXED, Shape};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::error::Raise;

/// A batch that the trainer holds.
#[pyclass(frozen, module = "forebay._native")]
#[derive(Debug)]
pub(crate) struct Batch {
    batch: Lent,
    /// The columns that the caller asked for, if it did.
    asked: Option<Arc<[String]>>,
}

/// The right to acknowledge or reject a batch. It does not keep the slot in use.
#[pyclass(frozen, module = "forebay._native")]
#[derive(Debug)]
pub(crate) struct Decision {
    right: Right,
}

/// One array of a batch. It keeps the slot in use, and so does every numpy array made of it.
#[pyclass(frozen, module = "forebay._native")]
#[derive(Debug)]
pub(crate) struct View {
    keep: Keep,
    address: usize,
    shape: Vec<usize>,
    typestr: &'static str,
    /// For numpy. The memory can never be written to.
    read_only: bool,
}

/// Pixels of a batch in memory of a GPU. It keeps the slot in use.
#[pyclass(frozen, module = "forebay._native")]
#[derive(Debug)]
pub(crate) struct GpuView {
    /// Only its drop counts.
    _keep: Keep,
    /// Number of the ring.
    #[pyo3(get)]
    ring: u64,
    /// Bytes from the start of the ring's memory in the GPU.
    #[pyo3(get)]
    offset: u64,
    #[pyo3(get)]
    shape: Vec<usize>,
    #[pyo3(get)]
    typestr: &'static str,
}

impl Batch {
    pub(crate) fn new(batch: Lent, asked: Option<Arc<[String]>>) -> Self {
        Self { batch, asked }
    }

    pub(crate) fn lent(&self) -> &Lent {
        &self.batch
    }

    fn view<T>(&self, slice: &[T], shape: Vec<usize>, typestr: &'static str) -> View {
        View { keep: self.batch.keep(), address: slice.as_ptr().addr(), shape, typestr, read_only: true }
    }
}

#[pymethods]
impl Batch {
    /// Epoch, places with records of it, and places that are shown: every batch is asked for all of them.
    #[getter]
    fn counts(&self) -> (u64, usize, usize) {
        (self.batch.epoch(), self.batch.valid(), self.batch.shown())
    }

    /// Number of the batch's ring.
    #[getter]
    fn ring(&self) -> u64 {
        self.batch.ring().0.number()
    }

    #[getter]
    fn decision(&self) -> Decision {
        Decision { right: self.batch.decision() }
    }

    #[getter]
    fn images(&self) -> View {
        let (shape, typestr) = form(self.batch.shape());
        self.view(self.batch.images(), shape, typestr)
    }

    /// The images, if they are in memory of a GPU. `images` must not be used then.
    #[getter]
    fn gpu_images(&self) -> Option<GpuView> {
        let (ring, slot) = self.batch.ring();
        let offset = u64::from(slot) * ring.gpu()?.pixels.stride;
        let (shape, typestr) = form(self.batch.shape());
        Some(GpuView { _keep: self.batch.keep(), ring: ring.number(), offset, shape, typestr })
    }

    #[getter]
    fn labels(&self) -> View {
        let labels = self.batch.labels();
        self.view(labels, vec![labels.len()], "<i8")
    }

    #[getter]
    fn records(&self) -> View {
        let records = self.batch.records();
        self.view(records, vec![records.len()], "<i8")
    }

    /// Names and types of the columns beside those of every batch.
    #[getter]
    fn columns(&self) -> Vec<(String, String)> {
        let fields = self.batch.columns().fields().iter();
        // Labels of mixed pictures are wrong without the columns that say how these were mixed.
        let needed = |name: &String| MIXED.contains(&name.as_str());
        let asked = |name: &String| self.asked.as_ref().is_none_or(|asked| asked.contains(name) || needed(name));
        fields
            .filter(|field| asked(&field.name))
            .map(|field| (field.name.clone(), field.column_type.to_string()))
            .collect()
    }

    /// A column: its validity, the offsets of its ragged levels, and the rows that all places have.
    fn column(&self, name: &str) -> Option<Column> {
        let column = self.batch.column(name)?;
        let counts = column.counts(column.validity().len());
        let of = column.column_type();
        let validity = self.view(column.validity(), vec![column.validity().len()], "|b1");
        let offsets = (1..=of.depth())
            .map(|level| self.view(column.offsets(level), vec![counts[level - 1] + 1], "<i8"))
            .collect();
        let rows = counts[of.depth()];
        let shape = [rows].into_iter().chain(of.dims().iter().map(|&dim| dim as usize)).collect();
        Some((validity, offsets, self.view(column.values(), shape, typestr(of.element()))))
    }

    #[getter]
    fn mask(&self) -> View {
        let mask = self.batch.mask();
        self.view(mask, vec![mask.len()], "|b1")
    }
}

/// The views of a column: validity, offsets of each ragged level, values.
type Column = (View, Vec<View>, View);

/// Axes of a batch's images, and their type as numpy names it.
pub(crate) fn form(shape: Shape) -> (Vec<usize>, &'static str) {
    let Shape { batch, height, width, channels, dtype, layout } = shape;
    let axes = match layout {
        Layout::Nhwc => [batch, height, width, channels],
        Layout::Nchw => [batch, channels, height, width],
    };
    let typestr = match dtype {
        Dtype::U8 => "|u1",
        Dtype::F16 => "<f2",
        // numpy has no such type, so it gets the bits.
        Dtype::Bf16 => "<u2",
        Dtype::F32 => "<f4",
    };
    (axes.map(|axis| axis as usize).to_vec(), typestr)
}

#[pymethods]
impl Decision {
    fn ack(&self, py: Python<'_>) -> PyResult<()> {
        self.right.ack().map_err(|error| error.raise(py))
    }

    fn reject(&self, py: Python<'_>) -> PyResult<()> {
        self.right.reject().map_err(|error| error.raise(py))
    }
}

#[pymethods]
impl View {
    /// The first `places` of it, not marked as read-only: for frameworks that have no such mark and warn when they drop one.
    fn unmarked(&self, places: usize) -> Self {
        let mut shape = self.shape.clone();
        if let Some(all) = shape.first_mut() {
            *all = places.min(*all);
        }
        let Self { address, typestr, .. } = *self;
        Self { keep: self.keep.clone(), address, shape, typestr, read_only: false }
    }

    /// The memory's address for numpy, and whether it is marked as read-only.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        interface.set_item("typestr", self.typestr)?;
        interface.set_item("data", (self.address, self.read_only))?;
        Ok(interface)
    }
}

/// A type as numpy names it.
pub(crate) fn typestr(element: ElementType) -> &'static str {
    match element {
        ElementType::Bool => "|b1",
        ElementType::U8 => "|u1",
        ElementType::I8 => "|i1",
        // numpy has no bfloat16, so it gets the bits.
        ElementType::U16 | ElementType::Bf16 => "<u2",
        ElementType::I16 => "<i2",
        ElementType::F16 => "<f2",
        ElementType::U32 => "<u4",
        ElementType::I32 => "<i4",
        ElementType::F32 => "<f4",
        ElementType::U64 => "<u8",
        ElementType::I64 => "<i8",
        ElementType::F64 => "<f8",
    }
}
