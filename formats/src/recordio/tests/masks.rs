//! Masks in Examples within chunks.

use forebay_columns::ElementType;
use forebay_sources::{ColumnMap, RecordParts, Retry};

use super::*;
use crate::masks::tests::png;

fn masked(options: &[(&str, &str)], masks: &[(&str, &str)]) -> Options {
    let masks = masks.iter().copied().collect::<ColumnMap>();
    Options { masks, own: options.iter().copied().collect::<OwnOptions>(), ..Options::default() }
}

#[test]
fn rule_45_features_of_examples_in_chunks_are_masks_that_are_read_with_their_pictures() {
    let (low, high) = (png(2, 0, "of two bits"), png(16, 0, "of sixteen bits"));
    let picture = || ("image/encoded", Values::Bytes(&[b"picture"]));
    let all = [
        example(&[picture(), ("seg", Values::Bytes(&[&low])), ("depth", Values::Bytes(&[&high]))]),
        example(&[picture(), ("depth", Values::Bytes(&[b""]))]),
        example(&[picture(), ("seg", Values::Bytes(&[b"one", b"two"]))]),
        example(&[("image/encoded", Values::Bytes(&[b""])), ("seg", Values::Bytes(&[&low]))]),
        example(&[("seg", Values::Bytes(&[&low])), ("image/encoded", Values::Bytes(&[b"another picture"]))]),
    ];
    let records: Vec<&[u8]> = all.iter().map(|record| &record[..]).collect();
    let folder = Folder::new(&chunk(Dialect::Go, ChunkCodec::SnappyFrames, &records));
    let (example, masks) = ([("payload", "example")], [("segments", "none;seg"), ("depths", "depth")]);
    let source = folder.open(&masked(&example, &masks)).unwrap();
    let columns: Vec<_> = source.masks().iter().map(|mask| (mask.name.as_str(), mask.element)).collect();
    assert_eq!(columns, [("segments", ElementType::U8), ("depths", ElementType::U16)]);
    let parts = |record| {
        let bytes = read(&source, record).unwrap();
        let parts = RecordParts::of(&bytes, 2);
        (parts.picture().to_vec(), [0, 1].map(|mask| parts.mask(mask).map(<[u8]>::to_vec)))
    };
    assert_eq!(parts(0), (b"picture".to_vec(), [Some(low.clone()), Some(high)]));
    assert_eq!(parts(1), (b"picture".to_vec(), [None, None]));
    assert_eq!(parts(4), (b"another picture".to_vec(), [Some(low.clone()), None]));
    assert!(damage(&source, 2).contains("\"seg\" is no mask"));
    assert_eq!(read(&source, 3).unwrap_err().kind, ReadErrorKind::Empty);

    // The masks and their table count towards the room of a record.
    let whole = read(&source, 4).unwrap().len() as u64;
    assert_eq!(whole, (b"another picture".len() + low.len()) as u64 + RecordParts::table_len(2));
    let error = source.read(4, whole - 1, &mut Vec::new()).unwrap_err();
    assert_eq!(error.retry(), Retry::WithRoom(whole));
    let limit = Options { byte_limit: whole - RecordParts::table_len(2) - 1, ..masked(&example, &masks) };
    let limited = folder.open(&limit).unwrap();
    assert!(matches!(read(&limited, 4).unwrap_err().kind, ReadErrorKind::TooLarge { .. }));
    assert!(read(&limited, 1).is_ok());

    // Which features are masks is a part of the dataset.
    let prints = [&masks[..], &masks[..1], &[("segments", "seg"), ("depths", "depth")], &[("s", "seg")], &[]]
        .map(|masks| folder.open(&masked(&example, masks)).unwrap().fingerprint());
    for (place, print) in prints.iter().enumerate() {
        assert!(!prints[..place].contains(print), "{place}");
    }
}

#[test]
fn masks_that_are_not_there_or_of_which_none_can_be_a_mask_are_refused_by_name() {
    let words = |masks: &[&[u8]]| {
        let record = example(&[("image/encoded", Values::Bytes(&[b"p"])), ("seg", Values::Bytes(masks))]);
        let folder = Folder::new(&chunk(Dialect::Paddle, ChunkCodec::None, &[&record]));
        let options = masked(&[("payload", "example")], &[("seg", "seg")]);
        folder.open(&options).unwrap_err().to_string()
    };
    assert!(words(&[]).contains("masks.seg = \"seg\" must be what at least one record has"), "{}", words(&[]));
    let problem = words(&[b"no picture"]);
    assert!(problem.contains("masks.seg") && problem.contains("x.recordio, record 0"), "{problem}");
}
