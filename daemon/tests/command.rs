//! The `forebay` command as a user meets it: what it prints, and how it ends.

use std::fs;
use std::process::{Command, Output};

use forebay::config::Config;
use forebay::source::{Options, open};

fn forebay(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forebay")).args(args).output().expect("the command can be started")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_example_configuration_is_accepted_as_it_is_printed() {
    let example = forebay(&["config", "--example"]);
    assert!(example.status.success(), "{}", said(&example));
    assert_eq!(example.stdout, Config::example().as_bytes());
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("forebay.toml");
    fs::write(&file, example.stdout).unwrap();
    let check = forebay(&["config", "--check", file.to_str().unwrap()]);
    assert!(check.status.success(), "{}", said(&check));
    assert!(String::from_utf8_lossy(&check.stdout).contains("no mistakes"));
}

#[test]
fn a_configuration_with_mistakes_ends_with_all_of_them_and_exit_code_2() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("forebay.toml");
    fs::write(&file, "[ring]\ncredits = 0\ntrainer = 1\n").unwrap();
    let check = forebay(&["config", "--check", file.to_str().unwrap()]);
    assert_eq!(check.status.code(), Some(2));
    for words in ["There are 2 mistakes", "forebay.toml", "ring.credits: is 0", "Did you mean \"trainers\"?"] {
        assert!(said(&check).contains(words), "{words:?} is not in: {}", said(&check));
    }
    let missing = forebay(&["config", "--check", "/nowhere/forebay.toml"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(said(&missing).contains("/nowhere/forebay.toml"), "{}", said(&missing));
}

#[test]
fn generated_pictures_are_a_dataset_of_class_folders_and_nothing_is_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("pictures");
    let args =
        ["sample", folder.to_str().unwrap(), "--count", "8", "--classes", "3", "--width", "64", "--height", "48"];
    let made = forebay(&args);
    assert!(made.status.success(), "{}", said(&made));
    let source = open(folder.to_str().unwrap(), &Options::default()).unwrap();
    assert_eq!((source.len(), source.classes().len()), (8, 3));
    let labels: Vec<i64> = (0..8).map(|record| source.label(record)).collect();
    assert_eq!(labels, [0, 0, 0, 1, 1, 1, 2, 2]);
    let mut picture = Vec::new();
    source.read(7, &mut picture).unwrap();
    assert!(picture.starts_with(&[0xff, 0xd8]), "a JPEG");
    let again = forebay(&args);
    assert_eq!(again.status.code(), Some(1));
    assert!(said(&again).contains("not empty"), "{}", said(&again));
}

#[test]
fn compare_without_an_interpreter_that_has_pillow_says_what_is_missing() {
    let compare = |python: &str| {
        let command = &mut Command::new(env!("CARGO_BIN_EXE_forebay"));
        command.args(["compare", "/nowhere"]).env("FOREBAY_PYTHON", python).output().unwrap()
    };
    for python in ["/nowhere/python", "/bin/true"] {
        let output = compare(python);
        assert_eq!(output.status.code(), Some(1));
        for words in [python, "Pillow", "pip install", "FOREBAY_PYTHON"] {
            assert!(said(&output).contains(words), "{words:?} is not in: {}", said(&output));
        }
    }
}

#[test]
fn compare_shows_tables_of_differences_and_the_worst_pictures() {
    let python = std::env::var("FOREBAY_PYTHON").unwrap_or_else(|_| "python3".into());
    let has_pillow = Command::new(&python).args(["-c", "import PIL"]).output();
    if !has_pillow.is_ok_and(|output| output.status.success()) {
        println!("skipped: {python} has no Pillow; set FOREBAY_PYTHON to one that has it");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    assert!(forebay(&["sample", &at("pictures"), "--count", "4", "--classes", "2"]).status.success());
    fs::write(at("pictures/class-0/no-picture.png"), "neither side opens this").unwrap();
    let compared = forebay(&["compare", &at("pictures"), "-o", &at("worst.png"), "--markdown", &at("page.md")]);
    assert!(compared.status.success(), "{}", said(&compared));
    let text = String::from_utf8_lossy(&compared.stdout);
    for words in ["decode: whole pictures, upright", "lanczos3", "decode: JPEG 4:2:0", "Refused by both: 1."] {
        assert!(text.contains(words), "{words:?} is not in: {text}");
    }
    let page = fs::read_to_string(at("page.md")).unwrap();
    let bilinear = page.lines().find(|line| line.contains("bilinear")).unwrap();
    let cells: Vec<&str> = bilinear.split('|').map(str::trim).collect();
    assert_eq!(cells[2], "4", "{bilinear}");
    assert!(cells[4].parse::<u8>().unwrap() <= 2, "{bilinear}");
    assert!(fs::read(at("worst.png")).unwrap().starts_with(b"\x89PNG"));
}
