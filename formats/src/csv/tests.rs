//! Tests of the columns that a table gives, of grouped lines, and of tables beside the pictures of a folder.

mod lists;

use std::fs;
use std::path::PathBuf;

use forebay_columns::Value;
use forebay_sources::{ColumnMap, OwnOptions, ReadErrorKind, Source};
use tempfile::TempDir;

use super::*;
use crate::opened::OpenDataset;
use crate::scene::{labels, names, values};

/// A table beside pictures `a.jpg`, `b.jpg` and `c.jpg`.
fn table(name: &str, text: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    for picture in ["a", "b", "c"] {
        fs::write(dir.path().join(format!("{picture}.jpg")), picture).unwrap();
    }
    let file = dir.path().join(name);
    fs::write(&file, text).unwrap();
    (dir, file)
}

fn options(columns: &[(&str, &str)], own: &[(&str, &str)]) -> Options {
    let columns: ColumnMap = columns.iter().copied().collect();
    Options { columns, own: own.iter().copied().collect::<OwnOptions>(), ..Options::default() }
}

fn opened(text: &str, columns: &[(&str, &str)], own: &[(&str, &str)]) -> (TempDir, Box<dyn Source>) {
    let (dir, file) = table("train.csv", text);
    (dir, crate::open(file.to_str().unwrap(), &options(columns, own)).unwrap())
}

fn refusal(text: &str, columns: &[(&str, &str)], own: &[(&str, &str)]) -> String {
    let (_dir, file) = table("train.csv", text);
    crate::open(file.to_str().unwrap(), &options(columns, own)).unwrap_err().to_string()
}

fn value<'a>(source: &'a dyn Source, column: &str, record: usize) -> Value<'a> {
    source.targets().value(source.targets().schema().find(column).unwrap(), record)
}

fn types(source: &dyn Source) -> Vec<String> {
    let fields = source.targets().schema().fields();
    fields.iter().map(|field| format!("{}: {}", field.name, field.column_type)).collect()
}

fn damage(source: &dyn Source, record: u64) -> String {
    let error = source.read(record, u64::MAX, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::Damaged);
    error.to_string()
}

#[test]
fn the_cells_of_a_column_decide_its_type() {
    let text =
        "\u{feff}photo,breed,text,w,n,mixed\r\nb.jpg,pug,\"two\nlines, \"\"x\"\"\",0.5, 7,1\r\na.jpg,akita,,NaN,,x\r\n";
    let map =
        [("images", "photo"), ("labels", "breed"), ("caption", "text"), ("weight", "no;W"), ("n", "n"), ("m", "mixed")];
    let (_dir, source) = opened(text, &map, &[]);
    assert_eq!(types(&*source), ["caption: u8 [*]", "weight: f32", "n: i64", "m: u8 [*]"]);
    assert_eq!(
        (names(&*source), source.classes()),
        (vec!["b.jpg".into(), "a.jpg".into()], &["akita".into(), "pug".into()][..])
    );
    assert_eq!(labels(&*source), [1, 0]);
    assert_eq!(value(&*source, "caption", 0).bytes(), b"two\nlines, \"x\"");
    assert_eq!((values::<f32>(&*source, "weight", 0), values::<i64>(&*source, "n", 0)), (vec![0.5], vec![7]));
    assert!(["caption", "weight", "n"].iter().all(|column| value(&*source, column, 1).is_null()));
    assert_eq!((value(&*source, "m", 0).bytes(), value(&*source, "m", 1).bytes()), (&b"1"[..], &b"x"[..]));
    assert!(source.targets().schema().fields().iter().all(|field| field.objects.is_none()));
}

#[test]
fn a_label_may_be_the_column_that_is_one_and_several_columns_are_a_row_of_numbers() {
    let text = "image,MEL,NV,BCC\na.jpg,0.0,1.0,0\nb.jpg,1,0,0\n";
    let (_dir, source) = opened(text, &[("labels", "MEL, NV, BCC"), ("hot", "BCC,NV")], &[]);
    assert_eq!((labels(&*source), source.classes().join(" ")), (vec![1, 0], "MEL NV BCC".into()));
    assert_eq!((types(&*source), values::<f32>(&*source, "hot", 0)), (vec!["hot: f32 [2]".into()], vec![0.0, 1.0]));
    for row in ["a.jpg,1,1,0", "a.jpg,0,0,0", "a.jpg,0.5,0.5,0", "a.jpg,1"] {
        let words = refusal(&format!("image,MEL,NV,BCC\n{row}\n"), &[("labels", "MEL,NV,BCC")], &[]);
        assert!(words.contains("line 2") && words.contains("MEL, NV, BCC must be 1"), "{words}");
    }
}

