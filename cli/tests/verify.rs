//! `forebay verify` as a user meets it: a folder with all kinds of trouble, and names that command terminals and browsers.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use forebay_pixels::sample::{JpegForm, photograph, photograph_rgb};
use serde_json::Value;

fn verify(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forebay")).arg("verify").args(args).output().expect("the command can be started")
}

fn json(args: &[&str]) -> Value {
    let output = verify(&[args, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(&output)))
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What a page is made of.
const TAGS: [&str; 28] = [
    "!DOCTYPE",
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "h1",
    "h2",
    "h3",
    "div",
    "b",
    "br",
    "p",
    "ul",
    "li",
    "i",
    "span",
    "figure",
    "figcaption",
    "img",
    "svg",
    "rect",
    "line",
    "text",
    "details",
    "summary",
    "footer",
];

/// The parts of a JSON list.
fn each<'a>(list: &'a Value, key: &str) -> Vec<&'a Value> {
    list.as_array().unwrap().iter().map(|one| &one[key]).collect()
}

/// Two classes: good pictures, a truncated one, an empty one, a text, one picture twice, one under another extension.
fn troubled(folder: &Path) -> String {
    let at = |name: &str| folder.join(name);
    fs::create_dir_all(at("cats")).unwrap();
    fs::create_dir_all(at("dogs")).unwrap();
    for (name, index) in [("cats/0.jpg", 0), ("cats/1.jpg", 1), ("dogs/1-again.jpg", 1), ("dogs/is-a-jpeg.png", 2)] {
        fs::write(at(name), photograph(index, 60, 40)).unwrap();
    }
    let form = JpegForm { progressive: true, ..JpegForm::default() };
    fs::write(at("cats/2.jpg"), form.encode(&photograph_rgb(3, 320, 20), 320, 20).unwrap()).unwrap();
    let whole = photograph(4, 200, 150);
    fs::write(at("dogs/cut.jpg"), &whole[..whole.len() / 2]).unwrap();
    fs::write(at("dogs/empty.jpg"), "").unwrap();
    fs::write(at("dogs/text.jpg"), "no picture").unwrap();
    fs::write(at("dogs/notes.md"), "not referenced").unwrap();
    fs::write(at(".hidden"), "").unwrap();
    folder.to_str().unwrap().to_owned()
}

