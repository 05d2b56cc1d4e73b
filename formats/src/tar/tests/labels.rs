//! Tests of the labels of samples: a list is none.

use super::samples::mapped;
use super::*;

#[test]
fn a_list_is_no_label_of_a_sample() {
    let tar = |json: &[u8], cls: &[u8]| TarWriter::of(&[("1.jpg", b"one"), ("1.json", json), ("1.cls", cls)]);
    let refused = |tar: Vec<u8>, part: &str| {
        opened(tar, &mapped(&[("labels", part), ("all", "json")])).1.map(|_| ()).unwrap_err().to_string()
    };
    for (json, part) in [
        (&br#"{"kinds": [2, 3]}"#[..], "json:kinds"),
        (br#"{"kinds": [[2], [3]]}"#, "json:kinds"),
        (br#"[{"kinds": 4}, {"kinds": 5}]"#, "json:kinds"),
        (br#"["yak"]"#, "json"),
        (br#"{"kinds": "yak"}"#, "json"),
    ] {
        let said = refused(tar(json, b"1"), part);
        assert!(said.contains("no sample has a label") && said.contains("labels=\"none\""), "{part}: {said}");
    }
    let said = refused(tar(b"7", b"['yak', 'gnu']"), "cls");
    assert!(said.contains("is a list in a text") && said.contains("labels=\"text\""), "{said}");
    let source = opened(tar(b" \"yak\"\n", b"1"), &mapped(&[("labels", "json")])).1.unwrap();
    assert_eq!((source.classes(), labels(&*source)), (&["yak".to_owned()][..], vec![0]));
    let asked = Options { labels: Labels::Text, ..Options::default() };
    assert_eq!(opened(tar(b"7", b"['yak', 'gnu']"), &asked).1.unwrap().classes(), ["['yak', 'gnu']"]);
    let said = refused(tar(b"7", b"\xe9l\xe8ve"), "cls");
    assert!(said.contains("not in UTF-8"), "{said}");
}
