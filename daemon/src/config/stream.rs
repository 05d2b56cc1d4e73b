//! `[streams.NAME]`, and the settings that a Loader sends. Both use one struct and one parser.

mod agreement;
mod buckets;
mod cache;
mod columns;
mod dataset;
mod delivery;
mod form;
mod keys;
mod mixing;
mod mixture;
mod patches;
mod pictures;
mod ragged;
mod recipe;
mod sharding;
mod shuffle;
mod steps;
mod views;

use forebay_pipeline::keys;
use forebay_pipeline::settings::{Home, Key, StreamSettings, Who};
use forebay_pixels::Recipe;
use serde_json::{Map, Value};

use super::mistake::{Mistake, Mistakes};
use super::ring::Ring;
use super::table::Table;
use super::value::{text, unix_group};
pub use dataset::DatasetSection;
use form::Form;
pub(super) use keys::{all, example, schema};
pub(crate) use pictures::pictures;

/// The keys that only the section has, beside those that say how pictures are made and handed out.
const KEYS: &[Key] = keys! {
    /// Required. A folder of pictures or of class folders, a .csv file, a .txt file with one path per line, or another source of
    /// docs/sources.md, such as COCO's annotations, tar, TFRecord and parquet. Patterns such as train-{000..999}.tar name
    /// several files. A list of sources makes one dataset of them: docs/sources.md, "Several sources".
    source: "str", example: "\"/data/imagenet/train\"", home: Home::Other, who: Who::Both;
    /// The folder that relative paths of a CSV or list start from. Left out: the folder of the CSV or list.
    root: "str | os.PathLike[str]", example: "\"/data/imagenet\"", home: Home::Source,
        in_python: "For a Python list, it is this process's working folder.";
    /// Options of the source. docs/sources.md lists them. Left out: their defaults.
    source_options: "Mapping[str, Any]", example: "{ payload = \"picture\" }", home: Home::Other;
    /// The index of the dataset, a file that `forebay index --output` wrote. It must fit the dataset. "none": the dataset is
    /// scanned each time. Left out: an index is written after a long scan, and used from then on. docs/sources.md explains
    /// indexes.
    index: "str", example: "\"/data/imagenet.arrow\"", home: Home::Source;
    /// The records that are read, as a file: an array of NumPy (.npy) with their numbers or with a bool for each record, or an Arrow
    /// or parquet file, behind which "?column=NAME" may name the column. docs/selections.md explains it. Left out: all records.
    select: "str | os.PathLike[str]", example: "\"/data/keep.npy\"";
    /// The records that are read, as a condition on their labels, their sizes and the columns of the dataset. If select is given as
    /// well, both must hold. docs/selections.md has the grammar. Left out: all records.
    where: "str", example: "\"pixels >= 65536 and aspect <= 3 and label in (1, 2)\"";
    /// "auto": labels are class folders, or a CSV's second column. "text": a CSV's labels are never numbers. "none": all are
    /// -1.
    labels: "str" = "\"auto\"", home: Home::Targets;
    /// A Unix group whose members may attach, by name or number. Left out: only the daemon's own user.
    unix_group: "str", example: "\"trainers\"", home: Home::Service, while_open: true;
};

/// `[streams.NAME]`, checked: where the dataset is, what the stream does with it, and who may attach.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSection {
    /// The dataset.
    pub dataset: DatasetSection,
    /// Name of the run.
    pub run: Option<String>,
    /// Unix group whose members may attach: its name, or its number as text.
    pub unix_group: Option<String>,
    /// The settings for the stream itself.
    pub settings: StreamSettings,
    /// The keys as they were written, for [`agree`](Self::agree) and [`Change`](super::Change).
    pub(super) written: Map<String, Value>,
}

/// Where settings come from; a few keys belong to one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    Configuration,
    Loader,
}

/// The document's name in [`Mistakes`].
const LOADER: &str = "the Loader's settings";

impl StreamSection {
    /// Parses the settings that a Loader sends. They are a JSON document with the keys of a `[streams.NAME]` table, and
    /// with `files`, `shard_id`, `rank` and `world_size`, which only a Loader has. `ring` has the defaults of credits and trainers.
    pub(crate) fn from_json(document: &[u8], ring: &Ring) -> Result<Self, Mistakes> {
        let broken = |problem: String| Mistakes {
            document: LOADER.to_owned(),
            list: vec![Mistake { key: String::new(), problem, line: None }],
        };
        let written = match serde_json::from_slice(document) {
            Ok(Value::Object(written)) => written,
            Ok(_) => return Err(broken("they are not a JSON object.".to_owned())),
            Err(error) => return Err(broken(format!("they are not JSON: {error}."))),
        };
        Self::from_object(&written, ring, Writer::Loader)
    }