#[test]
fn every_trouble_of_a_folder_is_reported_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let folder = troubled(dir.path());
    let found = json(&[&folder]);
    assert_eq!((&found["records"], &found["good_records"], &found["bad_records"]), (&8.into(), &5.into(), &3.into()));
    let mut files: Vec<&str> = each(&found["bad"], "file").into_iter().map(|file| file.as_str().unwrap()).collect();
    files.sort_unstable();
    assert_eq!(files, ["cut", "empty", "text"].map(|name| format!("{folder}/dogs/{name}.jpg")));
    let reason = |name: &str| {
        let bad = found["bad"].as_array().unwrap().iter().find(|bad| bad["file"].as_str().unwrap().contains(name));
        bad.unwrap()["reason"].as_str().unwrap()
    };
    assert!(reason("cut").contains("truncated") && reason("empty").contains("empty"), "{found}");
    assert!(reason("text").contains("no picture in a known format"), "{found}");
    assert_eq!(found["duplicates"][0]["records"], Value::from(vec![1, 3]), "{found}");
    assert_eq!((&found["duplicates"][0]["labels_differ"], &found["duplicates"][1]), (&true.into(), &Value::Null));
    assert_eq!(each(&found["misnamed"], "file"), [&Value::from(format!("{folder}/dogs/is-a-jpeg.png"))]);
    assert_eq!(found["unreferenced"]["files"], Value::from(vec![format!("{folder}/dogs/notes.md")]));
    assert_eq!(found["unreferenced"]["hidden"], 1);
    assert_eq!(each(&found["kinds"], "name"), ["JPEG, baseline", "JPEG, progressive"]);
    assert_eq!(each(&found["kinds"], "records"), [4, 1]);
    assert_eq!(each(&found["labels"], "class"), ["cats", "dogs"]);
    assert_eq!(each(&found["labels"], "records"), [3, 5]);
    let width = &found["sizes"]["width"];
    assert_eq!((&width["min"], &width["median"], &width["max"]), (&60.into(), &60.into(), &320.into()));
    let counted: u64 = each(&width["histogram"], "records").iter().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(counted, 5);
    assert_eq!(found["extremes"]["longest"][0]["record"], 2);

    let output = verify(&[&folder]);
    assert_eq!((output.status.code(), &*said(&output)), (Some(1), "forebay: 3 of 8 records are bad.\n"));
    let text = printed(&output);
    for words in [
        "8 records, ",
        "1 record bad: The picture is truncated",
        "  #4 dogs/cut.jpg",
        "4 JPEG, baseline; 1 JPEG, progressive",
        "2 classes, 3 to 5 records each",
        "1 group of records with equal bytes, 1 record more than contents; 1 group with different labels",
        "  #1 cats/1.jpg = #3 dogs/1-again.jpg (different labels)",
        "1 record with the extension of another format",
        "1 file that no record is read from (1 hidden not looked at): 1 .md",
    ] {
        assert!(text.contains(words), "{words:?} is not in: {text}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let folder = troubled(dir.path());
    assert_eq!(json(&[&folder, "--threads", "1"]), json(&[&folder, "--threads", "7"]));
}

#[test]
fn the_exit_code_tells_a_good_dataset_a_bad_one_and_none() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("good");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("0.jpg"), photograph(0, 60, 40)).unwrap();
    let folder = folder.to_str().unwrap();
    let good = verify(&[folder]);
    assert_eq!((good.status.code(), &*said(&good)), (Some(0), ""));
    assert_eq!(verify(&[folder, "--pixel-limit", "2400"]).status.code(), Some(0));
    let limited = verify(&[folder, "--pixel-limit", "2399"]);
    assert_eq!(limited.status.code(), Some(1));
    assert!(printed(&limited).contains("more than 2399 pixels"), "{}", printed(&limited));
    assert_eq!(verify(&[folder, "--byte-limit", "10b"]).status.code(), Some(1));
    for (args, words) in [
        (&["/nowhere/data"][..], "does not exist"),
        (&[folder, "--option", "no-such-option=1"], "has no option \"no-such-option\""),
        (&[folder, "--columns", "boxes=json"], "The columns of"),
        (&[folder, "--option", "root"], "give a name"),
        (&[folder, "--labels", "some"], "give auto, text or none"),
    ] {
        let refused = verify(args);
        assert_eq!(refused.status.code(), Some(2), "{args:?}");
        assert!(said(&refused).contains(words), "{words:?} is not in: {}", said(&refused));
    }
    let page = verify(&[folder, "--html", "/nowhere/page.html"]);
    assert_eq!((page.status.code(), printed(&page)), (Some(1), String::new()));
    assert!(said(&page).contains("/nowhere/page.html\" cannot be written"), "{}", said(&page));
}

#[test]
fn what_lies_beside_the_pictures_and_is_not_used_fails_unless_it_is_accepted() {
    let dir = tempfile::tempdir().unwrap();
    for (name, index) in [("train/cat/0.jpg", 0), ("train/dog/1.jpg", 1), ("val/cat/2.jpg", 2)] {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, photograph(index, 60, 40)).unwrap();
    }
    fs::write(dir.path().join("train/cat/0.xml"), "<annotation/>").unwrap();
    fs::write(dir.path().join("train/dog/\u{1b}[2J.heic"), "x").unwrap();
    let folder = dir.path().to_str().unwrap();
    let found = json(&[folder]);
    assert_eq!(each(&found["not_used"], "kind"), ["annotations", "unread", "classes"]);
    assert_eq!(each(&found["not_used"], "count"), [1, 1, 2]);
    assert_eq!(found["not_used"][2]["examples"], Value::from(vec!["train", "val"]));
    assert_eq!(found["bad_records"], 0);
    let refused = verify(&[folder]);
    assert_eq!(refused.status.code(), Some(1));
    for words in
        ["All 3 records are good, but not all of the dataset is used.", "train/cat/0.xml", "\"train\", \"val\""]
    {
        assert!(said(&refused).contains(words), "{words:?} is not in: {}", said(&refused));
    }
    assert!(
        printed(&refused).contains("not used    annotations that are not used: 1 XML file"),
        "{}",
        printed(&refused)
    );
    assert!(!said(&refused).contains('\u{1b}') && !printed(&refused).contains('\u{1b}'));
    let accepted = verify(&[folder, "--option", "unread=accept"]);
    assert_eq!((accepted.status.code(), &*said(&accepted)), (Some(0), ""));
    fs::remove_file(dir.path().join("train/dog/\u{1b}[2J.heic")).unwrap();
    assert_eq!(verify(&[folder, "--labels", "none"]).status.code(), Some(0), "no labels are missing");
    assert_eq!(verify(&[&format!("{folder}/val")]).status.code(), Some(0));
}

