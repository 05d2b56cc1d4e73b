//! Tests of samples: keys, labels and further columns.

use forebay_columns::Value;

use super::*;
use crate::npy::tests::npy;
use crate::unpacked::Compression;

pub(super) fn mapped(columns: &[(&str, &str)]) -> Options {
    Options { columns: columns.iter().copied().collect(), ..Options::default() }
}

/// The values of a column.
fn values<'s>(source: &'s dyn Source, column: &str) -> (String, Vec<Value<'s>>) {
    let table = source.targets();
    let place = table.schema().find(column).unwrap();
    let records = usize::try_from(source.len()).unwrap();
    let column_type = table.columns()[place].column_type().to_string();
    (column_type, (0..records).map(|record| table.value(place, record)).collect())
}

/// What is wrong with each record.
fn faults(opened: (TempDir, Opened)) -> Vec<Option<String>> {
    let (dir, source) = opened;
    read(&*source.unwrap(), &dir).into_iter().map(|(_, content)| content.err()).collect()
}

#[test]
fn a_name_is_split_at_the_first_dot_behind_the_last_slash() {
    let split = |name: &'static str| super::super::samples::split(name.as_bytes());
    assert_eq!(split("a.b/c.d.JPG"), Some((&b"a.b/c"[..], "d.jpg".to_owned())));
    assert_eq!(split("./x.cls"), Some((&b"./x"[..], "cls".to_owned())));
    assert_eq!(split("x."), Some((&b"x"[..], String::new())));
    for none in ["x", "a.b/c", "a/.hidden", "", "__meta.x__", "a/"] {
        assert_eq!(split(none), None, "{none}");
    }
}

#[test]
fn members_beside_each_other_with_one_key_are_a_sample() {
    let tar = TarWriter::of(&[
        ("a/1.cls", b"7"),
        ("a/1.jpg", b"one"),
        ("a/1.txt", b"a cat"),
        ("__info__", b"x"),
        ("a/2.png", b"two"),
        ("a/2.cls", b" 5\n"),
        ("a/2.txt", b""),
    ]);
    let (dir, source) = opened(tar.clone(), &mapped(&[("caption", "text;txt"), ("again", "cls")]));
    let source = source.unwrap();
    assert_eq!(labels(&*source), [7, 5]);
    assert!(source.classes().is_empty());
    let words: Vec<String> = read(&*source, &dir).into_iter().map(|(name, _)| name).collect();
    assert_eq!(words, ["a/1.jpg", "a/2.png"]);
    let (column_type, captions) = values(&*source, "caption");
    assert_eq!((column_type.as_str(), captions[0].bytes(), captions[1].bytes()), ("u8 [*]", &b"a cat"[..], &b""[..]));
    let (column_type, again) = values(&*source, "again");
    assert_eq!((column_type.as_str(), again[1].bytes()), ("i64", &5_i64.to_le_bytes()[..]));
    let without = opened(tar, &Options { labels: Labels::None, ..Options::default() });
    assert_eq!(labels(&*without.1.unwrap()), [-1, -1]);
}

#[test]
fn members_of_one_key_are_a_sample_however_they_are_ordered() {
    let by_kind = [("0.jpg", &b"zero"[..]), ("1.jpg", b"one"), ("0.cls", b"3"), ("1.cls", b"4")];
    let labels_first = [("0.cls", &b"3"[..]), ("1.cls", b"4"), ("1.jpg", b"one"), ("0.jpg", b"zero")];
    let mixed = [("0.jpg", &b"zero"[..]), ("1.cls", b"4"), ("1.jpg", b"one"), ("note", b"x"), ("0.cls", b"3")];
    for members in [&by_kind[..], &labels_first, &mixed] {
        let (dir, source) = opened(TarWriter::of(members), &Options::default());
        let source = source.unwrap();
        assert_eq!(labels(&*source), [3, 4], "{members:?}");
        let expected = [("0.jpg".to_owned(), Ok(b"zero".to_vec())), ("1.jpg".to_owned(), Ok(b"one".to_vec()))];
        assert_eq!(read(&*source, &dir), expected);
        assert!(source.oversights().is_empty());
    }
}

