//! `forebay index --sizes` and `forebay plan` as a user meets them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use forebay_pixels::sample::photograph;
use serde_json::{Value, json};
use tempfile::TempDir;

fn forebay(cache: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.args(args).env("CACHE_DIRECTORY", cache).output().expect("the command can be started")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(cache: &Path, args: &[&str]) -> Value {
    let output = forebay(cache, &[args, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(&output)))
}

/// Six wide pictures, three high ones, and a file that is none.
fn pictures() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..9_u64 {
        let (width, height) = if number % 3 == 2 { (20, 30) } else { (48, 32) };
        fs::write(dir.path().join(format!("{number}.jpg")), photograph(number, width, height)).unwrap();
    }
    fs::write(dir.path().join("none.jpg"), "no picture").unwrap();
    dir
}

#[test]
fn rule_61_an_index_measures_all_pictures_once_and_says_what_it_found() {
    let (dir, cache) = (pictures(), tempfile::tempdir().unwrap());
    let name = dir.path().to_str().unwrap();
    let index = |args: &[&str]| json(cache.path(), &[&["index", name], args].concat());
    assert_eq!(index(&[])["sizes"], Value::Null);
    let made = index(&["--sizes"]);
    let sizes = &made["sizes"];
    assert_eq!((&made["scanned"], &sizes["measured"]), (&json!(true), &json!(true)));
    assert_eq!((&sizes["pictures"], &sizes["without"], &sizes["turned"]), (&json!(9), &json!(1), &json!(0)));
    assert_eq!((&sizes["pixels"]["min"], &sizes["pixels"]["max"]), (&json!(600), &json!(1536)));
    assert_eq!(sizes["largest_aspect"], json!(1.5));
    let again = index(&["--sizes"]);
    assert_eq!((&again["scanned"], &again["sizes"]["measured"]), (&json!(false), &json!(false)));
    assert_eq!(again["sizes"]["pixels"], sizes["pixels"]);
}

