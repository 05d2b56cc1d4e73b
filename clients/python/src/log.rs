//! The log of Python, under the package's name.

use pyo3::prelude::*;

/// Logs a condition that lasts, such as an outage. Errors of the logger are ignored.
pub(crate) fn warn(py: Python<'_>, text: &str) {
    let log = || -> PyResult<()> {
        let logger = py.import("logging")?.call_method1("getLogger", ("forebay",))?;
        logger.call_method1("warning", (text,)).map(drop)
    };
    let _logged = log();
}