#[test]
fn a_key_that_comes_back_with_a_part_that_its_sample_has_begins_another_sample() {
    let tar = TarWriter::of(&[
        ("0.jpg", b"zero"),
        ("0.cls", b"3"),
        ("1.jpg", b"one"),
        ("1.cls", b"4"),
        ("0.jpg", b"again"),
        ("0.cls", b"5"),
    ]);
    let (dir, source) = opened(tar, &Options::default());
    let source = source.unwrap();
    assert_eq!(labels(&*source), [3, 4, 5]);
    assert_eq!(read(&*source, &dir)[2].1, Ok(b"again".to_vec()));
    // A picture that was added to the tar once more makes no samples of files.
    let files = TarWriter::of(&[("a/1.jpg", b"one"), ("b/2.jpg", b"two"), ("a/1.jpg", b"again")]);
    assert_eq!(labels(&*opened(files, &Options::default()).1.unwrap()), [0, 1, 0]);
}

#[test]
fn members_that_no_column_is_made_of_are_told_unless_the_user_names_columns() {
    let tar = TarWriter::of(&[
        ("0.jpg", b"zero"),
        ("0.cls", b"3"),
        ("0.json", b"{\"boxes\": [1]}"),
        ("1.jpg", b"one"),
        ("1.cls", b"4"),
        ("1.seg.png", b"x"),
    ]);
    let found = opened(tar.clone(), &Options::default()).1.unwrap().oversights();
    assert_eq!(
        (found.len(), found[0].count, &*found[0].examples),
        (1, 2, &["0.json".to_owned(), "1.seg.png".into()][..])
    );
    assert!(opened(tar, &mapped(&[("all", "json")])).1.unwrap().oversights().is_empty());
}

