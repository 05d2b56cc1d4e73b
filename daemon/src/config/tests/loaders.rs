//! The settings that a Loader sends: what is wrong with them, and whether they agree with a stream's.

use super::*;

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
fn rule_45_masks_are_a_table_of_names_and_folders() {
    let settings =
        |key: &str, value: Value| loader(&json!({ "source": "/d", "batch_size": 4, "size": 32, key: value }));
    let stream = settings("masks", json!({ "seg": "SegmentationClass" })).unwrap();
    assert_eq!(stream.dataset.options().masks.parts("seg"), Some(vec!["SegmentationClass"]));
    assert_eq!(settings("mask_fill", json!(7)).unwrap().settings.mask_fill, Some(7));
    assert_eq!(settings("seed", json!(0)).unwrap().settings.mask_fill, None);
    for (key, value) in [("masks", json!(["seg"])), ("masks", json!({ "seg": [] })), ("mask_fill", json!(65536))] {
        assert_eq!(keys(&settings(key, value).unwrap_err()), [key]);
    }
    let told = settings("masks", json!("seg")).unwrap_err().to_string();
    assert!(
        told.contains("masks: is \"seg\"; give a table of names of columns and folders of masks, such as"),
        "{told}"
    );
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
        ["source", "shard_id", "transform[1]", "transform[2]", "labels", "max_failures", "credits"]
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
        (json!({ "shuffle": "grains" }), grains(16)),
        (json!({ "shuffle": "grains", "shuffle_window": 3 }), grains(3)),
    ] {
        assert_eq!(with(settings).unwrap().settings.shuffle, shuffle);
    }
    let size = |shuffle| with(json!({ "shuffle": shuffle })).unwrap().settings.recipe;
    assert_eq!(size(json!("grains")), size(json!(true)), "size means training");
    let refused = |settings| with(settings).unwrap_err().to_string();
    for wrong in [json!("shards"), json!("true"), json!(1)] {
        let text = refused(json!({ "shuffle": wrong, "shuffle_window": 3 }));
        assert!(text.contains("give true, false or \"grains\"") && !text.contains("shuffle_window"), "{text}");
    }
    for without in [json!({}), json!({ "shuffle": true }), json!({ "shuffle": false })] {
        let mut settings = without;
        settings["shuffle_window"] = json!(8);
        let text = refused(settings);
        assert!(text.contains("shuffle_window: has an effect only with shuffle = \"grains\""), "{text}");
    }
    for wrong in [json!(0), json!(-1), json!("16"), json!(1 << 21)] {
        assert!(refused(json!({ "shuffle": "grains", "shuffle_window": wrong })).contains("shuffle_window: is"));
    }
    assert_eq!(with(json!({ "shuffle_window": 16 })).unwrap().settings.shuffle, Shuffle::Off, "that is the default");
    let stream = with(json!({ "shuffle": "grains", "shuffle_window": 8 })).unwrap();
    assert_eq!(stream.agree(&json!({ "shuffle": "grains", "shuffle_window": 8 })), Ok(()));
    assert_eq!(keys(&stream.agree(&json!({ "shuffle": true })).unwrap_err()), ["shuffle"]);
    assert_eq!(keys(&stream.agree(&json!({ "shuffle_window": 16 })).unwrap_err()), ["shuffle_window"]);
}

#[test]
fn a_loaders_own_daemon_takes_the_sections_of_a_file_but_no_streams() {
    let config = Config::of_loader(r#"{"decode": {"pixel_limit": 9}, "prefetch": {"threads": 2}}"#).unwrap();
    assert_eq!((config.decode.limits.pixels, config.prefetch.threads), (9, 2));
    for (document, told) in [
        (r#"{"decode": {"pixels_limit": 9}}"#, "decode.pixels_limit: is not a key. Did you mean \"pixel_limit\"?"),
        (r#"{"streams": {}}"#, "a Loader's own daemon has none"),
        ("[]", "it is not a table."),
        ("{", "it is not JSON"),
    ] {
        let mistakes = Config::of_loader(document).unwrap_err().to_string();
        assert!(mistakes.contains(told), "{mistakes}");
    }
}
