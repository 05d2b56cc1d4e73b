//! The names that a user gives the classes of a folder of annotations.

use forebay_sources::{Options, SourceError};

use crate::option_key::OptionKey;

/// The option that folders of annotations share.
pub(crate) const CLASSES: OptionKey =
    OptionKey { name: "classes", help: "the names of the classes in their order, separated by commas" };

/// The names that the user gave the classes.
///
/// # Errors
/// They are not different names.
pub(crate) fn given_classes(options: &Options) -> Result<Option<Vec<String>>, SourceError> {
    let Some(text) = options.own.get(CLASSES.name) else { return Ok(None) };
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    let twice = (1..names.len()).any(|place| names[..place].contains(&names[place]));
    if twice || names.iter().any(String::is_empty) {
        return Err(SourceError::bad_option(CLASSES.name, text, "different names, separated by commas"));
    }
    Ok(Some(names))
}
