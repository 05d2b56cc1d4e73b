//! What is measured: a stream of a configuration with one trainer, or a dataset with the settings of the command line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use forebay_daemon::config::{Config, Control, Coordinator, Environment, Metrics, StreamSection};
use forebay_pipeline::settings::{DeliverySettings, Placement, SeekKeeping, Sharding};
use forebay_printable::printable;
use serde_json::{Map, Value, json};

use super::BenchArgs;
use super::folder::Folder;
use crate::failure::Failure;

/// One stream, for a daemon of its own.
#[derive(Debug)]
pub(super) struct Workload {
    pub(super) config: Config,
    /// Its name.
    pub(super) stream: String,
    /// A configuration has it.
    is_configured: bool,
    /// What differs from the stream of a running daemon, a sentence each.
    pub(super) notes: Vec<String>,
}

/// The name of a stream that the command line describes.
const OWN: &str = "bench";
/// Pictures in a batch of such a stream.
const BATCH: u32 = 64;

impl Workload {
    /// What the command line asks for.
    pub(super) fn of(args: &BenchArgs) -> Result<Self, Failure> {
        let mut workload = match &args.config {
            Some(file) => Self::of_configuration(crate::config::read(file)?, args.stream.as_deref())?,
            None => Self::of_paths(args)?,
        };
        let Self { config, stream, .. } = &mut workload;
        let settings = &mut config.streams.get_mut(stream).expect("it is the only one").settings;
        settings.batch_size = args.batch_size.unwrap_or(settings.batch_size);
        if args.threads.is_some() {
            (settings.num_threads, config.decode.threads) = (None, args.threads);
        }
        if let Some(lanes) = &args.lanes {
            config.decode.lanes = lanes.clone();
        }
        match args.seek.as_deref() {
            Some("off") => config.decode.seek = SeekKeeping::Off,
            Some(_) => config.decode.seek = SeekKeeping::Memory,
            None => {}
        }
        Ok(workload)
    }

    /// The dataset, for people.
    pub(super) fn dataset(&self) -> String {
        self.section().dataset.name()
    }

    /// Where the ledger of the stream is or would be, if it is kept on this machine. That of the measurement is on the same disk.
    pub(super) fn ledgers(&self, environment: &Environment) -> Option<PathBuf> {
        let Coordinator { path, remote, .. } = &self.config.coordinator;
        if !self.is_configured || remote.is_some() {
            return None;
        }
        path.clone().or_else(|| environment.state_dir())
    }

    /// The daemon's sockets are in one folder, and its ledgers in another one.
    pub(super) fn in_folders(&self, sockets: &Folder, ledgers: &Folder) -> Config {
        let control = Control { dir: Some(sockets.path().to_owned()), unix_group: None };
        let coordinator = Coordinator { path: Some(ledgers.path().to_owned()), remote: None, node: None };
        Config { control, coordinator, metrics: Metrics::BesideControl, ..self.config.clone() }
    }

    fn section(&self) -> &StreamSection {
        &self.config.streams[&self.stream]
    }

    fn of_paths(args: &BenchArgs) -> Result<Self, Failure> {
        let paths: Vec<&String> = args.path.iter().chain(&args.more).collect();
        let mut stream = Map::new();
        let mut set = |key: &str, value: Value| drop(stream.insert(key.to_owned(), value));
        set("source", json!(paths));
        set("batch_size", BATCH.into());
        match args.scale {
            None => set("size", args.size.into()),
            Some(scale) => set("transform", crops(args.size, scale)),
        }
        set("shuffle", (!args.evaluation).into());
        set("on_error", "skip".into());
        args.selection.add_to(&mut stream);
        let config = Config::for_streams(Map::from_iter([(OWN.to_owned(), stream.into())]))?;
        Ok(Self { config, stream: OWN.to_owned(), is_configured: false, notes: Vec::new() })
    }

    fn of_configuration(mut config: Config, name: Option<&str>) -> Result<Self, Failure> {
        let name = chosen(&config, name)?;
        let mut notes = Vec::new();
        if let Some(remote) = &config.coordinator.remote {
            let addresses: Vec<String> = remote.addresses.iter().map(ToString::to_string).collect();
            notes.push(format!(
                "The coordinator {} is not asked and not measured: the ledger is in a temporary folder.",
                printable(&addresses.join(", "))
            ));
        }
        let section = config.streams.remove(&name).expect("it was chosen from them");
        let section = with_one_trainer(section, &mut notes);
        config.streams = BTreeMap::from_iter([(name.clone(), section)]);
        Ok(Self { config, stream: name, is_configured: true, notes })
    }
}

/// The stream that is named, or the only one.
fn chosen(config: &Config, name: Option<&str>) -> Result<String, Failure> {
    let known: Vec<&str> = config.streams.keys().map(String::as_str).collect();
    match (name, &*known) {
        (Some(name), _) if known.contains(&name) => Ok(name.to_owned()),
        (None, [only]) => Ok((*only).to_owned()),
        (_, []) => Err(Failure::Usage("The configuration has no [streams.NAME].".to_owned())),
        (Some(name), _) => {
            Err(Failure::Usage(format!("The configuration has no stream \"{name}\". It has: {}.", known.join(", "))))
        }
        (None, _) => Err(Failure::Usage(format!("Choose a stream with --stream. There are: {}.", known.join(", ")))),
    }
}

