//! What Ultralytics' YOLO trains and evaluates with, as far as single pictures go. Values are not normalised.

use serde_json::{Map, Value, json};

use super::parameters::Parameters;
use super::{NamedLists, flip};

pub(super) const SOURCE: &str =
    "ultralytics/ultralytics, ultralytics/data/augment.py and cfg/default.yaml, at 00033e8f";

/// The gray of YOLO's borders.
const GRAY: u8 = 114;

/// Four pictures, or one as large as it fits, and by a random factor beyond, somewhere near the middle of a square.
pub(super) fn train(parameters: &mut Parameters<'_>) -> NamedLists {
    let size = parameters.side("imgsz", 640);
    let gains = [("hsv_h", 0.015), ("hsv_s", 0.7), ("hsv_v", 0.4)];
    let gains = gains.map(|(key, default)| (key.to_owned(), parameters.share(key, default)));
    let translate = parameters.share("translate", 0.1);
    let scale = parameters.share("scale", 0.5);
    let flipped = parameters.share("fliplr", 0.5);
    let mosaic = parameters.share("mosaic", 1.0);
    let range = [(1.0 - scale).max(0.01), 1.0 + scale];
    let mut images = if mosaic > 0.0 {
        vec![json!({ "mosaic": { "size": size, "scale": range, "translate": translate, "fill": GRAY, "p": mosaic } })]
    } else {
        alone(size, (scale > 0.0).then_some(range), translate)
    };
    if gains.iter().any(|(_, gain)| *gain > 0.0) {
        let gains: Map<String, Value> = gains.into_iter().map(|(key, gain)| (key, gain.into())).collect();
        images.push(json!({ "random_hsv": gains }));
    }
    images.extend(flip(flipped));
    NamedLists::one(images)
}

/// One picture, scaled and moved, by transforms that a GPU can carry out.
fn alone(size: u32, scale: Option<[f64; 2]>, translate: f64) -> Vec<Value> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a side of the result")]
    let farthest = libm::rint(f64::from(size) * translate) as u32;
    // As wide as the result, and the border that the picture may be moved by on either side.
    let bordered = size + 2 * farthest;
    let pad = json!({ "pad": { "size": bordered, "fill": GRAY } });
    let mut steps = match scale {
        Some(range) => vec![
            json!({ "scale_jitter": { "target_size": size, "scale_range": range } }),
            pad,
            json!({ "center_crop": { "size": bordered } }),
        ],
        None if farthest > 0 => vec![letterbox(size), pad],
        None => vec![letterbox(size)],
    };
    if farthest > 0 {
        steps.push(square(size, bordered));
    }
    steps
}

/// A random square with sides of `size`, out of a larger one. It has the area of the result, and so it is not resized.
fn square(size: u32, of: u32) -> Value {
    let side = f64::from(size) / f64::from(of);
    let share = side * side;
    json!({ "random_resized_crop": { "size": size, "scale": [share, share], "ratio": [1.0, 1.0] } })
}

pub(super) fn eval(parameters: &mut Parameters<'_>) -> NamedLists {
    NamedLists::one(vec![letterbox(parameters.side("imgsz", 640))])
}

fn letterbox(size: u32) -> Value {
    json!({ "letterbox": { "size": size, "fill": GRAY } })
}
