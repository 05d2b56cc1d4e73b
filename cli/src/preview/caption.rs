//! What was drawn for a picture, in words.

use forebay_pixels::{Plan, Step};
use serde_json::Value;

/// Each step of a plan with its parameters.
pub(super) fn steps(plan: &Plan) -> Vec<String> {
    let mut steps: Vec<String> = plan.steps.iter().map(step).collect();
    if plan.mirrored {
        steps.push("mirror".to_owned());
    }
    if plan.flipped {
        steps.push("flip".to_owned());
    }
    steps
}

fn step(step: &Step) -> String {
    let value = match step {
        Step::Operate(operation) => serde_json::to_value(operation),
        step => serde_json::to_value(step),
    };
    words(&value.expect("a step is plain data"))
}

/// A table as its keys and values, a list as its items. The name of a single parameter is left out.
fn words(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let given: Vec<_> = table.iter().filter(|(_, value)| !value.is_null()).collect();
            let entries: Vec<String> = given
                .iter()
                .map(|(name, value)| match value {
                    Value::Object(inner) if inner.iter().filter(|(_, value)| !value.is_null()).count() == 1 => {
                        let only = inner.values().find(|value| !value.is_null()).map(words);
                        format!("{name} {}", only.unwrap_or_default())
                    }
                    value => format!("{name} {}", words(value)).trim_end().to_owned(),
                })
                .collect();
            entries.join(", ")
        }
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(" "),
        Value::Number(number) if number.is_f64() => rounded(number.as_f64().unwrap_or_default()),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// With at most three digits after the point.
fn rounded(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use forebay_pixels::{Draw, Output, Recipe};

    use super::*;

    #[test]
    fn a_plan_is_told_step_by_step() {
        let list = r#"[{ "resize": { "size": [20, 30] } }, { "color_jitter": { "brightness": [1.25, 1.25] } },
            { "random_invert": { "p": 1.0 } }, { "random_affine": { "degrees": [4.5, 4.5] } },
            { "pad": { "size": 40, "fill": 7 } }, { "random_horizontal_flip": { "p": 1.0 } },
            { "random_vertical_flip": { "p": 1.0 } }]"#;
        let recipe = Recipe::new(serde_json::from_str(list).unwrap(), Output::default()).unwrap();
        let told = steps(&recipe.plan(60, 40, Draw { seed: 0, epoch: 0, record: 0 }));
        assert_eq!(
            told,
            [
                "resize width 30, height 20, interpolation bilinear",
                "adjust_brightness 1.25",
                "invert",
                "affine angle 4.5, translate 0 0, scale 1, shear 0 0, interpolation nearest, fill 0",
                "canvas width 40, height 40, left 5, top 10, border 7",
                "mirror",
                "flip",
            ]
        );
        assert_eq!([1.0, -0.1236, 1e-9].map(rounded), ["1", "-0.124", "0"]);
    }
}
