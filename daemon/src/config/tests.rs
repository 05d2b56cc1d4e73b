//! Tests of the whole configuration, and of the settings of a Loader.

mod buckets;
mod delivery;
mod loaders;
mod mixtures;
mod patches;
mod ragged;
mod recipes;
mod renamed;

use std::num::NonZero;
use std::time::Duration;

use forebay_pipeline::ByteSize;
use forebay_pipeline::settings::{
    AskedPart, CacheKind, CacheSettings, LastBatchPolicy, MaxFailures, OnError, Sharding, Shuffle,
};
use forebay_pixels::{Annotated, Dtype, Input, Layout, Match, Recipe, Transform};
use forebay_sources::Labels;
use serde_json::json;

use super::*;

fn loader(settings: &Value) -> Result<StreamSection, Mistakes> {
    StreamSection::from_json(settings.to_string().as_bytes(), &Ring::default())
}

fn keys(mistakes: &Mistakes) -> Vec<&str> {
    mistakes.list.iter().map(|mistake| mistake.key.as_str()).collect()
}

fn train() -> StreamSection {
    loader(&json!({ "source": "/data", "batch_size": 256, "size": 224, "shuffle": true })).unwrap()
}

#[test]
fn an_empty_file_and_the_example_are_the_defaults() {
    assert_eq!(Config::parse("", "empty.toml"), Ok(Config::default()));
    assert_eq!(Config::parse(&Config::example(), "example.toml"), Ok(Config::default()));
}

#[test]
fn every_value_that_the_example_shows_in_a_comment_is_right() {
    let example = Config::example();
    let shown = example.lines().map(|line| match line.strip_prefix("# ") {
        // Of keys that exclude each other one stays a comment.
        Some(text)
            if [
                "transform =",
                "recipe =",
                "socket =",
                "reducing_gap =",
                "assignment =",
                "global_batch =",
                "buckets =",
                "patches =",
            ]
            .iter()
            .any(|key| text.starts_with(key)) =>
        {
            line
        }
        Some(text) if text.starts_with('[') => text,
        Some(text) if text.split_once(" = ").is_some_and(|(key, _)| !key.contains([' ', ':'])) => text,
        _ => line,
    });
    let config = Config::parse(&shown.collect::<Vec<_>>().join("\n"), "example.toml").unwrap();
    assert_eq!(config.streams["train"].settings.epochs, Some(90));
    assert_eq!(config.control.unix_group.as_deref(), Some("trainers"));
    assert_eq!(config.metrics, Metrics::Address("127.0.0.1:9464".parse().unwrap()));
    assert_eq!(config.ring.memory, Some(ByteSize(8_000_000_000)));
    let cache = CacheSettings { kind: CacheKind::Decoded, memory: ByteSize(20_000_000_000), max_side: Some(512) };
    assert_eq!(config.streams["train"].settings.cache, Some(cache));
}

#[test]
fn the_example_shows_a_default_or_says_that_it_does_not() {
    let (mut section, mut comment, mut after_key) = (String::new(), String::new(), false);
    let without_text = |config: &mut Config| config.streams.values_mut().for_each(|stream| stream.written = Map::new());
    let parse = |streams: &str, section: &str, line: &str| {
        let body = if section == "streams.train" { format!("{streams}\n{line}") } else { line.to_owned() };
        let mut config = Config::parse(&format!("[{section}]\n{body}"), "a.toml").unwrap();
        without_text(&mut config);
        config
    };
    let mut shown = 0;
    for line in Config::example().lines() {
        let plain = line.trim_start_matches("# ");
        if let Some(name) = plain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut section);
            comment.clear();
            continue;
        }
        let key = plain.split_once(" = ").map(|(key, _)| key).filter(|key| !key.contains([' ', ':', '"', '(', '.']));
        match key {
            Some(key) if line.starts_with("# ") => {
                let required = ["source", "batch_size", "size", "transform", "recipe", "global_batch"].contains(&key)
                    && section == "streams.train";
                let base = "source = '/data'\nbatch_size = 256\nsize = 224";
                // Lockstep and decoders on other machines need other keys, and buckets and patches have sizes of their own.
                let is_alone = ["assignment", "buckets", "patches"].contains(&key) || key.starts_with("remote");
                let is_default = !required && !is_alone && parse(base, &section, plain) == parse(base, &section, "");
                let said = comment.contains("Required") || comment.contains("Left out:");
                assert!(is_default || said, "{section}.{key} is no default, and nothing says so");
                assert_eq!(required, comment.contains("Required"), "{section}.{key}");
                after_key = true;
                shown += 1;
            }
            Some(_) => comment.clear(),
            None => {
                if after_key {
                    comment.clear();
                }
                after_key = false;
                comment += plain;
                comment += " ";
            }
        }
    }
    assert!(shown > 30, "the example was understood: {shown} keys in comments");
}

