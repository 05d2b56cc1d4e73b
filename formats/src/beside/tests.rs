//! Tests of what names of files and classes say.

use forebay_sources::OwnOptions;

use super::part_names::is_part_name;
use super::*;

fn seen(paths: &[&str]) -> Beside {
    let mut beside = Beside::default();
    for path in paths {
        beside.see(path.as_bytes());
    }
    beside
}

#[test]
fn files_beside_pictures_are_annotations_or_not_read_by_their_names() {
    for (path, kind) in [
        ("a/1.xml", Some(BesideKind::Xml)),
        ("annotations.XML", Some(BesideKind::Xml)),
        ("train/_annotations.createml.json", Some(BesideKind::CreateMl)),
        ("train/_annotations.coco.json", Some(BesideKind::CocoJson)),
        ("a/1.json", Some(BesideKind::Json)),
        ("train/_annotations.csv", Some(BesideKind::RoboflowTable)),
        ("metadata.jsonl", Some(BesideKind::Metadata)),
        ("metadata.csv", Some(BesideKind::Metadata)),
        ("labelTxt/P0001.txt", Some(BesideKind::OrientedTexts)),
        ("train/LABELTXT/P0001.TXT", Some(BesideKind::OrientedTexts)),
        ("a.TXT", Some(BesideKind::Texts)),
        ("classes.txt", Some(BesideKind::Texts)),
        ("data.yaml", Some(BesideKind::Yaml)),
        ("gt.npy", Some(BesideKind::Arrays)),
        ("0.cls", Some(BesideKind::Labels)),
        ("x/photo.HEIC", Some(BesideKind::Pictures)),
        ("x.svg", Some(BesideKind::Pictures)),
        ("clip.mp4", Some(BesideKind::Videos)),
        ("old.tar.gz", Some(BesideKind::Archives)),
        ("strange.qqq", Some(BesideKind::Other)),
        ("noextension", Some(BesideKind::Other)),
        ("README", None),
        ("README.dataset.txt", None),
        ("readme_first.txt", None),
        ("LICENSE.txt", None),
        ("cats/notes.md", None),
        ("Thumbs.db", None),
        ("desktop.ini", None),
        ("__MACOSX/a/b.xml", None),
        ("labels/train.cache", None),
        (".hidden.xml", None),
        ("readmenot.txt", Some(BesideKind::Texts)),
    ] {
        assert_eq!(kind_of(path.as_bytes()), kind, "{path}");
    }
}

#[test]
fn what_was_seen_is_counted_with_the_first_names_in_whatever_order_it_was_seen() {
    let mut beside = seen(&["z.xml", "b.xml", "q.heic"]);
    beside.append(seen(&["a.xml", "y.xml", "README"]));
    beside.append(seen(&["1.cls"]));
    let found = beside.oversights(Labels::Auto, &[]);
    let told: Vec<_> = found.iter().map(|found| (found.kind, found.count, found.examples.join(" "))).collect();
    assert_eq!(
        told,
        [
            (OversightKind::Annotations, 4, "a.xml b.xml y.xml".to_owned()),
            (OversightKind::Annotations, 1, "1.cls".to_owned()),
            (OversightKind::Unread, 1, "q.heic".to_owned()),
        ]
    );
    assert!(found.iter().all(|found| found.remedy.ends_with('.') && !found.what.is_empty()));
    let without = beside.oversights(Labels::None, &["train".to_owned()]);
    assert_eq!(without.iter().map(|found| found.kind).collect::<Vec<_>>(), [OversightKind::Unread]);
}

#[test]
fn classes_with_names_of_sets_or_of_folders_of_annotations_are_told() {
    for name in [
        "train",
        "Val",
        "TEST",
        "valid",
        "images",
        "labels",
        "masks",
        "annotations",
        "train2017",
        "val_2014",
        "train_labels",
        "testannot",
        "test-images",
        "JPEGImages",
        "labelTxt",
        "SegmentationClass",
        "leftImg8bit",
        "stuffthingmaps_train2017",
        "validation",
        "train images",
        "set_train_01",
    ] {
        assert!(is_part_name(name), "{name}");
    }
    for name in ["cat", "mask", "trains", "test_tube", "steam train", "label maker", "image", "n02504458", "0", "", "_"]
    {
        assert!(!is_part_name(name), "{name}");
    }
    let classes = ["cat", "test", "train"].map(str::to_owned);
    let found = Beside::default().oversights(Labels::Auto, &classes);
    assert_eq!((found.len(), found[0].kind, found[0].count), (1, OversightKind::Classes, 2));
    let said = found[0].to_string();
    assert!(
        ["\"test\", \"train\"", "Open one of the folders", "labels=\"none\""].iter().all(|part| said.contains(part)),
        "{said}"
    );
}

#[test]
fn folders_of_pictures_masks_or_folds_are_told_if_there_is_no_other_class() {
    let told = |classes: &[&str]| {
        let classes: Vec<String> = classes.iter().map(|&class| class.to_owned()).collect();
        Beside::default().oversights(Labels::Auto, &classes).first().map_or(0, |found| found.count)
    };
    for classes in [
        &["image", "label"][..],
        &["img", "mask"],
        &["Image", "Mask", "train"],
        &["imagesTr", "labelsTr", "imagesTs"],
        &["dev", "eval"],
        &["fold0", "fold1", "fold10"],
        &["fold_1", "fold_2"],
        &["split-1", "split-2"],
        &["photo", "gt"],
    ] {
        assert_eq!(told(classes), classes.len() as u64, "{classes:?}");
    }
    for classes in [&["image", "cat"][..], &["fold", "tear"], &["0", "1"], &["_", "mask"], &["mask", "no_mask"], &[]] {
        assert_eq!(told(classes), 0, "{classes:?}");
    }
    assert_eq!((told(&["imagesTr", "cat"]), told(&["dev", "cat", "dog"])), (1, 1));
}

#[test]
fn what_is_not_used_is_accepted_by_name_alone() {
    let options = |value: &str| Options { own: OwnOptions::from_iter([(UNREAD.name, value)]), ..Options::default() };
    let found = seen(&["a.xml"]).oversights(Labels::Auto, &[]);
    let mut members = Beside::default();
    members.see_as(BesideKind::Members, b"1.txt");
    let all: Vec<Oversight> = found.into_iter().chain(members.oversights(Labels::Auto, &[])).collect();
    for (value, told) in [("accept", 0), ("members", 1), ("tell", 2)] {
        let options = options(value);
        assert_eq!(telling(&options).map(|_| Oversights::new(all.clone(), &options).told().len()).unwrap(), told);
    }
    assert!(telling(&options("true")).is_err());
    assert_eq!(Oversights::new(all, &Options::default()).told().len(), 2);
}
