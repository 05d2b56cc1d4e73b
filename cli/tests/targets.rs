//! What `forebay verify` does with what a dataset has beside its pictures, and with several sources.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use forebay_pixels::sample::{mask_png, photograph};
use serde_json::Value;

fn verify(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forebay")).arg("verify").args(args).output().expect("the command can be started")
}

/// The only picture of the page that verify writes of this dataset, and the page.
fn page(dir: &Path, args: &[&str]) -> (String, String) {
    let file = dir.join("page.html");
    let output = verify(&[args, &["--html", file.to_str().unwrap()]].concat());
    let html = fs::read_to_string(file).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let picture = html.split("base64,").nth(1).unwrap().split('"').next().unwrap().to_owned();
    (picture, html)
}

#[test]
fn the_pictures_of_the_page_show_boxes_masks_and_captions() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.jpg"), photograph(0, 120, 80)).unwrap();
    let table = dir.path().join("t.csv");
    fs::write(&table, "path,x0,y0,x1,y1,text\na.jpg,10,10,60,50,a <b>cat</b>\n").unwrap();
    fs::create_dir(dir.path().join("seg")).unwrap();
    fs::write(dir.path().join("seg/a.png"), mask_png(120, 80, |x, _| u8::from(x > 60))).unwrap();
    let table = table.to_str().unwrap();
    let boxes = ["--columns", "boxes=x0,y0,x1,y1", "--option", "group=true", "--option", "boxes=xyxy"];
    let (plain, _) = page(dir.path(), &[table, "--columns", "x=x0"]);
    let (boxed, _) = page(dir.path(), &[&[table], &boxes[..]].concat());
    let (masked, _) = page(dir.path(), &[table, "--columns", "x=x0", "--mask", "seg=seg"]);
    assert!(plain != boxed && plain != masked && boxed != masked);
    let (captioned, html) = page(dir.path(), &[table, "--columns", "text=text"]);
    assert_eq!(captioned, plain, "a caption is below its picture");
    assert!(html.contains("a &lt;b&gt;cat&lt;") && !html.contains("<b>cat"));
}

#[test]
fn rule_45_a_mask_that_does_not_fit_its_picture_makes_its_record_bad() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("pictures")).unwrap();
    fs::create_dir_all(dir.path().join("seg")).unwrap();
    for (name, width) in [("a", 60), ("b", 59), ("c", 60)] {
        fs::write(dir.path().join(format!("pictures/{name}.jpg")), photograph(0, 60, 40)).unwrap();
        if name != "c" {
            fs::write(dir.path().join(format!("seg/{name}.png")), mask_png(width, 40, |_, _| 1)).unwrap();
        }
    }
    let pictures = dir.path().join("pictures");
    let output = verify(&[pictures.to_str().unwrap(), "--mask", "seg=../seg", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["bad_records"], &found["bad"][0]["record"]), (&1.into(), &1.into()));
    let reason = found["bad"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("The mask \"seg\"") && reason.contains("(59, 40)"), "{reason}");
    assert_eq!(
        found["duplicates"][0]["records"],
        Value::from(vec![0, 1, 2]),
        "pictures are compared without their masks"
    );
}

#[test]
fn rule_58_several_sources_are_one_dataset() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (dir, name, index) in [(&one, "a.jpg", 0), (&other, "b.jpg", 1), (&other, "c.jpg", 0)] {
        fs::write(dir.path().join(name), photograph(index, 60, 40)).unwrap();
    }
    fs::write(other.path().join("notes.md"), "").unwrap();
    let names = [&one, &other].map(|dir| dir.path().to_str().unwrap());
    let output = verify(&[names[0], names[1], "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["records"], &found["good_records"]), (&3.into(), &3.into()));
    assert_eq!(found["sources"], Value::from(names.to_vec()));
    assert_eq!(found["duplicates"][0]["records"], Value::from(vec![0, 2]));
    assert_eq!(found["unreferenced"]["files"], Value::from(vec![format!("{}/notes.md", names[1])]));
}
