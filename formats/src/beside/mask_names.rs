//! Pictures whose names say that they are masks of other pictures: `1_mask.png` beside `1.jpg`, `1.png` beside `1.jpg`, and
//! `case/masks/1.png` beside `case/images/1.png`.

use std::collections::HashSet;

use crate::paths::Paths;

/// Words of a mask's name, in lower case.
const MASKS: [&[u8]; 24] = [
    b"mask",
    b"masks",
    b"seg",
    b"segmentation",
    b"segmentations",
    b"segm",
    b"label",
    b"labels",
    b"labelids",
    b"instanceids",
    b"l",
    b"gt",
    b"gtfine",
    b"gtcoarse",
    b"groundtruth",
    b"annotation",
    b"annotations",
    b"anno",
    b"matte",
    b"alpha",
    b"trimap",
    b"superpixels",
    b"instances",
    b"classes",
];
/// Words of a picture's name that its mask's name does not have.
const PICTURES: [&[u8]; 8] = [b"image", b"img", b"sat", b"rgb", b"photo", b"im", b"picture", b"leftimg8bit"];
/// Names of folders of masks, and of the folders of pictures beside them.
const MASK_FOLDERS: [&[u8]; 12] = [
    b"mask",
    b"masks",
    b"label",
    b"labels",
    b"annotation",
    b"annotations",
    b"gt",
    b"groundtruth",
    b"ground_truth",
    b"seg",
    b"segmentation",
    b"segmentations",
];
const PICTURE_FOLDERS: [&[u8]; 10] =
    [b"image", b"images", b"img", b"imgs", b"picture", b"pictures", b"photo", b"photos", b"rgb", b"jpegimages"];
/// How many folders above a picture are looked at.
const DEEPEST: usize = 16;

/// The places of the masks among these paths, in order. A picture counts as a mask only if there is another one that it can be of.
/// `depth` is how many folders are classes, and so have their own message.
pub(super) fn masks_beside(paths: &Paths, depth: usize) -> Vec<usize> {
    let mut found = named_as_masks(paths);
    found.extend(of_same_name(paths));
    found.extend(in_mask_folders(paths, depth));
    found.sort_unstable();
    found.dedup();
    found
}

/// `1_mask.png` and `mask-1.png` beside `1.jpg`, or beside `1_image.jpg`.
fn named_as_masks(paths: &Paths) -> Vec<usize> {
    let masks: Vec<(usize, Vec<u8>)> = paths
        .iter()
        .enumerate()
        .filter_map(|(place, path)| {
            let stem = stem(path);
            Some((place, without(without_count(stem), &MASKS).or_else(|| without(stem, &MASKS))?))
        })
        .collect();
    if masks.is_empty() {
        return Vec::new();
    }
    let wanted: HashSet<&[u8]> = masks.iter().map(|(_, of)| of.as_slice()).collect();
    let mut found: HashSet<&[u8]> = HashSet::new();
    for path in paths.iter() {
        let stem = stem(path);
        found.extend(wanted.get(stem));
        if let Some(plain) = without(stem, &PICTURES) {
            found.extend(wanted.get(plain.as_slice()));
        }
    }
    masks.iter().filter(|(_, of)| found.contains(of.as_slice())).map(|(place, _)| *place).collect()
}

/// Pictures without losses that are beside a JPEG of the same name, if half of all such pictures are. Names are sorted, or those of an
/// archive, whose files of one name follow each other.
fn of_same_name(paths: &Paths) -> Vec<usize> {
    let end = |path: &[u8]| path[stem(path).len()..].to_ascii_lowercase();
    let is_jpeg = |path: &[u8]| matches!(&*end(path), b".jpg" | b".jpeg");
    let is_lossless = |path: &[u8]| matches!(&*end(path), b".png" | b".gif" | b".bmp" | b".tif" | b".tiff");
    let (mut found, mut lossless) = (Vec::new(), 0_usize);
    let mut last: Option<&[u8]> = None;
    for (place, path) in paths.iter().enumerate() {
        let is_pair = last.is_some_and(|last| stem(last) == stem(path));
        if is_lossless(path) {
            lossless += 1;
            found.extend((is_pair && last.is_some_and(is_jpeg)).then_some(place));
        } else if is_pair && is_jpeg(path) && last.is_some_and(is_lossless) {
            found.push(place - 1);
        }
        last = Some(path);
    }
    if found.len() * 2 >= lossless { found } else { Vec::new() }
}

/// Those in a folder for masks, beside which there is one for pictures.
fn in_mask_folders(paths: &Paths, depth: usize) -> Vec<usize> {
    let masks: Vec<(usize, &[u8])> = paths
        .iter()
        .enumerate()
        .filter_map(|(place, path)| Some((place, around(path, &MASK_FOLDERS, depth).next()?)))
        .collect();
    if masks.is_empty() {
        return Vec::new();
    }
    let found: HashSet<&[u8]> = paths.iter().flat_map(|path| around(path, &PICTURE_FOLDERS, depth)).collect();
    masks.iter().filter(|(_, around)| found.contains(around)).map(|(place, _)| *place).collect()
}

/// What is before each folder of a path that has one of these names.
fn around<'a>(path: &'a [u8], names: &'a [&[u8]], depth: usize) -> impl Iterator<Item = &'a [u8]> {
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    let mut begin = 0;
    let folders = ends.map(move |end| (std::mem::replace(&mut begin, end + 1), end)).take(DEEPEST).skip(depth);
    let named =
        move |&(begin, end): &(usize, usize)| names.iter().any(|name| path[begin..end].eq_ignore_ascii_case(name));
    folders.filter(named).map(|(begin, _)| &path[..begin])
}

