//! The options of `forebay serve` that have `ElasticDL`'s names: the datasets of its jobs, each as a stream, and the custom
//! reader that reads them.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

/// The datasets of a job of `ElasticDL`.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct JobArgs {
    /// Serve this dataset as the stream "training", shuffled, at 224 x 224. As `ElasticDL`'s option of this name.
    #[arg(long = "training_data", value_name = "DATA", conflicts_with_all = EXCLUSIVE)]
    training: Option<String>,
    /// Serve this dataset as the stream "validation", in its own order.
    #[arg(long = "validation_data", value_name = "DATA", conflicts_with_all = EXCLUSIVE)]
    validation: Option<String>,
    /// Serve this dataset as the stream "prediction", in its own order and without labels.
    #[arg(long = "prediction_data", value_name = "DATA", conflicts_with_all = EXCLUSIVE)]
    prediction: Option<String>,
    /// Read these datasets with a class or function of this Python file: FILE, or `FILE:NAME`. It gets each dataset as its
    /// argument `data_origin`. Without NAME, it is `CustomDataReader` or `custom_data_reader`.
    #[arg(long = "custom_data_reader", value_name = "FILE", conflicts_with_all = EXCLUSIVE)]
    reader: Option<String>,
    /// Further arguments of the reader, as "key=value;key=value". All are texts.
    #[arg(long = "custom_data_reader_params", value_name = "PARAMS", requires = "reader")]
    params: Option<String>,
}

/// What is served instead of a job's datasets.
const EXCLUSIVE: [&str; 3] = ["path", "config", "private"];

/// The streams of a job, and the folder of its reader.
#[derive(Debug, PartialEq)]
pub(crate) struct Job {
    /// By their names, with the keys of a `[streams.NAME]` table.
    pub(crate) streams: Map<String, Value>,
    /// The folder of the custom reader, which the service may then run.
    pub(crate) readers: Option<PathBuf>,
}

impl JobArgs {
    /// Whether any of the datasets is given.
    pub(crate) fn is_given(&self) -> bool {
        [&self.training, &self.validation, &self.prediction].iter().any(|data| data.is_some())
    }

    /// The job. Relative paths of the reader start at `folder`.
    ///
    /// # Errors
    /// A parameter has no value. The text is a sentence.
    pub(crate) fn job(&self, folder: &Path) -> Result<Job, String> {
        let reader = self.reader.as_deref().map(|reader| named_reader(reader, folder));
        let params = params(self.params.as_deref().unwrap_or_default())?;
        let stream = |data: &str| {
            let mut keys = json!({ "source": data, "batch_size": 256, "size": 224 });
            if let Some((file, name)) = &reader {
                let mut options = params.clone();
                options.insert("data_origin".into(), json!(data));
                if let Some(name) = name {
                    options.insert("class".into(), json!(name));
                }
                keys["source"] = json!(format!("python:{}", file.display()));
                keys["source_options"] = Value::Object(options);
            }
            keys
        };
        let mut streams = Map::new();
        if let Some(data) = &self.training {
            let mut keys = stream(data);
            // A reader gives many records at once. ElasticDL shuffled its tasks too, and not its records.
            keys["shuffle"] = if reader.is_some() { json!("grains") } else { json!(true) };
            streams.insert("training".into(), keys);
        }
        if let Some(data) = &self.validation {
            streams.insert("validation".into(), stream(data));
        }
        if let Some(data) = &self.prediction {
            let mut keys = stream(data);
            keys["labels"] = json!("none");
            streams.insert("prediction".into(), keys);
        }
        let readers = reader.and_then(|(file, _)| file.parent().map(Path::to_owned));
        Ok(Job { streams, readers })
    }
}

/// `reader.py:name` names a class or function in the file.
fn named_reader(reader: &str, folder: &Path) -> (PathBuf, Option<String>) {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|letter| letter == '_' || letter.is_alphanumeric());
    match reader.rsplit_once(':') {
        Some((file, name)) if is_name(name) => (folder.join(file), Some(name.to_owned())),
        _ => (folder.join(reader), None),
    }
}

/// As `ElasticDL` reads them: texts up to the first `=`, and behind it all up to the next semicolon.
fn params(text: &str) -> Result<Map<String, Value>, String> {
    let pairs = text.split(';').map(str::trim).filter(|pair| !pair.is_empty());
    let pair = |pair: &str| match pair.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), json!(value))),
        _ => Err(format!(
            "--custom_data_reader_params: \"{pair}\" is not of the form key=value. Write \"key=value;key=value\""
        )),
    };
    pairs.map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(args: &JobArgs) -> Job {
        args.job(Path::new("/jobs")).unwrap()
    }

    #[test]
    fn each_dataset_of_a_job_is_a_stream() {
        let data = |name: &str| Some(name.to_owned());
        let args = JobArgs { training: data("/a"), prediction: data("tar:/b.tar"), ..JobArgs::default() };
        assert!(args.is_given() && !JobArgs::default().is_given());
        let streams = json!({
            "training": { "source": "/a", "batch_size": 256, "size": 224, "shuffle": true },
            "prediction": { "source": "tar:/b.tar", "batch_size": 256, "size": 224, "labels": "none" },
        });
        assert_eq!(Value::Object(job(&args).streams), streams);
        assert_eq!(job(&args).readers, None);
    }

    #[test]
    fn a_custom_reader_gets_the_dataset_and_its_parameters() {
        let args = JobArgs {
            validation: Some("table".into()),
            reader: Some("readers/mine.py:make_reader".into()),
            params: Some(" columns=a,b;filter=x=1; ".into()),
            ..JobArgs::default()
        };
        let found = job(&args);
        let options = json!({ "data_origin": "table", "class": "make_reader", "columns": "a,b", "filter": "x=1" });
        assert_eq!(found.streams["validation"]["source"], json!("python:/jobs/readers/mine.py"));
        assert_eq!(found.streams["validation"]["source_options"], options);
        assert_eq!(found.readers.as_deref(), Some(Path::new("/jobs/readers")));
        let of = |reader: &str| named_reader(reader, Path::new("/jobs"));
        assert_eq!(of("/opt/a:b/mine.py"), (PathBuf::from("/opt/a:b/mine.py"), None));
        let training = job(&JobArgs { training: Some("t".into()), ..args.clone() });
        assert_eq!(training.streams["training"]["shuffle"], json!("grains"));
        let wrong = JobArgs { params: Some("a=1;b".into()), ..args };
        assert!(wrong.job(Path::new("/")).unwrap_err().contains("\"b\" is not of the form key=value"));
    }
}
