//! Programs in Python. What all of them share is in `child.py`.

use std::ffi::OsStr;

use crate::command::ChildCommand;

/// What begins each of them. It travels in the binary, so that a wheel and a service have the one that fits.
const BEGIN: &str = include_str!("child.py");

/// A part of a program that is not a file of the machine.
#[derive(Clone, Copy, Debug)]
pub struct PythonModule {
    /// What the other parts import it as.
    pub name: &'static str,
    /// Its code.
    pub code: &'static str,
}

impl ChildCommand {
    /// Runs a program by this interpreter. Its modules are imported in their order. The last one has a function `program()`, which
    /// gets the connection to the daemon and gives an object with a method for each request.
    pub fn python(interpreter: impl AsRef<OsStr>, name: impl Into<String>, modules: &[PythonModule]) -> Self {
        let modules = modules.iter().flat_map(|module| [module.name, module.code]);
        Self::new(interpreter, name).args(["-c", BEGIN].into_iter().chain(modules))
    }
}
