//! Ragged pictures: what the key says, and what does not go with them.

use forebay_pipeline::settings::StepForm;

use super::*;

fn settings(more: &Value) -> Result<StreamSection, Mistakes> {
    let Value::Object(mut all) = json!({ "source": "/a", "batch_size": 8 }) else { unreachable!("it is an object") };
    all.extend(more.as_object().unwrap().clone());
    loader(&Value::Object(all))
}

#[test]
fn rule_63_ragged_pictures_are_a_value_of_buckets_and_a_step_has_as_many_as_are_asked_for() {
    for buckets in [json!("ragged"), json!({ "rule": "ragged", "divisor": 4 })] {
        let stream = settings(&json!({ "buckets": buckets })).unwrap().settings;
        assert_eq!((stream.form, stream.batch_size), (Some(StepForm::Ragged { places: 8 }), 8));
        assert!(stream.recipe.is_ragged());
    }
    let job = json!({ "assignment": "lockstep", "rank": 1, "world_size": 3, "batch_size": null, "global_batch": 12 });
    let Value::Object(mut job) = job else { unreachable!("it is an object") };
    job.insert("buckets".to_owned(), "ragged".into());
    let job = settings(&Value::Object(job)).unwrap().settings;
    assert_eq!((job.form, job.batch_size), (Some(StepForm::Ragged { places: 12 }), 4));
}

#[test]
fn rule_63_what_does_not_go_with_ragged_pictures_is_refused_by_name() {
    let cases = [
        (json!({ "buckets": { "rule": "ragged", "divisor": 3 } }), "buckets", "no multiple of 3"),
        (json!({ "buckets": { "rule": "ragged", "pixels": 9999 } }), "buckets.pixels", "is not a key"),
        (json!({ "buckets": "ragged", "patches": "naflex" }), "patches", "give one of the two"),
        (json!({ "buckets": "ragged", "size": 8 }), "size", "cannot be combined with buckets"),
        (json!({ "buckets": "ragged", "dtype": "float32" }), "transform", "rows of pixels of uint8"),
        (json!({ "buckets": "ragged", "mixing": { "mix_up": {} } }), "mixing", "two pictures have other sizes"),
        (json!({ "buckets": "ragged", "last_batch_policy": "drop" }), "last_batch_policy", "empty places"),
        (json!({ "buckets": "ragged", "num_shards": 2, "shard_id": 0 }), "num_shards", "buckets = \"ragged\""),
        (
            json!({ "buckets": "ragged", "transform": [{ "random_zoom_out": {} }] }),
            "transform",
            "does not follow from the size of the picture alone",
        ),
        (json!({ "buckets": "ragged", "transform": [{ "mosaic": { "size": 8 } }] }), "transform", "mosaic"),
    ];
    for (given, key, words) in cases {
        let refused = settings(&given).unwrap_err();
        let found = refused.list.iter().find(|mistake| mistake.key == key && mistake.problem.contains(words));
        assert!(found.is_some(), "{given} gives no mistake of {key} with \"{words}\": {refused}");
    }
}
