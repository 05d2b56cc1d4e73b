//! Tests of what each source accepts and refuses, with the error texts.

mod beside;
mod changes;
mod http;
mod hub;
pub(crate) mod loopback;
mod stores;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use forebay_sources::{Labels, OwnOptions, ReadErrorKind, Source};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::*;
use crate::option_key::OptionKey;

/// A folder with these files, each of which holds its own name.
pub(crate) fn folder(files: &[&str]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    dir
}

/// Relative paths start at this folder.
fn rooted(root: &Path) -> Options {
    let own = OwnOptions::from_iter([("root", root.to_str().unwrap())]);
    Options { own, ..Options::default() }
}

/// A folder with pictures `a.jpg`, `b.jpg`, `c.jpg` and a table.
fn table(text: &str) -> (TempDir, String) {
    let dir = folder(&["a.jpg", "b.jpg", "c.jpg"]);
    let file = dir.path().join("train.csv");
    fs::write(&file, text).unwrap();
    (dir, file.to_str().unwrap().to_owned())
}

fn labelled(labels: Labels) -> Options {
    Options { labels, ..Options::default() }
}

fn opened(name: impl AsRef<str>) -> Opened {
    open(name.as_ref(), &Options::default())
}

fn at(dir: &TempDir) -> &str {
    dir.path().to_str().unwrap()
}

/// The record's file.
fn path(source: &dyn Source, record: u64) -> PathBuf {
    source.locator(record).name().into()
}

fn read(source: &dyn Source, record: u64) -> Result<(), ReadErrorKind> {
    source.read(record, u64::MAX, &mut Vec::new()).map_err(|error| error.kind)
}

/// The paths below a folder, in record order.
fn paths(source: &dyn Source, dir: &TempDir) -> Vec<String> {
    (0..source.len())
        .map(|record| path(source, record).strip_prefix(dir.path()).unwrap().to_str().unwrap().to_owned())
        .collect()
}

fn labels(source: &dyn Source) -> Vec<i64> {
    (0..source.len()).map(|record| source.label(record)).collect()
}

