//! Tests of cells that are lists, or deeper: in columns that take lists, and where one value is needed.

use super::*;

type Pairs<'a> = &'a [(&'a str, &'a str)];

/// Opens a table of objects beside pictures, with these lines.
fn lines(lines: &[&str], columns: Pairs<'_>, own: Pairs<'_>) -> Result<(TempDir, Box<dyn Source>), String> {
    let (dir, file) = table("metadata.jsonl", lines.join("\n"));
    // A folder has fewer options than its table.
    let is_folder = own.iter().all(|(key, _)| *key == "split" || key.starts_with("roles."));
    let name = if is_folder { dir.path().display().to_string() } else { format!("csv:{}", file.display()) };
    let source = crate::open(&name, &options(columns, own)).map_err(|error| error.to_string())?;
    Ok((dir, source))
}

#[test]
fn a_list_where_one_value_is_needed_is_refused_with_its_line_and_what_to_do() {
    let first = r#"{"file_name": "a.jpg", "v": 3, "w": 1, "objects": {"kind": [], "box": [[0, 0, 1, 1]]}}"#;
    let line =
        |value: &str| format!("{{\"file_name\": \"b.jpg\", \"v\": {value}, \"w\": 2, \"objects\": {{\"kind\": [7]}}}}");
    let split = |name: &str| format!("split = \"{name}\"");
    let cases: [(&str, Pairs<'_>, Pairs<'_>, &[&str]); 17] = [
        ("[\"owl\", \"bat\"]", &[("classes", "v")], &[], &["list of texts", &split("classes")]),
        ("[5]", &[("classes", "v")], &[], &["list of numbers", &split("classes")]),
        ("[]", &[("classes", "v")], &[], &["an empty list", &split("classes")]),
        ("[\"a bat\"]", &[("note", "v")], &[], &["list of texts", &split("note")]),
        ("[\"bat\", 3]", &[("note", "v")], &[], &["list of texts", &split("note")]),
        ("[5, 6]", &[("note", "v")], &[], &["is a list of numbers, and line 1 has a single value", &split("note")]),
        ("[5, 6]", &[("labels", "v"), ("w", "w")], &[], &["one label", "labels=\"none\"", &split("classes")]),
        ("\"['bat', 'owl']\"", &[("labels", "v")], &[], &["is a list in a text", "labels=\"text\""]),
        ("{\"id\": 5}", &[("labels", "v")], &[], &["an object", "one label", "(a.b)"]),
        ("{\"id\": 5}", &[("classes", "v")], &[], &["an object", "(a.b)"]),
        ("[[5]]", &[("classes", "v")], &[], &["a list of lists", "(a.b)"]),
        ("[{\"id\": 5}]", &[("classes", "v")], &[("split", "classes")], &["a list of objects", "split takes lists"]),
        ("[\"c.jpg\"]", &[("images", "v")], &[], &["the path of one picture", "columns = {images"]),
        ("[1]", &[("w", "w")], &[("pattern", "{v}.jpg")], &["pattern"]),
        ("[0, 1]", &[("labels", "v,w")], &[], &["Name a list alone"]),
        ("[2]", &[("pair", "v,w")], &[], &["each column that \"pair\"", "columns = {pair"]),
        ("[2]", &[("v", "v")], &[("group", "true")], &["group=\"true\""]),
    ];
    for (value, columns, own, words) in cases {
        // As a label, the first line has what the others have.
        let one_hot = first.replace("\"v\": 3, \"w\": 1", "\"v\": 0, \"w\": 1");
        let said = lines(&[if columns == [("labels", "v,w")] { &one_hot } else { first }, &line(value)], columns, own);
        let said = said.map(|_| ()).unwrap_err();
        for word in [&["metadata.jsonl", "line 2", "\"v\""], words].concat() {
            assert!(said.contains(word) || word == "\"v\"" && said.contains("['bat'"), "{value}: {word}: {said}");
        }
    }
    // Keys with dots lead to lists too.
    let said = lines(&[first, &line("1")], &[("classes", "objects.kind")], &[]).map(|_| ()).unwrap_err();
    assert!(said.contains("line 1: \"objects.kind\" is an empty list") && said.contains(&split("classes")), "{said}");
    // What nothing asks for may be anything.
    let (_dir, source) = lines(&[first, &line("[1, 2]")], &[("w", "w")], &[]).unwrap();
    assert_eq!(values::<i64>(&*source, "w", 1), [2]);
}

#[test]
fn lists_of_split_are_taken_as_they_are() {
    let text = [
        r#"{"file_name": "a.jpg", "tags": ["polar bear", "été|x", "7"], "scores": [0.5, -2], "n": [true, 3]}"#,
        r#"{"file_name": "b.jpg", "tags": [], "scores": null, "n": 8}"#,
        r#"{"file_name": "c.jpg", "tags": "7  polar", "scores": [], "n": "4|5"}"#,
    ];
    let map = [("classes", "tags"), ("scores", "scores"), ("n", "n")];
    let (_dir, source) = lines(&text, &map, &[("split", "classes,scores,n")]).unwrap();
    assert_eq!(types(&*source), ["classes: i64 [*]", "scores: f32 [*]", "n: i64 [*]"]);
    assert_eq!(source.classes(), ["7", "polar", "polar bear", "été|x"]);
    assert_eq!([0, 1, 2].map(|record| values::<i64>(&*source, "classes", record)), [vec![2, 3, 0], vec![], vec![0, 1]]);
    assert_eq!([0, 1, 2].map(|record| values::<f32>(&*source, "scores", record)), [vec![0.5, -2.0], vec![], vec![]]);
    assert_eq!([0, 1, 2].map(|record| values::<i64>(&*source, "n", record)), [vec![1, 3], vec![8], vec![4, 5]]);
}

