//! Patches: their rules and settings, and what does not go with them.

use forebay_pipeline::settings::{PatchSettings, StepForm};
use forebay_pixels::{Background, Interpolation, PatchPadding, PatchRule, Patches, PerChannel, RandomPart};

use super::*;

fn settings(more: &Value) -> Result<StreamSection, Mistakes> {
    let Value::Object(mut all) = json!({ "source": "/a", "batch_size": 8 }) else { unreachable!("it is an object") };
    all.extend(more.as_object().unwrap().clone());
    loader(&Value::Object(all))
}

fn lengths(stream: &StreamSection) -> Vec<(u32, u32)> {
    match &stream.settings.form {
        Some(StepForm::Patches(PatchSettings { lengths, .. })) => lengths.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rule_65_a_rule_by_name_has_the_settings_of_its_package() {
    let named = settings(&json!({ "patches": "naflex" })).unwrap();
    assert_eq!(lengths(&named), [(576, 8)]);
    let recipe = &named.settings.recipe;
    assert_eq!(recipe.shape(), (576, 256, 3), "a place has a row for each patch");
    assert_eq!(recipe.output().background, Background::Dropped, "as convert(\"RGB\")");
    let siglip = settings(&json!({ "patches": "siglip2", "dtype": "float32" })).unwrap().settings.recipe;
    let Patches { rule, interpolation, .. } = *siglip.patches().unwrap();
    assert_eq!((rule, interpolation), (PatchRule::Siglip2, Interpolation::Bilinear));
    assert_eq!(siglip.normalize().unwrap().mean, PerChannel::One(0.5), "the model's own");
    assert_eq!(siglip.output().background, Background::Colour([255; 3]));
    let own =
        json!({ "patches": "siglip2", "dtype": "float32", "transform": [{ "normalize": { "mean": 0.1, "std": 1 } }] });
    assert_eq!(settings(&own).unwrap().settings.recipe.normalize().unwrap().mean, PerChannel::One(0.1));
    let table =
        json!({ "rule": "naflex", "patch": 14, "seq_lens": 256, "interpolation": "bilinear", "padding": "timm" });
    let patches = *settings(&json!({ "patches": table })).unwrap().settings.recipe.patches().unwrap();
    let (interpolation, padding) = (Interpolation::Bilinear, PatchPadding::Timm);
    assert_eq!(patches, Patches { rule: PatchRule::Naflex, side: 14, length: 256, interpolation, padding, part: None });
}

#[test]
fn rule_65_a_random_part_has_the_ranges_of_timm_where_none_are_given() {
    let part =
        |table: Value| settings(&json!({ "patches": table })).map(|of| of.settings.recipe.patches().unwrap().part);
    assert_eq!(part(json!({ "rule": "naflex" })).unwrap(), None);
    let (scale, ratio) = ([0.2, 0.9], [0.5, 2.0]);
    let usual = RandomPart { scale: [0.08, 1.0], ratio: [3.0 / 4.0, 4.0 / 3.0] };
    let cases = [
        (json!({ "rule": "naflex", "scale": scale }), RandomPart { scale, ..usual }),
        (json!({ "rule": "siglip2", "ratio": ratio }), RandomPart { ratio, ..usual }),
    ];
    for (table, expected) in cases {
        assert_eq!(part(table).unwrap(), Some(expected));
    }
    for (key, value) in [("scale", json!([0.5, 1.5])), ("scale", json!(0.5)), ("ratio", json!([0, 1]))] {
        let mistakes = part(json!({ "rule": "naflex", key: value })).unwrap_err().to_string();
        assert!(mistakes.contains(&format!("patches.{key}")), "{mistakes}");
    }
}

#[test]
fn rule_65_tokens_give_each_length_its_own_number_of_pictures() {
    let table = json!({ "rule": "naflex", "seq_lens": [128, 256, 576, 784, 1024], "tokens": 32_768, "divisor": 8 });
    let timm = settings(&json!({ "patches": table, "batch_size": null })).unwrap();
    assert_eq!(lengths(&timm), [(128, 256), (256, 128), (576, 56), (784, 40), (1024, 32)]);
    assert_eq!(timm.settings.batch_size, 256, "that of the largest step");
    let job = json!({
        "patches": { "rule": "naflex", "seq_lens": [64, 256], "tokens": 1000 },
        "assignment": "lockstep", "rank": 1, "world_size": 3, "batch_size": null,
    });
    let job = settings(&job).unwrap();
    assert_eq!((lengths(&job), job.settings.batch_size), (vec![(64, 15), (256, 3)], 5), "multiples of three ranks");
}

#[test]
fn rule_65_what_does_not_go_with_patches_is_refused_by_name() {
    let cases = [
        (json!({ "patches": "kimi" }), "patches", "\"naflex\", \"siglip2\", \"gemma4\", or a table"),
        (json!({ "patches": { "seq_lens": 5 } }), "patches.rule", "is missing"),
        (json!({ "patches": { "rule": "naflex", "seq_lens": [5, 5] } }), "patches.seq_lens", "each once"),
        (json!({ "patches": { "rule": "naflex", "seq_lens": [] } }), "patches.seq_lens", "65535"),
        (json!({ "patches": { "rule": "gemma4", "seq_lens": 256 } }), "patches.seq_lens", "630, 1260, 2520"),
        (json!({ "patches": { "rule": "naflex", "patch": 256 } }), "patches.patch", "255"),
        (json!({ "patches": { "rule": "naflex", "tokens": 9999 } }), "batch_size", "follows from the tokens"),
        (
            json!({ "patches": { "rule": "naflex", "tokens": 100 }, "batch_size": null }),
            "patches",
            "no room for 1 pictures of 576 patches",
        ),
        (json!({ "patches": "naflex", "buckets": "kohya" }), "patches", "give one of the two"),
        (json!({ "patches": "naflex", "size": 8 }), "size", "cannot be combined with patches"),
        (json!({ "patches": "naflex", "layout": "NCHW" }), "transform", "channels together"),
        (json!({ "patches": "naflex", "weights": [1.0] }), "weights", "repeats can be"),
        (json!({ "patches": "naflex", "mixing": { "mix_up": {} } }), "mixing", "at other places"),
        (json!({ "patches": "naflex", "last_batch_policy": "drop" }), "last_batch_policy", "the epoch's last step"),
        (
            json!({ "patches": "naflex", "transform": [{ "center_crop": { "size": [48, 80] } }] }),
            "transform",
            "change the size",
        ),
        (json!({ "patches": "naflex", "transform": [{ "python": { "function": "a:b" } }] }), "transform", "has python"),
    ];
    for (given, key, words) in cases {
        let refused = settings(&given).unwrap_err();
        let found = refused.list.iter().find(|mistake| mistake.key == key);
        let found = found.unwrap_or_else(|| panic!("{given} gives no mistake of {key}: {refused}"));
        assert!(found.problem.contains(words), "{words} is not in: {}", found.problem);
    }
}
