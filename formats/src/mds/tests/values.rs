//! Tests of values that are no files and no texts: arrays, JSON, pixels, and lists of pictures.

use forebay_sources::RecordParts;

use super::*;
use crate::masks::tests::png;

/// An array whose dimensions are before its values.
fn array(shape: &[u8], values: &[u8]) -> Vec<u8> {
    let head = u8::try_from(shape.len()).unwrap() << 2;
    [&[head], shape, values].concat()
}

#[test]
fn arrays_and_values_in_json_become_columns() {
    let mut mds = MdsWriter::new(&[
        ("image", "png", None),
        ("fixed", "ndarray:int16:2,1", Some(4)),
        ("typed", "ndarray:float32", None),
        ("any", "ndarray", None),
        ("meta", "json", None),
    ]);
    let floats = |count: u8| (0..count).flat_map(|number| f32::from(number).to_le_bytes()).collect::<Vec<_>>();
    let meta = br#"{"a": {"b": 3}, "l": [[1, 2]]}"#;
    // An array of 32-bit dimensions: 2 x 1.
    let wide = [&[32, 2 << 2 | 2][..], &2_u32.to_le_bytes(), &1_u32.to_le_bytes(), &[7; 8]].concat();
    let narrow = [&[32][..], &array(&[1, 1], &[8; 4])].concat();
    mds.shard(&[
        &[b"p", &[1, 0, 2, 0], &array(&[2, 4], &floats(8)), &wide, meta],
        &[b"q", &[3, 0, 4, 0], &array(&[1, 4], &floats(4)), &narrow, b"{}"],
        &[b"r", &[5, 0, 6, 0], &array(&[1, 4], &floats(3)), &narrow, b"{}"],
        &[b"s", &[7, 0, 8, 0], &array(&[1, 4], &floats(4)), &[99, 0], b"{}"],
        &[b"t", &[7, 0, 8, 0], b"", &narrow, b"x"],
    ]);
    let map =
        [("fixed", "fixed"), ("typed", "typed"), ("any", "any"), ("b", "meta:a.b"), ("l", "meta:l"), ("whole", "meta")];
    let (_dir, source) = opened(&mds, &mapped(&map));
    let source = source.unwrap();
    let (of, values) = column(&*source, "fixed");
    assert_eq!((of.as_str(), &values[1]), ("i16 [2, 1]", &vec![3, 0, 4, 0]));
    let (of, values) = column(&*source, "typed");
    assert_eq!((of.as_str(), &values[0], &values[1]), ("f32 [*, 4]", &floats(8), &floats(4)));
    let (of, values) = column(&*source, "any");
    assert_eq!((of.as_str(), &values[0], &values[1]), ("u32 [*, 1]", &vec![7; 8], &vec![8; 4]));
    assert_eq!(
        column(&*source, "b"),
        ("i64".into(), vec![int(3).to_vec(), vec![0; 8], vec![0; 8], vec![0; 8], vec![0; 8]])
    );
    assert_eq!(column(&*source, "l").1[0], b"[[1,2]]");
    assert_eq!(column(&*source, "whole").1[0], meta);
    let found = contents(&*source);
    assert_eq!(found[..2], [Ok(b"p".to_vec()), Ok(b"q".to_vec())]);
    for (found, word) in found[2..].iter().zip(["bytes that its dimensions need", "unknown type", "ends before"]) {
        assert!(found.as_ref().unwrap_err().contains(word), "{found:?}");
    }
}

#[test]
fn pictures_that_are_pixels_become_files_with_the_same_pixels() {
    let pil = |width: u32, height: u32, mode: &[u8], pixels: &[u8]| {
        let len = u32::try_from(mode.len()).unwrap();
        [&width.to_le_bytes()[..], &height.to_le_bytes(), &len.to_le_bytes(), mode, pixels].concat()
    };
    let mut mds = MdsWriter::new(&[("photo", "pil", None)]);
    let records = [
        pil(2, 1, b"RGB", b"abcdef"),
        pil(1, 3, b"L", b"xyz"),
        pil(1, 1, b"RGBA", b"abcd"),
        pil(2, 2, b"RGB", b"abc"),
        pil(9, 9, b"RGB", b"")[..7].to_vec(),
    ];
    mds.shard(
        &records.iter().map(Vec::as_slice).collect::<Vec<_>>().iter().map(std::slice::from_ref).collect::<Vec<_>>(),
    );
    let found = contents(&*opened(&mds, &Options::default()).1.unwrap());
    assert_eq!(found[..2], [Ok(b"P6 2 1 255\nabcdef".to_vec()), Ok(b"P5 1 3 255\nxyz".to_vec())]);
    for (found, word) in found[2..].iter().zip(["mode \"RGBA\"", "bytes of its pixels", "ends before"]) {
        assert!(found.as_ref().unwrap_err().contains(word), "{found:?}");
    }
    let mut mds = MdsWriter::new(&[("photo", "ndarray:uint8", None)]);
    mds.shard(&[&[&array(&[1, 2, 3], b"abcdef")], &[&array(&[3, 1], b"xyz")], &[&array(&[1, 1, 4], b"abcd")]]);
    refusal(&mds, &Options::default(), &["no column has the encoding"]);
    let found = contents(&*opened(&mds, &mapped(&[("images", "photo")])).1.unwrap());
    assert_eq!(found[..2], [Ok(b"P6 2 1 255\nabcdef".to_vec()), Ok(b"P5 1 3 255\nxyz".to_vec())]);
    assert!(found[2].as_ref().unwrap_err().contains("u8 [1, 1, 4]"), "{found:?}");
}

