//! `--select` and `--where`: which records of a dataset a command is about.

use serde_json::{Map, Value};

use crate::failure::Failure;

/// The records of a dataset, as the keys `select` and `where` of a stream choose them.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct SelectionArgs {
    /// Only records of this list: a .npy, Arrow or parquet file, as `select` of a stream.
    #[arg(long, value_name = "FILE")]
    pub(crate) select: Option<String>,
    /// Only records for which this condition holds, such as "pixels >= 65536 and label in (1, 2)", as `where` of a stream.
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) condition: Option<String>,
}

impl SelectionArgs {
    /// Adds the keys to the settings of a stream.
    pub(crate) fn add_to(&self, settings: &mut Map<String, Value>) {
        for (key, value) in [("select", &self.select), ("where", &self.condition)] {
            if let Some(value) = value {
                settings.insert(key.to_owned(), value.as_str().into());
            }
        }
    }

    /// Refuses the options, if one is given, with what they need.
    ///
    /// # Errors
    /// One is given.
    pub(crate) fn refuse(&self, need: &str) -> Result<(), Failure> {
        let is_given = self.select.is_some() || self.condition.is_some();
        if is_given { Err(Failure::Usage(format!("--select and --where {need}."))) } else { Ok(()) }
    }
}