#[test]
fn every_mistake_is_reported_at_once_with_its_key_and_what_is_allowed() {
    let text = r#"
        drain_timeout = "soon"
        [ring]
        credit = 3
        [prefetch]
        budget = "lots"
        [decode]
        threads = 0
        [streams.train]
        source = "/data"
        batch_size = -1
        size = 224
        transform = []
        last_batch_policy = "keep"
        random_shuffle = true
        [streams."no good"]
        [metrics]
        socket = "/run/m.sock"
        address = "127.0.0.1:1"
        [unheard_of]
    "#;
    let mistakes = Config::parse(text, "forebay.toml").unwrap_err();
    assert_eq!(
        mistakes.to_string(),
        r#"There are 14 mistakes in forebay.toml:
  line 2: drain_timeout: is "soon"; give a duration above 0 and up to 100 years ("36500d"), such as "500ms", "5s", "10m" or "2h".
  line 4: ring.credit: is not a key. Did you mean "credits"?
  line 6: prefetch.budget: is "lots"; give a size above 0 and below 1024 PiB, such as "512kb", "1.5gb" or "64MiB".
  line 8: decode.threads: is 0, but there is no remote whose decoders make the pictures; give at least 1.
  line 11: streams.train.batch_size: is -1; give a whole number from 1 to 1048576.
  line 12: streams.train.size: cannot be combined with transform; give one of the two.
  line 14: streams.train.last_batch_policy: is "keep"; give one of "fill", "drop", "partial".
  line 15: streams.train.random_shuffle: is not a key. Did you mean "shuffle"?
  line 16: streams.no good: is not a name for a stream; use at most 64 letters, digits, '-', '_' and '.'.
  line 16: streams.no good.source: is missing; give the path of a dataset, such as a folder or a .csv file. docs/sources.md lists the formats.
  line 16: streams.no good.batch_size: is missing; give the number of records in a batch, such as 256.
  line 16: streams.no good.size: is missing, and so are transform and recipe; give one of the three, such as size = 224.
  line 18: metrics.socket: cannot be combined with address; give one of the two.
  line 20: unheard_of: is not a key. The keys here are: control, coordinator, decode, drain_timeout, metrics, prefetch, ring, sources, streams."#
    );
}

#[test]
fn a_file_that_is_no_toml_and_a_section_that_is_no_table_are_named() {
    let mistakes = Config::parse("[ring\ncredits = 2", "forebay.toml").unwrap_err();
    assert!(mistakes.to_string().contains("line 1"), "{mistakes}");
    let mistakes = Config::parse("ring = 3\nstreams = [1]", "forebay.toml").unwrap_err();
    assert_eq!(keys(&mistakes), ["ring", "streams"]);
}

#[test]
fn rule_4_a_stream_has_the_defaults_and_takes_credits_and_trainers_from_the_ring() {
    let stream = train();
    assert_eq!((stream.settings.lease_size(), stream.settings.wanted_lease_size), (1024, None));
    assert_eq!(
        (stream.settings.credits, stream.settings.trainers, stream.settings.slots(), stream.settings.seed),
        (2, 2, 6, 0)
    );
    assert_eq!(stream.settings.recipe, Recipe::training(224).unwrap());
    assert_eq!(stream.settings.sharding, Sharding::Dynamic);
    assert_eq!(stream.settings.last_batch_policy, LastBatchPolicy::Partial);
    assert_eq!(
        (stream.settings.on_error, stream.settings.max_failures, stream.settings.epochs),
        (OnError::Fail, None, None)
    );
    assert_eq!(
        (stream.settings.epoch_end_timeout, stream.settings.read_timeout),
        (Duration::from_secs(600), Duration::from_secs(60))
    );
    assert_eq!(stream.settings.storage_timeout, Duration::from_secs(600));
    let text = "[ring]\ncredits = 3\n[streams.a]\nsource = 'x'\nbatch_size = 1\nsize = 8\ntrainers = 5";
    let config = Config::parse(text, "forebay.toml").unwrap();
    assert_eq!((config.streams["a"].settings.credits, config.streams["a"].settings.trainers), (3, 5));
}

