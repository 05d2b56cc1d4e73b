//! `size`, `transform`, `match`, `dtype`, `layout`, `fill`, `adjust_orientation`, `reducing_gap`, `fast`: what is done to
//! each picture, as a checked recipe.

use forebay_pixels::{Dtype, Input, Layout, Match, Output, Recipe, Transform};
use serde_json::Value;

use super::super::table::{Table, shown};
use super::super::value::{choice, flag, number, whole};

const SIDES: std::ops::RangeInclusive<u32> = 1..=16_384;

/// What `fast = true` is a short word for.
const FAST_GAP: f64 = 2.0;

/// Nothing if there is a mistake. A shape that is not fixed is one (semantics rule 6).
pub(super) fn read(table: &mut Table<'_, '_>, shuffle: bool) -> Option<Recipe> {
    let dtypes = &[
        ("uint8", Dtype::Uint8),
        ("float16", Dtype::Float16),
        ("bfloat16", Dtype::Bfloat16),
        ("float32", Dtype::Float32),
    ];
    let output = Output {
        dtype: table.take_or("dtype", Dtype::Uint8, choice(dtypes)),
        layout: table.take_or("layout", Layout::Nhwc, choice(&[("NHWC", Layout::Nhwc), ("NCHW", Layout::Nchw)])),
        background: table.take_or("fill", [0; 3], colour),
    };
    let input = input(table);
    let matches = &[("pillow", Match::Pillow), ("torch", Match::Torch)];
    let matched = table.take_or("match", Match::Pillow, choice(matches));
    let size = table.take("size", whole(SIDES));
    let list = table.take("transform", |value| match value {
        Value::Array(list) => Ok(list.clone()),
        _ => Err("a list of tables with one key each, such as [{ center_crop = { size = 224 } }]".to_owned()),
    });
    let (key, transforms) = match (table.has("size"), table.has("transform")) {
        (true, false) if shuffle => ("size", Transform::training(size?)),
        (true, false) => ("size", Transform::evaluation(size?)),
        (false, true) => ("transform", parsed(table, list?)?),
        (true, true) => {
            table.mistake("size", "stands beside transform; give one of the two.");
            return None;
        }
        (false, false) => {
            table.mistake("size", "is missing, and so is transform; give one of the two, such as size = 224.");
            return None;
        }
    };
    let recipe = Recipe::new(transforms, output).map_err(|error| table.mistake(key, format!("{error}."))).ok()?;
    let recipe = recipe.with_match(matched).map_err(|error| table.mistake("match", format!("{error}."))).ok()?;
    recipe.with_input(input).map_err(|error| table.mistake("reducing_gap", format!("{error}."))).ok()
}

fn input(table: &mut Table<'_, '_>) -> Input {
    let adjust_orientation = table.take_or("adjust_orientation", true, flag);
    let fast = table.take_or("fast", false, flag);
    let reducing_gap = table.take("reducing_gap", number(1.0));
    if fast && reducing_gap.is_some() {
        table.mistake("fast", format!("is a short word for reducing_gap = {FAST_GAP:?}; give one of the two."));
    }
    Input { adjust_orientation, reducing_gap: reducing_gap.or_else(|| fast.then_some(FAST_GAP)) }
}

/// Red, green and blue.
fn colour(value: &Value) -> Result<[u8; 3], String> {
    serde_json::from_value(value.clone()).map_err(|_| "red, green and blue from 0 to 255, such as [0, 0, 0]".to_owned())
}

/// Each transform of the list, every mistake reported at its place.
fn parsed(table: &mut Table<'_, '_>, list: Vec<Value>) -> Option<Vec<Transform>> {
    let count = list.len();
    let transforms: Vec<Transform> = (0..)
        .zip(list)
        .filter_map(|(place, value): (usize, Value)| {
            let text = shown(&value);
            let mistake = |error| table.mistake(&format!("transform[{place}]"), format!("is {text}: {error}."));
            serde_json::from_value(value).map_err(mistake).ok()
        })
        .collect();
    (transforms.len() == count).then_some(transforms)
}
