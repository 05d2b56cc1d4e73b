//! Buckets: their rules and settings, and what does not go with them.

use forebay_plan::{BucketRule, Leftovers, StepPlaces};

use super::*;

fn settings(more: &Value) -> Result<StreamSection, Mistakes> {
    let Value::Object(mut all) = json!({ "source": "/a", "batch_size": 8 }) else { unreachable!("it is an object") };
    all.extend(more.as_object().unwrap().clone());
    loader(&Value::Object(all))
}

fn steps(stream: &StreamSection) -> (StepPlaces, u32) {
    (stream.settings.form.as_ref().unwrap().buckets().unwrap().steps, stream.settings.batch_size)
}

#[test]
fn rule_64_buckets_have_a_rule_by_name_or_a_list_and_a_table_has_their_settings() {
    let named = settings(&json!({ "buckets": "kohya" })).unwrap().settings;
    let buckets = named.form.as_ref().unwrap().buckets().unwrap();
    assert!(matches!(&buckets.rule, BucketRule::Kohya(kohya) if kohya.buckets().len() == 41));
    assert_eq!((buckets.leftovers, &*buckets.name), (Leftovers::Neighbour, "kohya 1024 min 256 max 2048"));
    assert_eq!(named.recipe.shape(), (1024, 1024, 3), "it is that of the largest bucket");
    let table = json!({ "rule": "diffusers", "resolution": 512, "leftovers": "drop", "crop": "random" });
    let diffusers = settings(&json!({ "buckets": table })).unwrap().settings.form.unwrap().buckets().unwrap().clone();
    assert_eq!((&*diffusers.name, diffusers.leftovers), ("diffusers 512", Leftovers::Drop));
    let cut = settings(&json!({ "buckets": { "rule": "512x512", "max_crop": 0.25 } }))
        .unwrap()
        .settings
        .form
        .unwrap()
        .buckets()
        .unwrap()
        .clone();
    assert_eq!((cut.max_crop, &*cut.name), (0.25, "512x512 max_crop 0.25"));
    let groups = json!({ "buckets": { "rule": "512x512", "accumulate": 4, "leftovers": "drop" } });
    assert_eq!(
        (settings(&groups).unwrap().settings.form.unwrap().buckets().unwrap().clone().accumulate, buckets.accumulate),
        (4, 1)
    );
    let one = settings(&json!({ "buckets": "512x640,640x512" })).unwrap();
    let list = settings(&json!({ "buckets": ["512x640", "640x512"] })).unwrap();
    assert_eq!(one.settings, list.settings);
    let text = "[streams.train]\nsource = \"/a\"\nbatch_size = 8\nbuckets = { rule = [\"512x640\", \"640x512\"] }\n";
    assert_eq!(Config::parse(text, "a.toml").unwrap().streams["train"].settings.form, list.settings.form);
}

#[test]
fn rule_62_steps_have_a_number_of_pictures_or_of_pixels_and_the_largest_is_that_of_the_stream() {
    let list = ["512x640", "256x256"];
    let fixed = settings(&json!({ "buckets": { "rule": list, "divisor": 4 } })).unwrap();
    assert_eq!(steps(&fixed), (StepPlaces { pictures: 8, pixels: None, divisor: 4 }, 8));
    let pixels = json!({ "rule": list, "pixels": 1_000_000, "divisor": 2 });
    let by_pixels = settings(&json!({ "buckets": pixels, "batch_size": null })).unwrap();
    assert_eq!(steps(&by_pixels).1, 14, "15.3 pictures of 256x256");
    let lockstep = |rank: u32, world_size: u32, buckets: &Value| {
        let job = json!({ "assignment": "lockstep", "rank": rank, "world_size": world_size, "batch_size": null });
        let Value::Object(mut job) = job else { unreachable!("it is an object") };
        job.insert("buckets".into(), buckets.clone());
        settings(&Value::Object(job)).unwrap()
    };
    let job = lockstep(1, 3, &json!({ "rule": list, "pixels": 1_000_000 }));
    assert_eq!(
        job.settings.sharding,
        Sharding::Lockstep { global_batch: 15, rank: Some(AskedPart { number: 1, count: 3 }) }
    );
    assert_eq!(steps(&job), (StepPlaces { pictures: 15, pixels: Some(1_000_000), divisor: 3 }, 5));
    let service = "[streams.train]\nsource = \"/a\"\nassignment = \"lockstep\"\nbuckets = { rule = \"kohya\", pixels = 16777216 }\n";
    let refused = Config::parse(service, "a.toml").unwrap_err().to_string();
    assert!(refused.contains("streams.train.buckets") && refused.contains("needs divisor in lockstep"), "{refused}");
}

#[test]
fn rule_62_what_does_not_go_with_buckets_is_refused_by_key() {
    for (more, key, words) in [
        (json!({ "buckets": ["512"] }), "buckets", "a list of sizes such as"),
        (json!({ "buckets": ["512x20000"] }), "buckets", "sides are at most 16384"),
        (json!({ "buckets": { "rule": "512x512", "max_crop": 20 } }), "buckets.max_crop", "a share from 0 to 1"),
        (
            json!({ "buckets": { "rule": "kohya", "no_upscale": true, "pixels": 9_000_000 }, "batch_size": null }),
            "buckets.pixels",
            "give batch_size",
        ),
        (
            json!({ "buckets": { "rule": "kohya", "accumulate": 2, "leftovers": "repeat" } }),
            "buckets.accumulate",
            "give other leftovers",
        ),
        (json!({ "buckets": { "rule": "kohya", "accumulate": 0 } }), "buckets.accumulate", "1 to 65536"),
        (json!({ "buckets": "kohya", "size": 8 }), "size", "cannot be combined with buckets"),
        (json!({ "buckets": "kohya", "weights": [1.0] }), "weights", "repeats can be"),
        (json!({ "buckets": "kohya", "page": 1 }), "page", "first page"),
        (json!({ "buckets": "kohya", "lease_size": 12 }), "lease_size", "a multiple of the places"),
        (
            json!({ "buckets": "kohya", "transform": [{ "random_crop": { "size": 1024 } }, { "resize": { "size": [8, 8] } }] }),
            "transform",
            "make pictures of 8 x 8 pixels",
        ),
        (json!({ "buckets": "kohya", "transform": [{ "python": { "function": "a:b" } }] }), "transform", "has python"),
        (
            json!({ "buckets": "kohya", "transform": [{ "python": { "function": "a:b", "scope": "batch" } }] }),
            "transform",
            "has python",
        ),
    ] {
        let mistakes = settings(&more).unwrap_err();
        assert_eq!(keys(&mistakes), [key], "{mistakes}");
        assert!(mistakes.to_string().contains(words), "{mistakes}");
    }
}