#[test]
fn cells_with_several_values_become_lists_of_integers_or_classes() {
    let text = "id,tags,numbers\na,haze primary,3 16|0\nb,,7\nc, primary  clear ,\n";
    let map = [("tags", "tags"), ("numbers", "numbers")];
    let (_dir, source) = opened(text, &map, &[("pattern", "{id}.jpg"), ("split", "tags, numbers")]);
    assert_eq!(names(&*source), ["a.jpg", "b.jpg", "c.jpg"]);
    assert_eq!(types(&*source), ["tags: i64 [*]", "numbers: i64 [*]"]);
    assert_eq!(source.classes(), ["clear", "haze", "primary"]);
    assert_eq!([0, 1, 2].map(|record| values::<i64>(&*source, "tags", record)), [vec![1, 2], vec![], vec![2, 0]]);
    assert_eq!([0, 1, 2].map(|record| values::<i64>(&*source, "numbers", record)), [vec![3, 16, 0], vec![7], vec![]]);
}

#[test]
fn lines_with_one_path_become_lists_of_objects() {
    let text = "filename,width,class,xmin,ymin,xmax,ymax,note\nb.jpg,9,dog,1,2,3,4.5,x\na.jpg,9,cat,0,0,1,1,\n\
                b.jpg,9,cat,5,6,7,8,yz\n";
    let map = [("boxes", "xmin,ymin,xmax,ymax"), ("classes", "class"), ("note", "note"), ("w", "width")];
    let (_dir, source) = opened(text, &map, &[("group", "true")]);
    assert_eq!((names(&*source), source.classes().join(" ")), (vec!["b.jpg".into(), "a.jpg".into()], "cat dog".into()));
    assert_eq!(types(&*source), ["boxes: f32 [*, 4]", "classes: i64 [*]", "note: u8 [*][*]", "w: i64 [*]"]);
    assert_eq!((source.targets().schema().leader(3), labels(&*source)), (0, vec![-1, -1]));
    assert_eq!(values::<f32>(&*source, "boxes", 0), [1.0, 2.0, 3.0, 4.5, 5.0, 6.0, 7.0, 8.0]);
    assert_eq!([0, 1].map(|record| values::<i64>(&*source, "classes", record)), [vec![1, 0], vec![0]]);
    assert_eq!((value(&*source, "note", 0).items(), value(&*source, "note", 0).bytes()), (2, &b"xyz"[..]));
    // Without the option each line is a record.
    let (_dir, source) = opened(text, &map, &[]);
    assert_eq!((source.len(), &*types(&*source)[0]), (3, "boxes: f32 [4]"));
    // A label is one of the record, so all its lines have the same.
    let words = refusal(text, &[("labels", "class")], &[("group", "true")]);
    assert!(words.contains("line 4: the label differs from that of line 2"), "{words}");
    let (_dir, source) = opened(text, &[("labels", "width")], &[("group", "true")]);
    assert_eq!(labels(&*source), [9, 9]);
}

#[test]
fn what_is_wrong_with_a_cell_is_an_error_of_its_record_alone() {
    let text = "path,x,y,n\na.jpg,1,2,5\nb.jpg,1,inf,\na.jpg,3,,6\n";
    let (_dir, source) = opened(text, &[("point", "x,y")], &[]);
    assert!(damage(&*source, 1).contains("line 3 of the table: the cell of \"y\" is not a number"));
    assert!(damage(&*source, 2).contains("line 4"));
    source.read(0, u64::MAX, &mut Vec::new()).unwrap();
    let (_dir, source) = opened(text, &[("point", "x,y"), ("n", "n")], &[("group", "true")]);
    assert!(damage(&*source, 0).contains("line 4"));
    let (_dir, source) = opened(text, &[("n", "n")], &[("group", "true")]);
    assert!(damage(&*source, 1).contains("line 3 of the table: the cell of \"n\" is empty"));
    assert_eq!(values::<i64>(&*source, "n", 0), [5, 6]);
    let (_dir, file) = table("train.csv", b"path,t\na.jpg,x\nb.jpg,\xff\n");
    let source = open_table(&Address::file(&file), &options(&[("t", "t")], &[])).unwrap().into_source();
    assert!(damage(&*source, 1).contains("\"t\" is not in UTF-8"));
}