/// A path without the last dot of its name, and what follows.
fn stem(path: &[u8]) -> &[u8] {
    let name = folder_len(path);
    let dot = path[name..].iter().rposition(|&byte| byte == b'.').filter(|&dot| dot > 0);
    dot.map_or(path, |dot| &path[..name + dot])
}

/// How long the folder of a path is, with its slash.
fn folder_len(path: &[u8]) -> usize {
    path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1)
}

/// A stem without the number behind a word: several masks of a picture have one each.
fn without_count(stem: &[u8]) -> &[u8] {
    let digits = stem.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let text = &stem[..stem.len() - digits];
    match text {
        [text @ .., b'_' | b'-'] if digits > 0 => text,
        text => text,
    }
}

/// A stem without the words at the end of its name, or else without the word at its beginning, if they are some of these.
fn without(stem: &[u8], words: &[&[u8]]) -> Option<Vec<u8>> {
    let (folder, name) = stem.split_at(folder_len(stem));
    let is_between = |byte: &u8| matches!(byte, b'_' | b'-' | b' ' | b'.');
    let is_known = |word: &[u8]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    let mut rest = name;
    while let Some(cut) = rest.iter().rposition(is_between).filter(|&cut| cut > 0 && is_known(&rest[cut + 1..])) {
        rest = &rest[..cut];
    }
    if rest.len() == name.len() {
        let cut = name.iter().position(is_between).filter(|&cut| cut + 1 < name.len() && is_known(&name[..cut]))?;
        rest = &name[cut + 1..];
    }
    Some([folder, rest].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masks(names: &[&str]) -> Vec<String> {
        let mut paths = Paths::default();
        for name in names {
            paths.push(name.as_bytes());
        }
        masks_beside(&paths, 1).into_iter().map(|place| names[place].to_owned()).collect()
    }

    #[test]
    fn a_mask_has_the_name_of_its_picture_and_a_word_for_masks() {
        for [picture, mask] in [
            ["1.jpg", "1_mask.png"],
            ["0cdf5b5d0ce1_01.jpg", "0cdf5b5d0ce1_01_mask.gif"],
            ["ISIC_0000000.jpg", "ISIC_0000000_segmentation.png"],
            ["cats/a b.JPG", "cats/a b-GT.bmp"],
            ["benign (1).png", "benign (1)_mask_1.png"],
            ["7.png", "7_mask2.png"],
            ["855_sat.jpg", "855_mask.png"],
            ["x_image.tif", "x_label.tif"],
            ["0001TP_006690.png", "0001TP_006690_L.png"],
            ["img_12.jpg", "mask_12.png"],
            ["c/12.jpg", "c/gt-12.png"],
            ["aachen_000000_000019_leftImg8bit.png", "aachen_000000_000019_gtFine_labelIds.png"],
        ] {
            assert_eq!(masks(&[picture, mask]), [mask]);
            assert_eq!(masks(&[mask, "other.jpg", picture]), [mask], "in any order");
        }
    }

    #[test]
    fn a_lossless_picture_with_the_name_of_a_jpeg_is_its_mask_if_half_of_them_are() {
        assert_eq!(masks(&["1.JPG", "1.png", "2.bmp", "2.jpeg", "3.jpg"]), ["1.png", "2.bmp"]);
        assert_eq!(masks(&["a/1.jpg", "a/1.png", "a/2.png"]), ["a/1.png"]);
        assert!(masks(&["1.jpg", "1.png", "2.png", "3.png"]).is_empty(), "by chance");
        assert!(masks(&["1.jpg", "1.webp", "2.jpeg", "2.jpg"]).is_empty());
        assert!(masks(&["a/1.jpg", "b/1.png"]).is_empty());
    }

    #[test]
    fn a_folder_of_masks_is_beside_one_of_pictures() {
        let cases = ["c1/images/1.png", "c1/masks/1a.png", "c1/masks/1b.png", "c2/images/2.png", "c2/Masks/2.png"];
        assert_eq!(masks(&cases), ["c1/masks/1a.png", "c1/masks/1b.png", "c2/Masks/2.png"]);
        assert!(
            masks(&["images/1.png", "masks/1.png"]).is_empty(),
            "folders that are classes have a message of their own"
        );
        assert!(masks(&["c1/images/1.png", "c2/masks/1.png", "masks/c/1.png", "c3/masks.png"]).is_empty());
        let mut flat = Paths::default();
        for name in ["images/1.png", "labels/1.png"] {
            flat.push(name.as_bytes());
        }
        assert_eq!(masks_beside(&flat, 0), [1], "without classes");
    }

    #[test]
    fn what_has_no_picture_of_its_own_is_no_mask() {
        for names in [
            &["1_mask.png", "2.jpg"][..],
            &["a/1.jpg", "b/1_mask.png"],
            &["person_mask.jpg", "person_no_mask.jpg"],
            &["mask.png", "_mask.png", "x/.png", "mask_.png"],
            &["1.jpg", "1_left.png", "10.jpg"],
            &["mask/1.jpg", "image/1.jpg"],
            &["1_mask.png"],
            &[],
        ] {
            assert!(masks(names).is_empty(), "{names:?}");
        }
    }
}
