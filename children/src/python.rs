//! Programs in Python. What all of them share is in `child.py`.

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

/// The arguments with which an interpreter runs a program of these modules.
pub(crate) fn arguments(modules: &[PythonModule]) -> impl Iterator<Item = &str> {
    ["-c", BEGIN].into_iter().chain(modules.iter().flat_map(|module| [module.name, module.code]))
}