#[test]
fn rule_62_a_plan_has_the_steps_of_each_bucket_and_needs_sizes() {
    let (dir, cache) = (pictures(), tempfile::tempdir().unwrap());
    let name = dir.path().to_str().unwrap();
    let refused = forebay(cache.path(), &["plan", name]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("forebay index SOURCE --sizes"), "{}", said(&refused));
    json(cache.path(), &["index", name, "--sizes"]);
    let buckets = ["--buckets", "32x48,48x32", "--batch-size", "4"];
    let plan = json(cache.path(), &[&["plan", name][..], &buckets, &["--leftovers", "repeat"]].concat());
    let steps = |place: usize| {
        let bucket = &plan["buckets"][place];
        ["height", "width", "turns", "steps", "copies"].map(|field| bucket[field].as_u64().unwrap())
    };
    assert_eq!([steps(0), steps(1)], [[48, 32, 3, 1, 1], [32, 48, 6, 2, 2]]);
    assert_eq!(
        (&plan["copies"], &plan["without_size"], &plan["room_bytes"]),
        (&json!(3), &json!(1), &json!(4 * 32 * 48 * 3))
    );
    let text = forebay(cache.path(), &[&["plan", name][..], &buckets].concat());
    let text = String::from_utf8(text.stdout).unwrap();
    for words in
        ["48x32", "9 turns in 3 steps, shapes of steps: 1", "copies: 3 of 12 places (25.00 %)", "1 without a size"]
    {
        assert!(text.contains(words), "{words} is not in: {text}");
    }
    let wrong = forebay(cache.path(), &["plan", name, "--buckets", "fast"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(said(&wrong).contains("kohya") && said(&wrong).contains("832x1216"), "{}", said(&wrong));
}

#[test]
fn rule_65_a_plan_of_patches_has_a_line_for_each_length_and_needs_no_sizes() {
    let (dir, cache) = (pictures(), tempfile::tempdir().unwrap());
    let name = dir.path().to_str().unwrap();
    let patches = ["--patches", "naflex", "--patch", "8", "--seq-lens", "24,6", "--tokens", "48", "--divisor", "2"];
    let plan = json(cache.path(), &[&["plan", name][..], &patches].concat());
    let numbers = |place: usize| {
        let length = &plan["lengths"][place];
        ["length", "places", "steps", "copies"].map(|field| length[field].as_u64().unwrap())
    };
    // Ten records: 2 of 24 patches, then 8 of 6.
    assert_eq!([numbers(0), numbers(1)], [[24, 2, 1, 0], [6, 8, 1, 0]]);
    assert_eq!((&plan["room_bytes"], &plan["lengths"][0]["padding"]), (&json!(48 * 64 * 3), &json!(null)));
    json(cache.path(), &["index", name, "--sizes"]);
    let text = forebay(cache.path(), &[&["plan", name][..], &patches].concat());
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("10 turns in 2 steps, shapes of steps: 2, copies: 0"), "{text}");
    assert!(text.contains(" 0.0 %"), "a picture of 32 x 48 has 4 x 6 patches: {text}");
    let alone = forebay(cache.path(), &["plan", name, "--tokens", "48"]);
    assert!(said(&alone).contains("only with --patches"), "{}", said(&alone));
    let wrong = forebay(cache.path(), &["plan", name, "--patches", "gemma4", "--seq-lens", "5"]);
    assert!(said(&wrong).contains("630, 1260"), "{}", said(&wrong));
}

#[test]
fn rule_61_columns_with_wrong_sizes_are_refused_with_the_files() {
    let (dir, cache) = (pictures(), tempfile::tempdir().unwrap());
    let table = dir.path().join("t.csv");
    fs::write(&table, "path,label,h,w\n0.jpg,0,32,48\n1.jpg,0,48,32\n3.jpg,0,48,32\n2.jpg,0,30,20\n").unwrap();
    let name = table.to_str().unwrap();
    let plan = |sizes: &str| {
        let args = ["plan", name, "--columns", "h=h", "--columns", "w=w", "--option", sizes, "--buckets", "8x8"];
        forebay(cache.path(), &args)
    };
    let refused = plan("sizes=h,w");
    assert_eq!(refused.status.code(), Some(1));
    for words in ["2 of 4 pictures", "1.jpg is 32 x 48 and not 48 x 32", "3.jpg"] {
        assert!(said(&refused).contains(words), "{words} is not in: {}", said(&refused));
    }
    fs::write(&table, "path,label,h,w\n0.jpg,0,32,48\n1.jpg,0,32,48\n3.jpg,0,48,32\n2.jpg,0,30,20\n").unwrap();
    assert!(plan("sizes=h,w").status.success(), "a single one may differ");
    assert!(said(&plan("sizes=h,x")).contains("\"x\""));
}

#[test]
fn rule_62_a_plan_of_ragged_pictures_has_the_room_of_the_largest_ones_and_names_the_record() {
    let (dir, cache) = (pictures(), tempfile::tempdir().unwrap());
    let name = dir.path().to_str().unwrap();
    let ragged = ["plan", name, "--buckets", "ragged", "--batch-size", "8", "--divisor", "4"];
    assert!(said(&forebay(cache.path(), &ragged)).contains("forebay index SOURCE --sizes"));
    let both = [&ragged[..], &["--patches", "naflex"]].concat();
    assert!(said(&forebay(cache.path(), &both)).contains("cannot be combined with --patches"));
    json(cache.path(), &["index", name, "--sizes"]);
    let plan = json(cache.path(), &ragged);
    let numbers = ["turns", "steps", "places", "empty", "without_size"].map(|field| plan[field].as_u64().unwrap());
    assert_eq!(numbers, [9, 2, 8, 7, 1]);
    assert_eq!(plan["room_bytes"], json!(3 * (6 * 48 * 32 + 2 * 20 * 30)));
    assert_eq!((&plan["largest"]["height"], &plan["largest"]["width"]), (&json!(32), &json!(48)));
    let text = String::from_utf8(forebay(cache.path(), &ragged).stdout).unwrap();
    assert!(text.contains("9 turns in 2 steps of 8 places, empty places: 7\n"), "{text}");
    assert!(text.contains("the largest one: 32 x 48, record 0, "), "{text}");
    let refused = forebay(cache.path(), &[&ragged[..4], &["--pixels", "9999"]].concat());
    assert!(said(&refused).contains("has no --pixels"), "{}", said(&refused));
}
