//! What the name of a dataset means: a scheme, an address, and options that the scheme has.

use std::num::NonZeroU64;

use forebay_sources::{Options, SourceError};

use crate::address::Address;
use crate::given_sizes::SizeNames;
use crate::roles::Roles;
use crate::root::is_remote;
use crate::scheme::{OptionKey, Scheme, known};
use crate::{beside, containers, given_sizes, limited, python, roles, scheme, stores};

/// What a name means.
pub(super) struct Resolved {
    pub scheme: &'static Scheme,
    pub address: Address,
    /// Without the limit, the roles and the names of columns with sizes.
    pub options: Options,
    pub limit: Option<NonZeroU64>,
    pub roles: Roles,
    pub sizes: Option<SizeNames>,
}

impl Resolved {
    /// What a name means. Where several of the schemes recognise a path, the first one has it.
    ///
    /// # Errors
    /// There is nothing, or the scheme is unknown or does not have one of the options.
    pub(super) fn of(name: &str, options: &Options, schemes: &'static [Scheme]) -> Result<Self, SourceError> {
        let as_path = Address::file(name);
        let (scheme, address, mut options) = match scheme::split(name)
            .filter(|(_, rest)| names_objects(name, rest) || !as_path.exists())
        {
            Some(_) if stores::is_url(name) => {
                let (url, options) = scheme::with_query(name, options)?;
                let address = stores::open(url, &options)?;
                let scheme = address.settled(recognised(&address, schemes))?;
                (scheme, address, options)
            }
            Some((scheme, rest)) => {
                let scheme = schemes.iter().find(|known| known.name == scheme).ok_or_else(|| {
                    let name = format!("{}{}", &name[..name.len() - rest.len()], forebay_objects::shown(rest));
                    SourceError::UnknownScheme { name, known: known(schemes) }
                })?;
                let (rest, options) = scheme::with_query(rest, options)?;
                let address = if stores::is_url(rest) { stores::open(rest, &options)? } else { Address::file(rest) };
                if scheme.name == python::SCHEME.name && address.tree().is_some() {
                    let problem = "A custom reader is a file of this machine. Copy it, and give its path.".to_owned();
                    return Err(SourceError::Store { url: forebay_objects::shown(rest), problem });
                }
                (scheme, address, options)
            }
            None => (recognised(&as_path, schemes)?, as_path, options.clone()),
        };
        let limit = limited::take(&mut options)?;
        beside::telling(&options)?;
        if scheme.takes_any() {
            options.own = options.own.without(beside::UNREAD.name);
        }
        let (roles, sizes) = (roles::take(&mut options)?, given_sizes::take(&mut options)?);
        let reads_objects = address.tree().is_some() || is_remote(&options);
        scheme.check(&options, store_options(reads_objects))?;
        Ok(Self { scheme, address, options, limit, roles, sizes })
    }
}

/// Whether the name has the URL of objects. Then it is never a path, even if the path exists. Otherwise, a user who can
/// make folders where the process was started could choose what a URL means.
fn names_objects(name: &str, rest: &str) -> bool {
    stores::is_url(name) || stores::is_url(rest)
}

/// The scheme of a path that names none. A pattern of several files is recognised by the first of them.
fn recognised(address: &Address, schemes: &'static [Scheme]) -> Result<&'static Scheme, SourceError> {
    let first = containers::pattern(address)?.map(|files| files[0].clone());
    let looked_at = first.as_ref().unwrap_or(address);
    looked_at.look()?;
    let recognised = schemes.iter().find(|known| (known.recognises)(looked_at));
    recognised.ok_or_else(|| SourceError::Unrecognised { path: address.path().to_owned(), known: known(schemes) })
}

/// The options that stores add to those of a scheme.
pub(super) fn store_options(reads_objects: bool) -> &'static [OptionKey] {
    if reads_objects { &stores::OPTIONS } else { &[] }
}