fn refusal(opened: Opened, words: &[&str]) {
    let message = opened.unwrap_err().to_string();
    for word in words {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
}

#[test]
fn rule_2_class_folders_are_the_top_folders_and_the_order_is_that_of_the_raw_path() {
    let dir = folder(&["cat/2.jpg", "cat/1.jpg", "cat-big/deep/er/3.png", "dog/9.jpeg", "Ant/x.jpg"]);
    let source = opened(at(&dir)).unwrap();
    assert_eq!(paths(&*source, &dir), ["Ant/x.jpg", "cat-big/deep/er/3.png", "cat/1.jpg", "cat/2.jpg", "dog/9.jpeg"]);
    assert_eq!(source.classes(), ["Ant", "cat", "cat-big", "dog"]);
    assert_eq!(labels(&*source), [0, 2, 1, 1, 3]);
}

#[test]
fn rule_2_pictures_are_known_by_extension_in_any_case_and_hidden_ones_left_out() {
    let dir = folder(&[
        "1.JPG",
        "2.Jpeg",
        "3.jpe",
        "4.PNG",
        "5.webp",
        "6.bmp",
        "7.gif",
        "8.tif",
        "9.TIFF",
        "a.ppm",
        "b.pgm",
        "c.pbm",
        "d.pnm",
        "e.jfif",
        ".hidden.jpg",
        ".cache/f.jpg",
        "notes.txt",
        "jpg",
        "g.jpg.tmp",
    ]);
    let source = opened(at(&dir)).unwrap();
    assert_eq!(source.len(), 14);
    assert_eq!(labels(&*source), [-1; 14]);
    assert!(source.classes().is_empty());
}

#[test]
fn rule_2_pictures_beside_class_folders_are_refused_and_taken_without_labels_on_request() {
    let dir = folder(&["cat/1.jpg", "stray.jpg"]);
    refusal(opened(at(&dir)), &["stray.jpg", "cat", "labels=\"none\""]);
    let source = open(at(&dir), &labelled(Labels::None)).unwrap();
    assert_eq!(labels(&*source), [-1, -1]);
}

#[test]
fn a_class_folder_without_a_picture_is_named() {
    let dir = folder(&["cat/1.jpg", "dog/readme.txt"]);
    refusal(opened(at(&dir)), &["dog", "holds no picture"]);
}

#[test]
fn a_folder_beside_flat_pictures_counts_for_nothing_if_it_holds_none() {
    let dir = folder(&["1.jpg", "notes/readme.txt"]);
    assert_eq!(opened(at(&dir)).unwrap().len(), 1);
}

#[test]
fn links_are_followed_and_one_that_leads_nowhere_is_a_record_that_cannot_be_read() {
    let dir = folder(&["cat/1.jpg", ".store/2.jpg"]);
    symlink(dir.path().join(".store"), dir.path().join("dog")).unwrap();
    symlink("nowhere", dir.path().join("cat/3.jpg")).unwrap();
    let source = opened(at(&dir)).unwrap();
    assert_eq!(paths(&*source, &dir), ["cat/1.jpg", "cat/3.jpg", "dog/2.jpg"]);
    assert_eq!(read(&*source, 1), Err(ReadErrorKind::Missing));
}

#[test]
fn folders_that_contain_themselves_are_refused() {
    let dir = folder(&["cat/1.jpg"]);
    symlink(dir.path(), dir.path().join("cat/loop")).unwrap();
    refusal(opened(at(&dir)), &["symbolic link"]);
}

#[test]
fn a_missing_folder_an_empty_one_and_one_without_pictures_are_told_apart() {
    let dir = folder(&[]);
    refusal(opened(dir.path().join("nowhere").to_str().unwrap()), &["nowhere", "does not exist"]);
    refusal(opened(format!("folder:{}/nowhere", at(&dir))), &["nowhere", "does not exist"]);
    refusal(opened(at(&dir)), &[at(&dir), "is empty"]);
    let dir = folder(&["a.txt", "b/c.txt", ".d.jpg"]);
    refusal(opened(at(&dir)), &[at(&dir), "holds no picture", "2 other files", "1 hidden", "jpg, jpeg"]);
}

#[test]
fn a_path_is_recognised_by_looking_at_it_and_a_scheme_is_taken_at_its_word() {
    let (dir, csv) = table("a.jpg,1\n");
    let text = dir.path().join("list.txt");
    fs::write(&text, "a.jpg\r\n\nb.jpg\n").unwrap();
    let text = text.to_str().unwrap();
    for (name, records) in [
        (at(&dir).to_owned(), 3),
        (format!("folder:{}", at(&dir)), 3),
        (format!("folder://{}", at(&dir)), 3),
        (csv.clone(), 1),
        (format!("csv:{csv}"), 1),
        (text.to_owned(), 2),
        (format!("files:{text}"), 2),
    ] {
        assert_eq!(opened(&name).unwrap().len(), records, "{name}");
    }
    refusal(opened("hdfs://bucket/train"), &["hdfs://bucket/train", "\"folder:\"", "\"csv:\"", "\"files:\""]);
    refusal(opened(dir.path().join("a.jpg").to_str().unwrap()), &["a.jpg", "give its folder"]);
    refusal(opened(format!("folder:{csv}")), &["train.csv", "not a folder"]);
}

#[test]
fn a_name_with_a_colon_that_exists_is_a_path() {
    let dir = folder(&["csv:pictures/1.jpg"]);
    assert_eq!(opened(dir.path().join("csv:pictures").to_str().unwrap()).unwrap().len(), 1);
}

#[test]
fn a_table_has_a_header_or_none_and_is_the_shard_that_its_user_knows() {
    for (text, expected) in [
        ("b.jpg,7\na.jpg,-3\n", vec![7, -3]),
        ("path,label\nb.jpg,7\na.jpg,-3\n", vec![7, -3]),
        ("\u{feff}Label , Image,note\n7,b.jpg,x\n-3,a.jpg,\n", vec![7, -3]),
        ("b.jpg\na.jpg\n", vec![-1, -1]),
        ("filename\nb.jpg\na.jpg", vec![-1, -1]),
        ("\"b.jpg\",\"7\"\r\n\r\na.jpg, -3\r\n", vec![7, -3]),
    ] {
        let (dir, file) = table(text);
        let source = opened(&file).unwrap();
        assert_eq!(paths(&*source, &dir), ["b.jpg", "a.jpg"], "{text}");
        assert_eq!(labels(&*source), expected, "{text}");
        assert!(source.classes().is_empty());
        assert_eq!(source.shard_name(1), "train.csv");
    }
}

#[test]
fn a_first_line_that_names_a_file_is_a_record_even_if_it_looks_like_a_header() {
    let (dir, file) = table("path,1\na.jpg,2\n");
    fs::write(dir.path().join("path"), "a picture").unwrap();
    assert_eq!(opened(file).unwrap().len(), 2);
}

#[test]
fn rule_2_labels_that_are_no_numbers_are_sorted_classes() {
    let (_dir, file) = table("a.jpg,owl\nb.jpg,cat\nc.jpg,owl\n");
    let source = opened(&file).unwrap();
    assert_eq!(source.classes(), ["cat", "owl"]);
    assert_eq!(labels(&*source), [1, 0, 1]);
    let source = open(&file, &labelled(Labels::None)).unwrap();
    assert_eq!(labels(&*source), [-1; 3]);
}

#[test]
fn rule_2_a_mixture_of_labels_is_refused_by_its_line_unless_all_are_to_be_text() {
    let (_dir, file) = table("a.jpg,10\nb.jpg,9\nc.jpg,owl\n");
    refusal(opened(&file), &["train.csv, line 3", "\"owl\" is a text", "line 1 has an integer", "labels=\"text\""]);
    let source = open(&file, &labelled(Labels::Text)).unwrap();
    assert_eq!(source.classes(), ["10", "9", "owl"]);
    assert_eq!(labels(&*source), [0, 1, 2]);
}

#[test]
fn lines_without_a_path_or_a_label_and_lines_with_too_much_are_named() {
    let (_dir, file) = table("a.jpg,1\n,2\n");
    refusal(opened(&file), &["train.csv, line 2", "no path"]);
    let (_dir, file) = table("a.jpg,1\nb.jpg\n");
    refusal(opened(&file), &["line 2", "no label", "line 1"]);
    let (_dir, file) = table("a.jpg\nb.jpg,1\n");
    refusal(opened(&file), &["line 2", "has a label", "line 1"]);
    let (_dir, file) = table("a.jpg,1,2\n");
    refusal(opened(&file), &["line 1", "3 columns"]);
    let (_dir, file) = table("");
    refusal(opened(&file), &["train.csv", "names no file"]);
    let (_dir, file) = table("path,label\n");
    refusal(opened(&file), &["names no file"]);
}

#[test]
fn rule_2_a_tables_paths_stay_inside_its_folder_or_inside_the_root() {
    for path in ["../a.jpg", "x/../../a.jpg", "/etc/passwd"] {
        let (_dir, file) = table(&format!("a.jpg\n{path}\n"));
        refusal(opened(&file), &["line 2", path, "root="]);
    }
    let (_dir, file) = table("x/../a.jpg\n");
    fs::create_dir(Path::new(&file).with_file_name("x")).unwrap();
    assert_eq!(opened(&file).unwrap().len(), 1);

    let pictures = folder(&["a.jpg"]);
    let absolute = pictures.path().join("a.jpg");
    let (_dir, file) = table(&format!("a.jpg\n{}\n", absolute.display()));
    let source = open(&file, &rooted(pictures.path())).unwrap();
    assert_eq!([0, 1].map(|record| path(&*source, record)), [absolute.clone(), absolute]);
    refusal(open(&file, &rooted(Path::new("/nowhere"))), &["line 2", "/nowhere"]);
}

#[test]
fn a_wrong_root_is_an_error_of_the_dataset_and_a_missing_file_one_of_its_record() {
    let (dir, file) = table("x.jpg\ny.jpg\n");
    refusal(opened(&file), &["None of the 2 files", "x.jpg", at(&dir), "root="]);
    let (_dir, file) = table("x.jpg\na.jpg\n");
    let source = opened(&file).unwrap();
    assert_eq!(read(&*source, 0), Err(ReadErrorKind::Missing));
    source.read(1, u64::MAX, &mut Vec::new()).unwrap();
}

#[test]
fn an_empty_file_a_folder_and_a_pipe_are_bad_records_and_hold_nobody() {
    let dir = folder(&["a.jpg"]);
    fs::write(dir.path().join("empty.jpg"), "").unwrap();
    fs::create_dir(dir.path().join("folder.jpg")).unwrap();
    mknodat(CWD, dir.path().join("pipe.jpg"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    fs::write(dir.path().join("list.txt"), "empty.jpg\nfolder.jpg\npipe.jpg\na.jpg/b.jpg\n").unwrap();
    let source = opened(dir.path().join("list.txt").to_str().unwrap()).unwrap();
    let kinds =
        [ReadErrorKind::Empty, ReadErrorKind::NotAFile, ReadErrorKind::NotAFile, ReadErrorKind::Missing].map(Err);
    assert_eq!([0, 1, 2, 3].map(|record| read(&*source, record)), kinds);
    assert_eq!(source.read(0, u64::MAX, &mut Vec::new()).unwrap_err().to_string(), "the file is empty");
}

#[test]
fn an_unreadable_file_and_an_unreadable_folder_are_named() {
    let dir = folder(&["a.jpg", "locked/b.jpg"]);
    let closed = fs::Permissions::from_mode(0o000);
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let source = open(at(&dir), &labelled(Labels::None)).unwrap();
    fs::set_permissions(dir.path().join("a.jpg"), closed.clone()).unwrap();
    fs::set_permissions(dir.path().join("locked"), closed).unwrap();
    // Root may read everything, so a thread of its own gives the right up; credentials belong to the thread.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            if rustix::process::geteuid().is_root() {
                let nobody = rustix::process::Uid::from_raw(65_534);
                rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
            }
            let error = source.read(0, u64::MAX, &mut Vec::new()).unwrap_err();
            assert_eq!((error.kind, error.locator), (ReadErrorKind::Denied, source.locator(0)));
            refusal(opened(at(&dir)), &["locked", "may not be read"]);
        });
    });
    fs::set_permissions(dir.path().join("locked"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn rule_2_the_fingerprint_knows_labels_and_order() {
    // Each table stands in a folder of its own, so equal prints also say that the folder's name does not count.
    let print = |text: &str| {
        let (_dir, file) = table(text);
        opened(file).unwrap().fingerprint()
    };
    let tables = ["a.jpg,1\nb.jpg,2", "a.jpg,1\nb.jpg,3", "b.jpg,2\na.jpg,1", "a.jpg\nb.jpg", "a.jpg,x\nb.jpg,y"];
    let prints = tables.map(print);
    for (place, print) in prints.iter().enumerate() {
        assert!(!prints[..place].contains(print), "table {place}");
    }
    assert_eq!(tables.map(print), prints);
}

#[test]
fn rule_2_a_dataset_without_columns_keeps_the_fingerprint_that_older_versions_gave_it() {
    let (_dir, file) = table("b.jpg,owl\na.jpg,cat\nnowhere.jpg,owl\n");
    let print = blake3::Hash::from_bytes(opened(file).unwrap().fingerprint()).to_hex();
    assert_eq!(&*print, "e3024acb9b3e55c02ea8a44aaa29e60452eca876d7761dbaccdf3d58ae2949c8");
}

#[test]
fn the_page_of_sources_has_every_scheme_with_its_options_and_its_example_is_opened_by_it() {
    let page = include_str!("../../docs/sources.md");
    for scheme in SCHEMES {
        let name = scheme.name;
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| [`{name}:`]")) || line.starts_with(&format!("| `{name}:`")));
        let row = row.unwrap_or_else(|| panic!("the table has no row of {name}:"));
        let example = row.rsplit('`').nth(1).unwrap();
        if let Some((named, rest)) = scheme::split(example) {
            let (_, options) = scheme::with_query(rest, &Options::default()).unwrap();
            assert_eq!(named, name);
            // A reader has the parameters that its class takes.
            assert!(name == "python" || scheme.check(&options, &[]).is_ok(), "{example}");
        }
        let section = page.split("\n## ").find(|section| section.starts_with(&format!("{name}\n")));
        // `root` has no meaning for a folder, and `*` stands for a reader's own parameters.
        let explained = |option: &&OptionKey| option.name != "*" && !(section.is_none() || name == "folder");
        for option in scheme.options.iter().filter(explained) {
            let quoted = format!("`{}`", option.name);
            assert!(section.is_some_and(|text| text.contains(&quoted)), "{name}: {quoted}");
        }
        assert!(section.is_some() || name == "files", "{name} has no section");
    }
}

/// The names of the records, without the versions of objects.
fn names_of(source: &dyn Source) -> Vec<String> {
    let name = |record| source.locator(record).to_string().split(" (version").next().unwrap().to_owned();
    (0..source.len()).map(name).collect()
}
