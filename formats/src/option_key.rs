//! The name of an option that a dataset may be given, with what it says.

/// An option of a scheme, or of all datasets in stores.
pub(super) struct OptionKey {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub help: &'static str,
}
