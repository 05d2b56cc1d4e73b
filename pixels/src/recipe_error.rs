//! Why a list of transforms makes no recipe.

use thiserror::Error;

/// Longest list of transforms, with those that are in others.
pub(crate) const MAX_TRANSFORMS: usize = 32;

/// Why a list of transforms makes no recipe.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// A value of one transform is out of its range.
    #[error("transform {place} ({name}): {problem}")]
    Value {
        /// Place in the list, from 0.
        place: usize,
        /// Name of the transform.
        name: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// The pictures would differ in size.
    #[error(
        "the transforms give pictures of different sizes, which cannot be in one batch; add random_resized_crop, \
         center_crop, or resize with [height, width], or set `size`, or `output` of a function in Python"
    )]
    NoFixedShape,
    /// Normalised values are no whole numbers.
    #[error(
        "transform {place} (normalize) needs a float output; set dtype to \"float16\", \"bfloat16\" or \"float32\""
    )]
    NormalizeNeedsFloat {
        /// Place in the list, from 0.
        place: usize,
    },
    /// Something follows normalize.
    #[error("transform {place} (normalize) must be the last of the list, but for random_erasing; move it to the end")]
    NormalizeNotLast {
        /// Place in the list, from 0.
        place: usize,
    },
    /// A filter that only Pillow has with antialiasing, or that has another meaning in torch.
    #[error(
        "transform {place} ({name}) has a filter that torch has not; with match = \"torch\" set its interpolation to \
         \"bilinear\", or that of a resize to \"bicubic\""
    )]
    NoTorchFilter {
        /// Place in the list, from 0.
        place: usize,
        /// Name of the transform.
        name: &'static str,
    },
    /// The same for the pictures of buckets, and for patches.
    #[error(
        "buckets or patches have a filter that torch has not; with match = \"torch\" set their interpolation to \"bilinear\" or \
         \"bicubic\""
    )]
    NoTorchBuckets,
    /// The pictures of a bucket get another size.
    #[error(
        "the transforms make pictures of {height} x {width} pixels of those of the bucket {bucket_height}x{bucket_width}; leave out \
         what changes their size"
    )]
    NotOfBucket {
        /// Height of the results.
        height: u32,
        /// Width of the results.
        width: u32,
        /// Height of the bucket.
        bucket_height: u32,
        /// Width of the bucket.
        bucket_width: u32,
    },
    /// The pictures have another size than their patches.
    #[error(
        "the transforms change the size of pictures that are cut into patches; leave out what changes it: crops, resizes, borders and \
         rotations that expand"
    )]
    NotOfPatches,
    /// Patches whose channels would be apart.
    #[error(
        "layout = \"NCHW\" cannot be combined with patches, whose pixels have their channels together; leave layout out"
    )]
    PatchLayout,
    /// Ragged pictures in another form than rows of bytes.
    #[error(
        "ragged pictures are rows of pixels of uint8; leave dtype and layout out, and make floats of them where they are trained on"
    )]
    RaggedOutput,
    /// The size of a result is drawn, or depends on more than the size of the picture.
    #[error(
        "transform {place} ({name}) gives results whose size does not follow from the size of the picture alone, so that ragged \
         pictures cannot be planned; leave it out, or do it where they are trained on"
    )]
    RaggedSize {
        /// Place in the list, from 0.
        place: usize,
        /// Name of the transform.
        name: &'static str,
    },
    /// Pictures of a mode of Pillow's that calculate as torch.
    #[error("mode = \"{mode}\" is Pillow's, and cannot be combined with match = \"torch\"; leave one of the two out")]
    NoTorchMode {
        /// The mode.
        mode: &'static str,
    },
    /// A gap that would leave fewer pixels than the result has, or none.
    #[error("reducing_gap is {gap}, but must be a number from 1 up, such as 2.0")]
    ReducingGap {
        /// What was asked for.
        gap: String,
    },
    /// The list is too long.
    #[error("the list has {len} transforms; at most {MAX_TRANSFORMS} are allowed")]
    TooMany {
        /// Length of the list.
        len: usize,
    },
}
