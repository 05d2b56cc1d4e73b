//! Tests of the whole configuration, and of the settings of a Loader.

use std::num::NonZero;
use std::time::Duration;

use forebay_pixels::{Annotated, Dtype, Input, Layout, Match, Recipe, Transform};
use forebay_road::ByteSize;
use forebay_road::settings::{CacheKind, CacheSettings, LastBatchPolicy, MaxFailures, OnError, Sharding, Shuffle};
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
        // Of two keys that exclude each other one stays a comment.
        Some(text) if ["transform =", "socket =", "reducing_gap ="].iter().any(|key| text.starts_with(key)) => line,
        Some(text) if text.starts_with('[') => text,
        Some(text) if text.split_once(" = ").is_some_and(|(key, _)| !key.contains([' ', ':'])) => text,
        _ => line,
    });
    let config = Config::parse(&shown.collect::<Vec<_>>().join("\n"), "example.toml").unwrap();
    assert_eq!(config.streams["train"].settings.epochs, Some(90));
    assert_eq!(config.control.group.as_deref(), Some("trainers"));
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
                let required =
                    ["source", "batch_size", "size", "transform"].contains(&key) && section == "streams.train";
                let base = "source = '/data'\nbatch_size = 256\nsize = 224";
                let is_default = !required && parse(base, &section, plain) == parse(base, &section, "");
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
  line 2: drain_timeout: is "soon"; give a duration above 0, such as "500ms", "5s", "10m" or "2h".
  line 4: ring.credit: is not a key. Did you mean "credits"?
  line 6: prefetch.budget: is "lots"; give a size above 0, such as "512kb", "1.5gb" or "64MiB".
  line 8: decode.threads: is 0; give a whole number from 1 to 1024.
  line 11: streams.train.batch_size: is -1; give a whole number from 1 to 1048576.
  line 12: streams.train.size: cannot be combined with transform; give one of the two.
  line 14: streams.train.last_batch_policy: is "keep"; give one of "fill", "drop", "partial".
  line 15: streams.train.random_shuffle: is not a key. Did you mean "shuffle"?
  line 16: streams.no good: is not a name for a stream; use at most 64 letters, digits, '-', '_' and '.'.
  line 16: streams.no good.source: is missing; give the path of a folder, of a .csv file or of a .txt list.
  line 16: streams.no good.batch_size: is missing; give the number of records in a batch, such as 256.
  line 16: streams.no good.size: is missing, and so is transform; give one of the two, such as size = 224.
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
    assert_eq!((stream.settings.shard_size(), stream.settings.wanted_shard_size), (1024, None));
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
        shard_size = 20
        prefetch_queue_depth = 3
        pin_memory = true
        decode_gpu = 1
        num_threads = 2
        on_error = "replace"
        max_failures = 0.5
        group = "g"
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
    assert_eq!(stream.labels, Labels::Text);
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
    assert_eq!((stream.settings.shard_size(), stream.settings.slots()), (20, 7));
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
    assert_eq!(stream.source, None);
    assert_eq!(stream.settings.max_failures, Some(MaxFailures::Count(3)));
    assert_eq!(stream.settings.recipe, Recipe::evaluation(32).unwrap());
}

#[test]
fn rule_45_min_visible_is_a_part_and_annotated_names_one_of_two_pictures() {
    let settings =
        |key: &str, value: Value| loader(&json!({ "source": "/data", "batch_size": 4, "size": 32, key: value }));
    let settings = |key: &str, value| settings(key, value).map(|stream| stream.settings);
    let default = settings("seed", json!(0)).unwrap();
    assert_eq!((default.min_visible, default.annotated), (0.0, Annotated::AsSeen));
    for (value, expected) in [(json!(0.25), 0.25), (json!(1), 1.0), (json!(0), 0.0)] {
        assert_eq!(settings("min_visible", value).unwrap().min_visible.to_bits(), f64::to_bits(expected));
    }
    assert_eq!(settings("annotated", json!("stored")).unwrap().annotated, Annotated::AsStored);
    for (key, value) in [("min_visible", json!(-0.1)), ("min_visible", json!(25)), ("annotated", json!("before"))] {
        let mistakes = settings(key, value).unwrap_err();
        assert_eq!(keys(&mistakes), [key]);
    }
}

