//! What Ultralytics' YOLO trains and evaluates with, as far as single pictures go. Values are not normalised.

use serde_json::{Value, json};

use super::parameters::Parameters;
use super::{NamedLists, flip};

pub(super) const SOURCE: &str =
    "ultralytics/ultralytics, ultralytics/data/augment.py and cfg/default.yaml, at 00033e8f";

/// The gray of YOLO's borders.
const GRAY: u8 = 114;

/// The picture as large as it fits, and by a random factor beyond, cut and bordered to a square.
pub(super) fn train(parameters: &mut Parameters<'_>) -> NamedLists {
    let size = parameters.side("imgsz", 640);
    let scale = parameters.share("scale", 0.5);
    let flipped = parameters.share("fliplr", 0.5);
    let mut images = if scale > 0.0 {
        let range = [(1.0 - scale).max(0.01), 1.0 + scale];
        vec![
            json!({ "scale_jitter": { "target_size": size, "scale_range": range } }),
            json!({ "pad": { "size": size, "fill": GRAY } }),
            json!({ "center_crop": { "size": size } }),
        ]
    } else {
        vec![letterbox(size)]
    };
    images.extend(flip(flipped));
    NamedLists::one(images)
}

pub(super) fn eval(parameters: &mut Parameters<'_>) -> NamedLists {
    NamedLists::one(vec![letterbox(parameters.side("imgsz", 640))])
}

fn letterbox(size: u32) -> Value {
    json!({ "letterbox": { "size": size, "fill": GRAY } })
}