#[test]
fn further_frames_are_counted_with_the_kind_and_formats_that_are_not_decoded_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let frame = b"\x21\xf9\x04\0\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\x80\0\0\0\xff\xff\xff\x02\x02\x44\x01\0";
    let gif = |frames: usize| [&b"GIF89a\x01\0\x01\0\0\0\0"[..], &frame.repeat(frames), b"\x3b"].concat();
    let heic = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic";
    let bytes = [("0.gif", gif(1)), ("1.gif", gif(3)), ("2.gif", gif(5)), ("3.jpg", heic.to_vec())];
    for (name, bytes) in bytes {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    let folder = dir.path().to_str().unwrap();
    let found = json(&[folder]);
    let further = &found["further"][0];
    assert_eq!(
        (&further["name"], &further["what"], &further["count"]),
        (&"GIF".into(), &"frames".into(), &6.into()),
        "{found}"
    );
    assert_eq!(further["records"], Value::from(vec![1, 2]));
    let text = printed(&verify(&[folder]));
    for words in [
        "left out    6 frames of 2 records, GIF",
        "  #2 2.gif",
        "The picture is not supported (HEIC); convert it first.",
    ] {
        assert!(text.contains(words), "{words:?} is not in: {text}");
    }
}

#[test]
fn options_of_the_source_and_labels_lead_to_the_records() {
    let dir = tempfile::tempdir().unwrap();
    troubled(&dir.path().join("data"));
    let lists = dir.path().join("lists");
    fs::create_dir(&lists).unwrap();
    let list = lists.join("train.csv");
    fs::write(&list, "path,label\ncats/0.jpg,7\ncats/1.jpg,9\ncats/missing.jpg,9\n").unwrap();
    let root = format!("root={}", dir.path().join("data").display());
    let args = [list.to_str().unwrap(), "--option", &root];
    let found = json(&args);
    assert_eq!((&found["records"], &found["bad_records"]), (&3.into(), &1.into()));
    assert_eq!(each(&found["labels"], "label"), [7, 9]);
    assert_eq!(each(&found["labels"], "class"), [&Value::Null, &Value::Null]);
    let beside = found["unreferenced"]["files"].as_array().unwrap();
    assert_eq!(beside.len(), 1, "only folders that hold a record are looked into: {beside:?}");
    assert!(beside[0].as_str().unwrap().ends_with("cats/2.jpg"));
    let text = json(&[&args[..], &["--labels", "text"]].concat());
    assert_eq!(each(&text["labels"], "class"), ["7", "9"]);
    let none = json(&[&args[..], &["--labels", "none"]].concat());
    assert_eq!(each(&none["labels"], "label"), [-1]);
}

#[test]
fn columns_are_counted_as_the_options_name_them() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("0.jpg"), photograph(0, 60, 40)).unwrap();
    let list = dir.path().join("list.csv");
    fs::write(&list, "path,label,caption,score\n0.jpg,1,hello,0.5\n0.jpg,1,,0.25\n").unwrap();
    let args = [list.to_str().unwrap(), "--columns", "text=caption", "--columns", "score=score"];
    let found = json(&args);
    assert_eq!(each(&found["columns"], "name"), ["text", "score"]);
    assert_eq!(each(&found["columns"], "type"), ["u8 [*]", "f32"]);
    assert_eq!(each(&found["columns"], "items"), [5, 2]);
    assert_eq!(each(&found["columns"], "null_records"), [1, 0]);
    assert_eq!(each(&found["columns"], "longest"), [&Value::from(vec![5]), &Value::from(Vec::<u64>::new())]);
    let text = printed(&verify(&args));
    assert!(text.contains("text, u8 [*]: 5 items, at most 5 in a record, 0 empty, 1 null"), "{text}");
    assert!(text.contains("labels      1 number, 2 to 2 records each"), "{text}");
}