#[test]
fn lists_of_numbers_are_lists_without_split_and_a_value_that_lacks_in_one_makes_a_bad_record() {
    let text = [
        r#"{"file_name": "a.jpg", "point": null, "ids": null}"#,
        r#"{"file_name": "b.jpg", "point": [1, 2.5], "ids": [9]}"#,
        r#"{"file_name": "c.jpg", "point": [], "ids": [3, null]}"#,
        r#"{"file_name": "a.jpg", "point": [1e300], "ids": []}"#,
    ];
    let map = [("point", "point"), ("ids", "ids")];
    let (_dir, source) = lines(&text, &map, &[]).unwrap();
    assert_eq!(types(&*source), ["point: f32 [*]", "ids: i64 [*]"]);
    assert!(value(&*source, "point", 0).is_null() && value(&*source, "ids", 0).is_null());
    assert_eq!((values::<f32>(&*source, "point", 1), values::<i64>(&*source, "ids", 1)), (vec![1.0, 2.5], vec![9]));
    assert!(damage(&*source, 2).contains("line 3 of the table: a value in the list of \"ids\" is missing"));
    assert!(damage(&*source, 3).contains("line 4 of the table: the list of \"point\" has a number"));
    // Beside deeper cells, a list is a text, which a role may read.
    let deep = [
        r#"{"file_name": "a.jpg", "box": [1, 2, 3, 4]}"#,
        r#"{"file_name": "b.jpg", "box": [[0, 0, 5, 6], [1, 1, 2, 2]]}"#,
    ];
    let (_dir, source) = lines(&deep, &[("box", "box")], &[]).unwrap();
    assert_eq!((types(&*source), value(&*source, "box", 0).bytes()), (vec!["box: u8 [*]".to_owned()], &b"1 2 3 4"[..]));
    for deep in [&deep[..], &deep[..1]] {
        let (_dir, source) = lines(deep, &[("box", "box")], &[("roles.box", "xywh")]).unwrap();
        assert_eq!(values::<f32>(&*source, "box", 0), [1.0, 2.0, 4.0, 6.0]);
    }
}

#[test]
fn a_csv_with_lists_in_texts_has_no_classes_of_them() {
    for cell in ["\"['cat', 'dog']\"", "\"[\"\"cat\"\"]\"", "\"[3, 4]\"", "[]"] {
        let text = format!("path,tags\na.jpg,cat\nb.jpg,{cell}\n");
        for own in [&[][..], &[("split", "classes")]] {
            let said = refusal(&text, &[("classes", "tags")], own);
            assert!(said.contains("train.csv, line 3") && said.contains("split = \"classes\""), "{said}");
        }
        let said = refusal(&text, &[("labels", "tags")], &[]);
        assert!(said.contains("line 3: the label") && said.contains("labels=\"text\""), "{said}");
        // As a text of its own, it is what it is.
        let (_dir, source) = opened(&text, &[("note", "tags")], &[]);
        assert!(value(&*source, "note", 1).bytes().starts_with(b"["));
    }
    let (_dir, source) = opened("path,class\na.jpg,[PAD]\nb.jpg,[x\n", &[("images", "path")], &[]);
    assert_eq!(source.classes(), ["[PAD]", "[x"]);
    // A value that is missing among others has no place in a list, and alone it is an empty one.
    let (_dir, source) = opened("path,t\na.jpg,4 nan 5\nb.jpg,nan\nc.jpg,0.5\n", &[("t", "t")], &[("split", "t")]);
    assert!(damage(&*source, 0).contains("line 2 of the table: a value in the list of \"t\" is missing"));
    assert_eq!([1, 2].map(|record| values::<f32>(&*source, "t", record)), [vec![], vec![0.5]]);
}

#[test]
fn a_table_in_another_encoding_than_utf_8_is_refused_by_that_name() {
    for label in [&b"na\xefve"[..], b"\xfc", b"\x83\x8b"] {
        let text = [b"path,label\na.jpg,plain\nb.jpg,", label, b"\n"].concat();
        let (_dir, file) = table("t.csv", text);
        for labels in [Labels::Auto, Labels::Text] {
            let options = Options { labels, ..Options::default() };
            let said = crate::open(file.to_str().unwrap(), &options).unwrap_err().to_string();
            assert!(said.contains("line 3") && said.contains("not in UTF-8"), "{said}");
        }
    }
    for (name, line) in [("t.csv", "path,v\na.jpg,1\n"), ("metadata.jsonl", "{\"file_name\": \"a.jpg\", \"v\": 1}\n")] {
        for swap in [false, true] {
            let bytes = |unit: u16| if swap { unit.to_be_bytes() } else { unit.to_le_bytes() };
            let text: Vec<u8> = std::iter::once(0xfeff).chain(line.encode_utf16()).flat_map(bytes).collect();
            let (_dir, file) = table(name, text);
            let source = format!("csv:{}", file.display());
            let said = crate::open(&source, &options(&[("v", "v")], &[])).unwrap_err().to_string();
            assert!(said.contains("line 1: the table is in UTF-16. Write it in UTF-8"), "{said}");
        }
    }
}
