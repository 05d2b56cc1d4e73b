//! Names of folders that are parts of a dataset rather than classes: its sets, and its folders of pictures, masks or
//! annotations.

/// Words of which one is enough.
const PARTS: [&str; 41] = [
    "train",
    "training",
    "trainset",
    "trainval",
    "val",
    "valid",
    "validation",
    "valset",
    "test",
    "testing",
    "testset",
    "images",
    "imgs",
    "pictures",
    "photos",
    "jpegimages",
    "labels",
    "labeltxt",
    "masks",
    "annotations",
    "annots",
    "xmls",
    "jsons",
    "bboxes",
    "keypoints",
    "groundtruth",
    "groundtruths",
    "imagesets",
    "segmentationclass",
    "segmentationobject",
    "segmentationclassaug",
    "segmentations",
    "trainannot",
    "valannot",
    "testannot",
    "leftimg8bit",
    "gtfine",
    "gtcoarse",
    "stuffthingmaps",
    "splits",
    "folds",
];
/// Words that are found beside one of them.
const BESIDE: [&str; 21] = [
    "image",
    "img",
    "picture",
    "photo",
    "jpeg",
    "jpg",
    "png",
    "label",
    "mask",
    "annotation",
    "annot",
    "xml",
    "json",
    "txt",
    "seg",
    "segmentation",
    "set",
    "data",
    "dataset",
    "raw",
    "gt",
];

/// Whether a class has a name of this kind: `train`, `Val2017`, `train_labels`, `test-images`, in any case.
pub(super) fn is_part_name(class: &str) -> bool {
    let lower = class.to_lowercase();
    let plain = |word: &str| word.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned();
    let words = || lower.split(['_', '-', '.', ' ']).map(plain).filter(|word| !word.is_empty());
    let is_part = |word: &str| PARTS.contains(&word);
    let is_any = |word: &String| is_part(word) || BESIDE.contains(&word.as_str());
    // "leftImg8bit" has a digit of its own, and "stuffthingmaps_train2017" two parts.
    is_part(&lower) || words().any(|word| is_part(&word)) && words().all(|word| is_any(&word))
}