#[test]
fn a_json_gives_its_text_or_values_by_key_and_what_is_missing_is_null() {
    let tar = TarWriter::of(&[
        ("1.jpg", b"one"),
        ("1.json", br#"{"n": 1, "t": "x", "l": [1, 2], "class": "dog"}"#),
        ("2.jpg", b"two"),
        ("2.json", br#"{"n": 2.5, "class": "cat"}"#),
    ]);
    let columns =
        mapped(&[("labels", "json:class"), ("all", "json"), ("n", "json:n"), ("t", "txt;json:t"), ("l", "json:l")]);
    let source = opened(tar, &columns);
    let source = source.1.unwrap();
    assert_eq!((source.classes(), labels(&*source)), (&["cat".to_owned(), "dog".into()][..], vec![1, 0]));
    assert!(values(&*source, "all").1[1].bytes().starts_with(b"{\"n\": 2.5"));
    assert_eq!(values(&*source, "n").0, "f64");
    let (column_type, texts) = values(&*source, "t");
    assert_eq!((column_type.as_str(), texts[0].bytes(), texts[1].is_null()), ("u8 [*]", &b"x"[..], true));
    let (column_type, lists) = values(&*source, "l");
    assert_eq!((column_type.as_str(), lists[0].items(), lists[1].is_null()), ("i64 [*]", 2, true));
}

#[test]
fn what_is_wrong_with_one_sample_is_an_error_of_its_read() {
    let tar = TarWriter::of(&[
        ("0.jpg", b"fine"),
        ("0.cls", b"0"),
        ("0.json", b"{\"n\": 1}"),
        ("1.cls", b"1"),
        ("2.jpg", b"no label"),
        ("3.jpg", b"twice"),
        ("3.JPG", b"twice"),
        ("3.cls", b"1"),
        ("4.jpg", b"wrong"),
        ("4.cls", b"1"),
        ("4.json", b"{"),
        ("5.jpg", b"wrong"),
        ("5.cls", b"1"),
        ("5.json", b"{\"n\": \"text\"}"),
        ("6.jpg", b"wrong"),
        ("6.cls", b""),
        ("7.jpg", b""),
        ("7.cls", b"7"),
    ]);
    let found = faults(opened(tar.clone(), &mapped(&[("n", "json:n")])));
    let words = [
        "",
        "has no member \"jpg;jpeg;png;webp\"",
        "has no label \"cls\"",
        "two members \"jpg\"",
        "\"json\" cannot be used: it is not JSON",
        "n: it is a text",
        "label \"cls\" is empty",
        "empty",
    ];
    for (found, word) in found.iter().zip(words) {
        match found {
            Some(found) => assert!(!word.is_empty() && found.contains(word), "{word:?} is not in: {found}"),
            None => assert_eq!(word, ""),
        }
    }
    assert_eq!(found.len(), words.len());
    let source = opened(tar, &Options::default()).1.unwrap();
    assert_eq!(labels(&*source), [0, 1, -1, 1, 1, 1, -1, 7]);
}

#[test]
fn labels_are_all_integers_or_all_texts() {
    let tar = TarWriter::of(&[("1.jpg", b"x"), ("1.cls", b"3"), ("2.jpg", b"x"), ("2.cls", b"cat")]);
    let words = ["\"cat\" of \"2.jpg\" is a text", "\"1.jpg\" has an integer", "labels=\"text\""];
    refusal(opened(tar.clone(), &Options::default()), &words);
    let source = opened(tar, &Options { labels: Labels::Text, ..Options::default() }).1.unwrap();
    assert_eq!(source.classes(), ["3", "cat"]);
}

#[test]
fn columns_that_samples_cannot_give_are_refused() {
    let tar = TarWriter::of(&[("1.jpg", b"x"), ("1.txt", b"text"), ("1.seg.png", b"x"), ("1.npy", b"x")]);
    for (columns, words) in [
        (&[("mask_of", "seg.png")][..], &["\"mask_of\"", "only read as images"][..]),
        (&[("array", "pth")], &["\"array\"", "JSON, MessagePack, text or npy"]),
        (&[("a b", "txt")], &["\"a b\"", "letters"]),
        (&[("none", ";")], &["\"none\" names no member"]),
        (&[("caption", "caption")], &["no sample has a member \"caption\""]),
        (&[("labels", "cls")], &["no sample has a label \"cls\""]),
        (&[("images", "tif")], &["no sample has a member \"tif\"", "\"seg.png\"", "columns"]),
        (&[("images", "json:x")], &["a picture is a member of its own"]),
    ] {
        refusal(opened(tar.clone(), &mapped(columns)), words);
    }
    let segmentation = contents(opened(tar, &mapped(&[("images", "seg.png")])));
    assert_eq!(segmentation, expected(&[("1.seg.png", "x")]));
}

#[test]
fn rule_45_members_of_numpy_become_columns_of_their_type_and_shape() {
    let floats = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let (first, second) =
        (npy("<f4", false, "(2,)", &floats(&[1.0, 2.0])), npy("<f4", false, "(2,)", &floats(&[3.0, 4.0])));
    let (boxes, none) = (npy("<f8", false, "(1, 4)", &[1; 32]), npy("<f8", false, "(0, 4)", b""));
    let pickle = npy("|O", false, "(1,)", b"\x80\x04N.");
    let tar = TarWriter::of(&[
        ("1.jpg", b"one"),
        ("1.emb.npy", &first),
        ("1.boxes.npy", &boxes),
        ("2.jpg", b"two"),
        ("2.emb.npy", &second),
        ("2.boxes.npy", &none),
        ("3.jpg", b"three"),
        ("3.emb.npy", &pickle),
        ("4.jpg", b"four"),
        ("4.emb.npy", &boxes),
    ]);
    let columns = mapped(&[("emb", "emb.npy"), ("boxes", "boxes.npy")]);
    let source = opened(tar.clone(), &columns).1.unwrap();
    let (of, embeddings) = values(&*source, "emb");
    assert_eq!((of.as_str(), embeddings[1].bytes()), ("f32 [2]", &floats(&[3.0, 4.0])[..]));
    let (of, boxes) = values(&*source, "boxes");
    assert_eq!((of.as_str(), boxes[0].items(), boxes[1].items(), boxes[2].is_null()), ("f64 [*, 4]", 1, 0, true));
    let found = faults(opened(tar.clone(), &columns));
    assert_eq!([0, 1].map(|record| found[record].is_none()), [true; 2]);
    for (record, word) in [(2, "objects of Python"), (3, "the first one of the dataset is f32 [2]")] {
        assert!(found[record].as_ref().unwrap().contains(word), "{found:?}");
    }
    refusal(opened(tar, &mapped(&[("labels", "boxes.npy")])), &["no sample has a label \"boxes.npy\""]);
}

#[test]
fn members_are_what_the_user_says_where_the_tars_do_not_agree() {
    let single = TarWriter::of(&[("a/1.jpg", b"one"), ("b/2.jpg", b"two")]);
    let samples = TarWriter::of(&[("a/1.jpg", b"one"), ("a/1.cls", b"3")]);
    let dir = folder(&[("0.tar", single.clone()), ("1.tar", samples.clone())]);
    let name = dir.path().to_str().unwrap();
    let error = open(name, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("1.tar") && error.contains("members=\"samples\""), "{error}");
    let files = open(name, &own("members", "files")).unwrap();
    assert_eq!((files.len(), labels(&*files)), (3, vec![0, 1, 0]));
    assert_eq!(labels(&*opened(single, &own("members", "samples")).1.unwrap()), [-1, -1]);
    assert_eq!(labels(&*opened(samples, &own("members", "files")).1.unwrap()), [0]);
}

#[test]
fn members_that_are_too_many_for_a_sample_are_refused_with_the_way_out() {
    let tar = |members: u32| {
        let mut tar = TarWriter::default();
        for number in 0..members {
            tar.entry(b'0', &format!("clip.{number:07}.jpg"), b"x");
        }
        tar.end()
    };
    refusal(opened(tar(4097), &Options::default()), &["\"clip\" has more than 4096 members", "members=\"files\""]);
    assert_eq!(opened(tar(4097), &own("members", "files")).1.unwrap().len(), 4097);
    assert_eq!(opened(tar(4096), &mapped(&[("images", "0000000.jpg")])).1.unwrap().len(), 1);
}

/// Bytes as gzip.
fn gz(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn members_that_are_compressed_by_themselves_are_read_as_what_they_hold() {
    let tar = TarWriter::of(&[
        ("1.jpg", b"one"),
        ("1.txt.gz", &gz(b"a cat")),
        ("1.meta.json.gz", &gz(br#"{"a": {"b": 3}}"#)),
        ("1.cls.gz", &gz(b"7")),
        ("2.jpg", b"two"),
        ("2.txt.gz", b"no gzip"),
        ("2.cls.gz", &gz(b"9")),
        ("3.jpg", b"three"),
        ("3.txt.gz", &gz(&vec![0; (16 << 20) + 1])),
        ("3.cls.gz", &gz(b"9")),
    ]);
    let map = [("t", "txt.gz"), ("b", "meta.json.gz:a.b"), ("labels", "cls.gz"), ("n", "cls.gz")];
    let (dir, source) = opened(tar, &mapped(&map));
    let source = source.unwrap();
    assert_eq!((values(&*source, "t").1[0].bytes(), labels(&*source)), (&b"a cat"[..], vec![7, 9, 9]));
    assert_eq!(values(&*source, "b").1[0].bytes(), 3_i64.to_le_bytes());
    assert_eq!(
        (values(&*source, "n").0.as_str(), values(&*source, "n").1[0].bytes()),
        ("i64", &7_i64.to_le_bytes()[..])
    );
    let found: Vec<_> = read(&*source, &dir).into_iter().map(|(_, content)| content).collect();
    assert_eq!(found[0], Ok(b"one".to_vec()));
    assert!(found[1].as_ref().unwrap_err().contains("not gzip") && found[2].as_ref().unwrap_err().contains("unpacked"));
    for (column, part) in
        [("images", "jpg.gz"), ("x", "png.gz"), ("x", "pkl.gz"), ("x", "txt.xz"), ("images", "jpg.bz2")]
    {
        let (_dir, refused) = opened(TarWriter::of(&[("1.jpg", b"")]), &mapped(&[(column, part)]));
        assert!(refused.unwrap_err().to_string().contains(part), "{part}");
    }
}

#[test]
fn a_compressed_member_that_is_cut_short_is_called_so() {
    let cut = |bytes: Vec<u8>, len: usize| bytes[..len].to_vec();
    let whole = gz(b"a caption of a few words");
    let tar = TarWriter::of(&[
        ("1.jpg", b"one"),
        ("1.t.gz", &whole),
        ("1.b.bz2", &Compression::Bzip2.compressed(b"x")),
        ("2.jpg", b"two"),
        ("2.t.gz", &cut(whole.clone(), whole.len() / 2)),
        ("3.jpg", b"three"),
        ("3.b.bz2", &cut(Compression::Bzip2.compressed(b"many words"), 20)),
        ("4.jpg", b"four"),
        ("4.t.gz", b"a caption"),
    ]);
    let found = faults(opened(tar, &mapped(&[("t", "t.gz"), ("b", "b.bz2")])));
    let words = |record: usize| found[record].clone().unwrap_or_default();
    assert!(found[0].is_none());
    assert!(words(1).contains("its gzip data are cut short or damaged"), "{}", words(1));
    assert!(words(2).contains("its bzip2 data are cut short or damaged"), "{}", words(2));
    assert!(words(3).contains("it is not gzip, as its suffix says"), "{}", words(3));
}

#[test]
fn a_column_of_which_no_sample_has_a_value_says_what_is_there_instead() {
    let tar = TarWriter::of(&[
        ("1.jpg", b"one"),
        ("1.json", br#"{"box": {"left": 3, "top": 4}, "name": "x"}"#),
        ("1.n.npy", b"no array"),
    ]);
    for (part, words) in [
        ("json:box", &["\"json:box\"", "is an object", "box.left, box.top"][..]),
        ("json:size", &["no sample has a value \"json:size\"", "with this key"]),
        ("n.npy", &["\"n.npy\"", "not an array of NumPy"]),
        ("txt", &["no sample has a member \"txt\"."]),
    ] {
        refusal(opened(tar.clone(), &mapped(&[("x", part)])), words);
    }
    let error = opened(tar, &mapped(&[("a b", "json:name")])).1.map(drop).unwrap_err().to_string();
    assert!(error.ends_with("a digit."), "{error}");
}

#[test]
fn members_in_bzip2_hold_what_their_inner_suffix_says_and_have_the_same_limit() {
    let bz2 = |bytes: &[u8]| Compression::Bzip2.compressed(bytes);
    let tar = TarWriter::of(&[
        ("1.jpg", b"one"),
        ("1.txt.bz2", &[bz2(b"an "), bz2(b"owl")].concat()),
        ("1.json.bz2", &bz2(br#"[{"id": 4}, {"id": 6}]"#)),
        ("2.jpg", b"two"),
        ("2.txt.bz2", b"no bzip2"),
        ("3.jpg", b"three"),
        ("3.txt.bz2", &bz2(&vec![0; 1 << 20]).repeat(17)),
    ]);
    let (dir, source) = opened(tar, &mapped(&[("t", "txt.bz2"), ("ids", "json.bz2:id")]));
    let source = source.unwrap();
    assert_eq!(values(&*source, "t").1[0].bytes(), b"an owl");
    assert_eq!(values(&*source, "ids").1[0].bytes(), [4_i64, 6].map(i64::to_le_bytes).concat());
    let found: Vec<_> = read(&*source, &dir).into_iter().map(|(_, content)| content).collect();
    assert_eq!(found[0], Ok(b"one".to_vec()));
    assert!(
        found[1].as_ref().unwrap_err().contains("not bzip2") && found[2].as_ref().unwrap_err().contains("unpacked")
    );
}

#[test]
fn values_behind_keys_of_json_and_message_pack_are_named_with_dots() {
    let packed = b"\x82\xa1a\x81\xa1b\x05\xa1e\xd4\x2a\0";
    let tar = TarWriter::of(&[
        ("1.jpg", b"one"),
        ("1.json", br#"{"a": {"b": [1, 2]}, "a.c": 8}"#),
        ("1.mp", packed),
        ("1.json.own", b"text"),
    ]);
    let map = [("x", "json.a.b"), ("y", "json:a.c"), ("z", "mp:a.b"), ("own", "json.own")];
    let (_dir, source) = opened(tar.clone(), &mapped(&map));
    let source = source.unwrap();
    assert_eq!(values(&*source, "x").0, "i64 [*]");
    assert_eq!(
        [values(&*source, "y").1[0].bytes(), values(&*source, "z").1[0].bytes()],
        [8_i64.to_le_bytes(), 5_i64.to_le_bytes()]
    );
    assert_eq!(values(&*source, "own").1[0].bytes(), b"text");
    let both = TarWriter::of(&[("1.jpg", b"one"), ("1.mp", packed), ("2.jpg", b"two"), ("2.mp", b"\x81\xa1e\x05")]);
    let wrong = faults(opened(both, &mapped(&[("e", "mp:e")])));
    assert!(wrong[0].as_ref().is_some_and(|wrong| wrong.contains("extension type 42")), "{wrong:?}");
    assert_eq!(wrong[1], None);
}