#[test]
fn names_command_neither_a_terminal_nor_a_browser() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("<b>set");
    let class = folder.join("<script>alert(1)<");
    fs::create_dir_all(&class).unwrap();
    let names: [&[u8]; 5] = [
        b"\"><img src=x onerror=alert(1)>.jpg",
        b"' onmouseover='alert(1).jpg",
        b"&lt;b&gt;.jpg",
        b"\x1b[2J\xff\n.jpg",
        b"<!--.png",
    ];
    for (index, name) in (0..).zip(names) {
        let path: PathBuf = class.join(OsStr::from_bytes(name));
        // Two of them are bad, two are the same.
        let content = if index < 2 { b"no picture".to_vec() } else { photograph(index / 4, 60, 40) };
        fs::write(path, content).unwrap();
    }
    fs::write(class.join("<u>notes"), "").unwrap();
    let page = dir.path().join("page.html");
    let output = verify(&[folder.to_str().unwrap(), "--html", page.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let text = printed(&output);
    assert!(!text.contains('\u{1b}') && text.contains(r"\u{1b}[2J\xff\n.jpg"), "{text}");
    let html = fs::read_to_string(&page).unwrap();
    for tag in ["<script", "<img src=x", "<b>set", "<u>", "&lt;b&gt;.jpg", "\u{1b}"] {
        assert!(!html.contains(tag), "{tag:?} is in the page");
    }
    for words in
        ["&lt;script&gt;alert(1)", "&amp;lt;b&amp;gt;.jpg", "&#x27; onmouseover=&#x27;alert(1).jpg", "&lt;!--.png"]
    {
        assert!(html.contains(words), "{words:?} is not in the page");
    }
    for tag in html.split('<').skip(1).map(|rest| rest.split_once('>').unwrap().0) {
        let word = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap();
        assert!(TAGS.contains(&word), "<{tag}> is in the page");
        // Every second part is inside quotes.
        let own: String = tag.split('"').step_by(2).collect();
        assert!(!own.contains(['\'', '(']) && !own.contains("onerror") && !own.contains("onmouseover"), "<{tag}>");
    }
    let policy = "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\"";
    assert!(html.contains(policy) && !html.contains("http:") && !html.contains("https:") && !html.contains("href"));
}

#[test]
fn the_page_shows_bad_odd_and_random_pictures() {
    let dir = tempfile::tempdir().unwrap();
    let folder = troubled(&dir.path().join("data"));
    let page = dir.path().join("page.html");
    let output = verify(&[&folder, "--html", page.to_str().unwrap(), "--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok(), "nothing but JSON");
    let html = fs::read_to_string(&page).unwrap();
    let headings = ["Bad records", "Sizes", "Kinds of good pictures", "Labels", "Duplicates", "Longest and thinnest"];
    for words in headings.iter().chain(&["Smallest", "Largest", "A random sample", "notes.md", "320 × 20"]) {
        assert!(html.contains(words), "{words:?} is not in the page");
    }
    assert_eq!(html.matches("<svg ").count(), 4);
    let bad = html.split("<h2>").find(|section| section.starts_with("Bad records")).unwrap();
    assert_eq!(bad.matches("src=\"data:image/jpeg;base64,").count(), 1, "what is left of the truncated one");
    let sample = html.split("<h2>").find(|section| section.starts_with("A random sample")).unwrap();
    assert_eq!(sample.matches("src=\"data:image/jpeg;base64,").count(), 5);
    let again = dir.path().join("again.html");
    verify(&[&folder, "--html", again.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(&again).unwrap(), html);
}