#[test]
fn what_the_options_ask_for_and_the_table_lacks_is_refused_by_name() {
    let text = "path,a,class\na.jpg,x,y\n";
    let one = [("t", "a")];
    for (columns, own, words) in [
        (&[("t", "b")][..], &[][..], &["columns.t = \"b\"", "\"path\", \"a\", \"class\""][..]),
        (&[("t", "a,b")], &[], &["columns.t = \"a,b\""]),
        (&[("labels", "b")], &[], &["columns.labels"]),
        (&[("images", "a,path")], &[], &["columns.images", "one column"]),
        (&[], &[("pattern", "{b}.jpg")], &["pattern = \"{b}.jpg\"", "\"path\""]),
        (&[], &[("pattern", "{a")], &["pattern = \"{a\""]),
        (&[], &[("pattern", "a.jpg")], &["pattern"]),
        (&[], &[("pattern", "../{a}.jpg")], &["line 2", "leads out"]),
        (&one, &[("split", "u")], &["split = \"u\""]),
        (&one, &[("split", "t"), ("group", "true")], &["split = \"t\""]),
        (&one, &[("group", "yes")], &["group = \"yes\""]),
        (&[("mask", "a")], &[], &["columns", "\"mask\" is taken"]),
        (&[("classes", "a"), ("labels", "class")], &[], &["both the labels and a column of classes"]),
    ] {
        let message = refusal(text, columns, own);
        assert!(words.iter().all(|word| message.contains(word)), "{words:?}: {message}");
    }
    let words = refusal("a,b\nx,y\n", &[("t", "a")], &[]);
    assert!(words.contains("line 1: no column has a name of a path column") && words.contains("pattern="), "{words}");
}

#[test]
fn a_folder_has_the_columns_of_the_table_beside_its_pictures() {
    let lines = "{\"file_name\": \"c.jpg\", \"text\": \"a \\\"cat\\\"\", \"score\": 0.5, \"tags\": [3, 1], \"objects\": {\"bbox\": []}}\n\n\
                 {\"text\": null, \"file_name\": \"a.jpg\", \"score\": 2, \"good\": true}\n";
    let (dir, _) = table("metadata.jsonl", lines);
    let map = [("caption", "text"), ("score", "score"), ("objects", "objects"), ("tags", "tags")];
    let source = crate::open(dir.path().to_str().unwrap(), &options(&map, &[])).unwrap();
    assert_eq!(names(&*source), ["c.jpg", "a.jpg"]);
    assert_eq!(value(&*source, "caption", 0).bytes(), b"a \"cat\"");
    assert!(value(&*source, "caption", 1).is_null());
    assert_eq!([0, 1].map(|record| values::<f32>(&*source, "score", record)), [vec![0.5], vec![2.0]]);
    assert_eq!(
        (value(&*source, "objects", 0).bytes(), values::<i64>(&*source, "tags", 0)),
        (&b"{\"bbox\":[]}"[..], vec![3, 1])
    );
    // A table for each split is named, so that its folder can be opened.
    let splits =
        crate::scene::folder(&[("train/metadata.csv", "file_name\na.jpg\n"), ("train/a.jpg", ""), ("val/b.jpg", "")]);
    let words = crate::open(splits.path().to_str().unwrap(), &options(&map, &[])).unwrap_err().to_string();
    assert!(words.contains("train/metadata.csv") && words.contains("Open one of these folders"), "{words}");
    // Without a column map, it is the folder that it was.
    let without = crate::open(dir.path().to_str().unwrap(), &Options::default()).unwrap();
    assert_eq!(names(&*without), ["a.jpg", "b.jpg", "c.jpg"]);

    let keys: Vec<String> = (0..4096).map(|key| format!("\"{key}\": 1")).collect();
    let many = format!("{{\"file_name\": \"a.jpg\", {}}}", keys.join(", "));
    for (text, words) in [
        ("{\"file_name\": \"a.jpg\"}\n[]", "line 2: the line is not a JSON object"),
        ("{}", "line 1: the object is empty"),
        (&many, "line 1: the object has more than 4096 keys"),
    ] {
        let (dir, _) = table("metadata.jsonl", text);
        let words_of =
            crate::open(dir.path().to_str().unwrap(), &options(&[("f", "file_name")], &[])).unwrap_err().to_string();
        assert!(words_of.contains(words), "{words_of}");
    }
    let (dir, _) = table("metadata.csv", "file_name,label,note\na.jpg,3,x\n");
    let source = crate::open(dir.path().to_str().unwrap(), &options(&[("note", "note")], &[])).unwrap();
    assert_eq!((source.label(0), value(&*source, "note", 0).bytes()), (3, &b"x"[..]));
    let (dir, _) = table("other.csv", "file_name\na.jpg\n");
    let words = crate::open(dir.path().to_str().unwrap(), &options(&[("n", "note")], &[])).unwrap_err().to_string();
    assert!(words.contains("metadata.csv or metadata.jsonl"), "{words}");
}

