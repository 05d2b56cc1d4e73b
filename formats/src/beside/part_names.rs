//! Names of folders that are parts of a dataset rather than classes: its sets, and its folders of pictures, masks or
//! annotations.

/// Words of which one is enough.
const PARTS: [&str; 52] = [
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
    "dev",
    "devset",
    "eval",
    "evaluation",
    "evalset",
    "holdout",
    // nnU-Net's.
    "imagestr",
    "imagests",
    "imagesval",
    "labelstr",
    "labelsts",
];
/// Words that are found beside one of them. A folder of each kind is no class either, if there is no other folder.
const BESIDE: [&str; 28] = [
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
    "fold",
    "kfold",
    "cv",
    "split",
    "part",
    "subset",
    "target",
];

/// Those classes that have names of this kind: `train`, `Val2017`, `train_labels`, `test-images`, in any case. If all classes have
/// names such as `image` and `mask`, or `fold0` and `fold1`, these are meant too.
pub(super) fn part_names(classes: &[String]) -> Vec<&String> {
    if classes.iter().all(|class| is_part_name(class) || words(class).all(|word| is_known(&word)) && has_word(class)) {
        return classes.iter().collect();
    }
    classes.iter().filter(|class| is_part_name(class)).collect()
}

/// Whether a class has such a name, whatever the others are called.
pub(super) fn is_part_name(class: &str) -> bool {
    // "leftImg8bit" has a digit of its own, and "stuffthingmaps_train2017" two parts.
    PARTS.contains(&&*class.to_lowercase())
        || words(class).any(|word| PARTS.contains(&&*word)) && words(class).all(|word| is_known(&word))
}

fn is_known(word: &str) -> bool {
    PARTS.contains(&word) || BESIDE.contains(&word)
}

fn has_word(class: &str) -> bool {
    words(class).next().is_some()
}

/// The words of a name, without numbers.
fn words(class: &str) -> impl Iterator<Item = String> {
    let plain = |word: &str| word.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_lowercase();
    class.split(['_', '-', '.', ' ']).map(plain).filter(|word| !word.is_empty())
}