#[test]
fn a_list_with_one_picture_is_that_picture_and_a_longer_one_is_refused_by_its_number() {
    let list = |pictures: &[&[u8]]| {
        let number = |len: usize| u32::try_from(len).unwrap().to_le_bytes();
        let lens: Vec<u8> = pictures.iter().flat_map(|picture| number(picture.len())).collect();
        [&number(pictures.len())[..], &lens, &pictures.concat()].concat()
    };
    let with_place = |list: Vec<u8>| [&[0; 4], &list[..]].concat();
    let mut mds = MdsWriter::new(&[("frames", "list[png]", None), ("shots", "jpeg_array", None)]);
    mds.shard(&[
        &[&with_place(list(&[b"one"])), &list(&[b"jpeg"])],
        &[&with_place(list(&[b"one", b"two"])), &list(&[])],
        &[b"", &[1, 0, 0, 0, 9, 0, 0, 0]],
    ]);
    let frames = contents(&*opened(&mds, &mapped(&[("images", "frames")])).1.unwrap());
    assert_eq!(frames[0], Ok(b"one".to_vec()));
    assert!(frames[1].as_ref().unwrap_err().contains("2 pictures") && frames[2].is_err(), "{frames:?}");
    let shots = contents(&*opened(&mds, &mapped(&[("images", "shots")])).1.unwrap());
    assert_eq!(shots[0], Ok(b"jpeg".to_vec()));
    assert!(shots[1].as_ref().unwrap_err().contains("has none"), "{shots:?}");
    assert!(shots[2].as_ref().unwrap_err().contains("does not agree"), "{shots:?}");
    refusal(&mds, &mapped(&[("images", "frames"), ("x", "shots")]), &["only read as images"]);
}

#[test]
fn rule_45_a_column_of_files_may_have_the_masks() {
    let mut mds = MdsWriter::new(&[("image", "jpeg", None), ("seg", "png", None), ("depth", "bytes", None)]);
    let (seg, depth) = (png(8, 3, "seg of one"), png(16, 0, "depth"));
    mds.shard(&[&[b"one", &seg, &depth], &[b"two", b"", &depth]]);
    let masks =
        |pairs: &[(&str, &str)]| Options { masks: pairs.iter().copied().collect(), ..mapped(&[("images", "image")]) };
    let (_dir, source) = opened(&mds, &masks(&[("s", "mask;seg"), ("d", "depth")]));
    let source = source.unwrap();
    let columns: Vec<_> = source.masks().iter().map(|mask| (mask.name.as_str(), mask.element.name())).collect();
    assert_eq!(columns, [("s", "u8"), ("d", "u16")]);
    let mut bytes = Vec::new();
    source.read(0, u64::MAX, &mut bytes).unwrap();
    let parts = RecordParts::of(&bytes, 2);
    assert_eq!((parts.picture(), parts.mask(0), parts.mask(1)), (&b"one"[..], Some(&seg[..]), Some(&depth[..])));
    source.read(1, u64::MAX, &mut bytes).unwrap();
    let parts = RecordParts::of(&bytes, 2);
    assert_eq!((parts.picture(), parts.mask(0), parts.mask(1)), (&b"two"[..], None, Some(&depth[..])));
    refusal(&mds, &masks(&[("s", "nowhere")]), &["\"s\" names no column"]);
    mds.columns[2].1 = "str";
    let mut text = MdsWriter::new(&mds.columns);
    text.shard(&[&[b"one", b"no png", b"x"]]);
    refusal(&text, &masks(&[("s", "depth")]), &["\"depth\"", "cannot be used"]);
    refusal(&text, &masks(&[("s", "seg")]), &["masks.s", "PNG"]);
}
