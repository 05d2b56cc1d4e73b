//! The help of the keys that say what a batch is and how its pictures are made. `forebay_pixels::document` reads all but
//! the first.

use forebay_pipeline::keys;
use forebay_pipeline::settings::{Home, Key};

/// The keys.
pub(super) const KEYS: &[Key] = keys! {
    /// Required, except in lockstep. The number of records in a batch.
    batch_size: "int", example: "256", in_python: "A stream has it already.";
    /// Required, unless there is transform or recipe. The side of the square images in pixels. With shuffle, it means
    /// RandomResizedCrop(224) and a random flip. Without shuffle, it means Resize(256) and CenterCrop(224).
    size: "int", example: "224";
    /// Required, unless there is size or recipe. A list of transforms: docs/transforms.md.
    transform: "Transform | Sequence[Transform]",
        example: "[{ random_resized_crop = { size = 224 } }, { random_horizontal_flip = { p = 0.5 } }]",
        in_python: "They are classes of `forebay.transforms`.";
    /// Required, unless there is size or transform. The transforms of published training code: a name, or a table of the name
    /// and parameters. `forebay config --recipe NAME` prints the transforms, and docs/recipes.md lists the recipes. Some have
    /// further views. If a recipe normalises, dtype is "float32" unless you give it.
    recipe: "str | Mapping[str, Any]", example: "{ name = \"timm_train\", size = 224, auto_augment = \"rand-m9-mstd0.5-inc1\" }",
        in_python: "Such as \"torchvision_train\", or `{\"name\": \"timm_train\", \"size\": 192}`. `forebay.recipes` has the same \
            as lists that you can change.";
    /// How resizes calculate. "pillow": as Pillow, to the byte. "torch": as torchvision on a GPU, with a uint8 tensor and
    /// antialias=True. "torch" is slower on the CPU, and has bilinear and bicubic filters only.
    match: "str" = "\"pillow\"", in_python: "The values of \"torch\" are within 1 of 255 of torchvision's.";
    /// The type of the values: "uint8", "float16", "bfloat16" or "float32".
    dtype: "Any" = "\"uint8\"",
        in_python: "Or a type of numpy or PyTorch with such a name. numpy has no bfloat16: see `Batch.images`.";
    /// The order of the axes: "NHWC" or "NCHW".
    layout: "str" = "\"NHWC\"";
    /// What a pixel has, by Pillow's names: "RGB"; "L", brightness alone, as convert("L") makes it; "RGBA"; or "LA", brightness and
    /// alpha. With alpha, a picture without it is opaque, and transforms that change values are refused.
    mode: "str" = "\"RGB\"", in_python: "Images have as many channels: [n, height, width, 1] with \"L\".";
    /// The colour behind transparent pixels: red, green, blue. "drop" leaves alpha out, as Pillow's convert("RGB") does it. With alpha
    /// in the mode it has no effect.
    fill: "Sequence[int] | str" = "[0, 0, 0]", home: Home::Service;
    /// Turns pictures as their EXIF orientation says. Set it to false to leave them as stored, like Pillow and torchvision.
    adjust_orientation: "bool" = "true";
    /// Decodes a large JPEG at 1/2, 1/4 or 1/8 of its size, if each side keeps this many times the result's pixels. Set it to 2.0
    /// for speed; the result is hard to tell from an exact one. Not allowed with a decoded cache. Left out: full size.
    reducing_gap: "float", example: "2.0", in_python: "At least 1.0.";
    /// Short for `reducing_gap = 2.0`.
    fast: "bool" = "false", home: Home::Config;
    /// Which page of TIFFs is read, from 0. A file without this page, or of another format, is a bad record if it is not 0.
    page: "int" = "0", home: Home::Config;
};
