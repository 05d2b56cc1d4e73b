//! Operations on the values of a picture that Python has in its memory.

use forebay_pixels::{Match, Operation};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::pixels::Pixels;

/// Carries out one operation, a document such as `{"solarize": {"threshold": 128}}`, on packed RGB of `size` (width, height).
#[pyfunction]
pub(crate) fn operate(
    py: Python<'_>,
    rgb: &[u8],
    size: (u32, u32),
    operation: &str,
    matched: &str,
) -> PyResult<Pixels> {
    let matched = read_match(matched)?;
    let operation: Operation =
        serde_json::from_str(operation).map_err(|error| PyValueError::new_err(error.to_string()))?;
    if let Some(problem) = operation.problem() {
        return Err(PyValueError::new_err(format!("{}: {problem}", operation.name())));
    }
    if matched == Match::Torch && !operation.has_torch() {
        let problem =
            format!("{}: with match = \"torch\", interpolation must be \"nearest\" or \"bilinear\"", operation.name());
        return Err(PyValueError::new_err(problem));
    }
    if rgb.is_empty() || rgb.len() as u64 != u64::from(size.0) * u64::from(size.1) * 3 {
        return Err(PyValueError::new_err(format!("{} bytes are no picture of {} x {}", rgb.len(), size.0, size.1)));
    }
    let made = py.detach(|| {
        let mut made = rgb.to_vec();
        operation.apply(&mut made, size, matched);
        made
    });
    Ok(Pixels::new(made, (size.0, size.1, 3), "|u1"))
}

pub(crate) fn read_match(name: &str) -> PyResult<Match> {
    match name {
        "pillow" => Ok(Match::Pillow),
        "torch" => Ok(Match::Torch),
        other => {
            let problem = format!("match is \"{other}\"; give one of \"pillow\", \"torch\"");
            Err(PyValueError::new_err(problem))
        }
    }
}
