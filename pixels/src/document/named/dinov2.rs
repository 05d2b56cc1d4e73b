//! The crops of `DINOv2`: two global ones and some local ones, each a view.

use serde_json::{Value, json};

use super::parameters::Parameters;
use super::{NamedLists, apply, crop, evaluation};
use crate::document::value::whole;

pub(super) const SOURCE: &str = "facebookresearch/dinov2, dinov2/data/augmentations.py, at 05c66df0";

/// Most local crops: a record has at most 16 views beside `images`, and one of them is global.
const MOST_LOCAL: u32 = 15;

/// What crops differ in.
struct DinoCrop {
    size: u32,
    scale: [f64; 2],
    /// How likely it is blurred.
    blurred: f64,
    /// How likely it is solarized.
    solarized: f64,
}

pub(super) fn train(parameters: &mut Parameters<'_>) -> NamedLists {
    let size = parameters.side("global_crops_size", 224);
    let scale = parameters.range("global_crops_scale", [0.32, 1.0]);
    let local_size = parameters.side("local_crops_size", 96);
    let local_scale = parameters.range("local_crops_scale", [0.05, 0.32]);
    let count = parameters.take("local_crops_number", 8, whole(0..=MOST_LOCAL));
    let [first_blurred, second_blurred, local_blurred] =
        [("global_1_blur", 1.0), ("global_2_blur", 0.1), ("local_blur", 0.5)].map(|(key, p)| parameters.share(key, p));
    let (_, normalize) = parameters.normalize();

    let first = DinoCrop { size, scale, blurred: first_blurred, solarized: 0.0 };
    let second = DinoCrop { size, scale, blurred: second_blurred, solarized: 0.2 };
    let local = DinoCrop { size: local_size, scale: local_scale, blurred: local_blurred, solarized: 0.0 };
    let mut views = vec![("global_2".to_owned(), second.list(&normalize))];
    views.extend((0..count).map(|number| (format!("local_{number}"), local.list(&normalize))));
    NamedLists { images: first.list(&normalize), views }
}

pub(super) fn eval(parameters: &mut Parameters<'_>) -> NamedLists {
    let size = parameters.side("size", 224);
    let resized = parameters.side("resize_size", 256);
    let (_, normalize) = parameters.normalize();
    evaluation::lists(size, resized, "bicubic", normalize)
}

impl DinoCrop {
    fn list(&self, normalize: &Value) -> Vec<Value> {
        let jitter = json!({ "color_jitter": { "brightness": 0.4, "contrast": 0.4, "saturation": 0.2, "hue": 0.1 } });
        let mut list = vec![
            crop(self.size, self.scale, "bicubic"),
            json!({ "random_horizontal_flip": { "p": 0.5 } }),
            apply(&jitter, 0.8),
            json!({ "random_grayscale": { "p": 0.2 } }),
            apply(&json!({ "gaussian_blur": { "kernel_size": 9, "sigma": [0.1, 2.0] } }), self.blurred),
        ];
        if self.solarized > 0.0 {
            list.push(json!({ "random_solarize": { "threshold": 128, "p": self.solarized } }));
        }
        list.push(normalize.clone());
        list
    }
}