    /// The settings that a daemon sends to a decoder. A key that this version does not know is a mistake.
    pub(crate) fn of_daemon(document: &str) -> Result<Self, Mistakes> {
        Self::from_json(document.as_bytes(), &Ring::default())
    }

    /// The settings of a stream that is open, by its [`document`](Self::document). They were checked when it was opened.
    pub(crate) fn of_open_stream(document: &str) -> Option<Self> {
        let Ok(Value::Object(written)) = serde_json::from_str(document) else { return None };
        let mut mistakes = Vec::new();
        // A Loader may give all keys that a configuration may.
        Self::read(&mut Table::new(&written, &mut mistakes), &Ring::default(), Writer::Loader)
    }

    /// Its keys as they were written, in JSON.
    pub(crate) fn document(&self) -> String {
        Value::Object(self.written.clone()).to_string()
    }

    /// Checks the settings that a Loader gives with `stream:NAME`. They may be left out, and must agree if they are
    /// given. Every difference is reported. Keys that belong to the trainer, such as `shard_id` and `rank`, are ignored.
    ///
    /// # Errors
    /// All that differs.
    pub fn agree(&self, given: &Value) -> Result<(), Mistakes> {
        let list = agreement::differences(self, given);
        if list.is_empty() { Ok(()) } else { Err(Mistakes { document: LOADER.to_owned(), list }) }
    }

    fn from_object(written: &Map<String, Value>, ring: &Ring, writer: Writer) -> Result<Self, Mistakes> {
        let mut mistakes = Vec::new();
        let mut table = Table::new(written, &mut mistakes);
        let stream = Self::read(&mut table, ring, writer);
        table.finish();
        match stream {
            Some(stream) if mistakes.is_empty() => Ok(stream),
            _ => Err(Mistakes { document: LOADER.to_owned(), list: mistakes }),
        }
    }

    /// Reads a `[streams.NAME]` table.
    pub(super) fn from_table(table: &mut Table<'_, '_>, ring: &Ring) -> Option<Self> {
        Self::read(table, ring, Writer::Configuration)
    }

    /// Nothing if a key that has no default is absent or wrong; then there is a mistake.
    fn read(table: &mut Table<'_, '_>, ring: &Ring, writer: Writer) -> Option<Self> {
        let source = dataset::source(table, writer);
        let form = Form::read(table);
        let sharding = sharding::read(table, writer, form.as_ref());
        let batch_size = sharding::batch_size(table, sharding, form.as_ref());
        let shuffle = shuffle::read(table);
        let recipe = form::recipe(table, shuffle.is_on(), form.as_ref());
        let complete = source.is_some() && batch_size.is_some() && recipe.is_some();
        let named_views = recipe.as_ref().map(|recipe| table.named_views(recipe)).unwrap_or_default();
        // If one of the two is missing, the other keys are still read, so that all mistakes are reported at once.
        let recipe = recipe.unwrap_or_else(|| Recipe::training(1).expect("its shape is fixed"));
        let default = StreamSettings {
            shuffle,
            trainers: ring.trainers,
            credits: ring.credits,
            sharding,
            delivery: delivery::read(table, sharding),
            form: form.map(|form| sharding::form(&form, sharding, batch_size.unwrap_or(1))),
            ..StreamSettings::new(batch_size.unwrap_or(1), recipe)
        };
        let sources = source.as_ref().map(|source| source.as_ref().map_or(1, Vec::len));
        let mixture::Mixture { weights, repeats } = mixture::read(table, sources);
        let default = StreamSettings { weights, repeats, ..default };
        let columns = table.take("columns", columns::read).unwrap_or_default();
        let views = views::read(table, shuffle.is_on(), &default.recipe, named_views);
        let (mixing, mixing_per_batch) = mixing::read(table, default.recipe.output().mode);
        let default = StreamSettings {
            columns: columns.only,
            views,
            mixing,
            mixing_per_batch,
            steps: steps::read(table),
            ..default
        };
        let section = Self {
            dataset: DatasetSection::read(table, source.flatten(), columns.map),
            run: table.take("run", text),
            unix_group: table.take("unix_group", unix_group),
            settings: {
                let cache = cache::read(table, &default.recipe);
                settings(table, StreamSettings { cache, ..default })
            },
            written: table.values().clone(),
        };
        if let Some(form) = &section.settings.form {
            form::refuse(table, form, &section.settings);
        }
        complete.then_some(section)
    }
}

/// The settings that are a field each.
fn settings(table: &mut Table<'_, '_>, default: StreamSettings) -> StreamSettings {
    let mut settings = default;
    settings.read(table);
    settings
}