#[test]
fn rule_45_keys_with_dots_lead_into_the_objects_of_a_line_and_their_boxes_follow_the_picture() {
    for objects in [
        [r#"{"bbox": [], "id": []}"#, r#"{"bbox": [[2, 3, 4, 5.5], [0, 1, 2, 2]], "id": [7, 9]}"#],
        ["[]", r#"[{"bbox": [2, 3, 4, 5.5], "id": 7}, {"id": 9, "bbox": [0, 1, 2, 2]}]"#],
    ] {
        let line =
            |name: &str, objects: &str| format!("{{\"file_name\": \"{name}\", \"objects\": {objects}, \"a.b\": 3}}\n");
        let (dir, _) = table("metadata.jsonl", &(line("a.jpg", objects[0]) + &line("b.jpg", objects[1])));
        let map = [("b", "objects.bbox"), ("ids", "objects.id"), ("n", "a.b")];
        let source = crate::open(dir.path().to_str().unwrap(), &options(&map, &[("split", "ids")])).unwrap();
        assert_eq!(values::<f32>(&*source, "b", 1), [2.0, 3.0, 6.0, 8.5, 0.0, 1.0, 2.0, 3.0], "{objects:?}");
        assert_eq!((values::<i64>(&*source, "ids", 1), values::<i64>(&*source, "n", 0)), (vec![7, 9], vec![3]));
        assert!(value(&*source, "b", 0).bytes().is_empty() && value(&*source, "ids", 0).bytes().is_empty());
        let of_objects = source.targets().schema().fields().iter().map(|field| field.objects.is_some());
        assert!(of_objects.eq([true, true, false]), "{objects:?}");
        let plain = options(&map, &[("split", "ids"), ("roles.b", "none")]);
        let plain = crate::open(dir.path().to_str().unwrap(), &plain).unwrap();
        assert_eq!(value(&*plain, "b", 1).bytes(), b"[[2,3,4,5.5],[0,1,2,2]]");
    }
    let (dir, _) = table("metadata.jsonl", "{\"file_name\": \"a.jpg\"}\n");
    let refused = |map: &[(&str, &str)], own: &[(&str, &str)]| {
        crate::open(dir.path().to_str().unwrap(), &options(map, own)).unwrap_err().to_string()
    };
    assert!(refused(&[("b", "objects.bbox")], &[]).contains("objects.bbox"));
    assert!(refused(&[], &[("split", "b")]).contains("split = \"b\" must be left out"));
}

#[test]
fn a_quote_that_is_not_closed_is_refused_and_swallows_no_lines() {
    let words = refusal("path,label\na.jpg,\"1\"\"\"\nb.jpg,\"2\nc.jpg,3\n", &[], &[]);
    assert!(words.contains("line 3: a quote opens a value") && words.contains("Close the quote"), "{words}");
    let (_dir, source) = opened("a.jpg,x\nb.jpg,5\" wide\nc.jpg,\"a \"\"b\"\"\"", &[], &[]);
    assert_eq!(source.classes(), ["5\" wide", "a \"b\"", "x"]);
}

#[test]
fn bytes_that_were_changed_cause_no_panic() {
    let text = "filename,class,xmin,ymin,tags\na.jpg,cat,1,2,x y\nb.jpg,dog,3,4.5,y\na.jpg,cat,5,6,\"z, y\"\n";
    let (dir, file) = table("train.csv", text);
    let maps = [
        options(&[("p", "xmin,ymin"), ("classes", "class"), ("t", "tags")], &[("group", "true")]),
        options(&[("t", "tags"), ("x", "xmin"), ("y", "ymin")], &[("split", "t")]),
    ];
    let mut records = 0;
    crate::mutations::each(text.as_bytes(), 2000, |bytes| {
        fs::write(&file, bytes).unwrap();
        for options in &maps {
            let Ok(source) = open_table(&Address::file(&file), options).map(OpenDataset::into_source) else { continue };
            for record in 0..source.len() {
                match source.read(record, u64::MAX, &mut Vec::new()) {
                    Ok(()) => records += 1,
                    Err(error) => assert_ne!(error.kind, ReadErrorKind::Storage, "{error}"),
                }
            }
        }
    });
    assert!(records > 1000, "{records}");
    drop(dir);
}

#[test]
fn rule_45_boxes_of_a_table_follow_their_pictures_if_their_form_is_given() {
    let text = "path,x,y,w,h\na.jpg,1,2,3,4\nb.jpg,5,6,-1,1\na.jpg,0,0,1,1\n";
    let map = [("boxes", "x,y,w,h")];
    let (_dir, source) = opened(text, &map, &[("group", "true"), ("boxes", "xywh")]);
    assert_eq!(values::<f32>(&*source, "boxes", 0), [1.0, 2.0, 4.0, 6.0, 0.0, 0.0, 1.0, 1.0]);
    assert_eq!(source.targets().schema().fields()[0].role, forebay_columns::Role::Boxes);
    assert!(damage(&*source, 1).contains("line 3 of the table: the box ends before it begins"));
    let (_dir, source) = opened(text, &map, &[("group", "true")]);
    assert_eq!(values::<f32>(&*source, "boxes", 1), [5.0, 6.0, -1.0, 1.0], "numbers like any others");
    for (map, own) in [
        (&map[..], &[("boxes", "xywh")][..]),
        (&[("boxes", "x,y")], &[("boxes", "xywh"), ("group", "true")]),
        (&[("box", "x,y,w,h")], &[("boxes", "xywh"), ("group", "true")]),
        (&map, &[("boxes", "corners"), ("group", "true")]),
    ] {
        let words = refusal(text, map, own);
        assert!(words.starts_with("boxes = \""), "{words}");
    }
}

#[test]
fn rule_54_the_error_of_a_signed_url_shows_neither_its_query_nor_a_password() {
    let refused = refusal("path\nhttps://me:hunter2@host/a.jpg?X-Amz-Signature=hunter3\n", &[], &[]);
    assert!(
        refused.contains("\"https://host/a.jpg\" is a URL") && refused.contains("root=\"https://host\""),
        "{refused}"
    );
    assert!(!refused.contains("hunter"), "{refused}");
}

#[test]
fn tables_with_tabs_or_semicolons_are_read_as_those_with_commas() {
    let map = [("labels", "breed"), ("n", "n")];
    for (name, text) in [
        ("t.csv", "path;breed;n\na.jpg;\"p;ug\";3\n\"b.jpg\";akita;4\n"),
        ("t.csv", "path\tbreed\tn\na.jpg\tp;ug\t3\nb.jpg\takita\t4\n"),
        ("t.tsv", "path\tbreed\tn\na.jpg\tp;ug\t3\nb.jpg\takita\t4\n"),
    ] {
        let (_dir, file) = table(name, text);
        let source = crate::open(file.to_str().unwrap(), &options(&map, &[])).unwrap();
        assert_eq!(
            (names(&*source), source.classes().join("|")),
            (vec!["a.jpg".into(), "b.jpg".into()], "akita|p;ug".into())
        );
        assert_eq!(values::<i64>(&*source, "n", 1), [4]);
    }
    // What separates cells may be said, where the first line shows something else.
    let (_dir, file) = table("t.csv", "a.jpg;x,y\nb.jpg;z\n");
    let source = crate::open(file.to_str().unwrap(), &options(&[], &[("separator", "semicolon")])).unwrap();
    assert_eq!(source.classes(), ["x,y", "z"]);
    let message = crate::open(file.to_str().unwrap(), &options(&[], &[("separator", "|")])).unwrap_err().to_string();
    assert!(message.contains("separator") && message.contains("\"tab\""), "{message}");
    let quote = refusal("a.jpg;\"x\nb.jpg;y\n", &[], &[]);
    assert!(quote.contains("none closes it"), "{quote}");
}