/// The stream without an end, a run and other trainers.
fn with_one_trainer(mut section: StreamSection, notes: &mut Vec<String>) -> StreamSection {
    let settings = &mut section.settings;
    match settings.sharding {
        Sharding::Dynamic => {}
        Sharding::Static { num_shards, .. } => {
            notes.push(format!("One trainer reads all {num_shards} shards."));
        }
        Sharding::Lockstep { global_batch, .. } => notes.push(format!(
            "One trainer reads whole steps of {global_batch} records. To measure the part of a rank, set --batch-size."
        )),
    }
    if settings.placement != Placement::Host {
        notes.push("The pixels of batches are in the memory of the host, not of a GPU.".to_owned());
    }
    settings.sharding = Sharding::Dynamic;
    settings.delivery = DeliverySettings::default();
    settings.placement = Placement::Host;
    settings.epochs = None;
    (section.run, section.unix_group) = (None, None);
    section
}

/// The transforms of training, with crops of this share of a picture.
fn crops(size: u32, scale: [f64; 2]) -> Value {
    json!([
        { "random_resized_crop": { "size": size, "scale": scale } },
        { "random_horizontal_flip": { "p": 0.5 } },
    ])
}

#[cfg(test)]
mod tests {
    use forebay_pipeline::settings::StreamSettings;

    use super::*;

    const TRAIN: &str = "[streams.train]\nsource = \"/a\"\nsize = 8\n";

    fn of(text: &str, name: Option<&str>) -> Result<Workload, Failure> {
        Workload::of_configuration(Config::parse(text, "a.toml").unwrap(), name)
    }

    #[test]
    fn a_stream_keeps_what_makes_its_batches_and_loses_what_its_run_is() {
        let text = format!(
            "{TRAIN}batch_size = 4\ndtype = \"float32\"\nepochs = 2\nrun = \"august\"\nunix_group = \"g\"\ngroups = \"each\"\n\
             trainers = 9\ncredits = 3\non_error = \"fail\"\n[prefetch]\nbudget = \"1kb\"\n[decode]\nthreads = 3\n"
        );
        let whole = Config::parse(&text, "a.toml").unwrap();
        let Workload { config, stream, notes, .. } = of(&text, None).unwrap();
        let (section, was) = (&config.streams[&stream], &whole.streams["train"]);
        assert_eq!((config.prefetch, config.decode, notes), (whole.prefetch, whole.decode, Vec::new()));
        assert_eq!((&section.run, &section.unix_group, section.settings.epochs), (&None, &None, None));
        let settings =
            StreamSettings { epochs: was.settings.epochs, delivery: was.settings.delivery, ..section.settings.clone() };
        assert_eq!(settings, was.settings);
        assert_eq!(section.settings.delivery, DeliverySettings::default());
    }

    #[test]
    fn shards_ranks_gpus_and_coordinators_are_left_out_and_it_is_said() {
        let batch = "batch_size = 4\n";
        for (tables, words) in [
            (format!("{TRAIN}{batch}num_shards = 8\n"), "One trainer reads all 8 shards."),
            (format!("{TRAIN}assignment = \"lockstep\"\nglobal_batch = 32\n"), "whole steps of 32 records"),
            (format!("{TRAIN}{batch}placement = \"gpu:1\"\n"), "not of a GPU"),
            (
                format!("{TRAIN}{batch}[coordinator]\nendpoint = \"http://a:1\"\n"),
                "The coordinator http://a:1 is not asked and not measured",
            ),
        ] {
            let workload = of(&tables, None).unwrap();
            let settings = &workload.section().settings;
            assert_eq!((settings.sharding, settings.placement), (Sharding::Dynamic, Placement::Host));
            assert!(matches!(&*workload.notes, [note] if note.contains(words)), "{:?}", workload.notes);
            let folder = Folder::temporary().unwrap();
            let config = workload.in_folders(&folder, &folder);
            assert_eq!((config.coordinator.remote, config.coordinator.path.as_deref()), (None, Some(folder.path())));
        }
        let lockstep = of(&format!("{TRAIN}assignment = \"lockstep\"\nglobal_batch = 32\n"), None).unwrap();
        assert_eq!(lockstep.section().settings.batch_size, 32);
    }

    #[test]
    fn one_of_several_streams_is_chosen_by_its_name() {
        let one = format!("{TRAIN}batch_size = 4\n");
        let two = format!("{one}[streams.eval]\nsource = \"/b\"\nbatch_size = 2\nsize = 8\n");
        assert_eq!(of(&one, None).unwrap().stream, "train");
        assert_eq!(of(&two, Some("eval")).unwrap().dataset(), "/b");
        for (text, name, words) in [
            (&*two, None, "Choose a stream with --stream. There are: eval, train."),
            (&*two, Some("test"), "no stream \"test\". It has: eval, train."),
            ("", None, "The configuration has no [streams.NAME]."),
        ] {
            assert!(of(text, name).unwrap_err().to_string().contains(words), "{words}");
        }
    }
}
