//! Transform plans and picture decoding on the CPU, true to Pillow and torchvision.
//!
//! A [`Recipe`] is a checked list of [`Transform`]s with the form of its [`Output`]. For one picture and one [`Draw`] it
//! gives a [`Plan`]: pure data that says what to cut, resize, pad and mirror. [`CpuDecoder`] takes the bytes of a
//! file, decodes them and carries the plan out, straight into the place where the pixels will be read.
//!
//! ```
//! use forebay_pixels::{CpuDecoder, Draw, Limits, Recipe, sample};
//!
//! let recipe = Recipe::training(224)?;
//! let mut place = vec![0; recipe.place_len()];
//! let mut decoder = CpuDecoder::new();
//! let bytes = sample::photograph(7, 500, 375);
//! let draw = Draw { seed: 42, epoch: 0, record: 7 };
//! let decoded = decoder.decode(&bytes, &recipe, draw, &Limits::default(), &mut place)?;
//! assert_eq!((decoded.width, decoded.height), (500, 375));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Pixels: JPEG with the accurate IDCT and fancy upsampling, resize to the byte as Pillow does it, or as torch does
//! ([`Match`]). The same input gives the same bytes on every CPU.
//! A [`TransformList`] is a list of transforms whose results may differ in size, for pictures that are handled one by one.
//! The crate knows nothing of the rest of Forebay.

mod axis;
mod background;
mod batch_function;
mod border;
mod buffer;
mod composition;
mod cover;
mod cpu;
mod cpu_only;
mod decoded;
mod directory;
pub mod document;
mod draw;
mod fault;
mod finish;
mod fit;
mod foreign;
mod format;
mod further;
mod icc;
mod interpolation;
mod keypoint_flip;
mod mapping;
mod mask;
mod matching;
mod mirror;
mod mixing;
mod mosaics;
mod noting;
mod number;
mod operation;
mod orientation;
mod origin;
mod output;
mod paint;
mod patches;
mod per_channel;
mod picture;
mod plan;
mod point_map;
mod projective;
mod random_part;
mod recipe;
mod recipe_error;
mod record_boxes;
mod rounds;
pub mod sample;
mod scale;
mod split_recipe;
mod tiff_tags;
mod transform;
mod transform_list;
mod vector;
mod view;
mod weights;

pub use background::Background;
pub use batch_function::BatchFunction;
pub use border::{Border, PaddingMode};
pub use composition::{Composition, Pass, Sums, fixed};
pub use cover::{Cover, CoverCut};
pub use cpu::jpeg::choice::JpegChoice;
pub use cpu::jpeg::head::JpegHead;
#[doc(hidden)]
pub use cpu::jpeg::turbo::bare::BareTurbo;
pub use cpu::probe::{Probe, probe, probe_page};
pub use cpu::seen_size::SeenSize;
pub use cpu::{CpuDecoder, Form, PictureMemory, Transformed};
pub use cpu_only::CpuOnly;
pub use decoded::{Decoded, DecodedBy};
pub use draw::{Draw, Draws};
pub use fault::{Fault, LONGEST_SIDE, Limits};
pub use fit::Fit;
pub use forebay_jpeg::{Sampling, SeekPoints};
pub use format::Format;
pub use further::{Further, FurtherKind};
pub use interpolation::Interpolation;
pub use keypoint_flip::KeypointFlip;
pub use mask::{MaskDecoder, MaskDepth, MaskFault, MaskOrder};
pub use matching::Match;
pub use mixing::{CutMix, MixUp, Mixing, MixingChoice, Mixture, PlaceForm};
pub use mosaics::Mosaics;
pub use noting::SeekPointFinder;
pub use operation::{
    Affine, AffineMatrix, AugMix, AutoAugment, AutoAugmentPolicy, Autocontrast, Blur, Brightness, ChainMix,
    ColorJitter, Contrast, Equalize, Erase, ErasingValue, Fill, Filling, GaussianBlur, Gray, Grayscale, HsvGains, Hue,
    Invert, Jitter, OneOrTwo, Operation, Perspective, PillowBlur, PillowGaussianBlur, Posterize, RandAugment,
    RandomAdjustSharpness, RandomAffine, RandomAutocontrast, RandomEqualize, RandomErasing, RandomGrayscale, RandomHsv,
    RandomInvert, RandomPerspective, RandomPosterize, RandomSolarize, Rotate, Saturation, Sharpness, ShearRange,
    Solarize, SolarizeAdd, ThreeAugment, TimmRandAugment, TrivialAugmentWide,
};
pub use orientation::Orientation;
pub use origin::{Annotated, Origin};
pub use output::{Dtype, Layout, Mode, Output};
pub use paint::Paint;
pub use patches::{MAX_PATCH_SIDE, PatchGrid, PatchPadding, PatchRule, Patches};
pub use per_channel::PerChannel;
pub use picture::{KeptPicture, Picture};
pub use plan::{Plan, Rect, Step};
pub use point_map::{MappedBox, PointMap};
pub use random_part::RandomPart;
pub use recipe::Recipe;
pub use recipe_error::RecipeError;
pub use record_boxes::RecordBoxes;
pub use rounds::{
    BlendShares, BoxShape, Change, Counted, MovedBy, MovedFrom, NearLines, Round, RoundSource, ValueTable,
};
pub use split_recipe::{PythonStep, SplitRecipe};
pub use transform::shape::Size;
pub use transform::{
    CenterCrop, Crop, DeclaredColumn, ExpectSize, Lengths, Letterbox, Mosaic, Normalize, PARTNERS, Pad, PadBy, Padding,
    Python, RandomApply, RandomChoice, RandomCrop, RandomHorizontalFlip, RandomIouCrop, RandomOrder, RandomResizedCrop,
    RandomRotation, RandomShortestSize, RandomVerticalFlip, RandomZoomOut, Resize, ScaleJitter, Scope, Transform,
};
pub use transform_list::{Input, TransformList};
pub use view::{MOST_VIEWS, View, ViewOrder, ViewPlaces};