#[test]
fn wrong_settings_of_a_loader_are_all_named() {
    let mistakes = loader(&json!({
        "source": "stream:other", "batch_size": 4, "transform": [{ "resize": { "size": 8 } }, { "spin": {} }, 7],
        "shard_id": 4, "num_shards": 4, "max_failures": 1.5, "labels": "some", "credits": 0
    }))
    .unwrap_err();
    assert_eq!(
        keys(&mistakes),
        ["source", "transform[1]", "transform[2]", "labels", "shard_id", "max_failures", "credits"]
    );
    let mistakes = loader(&json!({ "source": "x", "files": true, "batch_size": 4, "size": 8, "shard_id": 1 }));
    assert_eq!(keys(&mistakes.unwrap_err()), ["source", "shard_id"]);
    let mistakes = loader(&json!({ "source": "x", "batch_size": 4, "size": 8, "pad_last_batch": false }));
    assert_eq!(keys(&mistakes.unwrap_err()), ["pad_last_batch"]);
    let caches = [
        json!({}),
        json!({ "keep": "all", "memory": 0, "max_side": 0, "disk": true }),
        json!({ "keep": "encoded", "memory": "1gb", "max_side": 512 }),
        json!("decoded"),
    ];
    let mistakes = caches.map(|cache| {
        let mistakes = loader(&json!({ "source": "x", "batch_size": 0, "size": 8, "cache": cache })).unwrap_err();
        let keys = keys(&mistakes);
        assert_eq!(keys.first(), Some(&"batch_size"), "{mistakes}");
        keys[1..].join(" ")
    });
    let both = loader(&json!({ "source": "x", "batch_size": 1, "size": 8, "dtype": "wrong", "reducing_gap": 2.0,
        "cache": { "keep": "decoded", "memory": "1gb" } }));
    assert_eq!(
        keys(&both.unwrap_err()),
        ["dtype", "cache.keep"],
        "the cache is checked against the rest of the recipe"
    );
    let all =
        ["cache.keep cache.memory", "cache.keep cache.memory cache.max_side cache.disk", "cache.max_side", "cache"];
    assert_eq!(mistakes, all);
    for document in ["", "[]", "{\"source\":"] {
        let mistakes = StreamSection::from_json(document.as_bytes(), &Ring::default()).unwrap_err();
        assert_eq!(keys(&mistakes), [""], "{document}");
    }
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
fn rule_26_settings_given_with_a_stream_must_agree_and_every_difference_is_named() {
    let stream = train();
    let agrees = json!({
        "source": "stream:train", "batch_size": 256, "size": 224, "shuffle": true, "seed": 0, "transform": null, "credits": 1
    });
    assert_eq!(stream.agree(&agrees), Ok(()));
    assert_eq!(stream.agree(&json!({})), Ok(()));
    let pair = json!([{ "random_resized_crop": { "size": 224 } }, { "random_horizontal_flip": {} }]);
    assert_eq!(stream.agree(&json!({ "transform": pair })), Ok(()), "the same in other words");
    let squared = json!([{ "random_resized_crop": { "size": [224, 224] } }, { "random_horizontal_flip": {} }]);
    assert_eq!(stream.agree(&json!({ "transform": squared })), Ok(()), "one number is a square");

    let differs =
        json!({ "batch_size": 128, "size": 192, "dtype": "bfloat16", "match": "torch", "sizes": 1, "num_shards": 2 });
    let mistakes = stream.agree(&differs).unwrap_err();
    assert_eq!(keys(&mistakes), ["batch_size", "size", "dtype", "match", "sizes", "num_shards"]);
    assert_eq!(mistakes.list[0].problem, "is 128, but the stream has 256. Leave it out or give the same.");
    assert_eq!(
        mistakes.list[2].problem,
        "is \"bfloat16\", but the stream has the default. Leave it out or give the same."
    );
}

#[test]
fn rule_26_a_static_stream_agrees_with_trainers_that_name_a_shard_of_it() {
    let text = "[streams.a]\nsource = 'x'\nbatch_size = 1\nsize = 8\nnum_shards = 4\nstick_to_shard = true";
    let stream = &Config::parse(text, "forebay.toml").unwrap().streams["a"];
    let shard = |shard_id, num_shards| json!({ "shard_id": shard_id, "num_shards": num_shards, "batch_size": 1 });
    assert_eq!(stream.agree(&shard(3, 4)), Ok(()));
    assert_eq!(keys(&stream.agree(&shard(0, 2)).unwrap_err()), ["num_shards"]);
    assert_eq!(keys(&stream.agree(&json!({ "stick_to_shard": false })).unwrap_err()), ["stick_to_shard"]);
}

#[test]
fn rule_56_a_shuffle_is_of_records_or_of_grains_and_its_window_belongs_to_grains() {
    let with = |more: Value| {
        let mut settings = json!({ "source": "/data", "batch_size": 4, "size": 8 });
        settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        loader(&settings)
    };
    let grains = |window| Shuffle::Grains { window: NonZero::new(window).unwrap() };
    for (settings, shuffle) in [
        (json!({}), Shuffle::Off),
        (json!({ "shuffle": false }), Shuffle::Off),
        (json!({ "shuffle": true }), Shuffle::Records),
        (json!({ "shuffle": "shard" }), grains(16)),
        (json!({ "shuffle": "shard", "shuffle_window": 3 }), grains(3)),
    ] {
        assert_eq!(with(settings).unwrap().settings.shuffle, shuffle);
    }
    let size = |shuffle| with(json!({ "shuffle": shuffle })).unwrap().settings.recipe;
    assert_eq!(size(json!("shard")), size(json!(true)), "size means training");
    let refused = |settings| with(settings).unwrap_err().to_string();
    for wrong in [json!("shards"), json!("true"), json!(1)] {
        let text = refused(json!({ "shuffle": wrong, "shuffle_window": 3 }));
        assert!(text.contains("give true, false or \"shard\"") && !text.contains("shuffle_window"), "{text}");
    }
    for without in [json!({}), json!({ "shuffle": true }), json!({ "shuffle": false })] {
        let mut settings = without;
        settings["shuffle_window"] = json!(8);
        let text = refused(settings);
        assert!(text.contains("shuffle_window: has an effect only with shuffle = \"shard\""), "{text}");
    }
    for wrong in [json!(0), json!(-1), json!("16"), json!(1 << 21)] {
        assert!(refused(json!({ "shuffle": "shard", "shuffle_window": wrong })).contains("shuffle_window: is"));
    }
    assert_eq!(with(json!({ "shuffle_window": 16 })).unwrap().settings.shuffle, Shuffle::Off, "that is the default");
    let stream = with(json!({ "shuffle": "shard", "shuffle_window": 8 })).unwrap();
    assert_eq!(stream.agree(&json!({ "shuffle": "shard", "shuffle_window": 8 })), Ok(()));
    assert_eq!(keys(&stream.agree(&json!({ "shuffle": true })).unwrap_err()), ["shuffle"]);
    assert_eq!(keys(&stream.agree(&json!({ "shuffle_window": 16 })).unwrap_err()), ["shuffle_window"]);
}

#[test]
fn serving_a_path_is_one_stream_for_training() {
    let config = Config::for_path("/data/train").unwrap();
    let stream = &config.streams[DEFAULT_STREAM];
    assert_eq!(stream.source.as_deref(), Some("/data/train"));
    assert_eq!(stream.settings.shuffle, Shuffle::Records);
    assert_eq!(Config { streams: BTreeMap::new(), ..config }, Config::default());
}

#[test]
fn pictures_can_be_left_as_they_are_stored_and_large_ones_be_decoded_smaller() {
    let read =
        |text: &str| Config::parse(&format!("[streams.s]\nsource = \"x\"\nbatch_size = 1\nsize = 8\n{text}"), "c.toml");
    let input = |text: &str| read(text).unwrap().streams["s"].settings.recipe.input();
    assert_eq!(input(""), Input { adjust_orientation: true, reducing_gap: None });
    assert_eq!(input("adjust_orientation = false"), Input { adjust_orientation: false, reducing_gap: None });
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
