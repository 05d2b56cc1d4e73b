//! `odps:`: rows of a table of `MaxCompute`, which our own reader (`python/maxcompute.py`) reads with `pyodps`.
//!
//! The keys of the account are read from the environment by the reader, so that they are in no setting and in no log.

use std::path::Path;

use forebay_sources::{Labels, Options, SourceError};
use serde_json::{Map, Value, json};

use crate::Opened;
use crate::python::{OwnReader, PER_TASK, PYTHON, READ_TIMEOUT, WORKERS, open_own};
use crate::scheme::{OptionKey, Scheme};

pub(super) const SCHEME: Scheme = Scheme {
    name: "odps",
    takes: "a table of MaxCompute as odps://PROJECT/TABLE",
    options: &[COLUMNS, PARTITION, ENDPOINT, TUNNEL_ENDPOINT, ENCODING, PYTHON, PER_TASK, WORKERS, READ_TIMEOUT],
    has_columns: true,
    recognises: |_| false,
    open: |address, options| open(address.path(), options),
};

const COLUMNS: OptionKey =
    OptionKey { name: "columns", help: "the picture's column, the label's, and further ones, separated by commas" };
const PARTITION: OptionKey = OptionKey { name: "partition", help: "the partition, such as \"dt=1,part=a\"" };
const ENDPOINT: OptionKey = OptionKey { name: "endpoint", help: "the service's address; MAXCOMPUTE_ENDPOINT" };
const TUNNEL_ENDPOINT: OptionKey =
    OptionKey { name: "tunnel_endpoint", help: "the Tunnel's address; MAXCOMPUTE_TUNNEL_ENDPOINT" };
const ENCODING: OptionKey = OptionKey { name: "encoding", help: "how cells have pictures: \"bytes\" or \"base64\"" };

const PROGRAM: &str = include_str!("python/maxcompute.py");

/// Whether the options are right. Nothing is asked for.
pub(super) fn check(path: &Path, options: &Options) -> Result<(), SourceError> {
    reader(path, options).map(drop)
}

fn open(path: &Path, options: &Options) -> Opened {
    open_own(reader(path, options)?, path, options)
}

fn reader(path: &Path, options: &Options) -> Result<OwnReader, SourceError> {
    let own = &options.own;
    let encoding = own.choice(ENCODING.name, &[("bytes", "bytes"), ("base64", "base64")])?;
    let table = path.to_str().map(|table| table.trim_matches('/')).filter(|table| !table.is_empty());
    let Some(table) = table else {
        let problem = "is not the name of a table. Give odps://PROJECT/TABLE".to_owned();
        return Err(SourceError::Reader { path: path.to_owned(), problem });
    };
    let of = |keys: &[OptionKey]| -> Map<String, Value> {
        let given = keys.iter().filter_map(|key| Some((key.name.to_owned(), json!(own.get(key.name)?))));
        given.collect()
    };
    let mut parameters = of(&[COLUMNS, PARTITION]);
    parameters.insert("table".into(), json!(table));
    parameters.insert(ENCODING.name.into(), json!(encoding));
    let named = ["images", "labels"].into_iter().filter_map(|name| Some((name, options.columns.parts(name)?)));
    let batch = named.chain(options.columns.targets()).map(|(name, parts)| (name.to_owned(), json!(parts.join(";"))));
    let batch: Map<String, Value> = batch.collect();
    if !batch.is_empty() {
        parameters.insert("batch_columns".into(), json!(Value::Object(batch).to_string()));
    }
    if options.labels == Labels::None {
        parameters.insert("labels".into(), json!("none"));
    }
    let (class, url) = ("OdpsReader", format!("odps://{table}"));
    Ok(OwnReader { program: PROGRAM, class, url, parameters, access: of(&[ENDPOINT, TUNNEL_ENDPOINT]) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open;
    use crate::scene::says;

    #[test]
    fn a_table_needs_a_name_and_options_that_there_are() {
        let refused = |name: &str, words: &[&str]| {
            says(&open(name, &Options::default()).unwrap_err().to_string(), words);
            says(&crate::check(name, &Options::default()).unwrap_err().to_string(), words);
        };
        refused("odps://", &["odps://PROJECT/TABLE"]);
        refused("odps://p/t?encoding=hex", &["encoding = \"hex\"", "\"bytes\", \"base64\""]);
        refused("odps://p/t?class=X", &["class", "tunnel_endpoint"]);
        let check = |name: &str| crate::check(name, &Options::default());
        assert!(check("odps://p/t?columns=image,label&partition=dt=1,part=a").is_ok());
        let interpreter = "odps://p/t?python=/nowhere/python3";
        says(&open(interpreter, &Options::default()).unwrap_err().to_string(), &["/nowhere/python3", "python="]);
    }

    #[test]
    fn addresses_are_no_part_of_the_dataset() {
        let (_, options) =
            crate::scheme::with_query("p/t?endpoint=http://x&partition=dt=1", &Options::default()).unwrap();
        let reader = reader(Path::new("p/t"), &options).unwrap();
        assert_eq!(Value::Object(reader.parameters), json!({"table": "p/t", "partition": "dt=1", "encoding": "bytes"}));
        assert_eq!(Value::Object(reader.access), json!({"endpoint": "http://x"}));
        assert_eq!(reader.url, "odps://p/t");
    }
}
