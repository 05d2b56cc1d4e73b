//! What a key of a stream is called, what it is for, and who may set it: all that documents and clients show of it. The
//! two macros declare keys. Everything else is made of their declarations.

use serde_json::Value;

/// A key of a `[streams.NAME]` table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// Its help, in lines.
    pub help: &'static [&'static str],
    /// What only a caller in Python needs to know.
    pub in_python: &'static str,
    /// The type of its values in Python.
    pub python: &'static str,
    /// Its default as TOML. `None`: it may be left out, or it is required, and the help says which.
    pub default: fn() -> Option<String>,
    /// A value as TOML, for a key without a default.
    pub example: &'static str,
    /// Where it is in Python.
    pub home: Home,
    /// Who sets it.
    pub who: Who,
    /// A running daemon adopts a new value while the stream is open.
    pub while_open: bool,
    /// Its default in Python is `None`: the stream or the daemon decides.
    pub undecided: bool,
}

/// Where a key is in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// An argument of `forebay.Loader`.
    Loader,
    /// A field of `forebay.Targets`.
    Targets,
    /// An argument of `forebay.Source`.
    Source,
    /// A field of `forebay.Shard`.
    Shard,
    /// A field of `forebay.Lockstep`.
    Lockstep,
    /// Python sets it in another way.
    Other,
    /// `Loader(config={"stream": ...})`.
    Config,
    /// Only the operator of a service sets it.
    Service,
}

/// Who sets a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// A `[streams.NAME]` table. What a trainer gives must agree with it.
    Stream,
    /// A table, and each trainer may have its own value.
    Both,
    /// Each trainer. A table does not have it.
    Trainer,
}

impl Home {
    /// Its name in the schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loader => "Loader",
            Self::Targets => "Targets",
            Self::Source => "Source",
            Self::Shard => "Shard",
            Self::Lockstep => "Lockstep",
            Self::Other => "other",
            Self::Config => "config",
            Self::Service => "service",
        }
    }
}

impl Key {
    /// An argument of the Loader that a table may have as well.
    pub const fn of(
        name: &'static str,
        help: &'static [&'static str],
        python: &'static str,
        default: fn() -> Option<String>,
    ) -> Self {
        Self {
            name,
            help,
            in_python: "",
            python,
            default,
            example: "",
            home: Home::Loader,
            who: Who::Stream,
            while_open: false,
            undecided: false,
        }
    }

    /// Whether a `[streams.NAME]` table may have it.
    pub fn in_table(&self) -> bool {
        self.who != Who::Trainer
    }

    /// Its help as one line.
    pub fn text(&self) -> String {
        self.help.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }
}

/// A table from which keys are read. Its implementation records mistakes.
pub trait Values {
    /// The key's value, if it is there and `read` accepts it. If `read` refuses it, its error names what is allowed.
    fn take<T>(&mut self, key: &'static str, read: impl FnOnce(&Value) -> Result<T, String>) -> Option<T>;
}

/// Declares keys that are read together with others: a list of [`Key`].
///
/// ```
/// use forebay_pipeline::{keys, settings::Home};
///
/// const KEYS: &[forebay_pipeline::settings::Key] = keys! {
///     /// The seed of all random choices.
///     seed: "int" = "0";
///     /// Passes over the dataset. Left out: no end.
///     epochs: "int", example: "90", home: Home::Config;
/// };
/// assert_eq!((KEYS[0].name, (KEYS[0].default)()), ("seed", Some("0".to_owned())));
/// assert_eq!((KEYS[1].home, KEYS[1].text()), (Home::Config, "Passes over the dataset. Left out: no end.".to_owned()));
/// ```
#[macro_export]
macro_rules! keys {
    (@default) => { || None };
    (@default $default:literal) => { || Some(String::from($default)) };
    ($( $(#[doc = $help:literal])+ $name:ident: $python:literal $(= $default:literal)? $(, $option:ident: $value:expr)*; )*) => {
        &[$(
            $crate::settings::Key {
                $($option: $value,)*
                ..$crate::settings::Key::of(stringify!($name), &[$($help),+], $python, $crate::keys!(@default $($default)?))
            }
        ),*]
    };
}

/// Declares a struct of settings. Its plain fields are read together with others. Each of its keys is a field with its
/// help, default and reader, and becomes a [`Key`] of `KEYS` and a line of `read`.
macro_rules! settings {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $key:literal) => { $key };
    (
        $(#[$outer:meta])*
        pub struct $name:ident($($given:ident: $given_type:ty),*) {
            plain { $( $(#[$meta:meta])* $plain:ident: $plain_type:ty = $plain_default:expr; )* }
            keys { $(
                $(#[doc = $help:literal])+
                $field:ident $(as $key:literal)?: $type:ty = $default:expr, $read:expr $(, $option:ident: $value:expr)*;
            )* }
        }
    ) => {
        $(#[$outer])*
        pub struct $name {
            $( $(#[$meta])* pub $plain: $plain_type, )*
            $( $(#[doc = $help])+ pub $field: $type, )*
        }

        impl $name {
            /// The keys that are a field each.
            pub const KEYS: &'static [Key] = &[$(
                Key {
                    $($option: $value,)*
                    ..Key::of(
                        settings!(@name $field $($key)?),
                        &[$($help),+],
                        <$type as Written>::PYTHON,
                        || { let default: $type = $default; default.shown() },
                    )
                }
            ),*];

            /// The defaults. A configuration has the same ones.
            pub fn new($($given: $given_type),*) -> Self {
                Self { $($plain: $plain_default,)* $($field: $default,)* }
            }

            /// Reads the keys that are a field each. One that is absent or wrong keeps its value.
            pub fn read(&mut self, values: &mut impl Values) {
                $(
                    let read: Option<<$type as Written>::Read> = values.take(settings!(@name $field $($key)?), $read);
                    if let Some(read) = read {
                        self.$field = <$type as Written>::of(read);
                    }
                )*
            }
        }
    };
}
pub(crate) use settings;
