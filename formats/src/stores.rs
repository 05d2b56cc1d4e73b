//! Stores of objects: how the URL of a dataset and its options say which one is meant, and whether it may be read.

use std::sync::Arc;

use forebay_objects::{Scheme, Settings, Store, is_object_url};
use forebay_sources::{ObjectRoots, Options, SourceError, is_straight};

use crate::address::Address;
use crate::disk_cache;
use crate::option_key::OptionKey;
use crate::tree::Tree;

/// Options of all schemes, if they read objects.
pub(crate) static OPTIONS: [OptionKey; 4] = [ENDPOINT, REGION, ANONYMOUS, VIRTUAL_HOSTED];
pub(crate) const ENDPOINT: OptionKey = OptionKey { name: "endpoint", help: "the URL of the store's server" };
const REGION: OptionKey = OptionKey { name: "region", help: "the region of the bucket" };
const ANONYMOUS: OptionKey =
    OptionKey { name: "anonymous", help: "\"true\" for a public bucket, which is read without credentials" };
const VIRTUAL_HOSTED: OptionKey = OptionKey {
    name: "virtual_hosted",
    help: "whether the bucket is part of the host's name (\"true\") or of the path (\"false\")",
};

/// Requests that a dataset has in flight at once, at most. Small objects need many.
pub(crate) const REQUESTS: usize = 256;

/// Whether a name is the URL of objects.
pub(crate) fn is_url(name: &str) -> bool {
    is_object_url(name)
}

/// The address of a URL. Its store is reached with the credentials of this process. No request is sent yet.
///
/// # Errors
/// The URL is none of a store, may not be read, or an option has a value that it cannot have.
pub(crate) fn open(url: &str, options: &Options) -> Result<Address, SourceError> {
    let own = &options.own;
    let mut settings = Settings::from_variables(std::env::vars_os());
    settings.requests = REQUESTS;
    settings.endpoint = own.get(ENDPOINT.name).map(str::to_owned);
    settings.region = own.get(REGION.name).map(str::to_owned);
    settings.anonymous = own.flag(ANONYMOUS.name, false)?;
    if own.get(VIRTUAL_HOSTED.name).is_some() {
        settings.virtual_hosted = Some(own.flag(VIRTUAL_HOSTED.name, false)?);
    }
    settings.web.roots = options.objects.clone();
    settings.cache = disk_cache::of_options(options)?;
    let store = Store::open(url, &settings)?;
    if store.scheme() == Scheme::Web && !is_straight(url) {
        let expected = "a URL without \"..\", backslashes, tabs, ends of lines, and spaces at its end";
        return Err(SourceError::bad_option("source", &store.url(store.key(url).unwrap_or_default()), expected));
    }
    if let ObjectRoots::Below(_) = &options.objects {
        let shown = || store.url(store.key(url).unwrap_or_default());
        // Another server would get what proves who this process is.
        if settings.endpoint.is_some() {
            let problem =
                "A source of a service cannot have the option \"endpoint\". Set the vendor's variable, such as \
                           AWS_ENDPOINT_URL, in the daemon's environment."
                    .into();
            return Err(SourceError::Store { url: shown(), problem });
        }
        if !options.objects.has(url) {
            let problem = "A service reads only URLs that its configuration allows. Add this URL, or one above it, to \"objects\" in \
                           [sources]."
                .into();
            return Err(SourceError::Store { url: shown(), problem });
        }
    }
    Ok(Address::object(url, Arc::new(Tree::new(store, options.objects.clone()))))
}
