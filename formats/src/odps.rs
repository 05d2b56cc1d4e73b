//! `odps:`: rows of a table of `MaxCompute`, which our own reader (`python/maxcompute.py`) reads with `pyodps`.
//!
//! The keys of the account are read from the environment by the reader, so that they are in no setting and in no log.

use std::path::Path;

use forebay_sources::{Labels, ObjectRoots, Options, SourceError};
use serde_json::{Map, Value, json};

use crate::dataset::Opened;
use crate::opened::OpenDataset;
use crate::python::{OwnReader, PER_TASK, PYTHON, READ_TIMEOUT, WORKERS, check_own, open_own};
use crate::scheme::{Indexing, OptionKey, Scheme};

pub(super) const SCHEME: Scheme = Scheme {
    name: "odps",
    takes: "a table of MaxCompute as odps://PROJECT/TABLE",
    options: &[COLUMNS, PARTITION, ENDPOINT, TUNNEL_ENDPOINT, ENCODING, PYTHON, PER_TASK, WORKERS, READ_TIMEOUT],
    has_columns: true,
    recognises: |_| false,
    open: |address, options, _| Ok(OpenDataset::Other(open(address.path(), options)?)),
    indexing: Indexing::Never("Its table is elsewhere, and may change."),
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
    check_own(options)?;
    if let ObjectRoots::Below(_) = options.objects {
        // Another server would get what proves who this process is.
        for (option, variable) in [(ENDPOINT, "MAXCOMPUTE_ENDPOINT"), (TUNNEL_ENDPOINT, "MAXCOMPUTE_TUNNEL_ENDPOINT")] {
            if let Some(given) = own.get(option.name) {
                let expected = format!("left out: in a service, the daemon's variable {variable} has it");
                return Err(SourceError::bad_option(option.name, given, &expected));
            }
        }
    }
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
    use forebay_sources::ReaderFolders;

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
    fn rule_55_a_service_chooses_the_interpreter_and_the_server_that_gets_its_signatures() {
        let service = Options {
            readers: ReaderFolders::Below(vec!["/usr".into()]),
            objects: ObjectRoots::Below(Vec::new()),
            ..Options::default()
        };
        for (name, words) in [
            ("odps://p/t?endpoint=http://evil", "MAXCOMPUTE_ENDPOINT"),
            ("odps://p/t?tunnel_endpoint=http://evil", "MAXCOMPUTE_TUNNEL_ENDPOINT"),
            ("odps://p/t?python=/tmp/x", "a service starts no other"),
            ("odps://p/t?python=x", "a service starts no other"),
        ] {
            says(&open(name, &service).unwrap_err().to_string(), &[words]);
            says(&crate::check(name, &service).unwrap_err().to_string(), &[words]);
        }
        for fine in ["odps://p/t", "odps://p/t?python=/usr/bin/python3"] {
            crate::check(fine, &service).unwrap();
        }
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
