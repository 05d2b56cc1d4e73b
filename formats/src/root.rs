//! The folder where the relative paths of a dataset start, as the option `root` names it.

use forebay_sources::{Options, SourceError};

use crate::address::Address;
use crate::option_key::OptionKey;
use crate::stores;

/// The option that CSVs and lists share.
pub(crate) const ROOT: OptionKey =
    OptionKey { name: "root", help: "the folder where relative paths start, and that a CSV's paths must stay inside" };

/// The folder where relative paths start, unless it is `otherwise`.
///
/// # Errors
/// The option has a value that it cannot have.
pub(crate) fn root(options: &Options, otherwise: &Address) -> Result<Address, SourceError> {
    Ok(given_root(options, otherwise)?.unwrap_or_else(|| otherwise.clone()))
}

/// The same folder, if the user gave one. In a store, the root is a URL, or is where it leads from the folder that the
/// dataset is in.
///
/// # Errors
/// The option has a value that it cannot have.
pub(crate) fn given_root(options: &Options, folder: &Address) -> Result<Option<Address>, SourceError> {
    match options.own.get(ROOT.name) {
        None => Ok(None),
        // Names of files follow it, so that they would be behind a query.
        Some(url) if stores::is_url(url) && forebay_objects::shown(url) != url => {
            let expected = "a URL without a query, a name and a password";
            Err(SourceError::bad_option(ROOT.name, &forebay_objects::shown(url), expected))
        }
        Some(url) if stores::is_url(url) => stores::open(url, options).map(Some),
        Some(path) if folder.tree().is_some() => Ok(Some(folder.join(path))),
        Some(path) => Ok(Some(Address::file(path))),
    }
}

/// Whether the files of a list are objects, whatever the list is.
pub(crate) fn is_remote(options: &Options) -> bool {
    options.own.get(ROOT.name).is_some_and(stores::is_url)
}
