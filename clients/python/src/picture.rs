//! Pictures without a daemon: pipelines of `forebay-pixels` on files and arrays that Python has in its memory.
//!
//! Nothing here starts a thread or keeps a lock, so that a forked child can go on. Each thread has a decoder of its own.

use std::cell::RefCell;

use forebay_pixels::{
    Background, CpuDecoder, Draw, Dtype, Fault, Input, Limits, Mode, Origin, Output, Plan, Transform, TransformList,
    Transformed, document, probe,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;

use crate::error;
use crate::operate::read_match;
use crate::pixels::Pixels;
use crate::planned;

thread_local! {
    static DECODER: RefCell<CpuDecoder> = RefCell::new(CpuDecoder::new());
}

/// A checked list of transforms.
#[pyclass(frozen, name = "TransformList", module = "forebay._native")]
pub(crate) struct PyTransformList {
    list: TransformList,
}

#[pymethods]
impl PyTransformList {
    /// From a list of tables with one key each, as JSON, and the name of a `match`. Values are `uint8`, or `float32` if the list
    /// normalises them. `background` is what shows through where a picture is transparent; without it, alpha is left out. With `reducing_gap`, at least 1, JPEGs
    /// may be decoded at a smaller scale, as by Pillow's `Image.thumbnail`. `mode` is what a pixel has.
    #[staticmethod]
    fn of(
        transforms: &str,
        matched: &str,
        adjust_orientation: bool,
        background: Option<[u8; 3]>,
        reducing_gap: Option<f64>,
        mode: &str,
    ) -> PyResult<Self> {
        let matched = read_match(matched)?;
        let list: Vec<Value> = serde_json::from_str(transforms).map_err(refused)?;
        let read = |(place, value): (usize, Value)| {
            let text = document::shown(&value);
            let problem = |error| PyValueError::new_err(format!("transform[{place}] is {text}: {error}"));
            serde_json::from_value(value).map_err(problem)
        };
        let transforms: Vec<Transform> = list.into_iter().enumerate().map(read).collect::<PyResult<_>>()?;
        let normalizes = transforms.iter().any(|transform| matches!(transform, Transform::Normalize(_)));
        let dtype = if normalizes { Dtype::Float32 } else { Dtype::Uint8 };
        let background = background.map_or(Background::Dropped, Background::Colour);
        let mode = document::mode(&mode.into())
            .map_err(|allowed| PyValueError::new_err(format!("mode: give {allowed}, not {mode:?}")))?;
        let output = Output { dtype, background, mode, ..Output::default() };
        let input = Input { adjust_orientation, reducing_gap, ..Input::default() };
        let list = TransformList::new(transforms, output)
            .and_then(|list| list.with_input(input))
            .and_then(|list| list.with_match(matched))
            .map_err(refused)?;
        if let Some((place, name)) = list.drawing_by_boxes() {
            let why = "needs the boxes of a dataset's records, so only a Loader can carry it out";
            return Err(PyValueError::new_err(format!("transform {place} ({name}) {why}")));
        }
        if let Some(Transform::Mosaic(_)) = list.transforms().first() {
            let why = "lays other records of a dataset beside the picture, so only a Loader can carry it out";
            return Err(PyValueError::new_err(format!("transform 0 (mosaic) {why}")));
        }
        let of_batches = list.batch_function().map(|function| &function.python);
        if let Some(python) = list.python().or(of_batches) {
            let why = "is called in child processes, so only a Loader can carry it out; call the function itself";
            return Err(PyValueError::new_err(format!("the function {} {why}", python.function)));
        }
        Ok(Self { list })
    }

    /// Decodes a file's bytes and transforms the picture, by the draws of (seed, epoch, record), within a limit of pixels and one
    /// of bytes. `name` is for errors.
    fn decode(
        &self,
        py: Python<'_>,
        file: &[u8],
        draw: (u64, u64, u64),
        limits: (u64, u64),
        name: &str,
    ) -> PyResult<Pixels> {
        let limits = limited(limits);
        let work = |decoder: &mut CpuDecoder| decoder.decode_sized(file, &self.list, drawn(draw), &limits);
        self.made(py, name, work)
    }

    /// The same with packed RGB of `size` (width, height).
    fn transform(
        &self,
        py: Python<'_>,
        rgb: &[u8],
        size: (u32, u32),
        draw: (u64, u64, u64),
        limits: (u64, u64),
    ) -> PyResult<Pixels> {
        if rgb.is_empty() || rgb.len() as u64 != u64::from(size.0) * u64::from(size.1) * 3 {
            return Err(PyValueError::new_err(format!(
                "{} bytes are no picture of {} x {}",
                rgb.len(),
                size.0,
                size.1
            )));
        }
        if self.list.output().mode != Mode::Rgb {
            return Err(PyValueError::new_err(
                "an array of pixels is RGB; give the bytes of a file, or leave mode out",
            ));
        }
        let limits = limited(limits);
        let work = |decoder: &mut CpuDecoder| decoder.transform_sized(rgb, size, &self.list, drawn(draw), &limits);
        self.made(py, "image", work)
    }

    /// What is done with a picture of `size` (width, height), after its EXIF orientation, by the draws of (seed, epoch, record).
    /// It is JSON: `steps` in their order, each a table with one key, and whether the result is `mirrored` and `flipped` last.
    fn plan(&self, size: (u32, u32), draw: (u64, u64, u64)) -> String {
        let mut plan = Plan::default();
        self.list.plan_into(&Origin::plain(size), drawn(draw), &mut plan);
        planned::document(&plan).to_string()
    }
}

impl PyTransformList {
    /// Does the work while other threads run.
    fn made(
        &self,
        py: Python<'_>,
        name: &str,
        work: impl FnOnce(&mut CpuDecoder) -> Result<Transformed, Fault> + Send,
    ) -> PyResult<Pixels> {
        let made = py.detach(|| DECODER.with_borrow_mut(work));
        let Transformed { width, height, bytes } = made.map_err(|fault| error::picture(py, name, &fault))?;
        let output = self.list.output();
        let typestr = if output.dtype == Dtype::Float32 { "<f4" } else { "|u1" };
        Ok(Pixels::new(bytes, (width, height, output.mode.channels()), typestr))
    }
}

/// Format, width and height of a file's bytes, as the picture is seen. `name` is for errors.
#[pyfunction]
pub(crate) fn probed(py: Python<'_>, file: &[u8], name: &str) -> PyResult<(&'static str, u32, u32)> {
    let found = py.detach(|| probe(file)).map_err(|fault| error::picture(py, name, &fault))?;
    Ok((found.format.name(), found.width, found.height))
}

/// A draw of (seed, epoch, record).
fn drawn((seed, epoch, record): (u64, u64, u64)) -> Draw {
    Draw { seed, epoch, record }
}

fn limited((pixels, bytes): (u64, u64)) -> Limits {
    Limits { pixels, bytes, ..Limits::default() }
}

fn refused(problem: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(problem.to_string())
}
