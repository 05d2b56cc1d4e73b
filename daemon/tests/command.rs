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