#[test]
fn a_loader_says_everything_that_a_table_can_say() {
    let text = r#"
        [streams.eval]
        source = "/data/list.csv"
        root = "/data"
        labels = "text"
        batch_size = 10
        transform = [{ resize = { size = [8, 9] } }, { normalize = { mean = [0.5, 0.5, 0.5], std = [0.2, 0.2, 0.2] } }]
        match = "torch"
        dtype = "float32"
        layout = "NCHW"
        seed = 7
        epochs = 3
        run = "a"
        num_shards = 4
        stick_to_shard = true
        pad_last_batch = false
        last_batch_policy = "fill"
        lease_size = 20
        prefetch_queue_depth = 3
        pin_memory = true
        decode_gpu = 1
        num_threads = 2
        on_error = "replace"
        max_failures = 0.5
        unix_group = "g"
        epoch_end_timeout = "1m"
        read_timeout = "2s"
        storage_timeout = "3m"
    "#;
    let config = Config::parse(text, "forebay.toml").unwrap();
    let stream = &config.streams["eval"];
    let document: toml::Table = toml::from_str(text).unwrap();
    let mut settings = serde_json::to_value(&document["streams"]["eval"]).unwrap();
    settings["shard_id"] = json!(3);
    let by_loader = loader(&settings).unwrap();
    assert_eq!(by_loader.settings.recipe, stream.settings.recipe);
    assert_eq!(stream.dataset.labels, Labels::Text);
    assert!(stream.settings.pin_memory && by_loader.settings.pin_memory);
    assert_eq!((stream.settings.decode_gpu, by_loader.settings.decode_gpu), (Some(1), Some(1)));
    assert_eq!(
        (stream.settings.recipe.matched(), stream.settings.recipe.output().dtype),
        (Match::Torch, Dtype::Float32)
    );
    assert_eq!(stream.settings.recipe.output().layout, Layout::Nchw);
    assert!(matches!(stream.settings.recipe.transforms(), [Transform::Resize(_), Transform::Normalize(_)]));
    assert_eq!(stream.settings.max_failures, Some(MaxFailures::Fraction(0.5)));
    let sharding = |shard_id| Sharding::Static { shard_id, num_shards: 4, stick_to_shard: true, pad_last_batch: false };
    assert_eq!((stream.settings.sharding, by_loader.settings.sharding), (sharding(None), sharding(Some(3))));
    assert_eq!((stream.settings.lease_size(), stream.settings.slots()), (20, 7));
}

#[test]
fn rule_40_a_rank_s_batch_is_its_part_and_keys_of_other_assignments_are_refused() {
    let lockstep =
        json!({ "source": "x", "size": 8, "assignment": "lockstep", "global_batch": 12, "rank": 1, "world_size": 3 });
    let with = |changes: Value| {
        let mut settings = lockstep.clone();
        settings.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        loader(&settings)
    };
    let settings = with(json!({})).unwrap().settings;
    let rank = Some(AskedPart { number: 1, count: 3 });
    assert_eq!((settings.batch_size, settings.sharding), (4, Sharding::Lockstep { global_batch: 12, rank }));
    for (changes, key) in [
        (json!({ "world_size": 5 }), "world_size"),
        (json!({ "world_size": null }), "world_size"),
        (json!({ "global_batch": null }), "global_batch"),
        (json!({ "batch_size": 4 }), "batch_size"),
        (json!({ "shard_id": 0, "num_shards": 3 }), "num_shards"),
        (json!({ "assignment": "static", "batch_size": 4 }), "assignment"),
        (json!({ "assignment": null, "batch_size": 4 }), "global_batch"),
    ] {
        let mistakes = with(changes.clone()).unwrap_err();
        assert!(keys(&mistakes).contains(&key), "{changes}: {mistakes}");
    }
    // A stream of a service learns the number of ranks from its trainers.
    let text = "[streams.a]\nsource = \"x\"\nsize = 8\nassignment = \"lockstep\"\nglobal_batch = 12";
    let settings = &Config::parse(text, "forebay.toml").unwrap().streams["a"].settings;
    assert_eq!((settings.of_part(rank).batch_size, settings.of_part(None).batch_size), (4, 12));
}

#[test]
fn rule_04_the_ring_has_two_slots_beyond_the_credits_however_short_the_queue() {
    let settings = json!({"source": "/data", "batch_size": 4, "size": 32, "trainers": 1, "credits": 1,
        "prefetch_queue_depth": 1});
    assert_eq!(loader(&settings).unwrap().settings.slots(), 3);
}

#[test]
fn a_loader_may_send_null_for_what_it_leaves_out_and_a_list_in_place_of_a_source() {
    let stream = loader(&json!({
        "source": null, "files": true, "batch_size": 4, "size": 32, "transform": null, "run": null, "max_failures": 3
    }))
    .unwrap();
    assert_eq!(stream.dataset.source, None);
    assert_eq!(stream.settings.max_failures, Some(MaxFailures::Count(3)));
    assert_eq!(stream.settings.recipe, Recipe::evaluation(32).unwrap());
}

#[test]
fn a_filter_that_torch_has_not_is_refused_where_torch_is_to_be_matched() {
    let lanczos = json!([{ "resize": { "size": [8, 8], "interpolation": "lanczos3" } }]);
    let settings = json!({ "source": "x", "batch_size": 4, "transform": lanczos, "match": "torch" });
    let mistakes = loader(&settings).unwrap_err();
    assert_eq!(keys(&mistakes), ["match"]);
    assert!(mistakes.to_string().contains("transform 0 (resize)"), "{mistakes}");
}

#[test]
fn rule_6_settings_without_a_fixed_output_shape_are_refused() {
    let mistakes = loader(&json!({ "source": "x", "batch_size": 4, "transform": [{ "resize": { "size": 256 } }] }));
    let mistakes = mistakes.unwrap_err();
    assert_eq!(keys(&mistakes), ["transform"]);
    assert!(mistakes.to_string().contains("center_crop"), "{mistakes}");
}

#[test]
fn serving_a_path_is_one_stream_for_training() {
    let config = Config::for_paths(&["/data/train".to_owned()]).unwrap();
    let stream = &config.streams[DEFAULT_STREAM];
    assert_eq!(stream.dataset.source.as_deref(), Some(&["/data/train".to_owned()][..]));
    assert_eq!(stream.settings.shuffle, Shuffle::Records);
    assert_eq!(Config { streams: BTreeMap::new(), ..config }, Config::default());
}

#[test]
fn pictures_can_be_left_as_they_are_stored_and_large_ones_be_decoded_smaller() {
    let read =
        |text: &str| Config::parse(&format!("[streams.s]\nsource = \"x\"\nbatch_size = 1\nsize = 8\n{text}"), "c.toml");
    let input = |text: &str| read(text).unwrap().streams["s"].settings.recipe.input();
    assert_eq!(input(""), Input::default());
    assert_eq!(input("adjust_orientation = false"), Input { adjust_orientation: false, ..Input::default() });
    assert_eq!(input("reducing_gap = 3").reducing_gap, Some(3.0));
    assert_eq!(input("fast = true").reducing_gap, Some(2.0));
    let refused = |text: &str| read(text).unwrap_err().to_string();
    assert!(refused("reducing_gap = 0.5").contains("reducing_gap: is 0.5; give a number from 1.0 up"));
    assert!(refused("fast = true\nreducing_gap = 3.0").contains("fast: is short for reducing_gap = 2.0"));
}

proptest::proptest! {
    #[test]
    fn no_settings_whatever_make_the_reader_panic(
        document in "[ -~]{0,80}",
        key in "(batch_size|size|transform|max_failures|num_shards|shard_id|fill|reducing_gap|read_timeout|source|seed)",
        value in "(-?[0-9]{1,25}|-?[0-9]\\.[0-9]e[0-9]{1,3}|\"[0-9a-z.]{0,8}\"|\\[[0-9]?\\]|\\{\\}|null|true)",
    ) {
        if let Err(mistakes) = Config::parse(&document, "any.toml") {
            proptest::prop_assert!(!mistakes.list.is_empty());
        }
        let document = format!("{{\"source\":\"x\",\"batch_size\":1,\"size\":8,\"{key}\":{value}}}");
        let read = StreamSection::from_json(document.as_bytes(), &Ring::default());
        // A configured stream has no shard_id.
        if let Some(stream) = read.ok().filter(|_| key != "shard_id") {
            let again: Value = serde_json::from_str(&document).unwrap();
            proptest::prop_assert_eq!(stream.agree(&again), Ok(()));
        }
    }
}
